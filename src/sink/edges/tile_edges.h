/* Edges of the current tile: pairs of large weight, in a list per thread until the tile is done. Then a store (store.h)
 * or each variable's neighbours (neighbours.h) take them. */
#pragma once

#include "../weight.h"

GCOR_BEGIN_C

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

/* ---- degrees and strengths ---------------------------------------------------------------------- */

/* Degrees and strengths: the number of edges of each variable, and the sum of their weights. Edges arrive tile by tile,
 * in any order and from any thread. Each thread has sums for the tile's rows and columns, which are added up after the
 * tile. Sums are fixed-point numbers (weight.h), so that the order does not matter. With several thresholds, an edge
 * counts for the highest level that it reaches. */

typedef struct {
    gcor_int128 strength;
    int64_t degree;
} gcor_edge_sum;

typedef struct {
    int64_t *degree;       /* an array of n_var numbers per level, the caller's */
    gcor_int128 *strength; /* an array of n_var sums per level, the caller's */
    int64_t first_row; /* index of the first row in degree and strength; 0 if rows and columns are the same variables */
    int n_level;       /* number of thresholds; 0 or 1: a single one, which all edges reach */
    const double *level; /* the thresholds, ascending; read only if n_level > 1 */
    int64_t n_var;       /* length of a level's array; read only if n_level > 1 */
    gcor_tile at;
    int threads;
    gcor_edge_sum *partial; /* threads x (rows, then columns of the tile) x levels; all 0 between tiles */
    int64_t capacity;
} gcor_edge_sums;

static inline int64_t gcor_edge_levels(const gcor_edge_sums *sums) {
    return sums->n_level > 1 ? sums->n_level : 1;
}

/* Returns the highest level that a weight reaches. The weight must reach the lowest. */
static inline int gcor_edge_level(const gcor_edge_sums *sums, double weight) {
    int level = 0;
    while (level + 1 < sums->n_level && weight >= sums->level[level + 1]) level++;
    return level;
}

/* Call before a tile's edges, which `threads` threads will add. */
gcor_status gcor_edge_sums_begin(gcor_edge_sums *sums, gcor_context *context, const gcor_tile *tile, int threads);
/* Call after a tile's edges. */
void gcor_edge_sums_end(gcor_edge_sums *sums, gcor_context *context);
void gcor_edge_sums_free(gcor_edge_sums *sums);

/* Add an edge of the tile, by thread `thread`. */
static inline void gcor_edge_sums_add(gcor_edge_sums *sums, int thread, int64_t row, int64_t col, double weight) {
    int64_t levels = gcor_edge_levels(sums);
    gcor_edge_sum *own = sums->partial + thread * levels * (sums->at.n_row + sums->at.n_col);
    own += gcor_edge_level(sums, weight);
    gcor_edge_sum *of_row = own + levels * (row - sums->at.row);
    gcor_edge_sum *of_col = own + levels * (sums->at.n_row + (col - sums->at.col));
    double high = gcor_high_part(weight);
    gcor_int128 term = gcor_fixed(high, gcor_low_part(weight, high));
    of_row->strength += term;
    of_row->degree++;
    of_col->strength += term;
    of_col->degree++;
}

/* Add n edges of a row, at most GCOR_EXACT_TERMS, with columns col + which[e] and coefficients r[e]. */
static inline void gcor_edge_sums_add_row(gcor_edge_sums *sums, int thread, int64_t row, int64_t col,
                                          const int32_t *which, const double *r, int64_t n, gcor_side side) {
    if (sums->n_level > 1) {
        for (int64_t e = 0; e < n; e++)
            gcor_edge_sums_add(sums, thread, row, col + which[e], gcor_raw_weight(side, r[e]));
        return;
    }
    gcor_edge_sum *own = sums->partial + thread * (sums->at.n_row + sums->at.n_col);
    gcor_edge_sum *of_row = own + (row - sums->at.row), *of_col = own + sums->at.n_row + (col - sums->at.col);
    double all_high = 0, all_low = 0;
    for (int64_t e = 0; e < n; e++) {
        double weight = gcor_raw_weight(side, r[e]), high = gcor_high_part(weight), low = gcor_low_part(weight, high);
        of_col[which[e]].strength += gcor_fixed(high, low);
        of_col[which[e]].degree++;
        all_high += high;
        all_low += low;
    }
    of_row->strength += gcor_fixed(all_high, all_low);
    of_row->degree += n;
}

/* Returns the number of threads to use for n edges of a tile: adding up a thread's sums costs as much as the tile's
 * sides are long. */
static inline int gcor_edge_sums_threads(const gcor_context *context, const gcor_tile *tile, int64_t n) {
    int64_t worth = n / (tile->n_row + tile->n_col) + 1;
    return worth < context->threads ? (int)worth : context->threads;
}

GCOR_END_C
