/* Sizes used by the CUDA back end, each with its reason. */
#pragma once

#include <cstddef>

enum {
    /* A tile whose values are stored or summed: 256 blocks of 128 x 128, more than a GPU has multiprocessors, and
     * small enough that its values (32 MB of doubles) are copied in under a millisecond and Ctrl-C has an effect
     * soon. */
    TILE_ROWS = 1024,
    TILE_COLS = 4096,
    TILE_COLS_MIN = 256, /* for very long columns */
    SUMMED_ROWS = 4096,  /* where exact products are summed without being stored: fewer launches */
    PASSED_ROWS = 2048,  /* where a sink passes on values that stay on the device, in arrays of KEPT_BYTES */

    /* A tile of which only edges or counts leave the GPU: launching and reading the counts takes some 20 us, a tile
     * of 128 observations two milliseconds. With 17 bits for the column and 15 for the row, a pair's index in the
     * tile is one word. */
    NETWORK_ROWS = 16384,
    NETWORK_COLS = 131072,
    POSITION_COL_BITS = 17,

    /* A band of rows whose values are all copied to the host: enough rows for a block, and several bands to overlap
     * work. For SIGN the bits of all columns exceed the L2 cache and are read again for each band, so bands are
     * larger. HOST_BUFFER_BYTES are copied at a time; with less than 48 MB of pinned buffers in rotation the bus waits
     * for the host's caches. */
    BAND_BYTES = 32 << 20,
    SIGN_BAND_BYTES = 256 << 20,
    BAND_ROWS_MIN = 128,
    BANDS = 8,
    HOST_BUFFER_BYTES = 16 << 20,
    HOST_BUFFERS = 6,
    BAND_OBS = 16384, /* beyond, several devices may share the work by squares (engine/run.c) */

    /* Rows of a band of topological overlaps: this many rows times all columns fill the GPU, and at most a sixteenth
     * of all rows keeps the unneeded part of the diagonal squares small. */
    OVERLAP_ROWS_MIN = 256,
    OVERLAP_ROWS = 2048,
    OVERLAP_BANDS = 16,
    OVERLAP_SIDE_BANDS = 4,       /* bands of a square that a device computes at a time */
    OVERLAP_OPERANDS_DIVISOR = 8, /* fraction (1/8) of free memory for the first product's columns */
    OVERLAP_RESERVE = 1 << 30,

    /* Tiles in transfer to the host: one computed, one copied, one delivered. */
    RING_SLOTS = 3,
    EDGE_SLOTS = 4, /* edges: one more, which is being sorted */

    /* Up to this length a column is ranked by counting in shared memory (n^2 comparisons, 16 KB); longer columns are
     * cheaper to sort. */
    COUNTED_RANKS = 2048,
    SORTED_BY_ALL =
        262144, /* from this length on each column is sorted by the whole GPU instead of one multiprocessor */

    COLUMN_THREADS = 256, /* threads that prepare one column */
    RANKED_PART = 8192,   /* values of a sorted column that a block ranks */

    /* ---- products ------------------------------------------------------------------------- */

    /* Tensor cores are fed with pieces of 128 bytes of a column, the width of the swizzle pattern that avoids bank
     * conflicts in shared memory. */
    PIECE_BYTES = 128,
    PIECE_WORDS = PIECE_BYTES / 4,
    SLACK_COLUMNS = 512, /* columns that a block may read beyond the last one */

    /* Hopper: two groups of 64 x 256 sums, 128 registers a thread, fill the register file. Two blocks that share the
     * pieces of their columns read a third less from the L2 cache, four read half. That saves a tenth of the time
     * for half precision and nothing for bits; four blocks also compute more unneeded pairs at a tile's edges, so
     * they need several rounds to pay off. */
    WGMMA_GROUPS = 2,
    WGMMA_COLS = 256,
    WGMMA_CLUSTER = 2,
    WGMMA_LARGE_CLUSTER = 4,
    WGMMA_LARGE_ROUNDS = 8,
    WGMMA_STAGES = 4,           /* of 48 KB each: with the hits of 8 warps 208 KB of 227 */
    WGMMA_HISTOGRAM_STAGES = 3, /* 144 KB and 40 KB of bins */
    /* Products of many bits are bound by power, most of it for copies to shared memory. Twice 64 x 192 sums, 192
     * registers a thread, copy a fifth less. */
    WGMMA_LONG_COLS = 192,
    WGMMA_LONG_STAGES = 3, /* of 56 KB each */
    WGMMA_LONG_PIECES = 64,

    /* Other GPUs: a block of which a multiprocessor has two; one that has it to itself is larger (mma.cuh). Two stages
     * with hits or bins fit the 99 KB of the smaller GPUs. */
    MMA_BLOCK_ROWS = 128,
    MMA_BLOCK_COLS = 128,

    /* Hits (8 bytes each) that a warp collects before it writes them: reserving output space costs as much as some
     * 50 hits. */
    WARP_HITS = 256,

    /* Blocks are walked in groups of this many rows of the tile, so that the concurrent blocks (132 of 128 x 256)
     * cover about as many rows as columns and share what they read. */
    WALK_ROWS = 2048,
    WALK_GROUPS = 16, /* groups of the tallest tile */

    /* ---- signs ----------------------------------------------------------------------------- */

