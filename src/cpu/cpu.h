/* The CPU back end: what its files share. OpenMP over columns and over blocks of a tile. */
#ifndef GPUCOR_CPU_H
#define GPUCOR_CPU_H

#include "../core/gpucor.h"

/* A tile is worked on in blocks, one per thread at a time: a block's products (64 KB of floats,
 * 128 KB of doubles) and the slices of its columns stay in the second-level cache. */
enum { CPU_BLOCK_ROWS = 64, CPU_BLOCK_COLS = 256 };

struct gcor_state {
    gcor_context *context;
    gcor_sink *sink;
    void *work; /* scratch of multiply(), kept between tiles */
    size_t work_bytes;
    int blas_threads; /* what to give back to the BLAS */
};

/* n_obs values per variable, by kind; the rest are NULL. `columns` holds n_padded variables, the
 * added ones zero, so that every block is a whole one. */
typedef struct {
    gcor_operand head;
    int64_t n_padded;
    float *columns;        /* REAL: scaled values or scores; SIGN, SIGN_COMMON: scores (NaN: missing) */
    float *scale;          /* REAL: one over a column's length; NaN where it has no coefficients */
    double *values;        /* REAL_COMMON: scaled values, NaN: missing */
    int32_t *order;        /* RANK_COMMON: the rows of the values present, ascending by value */
    int32_t *begin, *end;  /* RANK_COMMON: the value's run of ties in that order, -1: missing */
    int64_t *n_present;    /* RANK_COMMON: per variable */
} cpu_operand;

/* prepare.c */
gcor_status cpu_prepare(gcor_state *state, const gcor_columns *columns, gcor_method method, gcor_kind kind,
                        int64_t first, int64_t n_var, gcor_operand **operand);
void cpu_release(gcor_state *state, gcor_operand *operand);
int64_t cpu_column_bytes(const gcor_state *state, gcor_kind kind, int64_t n_obs);

/* rank.c. Sort the n values of x that are not NaN: their rows into order[0 ..], and for each
 * row its run of ties in begin[row] .. end[row] - 1, -1 where x is NaN. entries: scratch of n.
 * Returns how many there are; *tied: how many pairs of them are ties. */
typedef struct {
    double value;
    int32_t row;
} cpu_entry;
int64_t cpu_rank(const double *x, int64_t n, cpu_entry *entries, int32_t *order, int32_t *begin, int32_t *end,
                 int64_t *tied);

/* block.c. Scratch for multiply(), 64-byte aligned, contents undefined; NULL after an error. */
void *cpu_work(gcor_state *state, int64_t count, size_t size);

/* One for each kind of operand; real.c, sign.c, common.c. */
gcor_status cpu_multiply_real(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                              const gcor_tile *tile);
gcor_status cpu_multiply_sign(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                              const gcor_tile *tile);
gcor_status cpu_multiply_common(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                                const gcor_tile *tile);

/* The tile's block number b, from 0; cpu_blocks() of them, some without a pair that counts. */
int64_t cpu_blocks(const gcor_tile *tile);
gcor_tile cpu_block(const gcor_tile *tile, int64_t b);

/* Pass the `n` exact coefficients from (row, col) on; at most CPU_BLOCK_COLS. */
void cpu_deliver(gcor_state *state, int thread, int64_t row, int64_t col, int64_t n, const double *values);

/* blas.c. product = A' B over n_obs observations, in single precision. a: n_obs x n_col, b:
 * n_obs x n_row, both with columns ld_obs apart; product: n_row rows of n_col. */
void cpu_product(const float *a, const float *b, int64_t n_obs, int64_t ld_obs, int n_col, int n_row,
                 float *product);
/* The name of the library in use, and its number of threads: set to `threads`, returns the
 * number before, 0 if the library has no such setting. */
const char *cpu_blas_name(void);
int cpu_blas_threads(int threads);

/* The instruction set that popcounts use, for reports. */
const char *cpu_sign_kernel(void);

#endif
