/* Sizes of the CUDA back end, each with its reason. */
#ifndef GPUCOR_CUDA_TUNE_H
#define GPUCOR_CUDA_TUNE_H

#include <cstddef>

enum {
    /* A tile whose values are stored or summed up: 256 blocks of 128 x 128, more than a GPU has processors, and
     * small enough that its values (32 MB of doubles) are copied in under a millisecond and Ctrl-C is heard
     * soon. */
    TILE_ROWS = 1024,
    TILE_COLS = 4096,
    TILE_COLS_MIN = 256, /* for very long columns */

    /* A tile of which only edges or counts leave the processors: a launch and a look at its counts are
     * some 20 us, a tile of 128 observations takes two milliseconds. With the columns in 17 bits and the
     * rows in 15 a pair's place is one word. */
    NETWORK_ROWS = 16384,
    NETWORK_COLS = 131072,
    POSITION_COL_BITS = 17,

    /* A band of rows whose values go to the host as they are: enough rows for a block, and some bands to be at work on.
     * The bits of all columns are more than the second-level cache holds, and are read again for each band.
     * LANDING_BYTES go at a time; with less than 48 MB of landings in turn the wire waits for the host's caches. */
    BAND_BYTES = 32 << 20,
    SIGN_BAND_BYTES = 256 << 20,
    BAND_ROWS_MIN = 128,
    BANDS = 8,
    LANDING_BYTES = 16 << 20,
    LANDINGS = 6,
    BAND_OBS = 16384, /* beyond, several devices may share the work by squares (engine/run.c) */

    /* Rows of a band of topological overlaps: a product of so many by all fills the GPU, and a sixteenth of them makes
     * the part of squares at the diagonal that is not wanted as small. */
    OVERLAP_ROWS_MIN = 256,
    OVERLAP_ROWS = 2048,
    OVERLAP_BANDS = 16,
    OVERLAP_SIDE_BANDS = 4,    /* bands of a square that a device does at a time */
    OVERLAP_OPERANDS_PART = 8, /* of free memory, for the first product's columns */
    OVERLAP_RESERVE = 1 << 30,

    /* Values on their way to the host: one tile being computed, one copied, one delivered. */
    RING_SLOTS = 3,
    EDGE_SLOTS = 4, /* edges: one more that is being sorted */

    /* Up to here a column is ranked by counting in shared memory (n^2 comparisons of 16 KB);
     * beyond, a sort is cheaper. */
    COUNTED_RANKS = 2048,
    SORTED_BY_ALL = 262144, /* from here on a column is sorted by all processors, not by one */

    COLUMN_THREADS = 256, /* threads that prepare one column */
    RANKED_PART = 8192,   /* values of a sorted column that a block ranks */

    /* ---- products ------------------------------------------------------------------------- */

    /* What tensor cores are fed with: 128 bytes of a column, which is as wide as the pattern goes by
     * which shared memory is read without bank conflicts. */
    PIECE_BYTES = 128,
    PIECE_WORDS = PIECE_BYTES / 4,
    SLACK_COLUMNS = 512, /* that a block may read beyond the last one */

    /* Hopper: two groups of 64 x 256 sums, 128 registers a thread, are all that the registers hold. With two blocks
     * that share their columns' pieces the second-level cache is read a third less, with four a half. That is a
     * tenth of the time for halves, and nothing for bits; and four compute more that is not wanted at a tile's edges,
     * so that they should have some rounds to do. */
    WGMMA_GROUPS = 2,
    WGMMA_COLS = 256,
    WGMMA_CLUSTER = 2,
    WGMMA_LARGE_CLUSTER = 4,
    WGMMA_LARGE_ROUNDS = 8,
    WGMMA_STAGES = 4,           /* of 48 KB: with the hits of 8 warps 208 KB of 227 */
    WGMMA_HISTOGRAM_STAGES = 3, /* 144 KB and 40 KB of bins */
    /* Many bits are bound by power, most of which brings them to shared memory. Twice 64 x 192 sums, 192 registers a
     * thread, bring a fifth less. */
    WGMMA_LONG_COLS = 192,
    WGMMA_LONG_STAGES = 3, /* of 56 KB */
    WGMMA_LONG_PIECES = 64,

