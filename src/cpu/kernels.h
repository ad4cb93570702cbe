/* The inner loops, once for each instruction set. Results are the same to the last bit, except for approximate ones,
 * floats() and bytes(): products of two floats are exact in double, and counts are integers.
 *
 * Operands come in micro-panels of CPU_MICRO_PANEL_BYTES: so many variables side by side, element k of variable v at
 * [k * width + v], width = CPU_MICRO_PANEL_BYTES / sizeof(element). A kernel multiplies CPU_KERNEL_ROWS variables of
 * one micro-panel with all of another. The sum of row r and column c is at sums[r * CPU_BLOCK_COLS + c]; it is
 * set, or with `add` added to. Panels and sums are aligned to CPU_ALIGNMENT. */
#pragma once

#include <stdint.h>

enum { CPU_MICRO_PANEL_BYTES = 128, CPU_KERNEL_ROWS = 8, CPU_ALIGNMENT = 64, CPU_PADDING = 8 };

/* A tile is computed in blocks, one per thread at a time: a block's sums (128 KB) and a part of its variables fit in
 * the L2 cache. */
enum { CPU_BLOCK_ROWS = 64, CPU_BLOCK_COLS = 256, CPU_BLOCK_PAIRS = CPU_BLOCK_ROWS * CPU_BLOCK_COLS };

/* Products of adjacencies are summed in single precision within slices and runs, and runs are added in double. If
 * all numbers are equal, so that all roundings go the same way, the relative error is at most 12 2^-24 = 7e-7. */
enum { CPU_OVERLAP_SLICE = 16, CPU_OVERLAP_RUN = 256 };

enum { CPU_MINIMA_LANES = 8 };

/* Micro-panels of sign bits, 64 pairs of observations per word. Unused planes are NULL. */
typedef struct {
    uint64_t *greater; /* x[k] > x[q] */
    uint64_t *untied;  /* x[k] != x[q], both present */
    uint64_t *present; /* both present */
} cpu_planes;

/* Properties of a tile's variables, which determine the planes they need. */
typedef enum {
    CPU_UNTIED, /* no ties: greater */
    CPU_TIED,   /* also `untied` */
    CPU_COMMON  /* also `present`: there are missing values */
} cpu_sign_mode;

/* Returns the number of planes. */
static inline int cpu_count_planes(cpu_sign_mode mode) {
    return mode == CPU_UNTIED ? 1 : mode == CPU_TIED ? 2 : 3;
}

/* Micro-panels of bins: for each level one bit per observation, `words` words; if is_common, the same for the
 * observations that are not missing; and a word with the variable's number of levels. */
typedef struct {
    int levels; /* the number of levels that a micro-panel has space for */
    int is_common;
    int64_t words;        /* of a level */
    const int64_t *terms; /* measure/mutual.h; of each count */
} cpu_bins;

/* Scores (twice a value's centred rank among the values of its column) of up to CPU_MAX_RANKED observations, padded to
 * a multiple of CPU_RANK_PADDING; of those that are left out of a pair: n_x of x, which y misses, and n_y of y. */
enum { CPU_NO_SCORE = INT16_MIN, CPU_RANK_PADDING = 64, CPU_MAX_RANKED = 16384, CPU_MAX_LEFT_OUT = 64 };
typedef struct {
    int64_t n_x, n_y;
    int16_t x[CPU_MAX_LEFT_OUT], y[CPU_MAX_LEFT_OUT];
} cpu_left_out;

/* How the values of a column become weighted differences (measure/bicor.h): value * scale - median. */
typedef struct {
    double scale, median, below, above;
} cpu_biweight;

