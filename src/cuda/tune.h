/* Sizes of the CUDA back end, each with its reason. */
#ifndef GPUCOR_CUDA_TUNE_H
#define GPUCOR_CUDA_TUNE_H

enum {
    /* A tile: wide enough that cuBLAS fills any GPU (256 blocks of 128 x 128), small enough that
     * its values (32 MB of doubles) are copied in under a millisecond and Ctrl-C is heard soon.
     * Always whole, padding included, so that the same pair is always computed the same way. */
    TILE_ROWS = 1024,
    TILE_COLS = 4096,
    TILE_COLS_LEAST = 256, /* for very long columns */

    /* Values on their way to the host: one tile being computed, one copied, one delivered. */
    RING_SLOTS = 3,

    /* Up to here a column is ranked by counting in shared memory (n^2 comparisons of 16 KB);
     * beyond, a sort is cheaper. */
    COUNTED_RANKS = 2048,

    COLUMN_THREADS = 256, /* threads that prepare one column */

    SIGN_WORDS = 16,  /* sign words (32 pairs of observations) of a variable in shared memory at a time */
    SIGN_BLOCK = 256, /* variables of a side of a block, at most */
    /* Bits of all variables are kept up to here, n_obs = 1,024: 128 KB a variable. Otherwise they are
     * opened for each tile, in slices of 168 MB for its two planes. */
    KEPT_WORDS = 16384,
    SLICE_WORDS = 4096,

    COMMON_WARPS = 8, /* warps, each with its own pair, in a block */

    EDGE_SPAN = 1024,   /* pairs of a row that a block of 256 threads looks at */
    EDGE_BLOCKS = 1056, /* blocks that recompute candidates: 8 for each of an H200's processors */
    EDGES_GUESS = 1 << 16, /* edges of a tile that there is room for at first: 1.6 % of its pairs, 1 MB */

    LEAST_BINS = 1024, /* of weights from 0 to 1, when a tile's k-th largest is looked for */

    /* Each counts in 40 KB of shared memory and has 80 KB of its own: one for each processor. */
    HISTOGRAM_BLOCKS = 132
};

/* Values staged at a time on their way to the device. */
static const long long STAGED_VALUES = 4LL << 20; /* 32 MB */

/* Operands of two panels of one tile's width should not take more. */
static const long long PANEL_BYTES = 2LL << 30;

/* Of a common-rows product, observations of pairs in one launch: some 50 ms at the most. */
static const long long COMMON_WORK = 8LL << 30;

#endif