    /* The others: 2 x 4 warps of 64 x 32 pairs; half a piece of each side in a stage. Three stages with hits,
     * or two with bins, fit the 99 KB of the smaller GPUs. */
    MMA_BLOCK_ROWS = 128,
    MMA_BLOCK_COLS = 128,

    /* Hits (8 bytes) of a warp before it hands them on: a claim of places costs as much as some 50. */
    WARP_HITS = 256,

    /* Blocks are walked in groups of so many rows of the tile, so that those at work at a time (132 of
     * 128 x 256) are about as many rows as columns and share what they read. */
    WALK_ROWS = 2048,
    WALK_GROUPS = 16, /* of the tallest tile */

    /* ---- signs ----------------------------------------------------------------------------- */

    /* Bits of all variables are kept up to here, n_obs = 1,024: 128 KB a variable. */
    KEPT_WORDS = 16384,
    /* Those of longer columns are opened for a tile, where they fit a share of the memory: up to n_obs = 1,770
     * for a tile whose values are stored (2 GB), up to 4,096 for a tile of a network, which is as large as
     * memory allows: opening should be a tenth of the work. Beyond, in slices of 168 MB for a tile's two
     * planes. */
    OPENED_WORDS = 49152,
    OPENED_NETWORK_WORDS = 262144,
    OPENED_SIDE = 32768, /* variables of a side of such a tile, at most; OPENED_PART of all memory */
    OPENED_PART = 16,
    SLICE_WORDS = 4096,

    /* Long columns as sets of bits: the levels that a column may have, as every pair of sets is a product. */
    FEW_LEVELS = 16,
    SET_CODES = 32,
    SETS_SIDE = 2048, /* of a tile: a square one opens the fewest columns for its pairs */

    COMMON_WARPS = 8, /* warps, each with its own pair, in a block */

    EDGE_SPAN = 1024, /* pairs of a row that a block of 256 threads looks at */

    /* Blocks for each of the GPU's processors: as many as are at work at a time. */
    CANDIDATE_BLOCKS = 8, /* that recompute candidates */
    SUM_BLOCKS = 2,       /* that sum up a tile's values, with 40 KB of bins each */
    COUNT_BLOCKS = 1,     /* that count them, with 1,024 threads */
    COMMON_BLOCKS = 32,   /* of pairs over their common observations: some rounds, as pairs are not alike */

    /* Edges of a tile that there is room for at first, as a share of its pairs and at least; and at most:
     * with more it is computed in parts. The latter is 128 rows of the widest tile. */
    EDGES_SHARD = 512,
    EDGES_MIN = 1 << 16,
    EDGES_MAX = 1 << 24,

    /* From so many pairs on edges stay on the device, in at most that part of its free memory. */
    KEEP_PAIRS = 1 << 24,
    KEEPER_PART = 8,
    /* Up to here the largest weight is looked for by products of halves. With more observations coefficients are so
     * close together, and the error of a half's product so large, that too many would be computed again. */
    MAXIMUM_HALF_OBS = 8192,

    MIN_BINS = 1024 /* of weights from 0 to 1, when a tile's k-th largest is looked for */
};

/* What a session keeps of one array until the next run; larger ones are given back: they take some milliseconds to
 * get, which a run that needs them does not notice. And how large every array is at least, so that the runs of a small
 * problem find room for a somewhat larger one. */
static const size_t KEPT_BYTES = (size_t)64 << 20, MIN_BYTES = (size_t)64 << 10;

/* Seconds for which the free memory of a GPU is taken to be what it was: asking takes longer than a small run. */
static const double MEMORY_SECONDS = 1;

/* Values staged at a time on their way to the device. */
static const long long STAGED_VALUES = 4LL << 20, LONG_STAGED_VALUES = 16LL << 20; /* 32 MB, 128 MB */
/* Values that are ranked at a time; with their keys and numbers 24 bytes each. */
static const long long GROUP_VALUES = 16LL << 20;

/* Operands as wide as a tile, one for each of its sides, should not take more. */
static const long long OPERAND_BYTES = 2LL << 30;

/* Sets of bits that are opened at a time, of both sides; counts of pairs of sets. */
static const long long SLICE_BYTES = 1LL << 30, COUNT_BYTES = 1LL << 29;

/* Over common observations: those of all pairs in one launch, some 50 ms at the most. */
static const long long COMMON_WORK = 8LL << 30;

#endif