typedef struct cpu_kernels {
    double ns_word, ns_pack; /* nanoseconds: a word of one pair's signs without ties; a word of a variable's plane */
    /* Dot products over n elements. */
    void (*floats)(const float *rows, const float *cols, int64_t n, int add, float *sums);
    void (*doubles)(const double *rows, const double *cols, int64_t n, int add, double *sums);
    /* Dot products of signed bytes, which are stored with 128 added; an element is four of them. scale_sums() writes
     * such a row's sums times `own` and step[k]. (optional; NULL: not faster than floats()) */
    void (*bytes)(const int32_t *rows, const int32_t *cols, int64_t n, int add, int32_t *sums);
    void (*scale_sums)(const int32_t *sums, float own, const float *step, int64_t n, float *out);
    /* Dot products of floats: each slice of GCOR_OBS_SLICE products in single precision, slices added in double
     * (coefficient.h). */
    void (*slices)(const float *rows, const float *cols, int64_t n, int add, double *sums);
    /* Dot products in slices and runs (CPU_OVERLAP_SLICE, CPU_OVERLAP_RUN); rows: only CPU_KERNEL_ROWS variables,
     * side by side. */
    void (*overlaps)(const float *rows, const float *cols, int64_t n, int add, double *sums);
    /* Dot products of doubles with fused multiply-add on every machine, as their products are not exact. */
    void (*fused)(const double *rows, const double *cols, int64_t n, int add, double *sums);
    /* out[i] = gcor_dot() of x and column which[i], to the last bit. Columns are `stride` floats apart. All have n
     * values, a multiple of CPU_PADDING, padded with zeros. */
    void (*dots)(const float *x, const float *columns, int64_t stride, const int32_t *which, int64_t count, int64_t n,
                 double *out);
    /* out[i] = the sum of x and column which[i] as slices() computes it. */
    void (*slice_dots)(const float *x, const float *columns, int64_t stride, const int32_t *which, int64_t count,
                       int64_t n, double *out);
    /* Sums of products of signs; if `greater` is the only plane, minus the number of pairs of observations. With
     * `present` it also counts, at sums + CPU_BLOCK_PAIRS, the complete pairs of observations that are untied in the
     * row's variable, and at sums + 2 * CPU_BLOCK_PAIRS those untied in the column's. */
    void (*signs)(const cpu_planes *rows, const cpu_planes *cols, int64_t words, int add, int64_t *sums);
    /* Packs the planes. score: a column's n_obs scores (NaN: missing) twice, and room for 64 more. Writes bits
     * first .. first+bits-1 of the order of coefficient.h to words a micro-panel's width apart. */
    void (*pack)(const float *score, int64_t n_obs, int64_t first, int64_t bits, const cpu_planes *planes);
    /* How many bits are in both, of each of n_a sets of a and n_b of b, of `words` words one after the other (whole
     * vectors): to table[i * stride + k]. */
    void (*levels)(const uint64_t *a, int n_a, const uint64_t *b, int n_b, int64_t words, int64_t *table,
                   int64_t stride);
    /* For micro-panels of bins, sets the sums of the terms of all cells of contingency tables. If is_common, the terms
     * of the margins are subtracted and that of the number of pairwise-complete observations is added; this number is
     * at sums + CPU_BLOCK_PAIRS. */
    void (*mutual)(const uint64_t *rows, const uint64_t *cols, const cpu_bins *bins, int64_t *sums);
    /* Sums over the observations of a pair that both have, of n scores (CPU_NO_SCORE: missing): of squares of x's
     * scores among these observations, of squares of y's, and of products. */
    void (*ranks)(const int16_t *x, const int16_t *y, int64_t n, const cpu_left_out *left_out, int64_t *sums);
    /* Weighs n values of two columns, scales both to unit length, and sums as gcor_double_dot() squares of x, of y, and
     * products. Overwrites the columns, and a vector behind the last value. */
    void (*biweights)(double *x, double *y, int64_t n, const cpu_biweight *of_x, const cpu_biweight *of_y,
                      double *sums);
    /* Compare 64 scores with 64 others; bit i of the result is for element i. */
    uint64_t (*are_greater)(const float *x, const float *y);
    uint64_t (*are_present)(const float *x, const float *y);
    /* Converts n counts below 2^51 in magnitude, with `plus` added, to doubles in place. */
    void (*convert)(int64_t *counts, int64_t plus, int64_t n);
    /* Convert n products to coefficients (coefficient.h), given the norms of the row's variable and of the columns'.
     * rounded_coefficients() writes them in single precision and also gets 1 / sqrt(norm), NaN without coefficients.
     * own_coefficients() gets two norms per pair. The others work in place. */
    void (*coefficients)(double *products, double norm, const double *other_norm, int64_t n);
    void (*rounded_coefficients)(const double *products, double norm, double inverse, const double *other_norm,
                                 const double *other_inverse, int64_t n, float *out);
    void (*own_coefficients)(double *products, const double *norm, const double *other_norm, int64_t n);
    /* Returns the sum over all pairs of n elements of min(a, a') min(b, b'). No number is negative, and b ascends.
     * Overwrites the CPU_MINIMA_LANES elements behind the last ones. */
    double (*minima)(double *a, double *b, int64_t n);
} cpu_kernels;
