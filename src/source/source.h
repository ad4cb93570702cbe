/* Sources of columns: an R matrix in memory (matrix.c), or anything that can fill a block of columns. The rest of
 * the engine does not know which. */
#ifndef GPUCOR_SOURCE_H
#define GPUCOR_SOURCE_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A source begins with this. It belongs to the caller of gcor_run() and does not change during the run. */
struct gcor_source {
    int64_t n_obs, n_var;
    /* Non-zero if any thread may read, several at once. Otherwise only the thread that called gcor_run() reads (R's, if
     * reading calls R), and the next block is read while the previous block is prepared. */
    int any_thread;
    int64_t grain; /* blocks begin at multiples of this, if that many columns are not too large: a file may store
                      several columns as one chunk; 0 or 1: anywhere */
    /* Reads columns first .. first+n-1 into out, n_obs doubles each; missing values: any NaN. On failure reports
     * GCOR_BAD_INPUT or GCOR_NO_MEMORY by gcor_fail(). */
    gcor_status (*read)(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out);
};

/* Called for each gathered column j. x: its columns->n_obs values, which may be overwritten (missing values are one
 * quiet NaN, -0 is +0); flags: GCOR_MISSING and GCOR_INFINITE as found. Called by several threads, each with its own
 * number below context->threads. */
typedef void (*gcor_column_work)(void *user, int thread, int64_t j, double *x, int flags);

/* Calls work for columns first .. first+n-1, in any order, on context->threads threads. */
gcor_status gcor_for_columns(gcor_context *context, const gcor_columns *columns, int64_t first, int64_t n,
                             gcor_column_work work, void *user);

/* Called after the work for columns first .. first+n-1, at most GCOR_TOGETHER, by the same thread. x: the values of all
 * of them, `stride` apart, as the work has left them. */
enum { GCOR_TOGETHER = 8 };
typedef void (*gcor_columns_work)(void *user, int thread, int64_t first, int64_t n, double *x, int64_t stride);

/* gcor_for_columns(), which also calls together() for groups of columns. */
gcor_status gcor_for_columns_together(gcor_context *context, const gcor_columns *columns, int64_t first, int64_t n,
                                      gcor_column_work work, gcor_columns_work together, void *user);

/* ---- the source in memory -------------------------------------------------------- */

typedef enum { GCOR_DOUBLES, GCOR_INTEGERS, GCOR_SPARSE } gcor_storage;

/* A matrix read in place: observation k of variable j is values[k * obs_stride + j * var_stride]; a sparse matrix
 * has compressed columns with ascending row indices. Borrowed: the caller keeps it alive and unchanged. Missing
 * values: INT_MIN for integers, any NaN for doubles. */
typedef struct {
    gcor_source source; /* must be first; made by gcor_matrix_source() */
    gcor_storage storage;
    const void *values; /* double or int32_t; sparse: the doubles of the stored entries */
    int64_t obs_stride, var_stride;
    const int32_t *sparse_row;   /* row of each entry */
    const int32_t *sparse_start; /* n_var + 1 starts of columns */
} gcor_matrix;

/* The fraction of stored entries up to which the products of entries are computed. Columns with more are as fast as
 * dense columns on a GPU; signs with more, if they have few levels, as dense columns on the processor. */
#define GCOR_MAX_SPARSE 0.05
#define GCOR_MAX_SPARSE_SIGNS 0.3
/* Returns the matrix that `source` reads, if it is sparse and has at most that fraction of entries; otherwise NULL. */
const gcor_matrix *gcor_sparse_of(const gcor_source *source, double max);

/* Returns the source member of a matrix. */
gcor_source gcor_matrix_source(int64_t n_obs, int64_t n_var);

#ifdef __cplusplus
}
#endif
#endif
