/* The k strongest neighbours of every variable. Of equal weights, the variable with the smaller index is stronger. */
#pragma once

#include "edges/store.h"

GCOR_BEGIN_C

typedef struct {
    int32_t other;
    double r;
} gcor_neighbour;

/* Variables of one side. The neighbours of variable j are a heap at heap[j * stride], with the weakest on top. min[j]:
 * the weight of the weakest neighbour, or 0 while there are fewer than k. */
typedef struct {
    int64_t n_var;
    gcor_neighbour *heap;
    int64_t *count;
    double *min;
} gcor_heaps;

typedef struct {
    gcor_edges edges;      /* first; contains the sink */
    int64_t k, stride;     /* equal until gcor_neighbours_cut() */
    gcor_heaps cols, rows; /* rows: variables of y, for GCOR_FULL */
} gcor_neighbours;

/* Creates a sink for the neighbours of each variable of x (n_col) and, with GCOR_FULL, of y (n_row). *neighbours is the
 * caller's, to free with gcor_sink_free(); NULL after an error. */
gcor_status gcor_neighbours_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_side side,
                                int64_t k, gcor_neighbours **neighbours);

/* Keep only the k strongest neighbours of each variable. Call after the run; merge() is not allowed afterwards. */
void gcor_neighbours_cut(gcor_neighbours *neighbours, int64_t k);

/* Insert n neighbours: list[e].col and r are a neighbour of variable list[e].row, where number n_col + i is row i of a
 * rectangle. The neighbours of a variable are adjacent. For a back end that finds the strongest ones itself. */
void gcor_neighbours_add(gcor_neighbours *neighbours, gcor_context *context, const gcor_edge *list, int64_t n);

/* Write to an empty store the edges that either variable, or with `mutual` both variables, have among their neighbours.
 * */
gcor_status gcor_neighbours_store(const gcor_neighbours *neighbours, gcor_context *context, int mutual,
                                  gcor_store *store);

GCOR_END_C
