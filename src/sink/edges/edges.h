/* The pairs of large weight. What sinks that keep edges have in common: an edge goes from take() to a list of the
 * thread's (edges.c), and when the tile is done, in order, to whoever keeps edges (edge_list.c): a store
 * (edge_store.h) or each variable's neighbours (neighbours.h). */
#ifndef GPUCOR_EDGES_H
#define GPUCOR_EDGES_H

#include "../weight.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t row, col; /* 0-based, as in a tile */
    double r;
} gcor_edge;

/* A growing array, alone in its line of the cache, as every thread has one. */
typedef struct {
    gcor_edge *list;
    int64_t n, capacity;
    char fill[40];
} gcor_edge_list;

typedef struct gcor_edges {
    gcor_sink sink; /* first */
    gcor_edge_rule rule;
    int64_t above; /* pairs with a weight from the ceiling on */
    /* Take all edges of a tile, ordered by row, then by column; `tile` may be some of the rows of a tile
     * of the tile loop, then the rest follow. Called by the worker's thread only; may use
     * context->threads threads; `list` is the caller's. A back end that has a tile's edges in order calls
     * it; from others they come through the sink's begin_tile(), take() and end_tile(). */
    gcor_status (*keep_tile)(struct gcor_edges *edges, gcor_context *context, const gcor_tile *tile,
                             const gcor_edge *list, int64_t n);
    /* What take() collects with; owned, NULL and 0 until the first begin_tile(). */
    int threads;
    gcor_edge_list *loose; /* one for each of the threads: the tile's edges, in no order */
    gcor_edge_list ordered;
    int64_t *next, next_capacity; /* threads x rows of the tile: where a thread's next edge of a row goes */
} gcor_edges;

/* take(), begin_tile(), end_tile() and min() of every type whose sink begins with gcor_edges; their approximate is
 * 1. */
gcor_status gcor_edges_take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment);
gcor_status gcor_edges_begin(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
gcor_status gcor_edges_end(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
double gcor_edges_min(const gcor_sink *sink);

enum { GCOR_SOME = 256 };

/* The edges among GCOR_SOME elements, or all there are, of the segment from `from` on: which they are, ascending, and
 * their exact coefficients; room for GCOR_SOME of both. Returns how many; *above is raised by those above the rule's
 * ceiling. own: the least weight of the segment's row, where variables have their own. Any thread. */
int64_t gcor_find_edges(const gcor_edge_rule *rule, const gcor_segment *segment, double own, int64_t from, int32_t *k,
                        double *r, int64_t *above);

/* Free what was collected with, as soon as a run is over or any time later, once or more often. */
void gcor_edges_free(gcor_edges *edges);

/* Between begin_tile() and end_tile(): room for n more edges in a thread's list; it is for the caller to
 * write them and to raise the list's n. Any thread. */
gcor_status gcor_edges_reserve(gcor_edges *edges, gcor_context *context, int thread, int64_t n, gcor_edge_list **list);

#ifdef __cplusplus
}
#endif
#endif
