/* Where columns come from: an R matrix in memory (matrix.c), or whatever can fill a block of columns. Behind these
 * functions nobody knows which. */
#ifndef GPUCOR_SOURCE_H
#define GPUCOR_SOURCE_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A source begins with this. It belongs to the caller of gcor_run() and does not change during it. */
struct gcor_source {
    int64_t n_obs, n_var;
    /* Whether any thread may read, several at once. Otherwise only the thread that called gcor_run() does (R's, where
     * reading asks R), and blocks of block_bytes are read ahead while the one before is prepared. */
    int any_thread;
    int64_t grain; /* blocks begin at multiples of this where that many columns are not too large: a file may have
                    * several in one piece; 0 or 1: anywhere */
    /* Columns first .. first+n-1 to out, n_obs doubles each; missing: any NaN. An error of its own is
     * GCOR_BAD_INPUT or GCOR_NO_MEMORY by gcor_fail(). */
    gcor_status (*read)(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out);
};

/* Gathered columns, one at a time: column j's columns->n_obs values in x, which may be changed (missing as one quiet
 * NaN, -0 as +0), and GCOR_MISSING and GCOR_INFINITE as found. Called by several threads, each with its own
 * number below context->threads. */
typedef void (*gcor_column_work)(void *user, int thread, int64_t j, double *x, int flags);

/* Do the work for columns first .. first+n-1, in no order, by context->threads threads. */
gcor_status gcor_for_columns(gcor_context *context, const gcor_columns *columns, int64_t first, int64_t n,
                             gcor_column_work work, void *user);

/* ---- the source in memory -------------------------------------------------------- */

typedef enum { GCOR_DOUBLES, GCOR_INTEGERS, GCOR_SPARSE } gcor_storage;

/* A matrix read in place: value of observation k of variable j at
 * values[k * obs_stride + j * var_stride]; a sparse one in compressed columns, row numbers
 * ascending. Borrowed: the caller keeps it alive and unchanged. Integers: INT_MIN is missing;
 * doubles: any NaN is. */
typedef struct {
    gcor_source source; /* first; made by gcor_matrix_source() */
    gcor_storage storage;
    const void *values; /* double or int32_t; sparse: the doubles of the non-zero entries */
    int64_t obs_stride, var_stride;
    const int32_t *sparse_row;   /* row of each entry */
    const int32_t *sparse_start; /* n_var + 1 starts of columns */
} gcor_matrix;

/* What every matrix's source begins with. */
gcor_source gcor_matrix_source(int64_t n_obs, int64_t n_var);

#ifdef __cplusplus
}
#endif
#endif
