/* Radix sorts: of the edges of compressed rows, strongest first, and of a row's edges by column. */
#ifndef GPUCOR_SORT_H
#define GPUCOR_SORT_H

#include "tile_edges.h"

/* Lists the edges of compressed rows. Row i has entries col[e] and r[e], start[i] <= e < start[i+1], by ascending col.
 * Writes `from` (col + 1), `to` (i + 1) and `value` (r), start[n_row] elements of each, the caller's: by descending |r|
 * with NaN last, then by `from`, then by `to`, or with rows_first by `to`, then by `from`. Uses context->threads
 * threads. Needs little memory, except 32 bytes per edge if many edges have nearly equal weights. Can be interrupted.
 */
gcor_status gcor_sort_edges(gcor_context *context, int64_t n_row, const int32_t *start, const int32_t *col,
                            const double *r, int rows_first, int32_t *from, int32_t *to, double *value);

/* Sorts a list by column. Edges of the same column are sorted by row in a short list, and stay in their order in a long
 * one. work: scratch for n edges. */
void gcor_sort_columns(gcor_edge *list, int64_t n, gcor_edge *work);

#endif
