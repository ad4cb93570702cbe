/* The sink that keeps every coefficient. */
#pragma once

#include "../gpucor.h"
#include "../measure/compact.h"

GCOR_BEGIN_C

typedef enum {
    GCOR_TRIANGLE_ROWS,    /* n(n-1)/2 values, pairs 1-2, 1-3, ..., 2-3, ... */
    GCOR_TRIANGLE_COLUMNS, /* n(n-1)/2 values, pairs 1-2, 1-3, 2-3, 1-4, ... */
    GCOR_SQUARE,           /* n x n column by column, both halves; the diagonal is not written */
    GCOR_RECTANGLE         /* n_var(x) x n_var(y), column by column */
} gcor_layout;

typedef struct gcor_dense_square gcor_dense_square;

typedef struct {
    gcor_sink sink; /* first */
    gcor_layout layout;
    double *out;                /* for a shard the sink's, otherwise the caller's; shared by forks */
    double missing;             /* written where there is no coefficient, except for NaN, which stays */
    int64_t zero_sd;            /* number of pairs with a constant variable */
    gcor_dense_square *squares; /* a shard's squares, in the order of the file; NULL: `out` has all pairs */
    int64_t n_squares;
    int is_owner; /* non-zero: frees `out` and `squares` */
} gcor_dense;

/* Creates a sink that writes to `out`, an array of `values` doubles, and advises the system to use huge pages for it.
 * n_row: the number of variables of y, or again of x. *dense is the caller's, to free with gcor_sink_free(), which does
 * not free `out`; NULL after an error. */
gcor_status gcor_dense_new(gcor_context *context, gcor_layout layout, int64_t n_row, int64_t n_col, double *out,
                           int64_t values, double missing, gcor_dense **dense);

/* Creates a sink for a run of that shard only, with memory for its pairs. After gcor_sink_save(), a sink of all pairs
 * with the same layout can load the file. */
gcor_status gcor_dense_shard_new(gcor_context *context, gcor_layout layout, int64_t n_row, int64_t n_col,
                                 const gcor_shard *shard, double missing, gcor_dense **dense);

/* Copies the lower triangle of an n x n matrix to the upper one. Can be interrupted. */
gcor_status gcor_mirror(gcor_context *context, double *matrix, int64_t n);

/* ---- in 4 bytes (compact.c) --------------------------------------------------------------------- */

/* The sink that keeps every coefficient in 4 bytes (measure/compact.h). */

typedef struct {
    gcor_sink sink; /* first */
    const gcor_compact *to;
    int64_t begun;   /* pages of to->values that are prefaulted, or about to be; INT64_MAX: all */
    int64_t *shared; /* `begun` of the first sink, whose forks share the work */
} gcor_compact_sink;

/* Creates a sink that writes to to->values all pairs of to->n_var variables; to->norm is the job's x_norm. `to` stays
 * the caller's. *sink is the caller's, to free with gcor_sink_free(); NULL after an error. The sink cannot be saved. */
gcor_status gcor_compact_sink_new(gcor_context *context, const gcor_compact *to, gcor_sink **sink);

/* Takes all values of a tile, in the sink's form, row by row without gaps. Uses context->threads threads. */
void gcor_compact_take_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile, const void *values);

GCOR_END_C