    /* The bits of all variables are kept up to this length, n_obs = 1,024: 128 KB per variable. */
    KEPT_WORDS = 16384,
    /* Bits of longer columns are packed per tile while they fit a fraction of the memory: up to n_obs = 1,770 for a
     * tile whose values are stored (2 GB), up to 4,096 for a network's tile, which is as large as memory allows so
     * that packing is a tenth of the work. Beyond, bits are packed in slices of 168 MB for a tile's two planes. */
    PACKED_WORDS = 49152,
    PACKED_NETWORK_WORDS = 262144,
    PACKED_SIDE = 32768, /* max variables of a side of such a tile; PACKED_DIVISOR: 1/16 of the memory */
    PACKED_DIVISOR = 16,
    SLICE_WORDS = 4096,

    /* Long columns as bitsets: max number of levels, as every pair of sets is a product. */
    FEW_LEVELS = 16,
    SET_CODES = 32,
    SETS_SIDE = 2048, /* side of a tile: a square tile packs the fewest columns per pair */

    COMMON_WARPS = 8,   /* warps of a block, each with its own pair */
    PAIR_THREADS = 128, /* distances: threads of a block, each with its own pair */

    EDGE_SPAN = 1024, /* pairs of a row that a block of 256 threads scans */

    /* Blocks per multiprocessor, as many as run concurrently. */
    CANDIDATE_BLOCKS = 8, /* to recompute candidates */
    SUM_BLOCKS = 2,       /* to sum a tile's values, with 40 KB of bins each */
    COUNT_BLOCKS = 1,     /* to count them, with 1,024 threads */
    COMMON_BLOCKS = 32,   /* for pairwise-complete pairs: several rounds, as pairs take different times */
    PAIR_BLOCKS = 4,      /* distances: each thread has scratch */
    PAIR_DIVISOR = 16,    /* distances: max part (1/16) of the free memory for scratch */

    /* Initial capacity for a tile's edges: a fraction (1/512) of its pairs, but at least EDGES_MIN. If there are
     * more than EDGES_MAX, 128 rows of the widest tile, the tile is computed in parts. */
    EDGES_DIVISOR = 512,
    EDGES_MIN = 1 << 16,
    EDGES_MAX = 1 << 24,

    /* From this many pairs on, edges stay in a device edge buffer. It takes at most 3/8 of the device's free memory:
     * with 80 GB, more edges than a sparse matrix can hold. Records of neighbours take at most 1/8. */
    EDGE_BUFFER_PAIRS = 1 << 24,
    EDGE_BUFFER_EIGHTHS = 3,
    NEIGHBOUR_EIGHTHS = 1,
    /* Up to this n_obs the largest weight is searched with half-precision products. With more observations
     * coefficients are so close together, and the error so large, that too many would be recomputed. */
    MAXIMUM_HALF_OBS = 8192,

    /* ---- the k strongest neighbours ------------------------------------------------------------ */

    MIN_BINS = 1024, /* bins of weights from 0 to 1 to find the k-th largest, a variable's min weight */

    /* Variables that each one is compared with for its first min weight: SAMPLED_EACH k within these limits, in
     * SAMPLE_BLOCKS blocks. With n variables some k n^2 / sample edges follow, each of which costs far more than a
     * product of the sample. SAMPLE_VALUES are in memory at a time, 1 GB. */
    SAMPLED_EACH = 1024,
    SAMPLED_MIN = 32768,
    SAMPLED_MAX = 131072,
    SAMPLE_BLOCKS = 16,
    SAMPLE_VALUES = 1 << 28,

    /* Records of edges, beyond twice those of the result, that are in memory before they are pruned: 1.6 GB. */
    RECORDS_BEYOND = 1 << 25
};

/* KEPT_BYTES: a session keeps arrays up to this size between runs and frees larger ones; allocating those again
 * takes milliseconds, which is negligible for a run that needs them. MIN_BYTES: min size of any array, so that
 * runs of small problems can reuse it for somewhat larger ones. */
static const size_t KEPT_BYTES = (size_t)64 << 20, MIN_BYTES = (size_t)64 << 10;

/* Max size of columns that are kept from one permutation to the next, as preparing them again takes longer than the
 * products: 60,000 of 1,000 observations. The next run that does not need them frees them. */
static const size_t UNSHUFFLED_BYTES = (size_t)256 << 20;

/* Seconds for which a GPU's free memory is not queried again: the query takes longer than a small run. */
static const double MEMORY_SECONDS = 1;

/* Values staged at a time for transfer to the device. */
static const long long STAGED_VALUES = 4LL << 20, LONG_STAGED_VALUES = 16LL << 20; /* 32 MB, 128 MB */
/* Values ranked at a time; with keys and indices 24 bytes each. */
static const long long GROUP_VALUES = 16LL << 20;

/* Max bytes of operands as wide as a tile, one for each side. */
static const long long OPERAND_BYTES = 2LL << 30;

/* Bytes of bitsets packed at a time, for both sides; bytes of counts of pairs of sets. */
static const long long SLICE_BYTES = 1LL << 30, COUNT_BYTES = 1LL << 29;

/* Pairwise-complete pairs: work (pairs times observations) of one launch, some 50 ms at most. */
static const long long COMMON_WORK = 8LL << 30;
