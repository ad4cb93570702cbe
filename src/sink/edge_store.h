/* Edges in memory, in runs: one of 12 bytes an edge for each tile. */
#ifndef GPUCOR_EDGE_STORE_H
#define GPUCOR_EDGE_STORE_H

#include "edges.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The edges of a tile, or of some of its rows: those of row `row` + i are at start[i] .. start[i+1]-1,
 * by column. One piece of memory, which begins at r. */
typedef struct {
    gcor_tile tile;
    int64_t row, n_row; /* from the first to the last row that has any */
    int64_t n;
    double *r;
    int32_t *col, *start;
    int left; /* edge_rows.c: how many blocks of rows are still to be copied */
} gcor_edge_run;

typedef struct {
    gcor_edges edges; /* first: a store is its sink */
    int64_t most, count;
    gcor_edge_run *runs; /* in no order: whoever wants one sorts them */
    int64_t n_runs, room;
} gcor_store;

extern const gcor_sink_type gcor_store_type;

/* most: up to INT32_MAX; with more edges than these a run fails with GCOR_TOO_MANY. n_row: variables of y, or again of
 * x. *store is the caller's, to end with gcor_sink_free(); NULL after an error. */
gcor_status gcor_store_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_edge_rule rule,
                           int64_t most, gcor_store **store);

/* What follows uses context->threads threads and can be interrupted. */

/* How many pairs have a weight of at least `least`, those above the ceiling among them. */
gcor_status gcor_store_count(const gcor_store *store, gcor_context *context, double least, int64_t *count);

/* The k-th largest weight, k from 1: Inf if it is above the ceiling, 0 if there are fewer than k. */
gcor_status gcor_store_rank(const gcor_store *store, gcor_context *context, int64_t k, double *weight);

/* Compressed rows of all edges with a weight of at least `least`: row i's columns, ascending, at
 * start[i] .. start[i+1]-1. First the starts (n_row + 1), then col and r (start[n_row] each); all are the
 * caller's. gcor_store_rows() frees the store's runs as it goes: after it, only gcor_sink_free() may follow. */
gcor_status gcor_store_starts(gcor_store *store, gcor_context *context, double least, int64_t n_row, int32_t *start);
gcor_status gcor_store_rows(gcor_store *store, gcor_context *context, double least, int64_t n_row, const int32_t *start,
                            int32_t *col, double *r);

/* Some of a store's coefficients, for one thread at a time. */
typedef struct {
    const double *r;
    int64_t n;
} gcor_piece;

/* All of a store's coefficients; the caller's, to free with gcor_free(); NULL after an error. */
gcor_status gcor_store_pieces(const gcor_store *store, gcor_context *context, gcor_piece **pieces, int64_t *n);

#ifdef __cplusplus
}
#endif
#endif
