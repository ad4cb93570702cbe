/* Sources of columns: an R matrix in memory (matrix.c), a raw file, or anything that can fill a block of columns. The
 * rest of the engine does not know which. */
#pragma once

#include "../base/triangle.h"

#include <pthread.h>

GCOR_BEGIN_C

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

/* A matrix of columns, read in place; a sparse one has compressed columns with ascending row indices. Borrowed: the
 * caller keeps it alive and unchanged. Missing values: INT_MIN for integers, any NaN for doubles. */
typedef struct {
    gcor_source source; /* must be first; made by gcor_matrix_source() */
    gcor_storage storage;
    const void *values;          /* double or int32_t; sparse: the doubles of the stored entries */
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

/* ---- sources over another source ---------------------------------------------------------------- */

/* They borrow it, read it, and change the columns' order or values. Borrowed vectors must outlive the source, too. */

/* The columns of `of` in another order: column j is of's column number[j]; NULL: its column j. If number is not NULL,
 * any thread must be allowed to read `of`. */
typedef struct {
    gcor_source source; /* first */
    gcor_source *of;
    const int32_t *number;
} gcor_picked;

gcor_picked gcor_picked_source(gcor_source *of, const int32_t *number);

/* Some variables and some observations of a matrix of doubles or integers. */
typedef struct {
    gcor_source source; /* first */
    const gcor_matrix *of;
    int64_t first_var;
    int64_t first_obs;       /* the first of n_obs consecutive observations ... */
    const int32_t *observed; /* ... or, unless NULL, the numbers of n_obs observations */
} gcor_slice;

/* Variables first_var .. first_var+n_var-1 and n_obs observations, as above. */
gcor_slice gcor_slice_source(const gcor_matrix *of, int64_t first_var, int64_t n_var, int64_t first_obs, int64_t n_obs,
                             const int32_t *observed);

/* ---- raw files (raw_file.c) --------------------------------------------------------------------- */

/* Columns of values, one after the other, observation by observation. They are read on demand by pread(): a file that
 * is truncated meanwhile causes an error, whereas a mapped file would crash the process. */

/* Little-endian. Missing values: INT_MIN for integers, any NaN for the others. */
typedef enum { GCOR_FILE_DOUBLE, GCOR_FILE_FLOAT, GCOR_FILE_INTEGER } gcor_file_type;

/* The expected layout: `offset` ignored bytes, then n_obs x n_var values up to the end of the file. */
typedef struct {
    int64_t offset, n_obs, n_var;
    gcor_file_type type;
} gcor_file_shape;

typedef struct gcor_raw_file gcor_raw_file;

/* Opens a file for reading. *file is the caller's, to close with gcor_raw_close(); NULL after an error. A path that
 * is no regular file, cannot be read or has another size is GCOR_BAD_FILE. */
gcor_status gcor_raw_open(gcor_context *context, const char *path, const gcor_file_shape *shape, gcor_raw_file **file);
/* GCOR_BAD_FILE if the file's size has changed. */
gcor_status gcor_raw_check(gcor_context *context, const gcor_raw_file *file);
void gcor_raw_close(gcor_raw_file *file); /* NULL is allowed */

const gcor_file_shape *gcor_raw_shape(const gcor_raw_file *file);
/* Reads columns first .. first+n-1 in the file's type, n_obs values each. Any thread. GCOR_BAD_FILE if the file was
 * truncated or cannot be read. */
gcor_status gcor_raw_columns(gcor_context *context, const gcor_raw_file *file, int64_t first, int64_t n, void *out);

/* The source of a file; the file stays the caller's. Any thread may read. */
typedef struct {
    gcor_source source; /* must be first */
    const gcor_raw_file *file;
} gcor_raw_source;
gcor_raw_source gcor_raw_source_of(const gcor_raw_file *file);

/* ---- the queue of requests (columns.c) ---------------------------------------------------------- */

/* For a source that only the run's owner may read: a worker's thread places a request, and the owner serves it while
 * it waits for the workers (engine/devices.c). */

typedef struct {
    gcor_source *source;
    gcor_context *context; /* of the thread that asks */
    int64_t first, n;
    double *out;
    gcor_status *status; /* set when the request is served */
} gcor_read_request;

/* At most one request at a time. mutex and changed are the workers', borrowed; the mutex protects everything else. */
typedef struct gcor_read_queue {
    pthread_mutex_t *mutex;
    pthread_cond_t *changed; /* signaled when a request is placed, and when it is served */
    int is_requested;
    gcor_read_request request;
} gcor_read_queue;

/* Reads columns first .. first + n - 1 to out, n_obs doubles each: at once if this thread may, otherwise through the
 * monitor's read queue. Returns the source's status, or the context's after an interrupt. Any thread. */
gcor_status gcor_read(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out);

/* Serves the request, without the mutex while it reads. The owner's thread, which holds the mutex; is_requested is
 * set. */
void gcor_read_queue_serve(gcor_read_queue *queue);

/* ---- the observations in use, by their weights and the rule `use` (observations.c) ----------------------------- */

typedef struct {
    int32_t
        *observed; /* indices of the observations in use, ascending; NULL: all. The caller frees it with gcor_free() */
    int64_t n_obs; /* number of observations in use */
    int common;    /* non-zero: each pair uses its pairwise-complete observations */
} gcor_observations;

/* Searches x and y for missing values as far as `use` requires. After an error there is nothing to free.
 * GCOR_BAD_INPUT has the message of stats::cor. */
gcor_status gcor_observations_of(gcor_context *context, const gcor_job *job, gcor_observations *observations);

/* ---- permutations of the observations of columns, for a null distribution ------------------------------------ */

/* Selects a permutation. Runs of the same `series` differ in nothing else, so that a back end can keep columns that it
 * prepared before. */
struct gcor_shuffle {
    uint64_t series;         /* unique in the process, at least 1 */
    uint64_t seed, number;   /* select the permutation */
    int jointly;             /* non-zero: one for all variables; 0: each has its own */
    const int32_t *variable; /* a run's variable j is number variable[j] for the permutation; NULL: number j */
};

/* A step of splitmix64 (Steele, Lea and Flood 2014): each seed begins a different sequence. */
GCOR_INLINE uint64_t gcor_next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Returns the state from which the sequence of the run's variable j begins. */
GCOR_INLINE uint64_t gcor_shuffle_state(const gcor_shuffle *shuffle, int64_t j) {
    uint64_t variable = shuffle->jointly ? 0 : (uint64_t)(shuffle->variable ? shuffle->variable[j] : j);
    uint64_t state = shuffle->seed;
    state = gcor_next_random(&state) ^ shuffle->number;
    state = gcor_next_random(&state) ^ variable;
    return gcor_next_random(&state);
}

/* Returns the index, from 0 to k, of the value that a Fisher-Yates shuffle swaps with value k, for k from n-1 to 1. */
GCOR_INLINE int64_t gcor_shuffle_step(uint64_t *state, int64_t k) {
    return (int64_t)((double)(gcor_next_random(state) >> 11) * 0x1p-53 * (double)(k + 1));
}

/* Permutes the n values of the run's variable j, doubles or floats, which are `step` values apart; the other pointer is
 * NULL. Any thread. */
GCOR_INLINE void gcor_shuffle_values(const gcor_shuffle *shuffle, int64_t j, double *doubles, float *floats, int64_t n,
                                     int64_t step) {
    uint64_t state = gcor_shuffle_state(shuffle, j);
    for (int64_t k = n - 1; k > 0; k--) {
        const int64_t own = k * step, other = gcor_shuffle_step(&state, k) * step;
        if (doubles) {
            double value = doubles[own];
            doubles[own] = doubles[other];
            doubles[other] = value;
        } else {
            float value = floats[own];
            floats[own] = floats[other];
            floats[other] = value;
        }
    }
}

GCOR_END_C
