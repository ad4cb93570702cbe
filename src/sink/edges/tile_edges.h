/* Edges of the current tile: pairs of large weight, in a list per thread until the tile is done. Then a store (store.h)
 * or each variable's neighbours (neighbours.h) take them. */
#ifndef GPUCOR_TILE_EDGES_H
#define GPUCOR_TILE_EDGES_H

#include "../weight.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t row, col; /* 0-based, as in a tile */
    double r;
} gcor_edge;

/* A growing array. It fills a cache line, because every thread has one. */
typedef struct {
    gcor_edge *list;
    int64_t n, capacity;
    char fill[40];
} gcor_edge_list;

typedef struct gcor_edges {
    gcor_sink sink; /* first */
    gcor_edge_rule rule;
    int64_t above; /* number of pairs with a weight of at least the ceiling */
    /* (required) Consume the edges of a tile, in any order. `tile` may be some rows of the current tile; other calls
     * have the other rows. Called by the worker's thread only; may use context->threads threads; `list` is the
     * caller's. A back end that finds edges itself calls this function; for others gcor_edges_end() calls it. */
    gcor_status (*keep_tile)(struct gcor_edges *edges, gcor_context *context, const gcor_tile *tile,
                             const gcor_edge *list, int64_t n);
    int threads;           /* number of lists; 0 until the first begin_tile() */
    gcor_edge_list *lists; /* owned: the tile's edges by thread */
} gcor_edges;

/* take(), begin_tile(), end_tile() and min() of every type whose sink begins with gcor_edges and has `approximate`.
 */
gcor_status gcor_edges_take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment);
gcor_status gcor_edges_begin(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
gcor_status gcor_edges_end(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
double gcor_edges_min(const gcor_sink *sink);

enum { GCOR_SOME = 256 };

/* Finds the edges among at most GCOR_SOME elements of the segment from `from` on. Writes their indices, ascending, to k
 * and their exact coefficients to r; both have a capacity of GCOR_SOME. Returns the number of edges, and adds to *above
 * the number of pairs above the rule's ceiling. own: the min weight of the segment's row, if variables have their own.
 * Any thread. */
int64_t gcor_find_edges(const gcor_edge_rule *rule, const gcor_segment *segment, double own, int64_t from, int32_t *k,
                        double *r, int64_t *above);

/* For allocate() of such a type: no lists, and no pairs above the ceiling. */
void gcor_edges_clear(gcor_edges *edges);
/* Free the lists, any time after a run. May be called repeatedly. */
void gcor_edges_free(gcor_edges *edges);

/* Reserve capacity for n more edges in a thread's list, between begin_tile() and end_tile(). The caller writes the
 * edges and increases the list's n. Any thread. */
gcor_status gcor_edges_reserve(gcor_edges *edges, gcor_context *context, int thread, int64_t n, gcor_edge_list **list);

#ifdef __cplusplus
}
#endif
#endif
