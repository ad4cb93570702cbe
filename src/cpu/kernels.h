/* The innermost loops, once for each instruction set. What they compute is the same to the last bit, but for
 * floats(): products of two floats are exact in double, and counts are whole numbers.
 *
 * Operands come in slivers of CPU_SLIVER_BYTES: so many variables side by side, element k of variable v at
 * [k * width + v], width = CPU_SLIVER_BYTES / sizeof(element). A kernel multiplies CPU_KERNEL_ROWS variables of
 * one sliver with all of another. The sum of row r and column c is at sums[r * CPU_BLOCK_COLS + c]; it is
 * set, or with `add` added to. Panels and sums are aligned to CPU_ALIGNMENT. */
#ifndef GPUCOR_CPU_KERNELS_H
#define GPUCOR_CPU_KERNELS_H

#include <stdint.h>

enum { CPU_SLIVER_BYTES = 128, CPU_KERNEL_ROWS = 8, CPU_ALIGNMENT = 64, CPU_PADDING = 8 };

/* A tile is worked on in blocks, one per thread at a time: a block's sums (128 KB) and a part of its variables
 * stay in the second-level cache. */
enum { CPU_BLOCK_ROWS = 64, CPU_BLOCK_COLS = 256, CPU_BLOCK_PAIRS = CPU_BLOCK_ROWS * CPU_BLOCK_COLS };

/* Products of adjacencies are summed in single precision slice by slice, slices run by run, and runs in double. Of
 * numbers that are all the same, whose roundings go one way, a sum is off by 12 2^-24, 7e-7 of it, at most. */
enum { CPU_OVERLAP_SLICE = 16, CPU_OVERLAP_RUN = 256 };

/* Panels of sign bits, 64 pairs of observations to a word. Those not needed are NULL. */
typedef struct {
    uint64_t *greater; /* x[k] > x[q] */
    uint64_t *untied;  /* x[k] != x[q], both there */
    uint64_t *present; /* both there */
} cpu_planes;

/* What is known of a tile's variables, and so which planes they need. */
typedef enum {
    CPU_UNTIED, /* no ties: greater */
    CPU_TIED,   /* untied, too */
    CPU_COMMON, /* present, too: values are missing */
    CPU_SIGN_MODES
} cpu_sign_mode;

typedef void (*cpu_sign_sums)(const cpu_planes *rows, const cpu_planes *cols, int64_t words, int add, int64_t *sums);
/* score: a column's n_obs scores (NaN: missing) twice, and room for 64 more. Writes bits first .. first+bits-1
 * of the order of coefficient.h to words a sliver's width apart. */
typedef void (*cpu_sign_open)(const float *score, int64_t n_obs, int64_t first, int64_t bits, const cpu_planes *planes);

typedef struct cpu_kernels {
    const char *name;
    double ns_word, ns_open; /* nanoseconds: a word of one pair's signs without ties; a word of a variable's plane */
    /* Dot products over n elements. */
    void (*floats)(const float *rows, const float *cols, int64_t n, int add, float *sums);
    void (*doubles)(const double *rows, const double *cols, int64_t n, int add, double *sums);
    /* The same of floats, GCOR_OBS_SLICE products at a time in single precision (coefficient.h). */
    void (*slices)(const float *rows, const float *cols, int64_t n, int add, double *sums);
    /* The same in slices and runs of them; rows: of CPU_KERNEL_ROWS variables alone, side by side. */
    void (*overlaps)(const float *rows, const float *cols, int64_t n, int add, double *sums);
    /* The same of doubles with each product and sum rounded together, on every machine: products of these round. */
    void (*fused)(const double *rows, const double *cols, int64_t n, int add, double *sums);
    /* gcor_dot(), to the last bit, of x and of the columns which[0 .. count-1] of those that are `stride` floats apart.
     * All have n of them, a multiple of CPU_PADDING: zeros fill up what there is not. */
    void (*dots)(const float *x, const float *columns, int64_t stride, const int32_t *which, int64_t count, int64_t n,
                 double *out);
    /* The same sums as slices() has them. */
    void (*slice_dots)(const float *x, const float *columns, int64_t stride, const int32_t *which, int64_t count,
                       int64_t n, double *out);
    /* Sums of products of signs; of CPU_UNTIED, less the number of pairs of observations. CPU_COMMON: also,
     * CPU_BLOCK_PAIRS further on, how many pairs that both have are untied in the row's variable, and as much
     * further on, in the column's. */
    cpu_sign_sums signs[CPU_SIGN_MODES];
    cpu_sign_open open[CPU_SIGN_MODES];
    /* How many bits are in both, of each of n_a sets of a and n_b of b, of `words` words one after the other (whole
     * vectors): to table[i * stride + k]. */
    void (*levels)(const uint64_t *a, int n_a, const uint64_t *b, int n_b, int64_t words, int64_t *table,
                   int64_t stride);
    /* Of 64 scores and 64 others, as bits. */
    uint64_t (*are_greater)(const float *x, const float *y);
    uint64_t (*are_present)(const float *x, const float *y);
    /* n counts below 2^51, and `plus` added to them, become doubles, in their place. */
    void (*convert)(int64_t *counts, int64_t plus, int64_t n);
    /* n products become coefficients (coefficient.h), in their place, by the norms of the row's variable and the
     * columns', also rounded to single precision in another, with one over their roots (NaN for none); or by norms that
     * both variables have for each pair. */
    void (*coefficients)(double *products, double norm, const double *other_norm, int64_t n);
    void (*rounded_coefficients)(const double *products, double norm, double inverse, const double *other_norm,
                                 const double *other_inverse, int64_t n, float *out);
    void (*own_coefficients)(double *products, const double *norm, const double *other_norm, int64_t n);
} cpu_kernels;

/* Those of the machine's best instruction set, or where the environment variable GPUCOR_CPU names another that
 * the machine has, of that. Any thread. */
const cpu_kernels *cpu_best_kernels(void); /* NULL: it has no such set */
/* Number `set` of those that the machine has, the best first; NULL after the last. */
const cpu_kernels *cpu_kernel_set(int set);
/* All of their names, the best first, in quotes. */
const char *cpu_kernel_names(void);

#endif
