/* Edges in flight: the pairs of large weight, as a list of each thread's (edges.c) until their tile is done, and then
 * for whoever keeps them: a store (store.h) or each variable's neighbours (neighbours.h). */
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

/* A growing array, alone in its cache line, as every thread has one. */
typedef struct {
    gcor_edge *list;
    int64_t n, capacity;
    char fill[40];
} gcor_edge_list;

typedef struct gcor_edges {
    gcor_sink sink; /* first */
    gcor_edge_rule rule;
    int64_t above; /* pairs with a weight from the ceiling on */
    /* Take edges of a tile, in any order; `tile` may be some rows of a tile of the tile loop, whose other edges follow.
     * Called by the worker's thread only; may use context->threads threads; `list` is the caller's. A back end that
     * has a tile's edges in a list calls it; from others they come through the sink's begin_tile(), take() and
     * end_tile(). */
    gcor_status (*keep_tile)(struct gcor_edges *edges, gcor_context *context, const gcor_tile *tile,
                             const gcor_edge *list, int64_t n);
    int threads;           /* lists; 0 until the first begin_tile() */
    gcor_edge_list *lists; /* owned: the tile's edges by thread */
} gcor_edges;

/* take(), begin_tile(), end_tile() and min() of every type whose sink begins with gcor_edges and has `approximate`.
 */
gcor_status gcor_edges_take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment);
gcor_status gcor_edges_begin(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
gcor_status gcor_edges_end(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
double gcor_edges_min(const gcor_sink *sink);

enum { GCOR_SOME = 256 };

/* Finds the edges among at most GCOR_SOME elements of the segment from `from` on: their numbers, ascending, to k and
 * their exact coefficients to r, each with room for GCOR_SOME. Returns how many there are, and adds to *above how many
 * pairs are above the rule's ceiling. own: the min weight of the segment's row, where variables have their own. Any
 * thread. */
int64_t gcor_find_edges(const gcor_edge_rule *rule, const gcor_segment *segment, double own, int64_t from, int32_t *k,
                        double *r, int64_t *above);

/* Free the lists, as soon as a run is over or any time later, once or more often. */
void gcor_edges_free(gcor_edges *edges);

/* Between begin_tile() and end_tile(): room for n more edges in a thread's list; it is for the caller to
 * write them and to raise the list's n. Any thread. */
gcor_status gcor_edges_reserve(gcor_edges *edges, gcor_context *context, int thread, int64_t n, gcor_edge_list **list);

#ifdef __cplusplus
}
#endif
#endif
