/* Radix sorts: the edges of compressed rows as a list, strongest first, and a row's edges by column. */
#ifndef GPUCOR_EDGE_SORT_H
#define GPUCOR_EDGE_SORT_H

#include "edges.h"

/* Row i's entries are col[e] and r[e], start[i] <= e < start[i+1], by ascending col. To from (col + 1), to (i + 1) and
 * value: by falling |r|, NaN last, and of equal ones by from, then by to; start[n_row] of each, the caller's. Uses
 * context->threads threads, little memory but where so many edges are of nearly the same weight, 32 bytes for each of
 * these, and can be interrupted. */
gcor_status gcor_sort_edges(gcor_context *context, int64_t n_row, const int32_t *start, const int32_t *col,
                            const double *r, int32_t *from, int32_t *to, double *value);

/* A list by column; edges of the same column by row, or in their order if there are many. work: room for n. */
void gcor_sort_columns(gcor_edge *list, int64_t n, gcor_edge *work);

#endif
