/* A store's inside, for the files that make something of its edges. */
#ifndef GPUCOR_STORE_H
#define GPUCOR_STORE_H

#include "sinks.h"

/* The edges of a tile, or of some of its rows: those of row `row` + i are at start[i] .. start[i+1]-1,
 * by column. One piece of memory, which begins at r. */
typedef struct {
    gcor_tile tile;
    int64_t row, n_row; /* from the first to the last row that has any */
    int64_t n;
    double *r;
    int32_t *col, *start;
    int left; /* rows.c: how many blocks of rows are still to be copied */
} gcor_edge_run;

struct gcor_store {
    gcor_edges edges; /* first: a store is its sink */
    int64_t most, count;
    gcor_edge_run *runs;
    int64_t n_runs, room;
};

/* Some of a store's coefficients, for one thread at a time. */
typedef struct {
    const double *r;
    int64_t n;
} gcor_piece;

/* All of a store's coefficients; the caller's, to free with gcor_free(). NULL after an error. */
gcor_piece *gcor_store_pieces(const gcor_store *store, gcor_context *context, int64_t *n);

#endif
