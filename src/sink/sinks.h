/* Sinks of networks: what they keep grows with the variables and the edges, never with the pairs.
 *
 *   gcor_edges          the pairs of large weight, to a store or to each variable's neighbours
 *   gcor_histogram      how many pairs have which coefficient
 *   gcor_connectivity   sums over each variable's pairs
 *
 * The weight of a pair is what its coefficient counts for: |r|, r or -r. */
#ifndef GPUCOR_SINKS_H
#define GPUCOR_SINKS_H

#include "../core/coefficient.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { GCOR_ABSOLUTE, GCOR_POSITIVE, GCOR_NEGATIVE } gcor_side;

/* -2, below any threshold, where there is no coefficient. */
GCOR_INLINE double gcor_weight(gcor_side side, double r) {
    if (!(r <= 1)) return -2;
    return side == GCOR_ABSOLUTE ? fabs(r) : side == GCOR_POSITIVE ? r : -r;
}

/* The weight that a value would have, whether it is a coefficient or not: a cheap one may be a little
 * above 1, and NaN is no larger than anything. */
GCOR_INLINE double gcor_raw_weight(gcor_side side, double value) {
    return side == GCOR_ABSOLUTE ? fabs(value) : side == GCOR_POSITIVE ? value : -value;
}

/* ---- edges ------------------------------------------------------------------------ */

typedef struct {
    int32_t row, col; /* 0-based, as in a tile */
    double r;
} gcor_edge;

/* Which pairs are edges, decided on exact coefficients. */
typedef struct {
    gcor_side side;
    double least;   /* weights from here on ... */
    double ceiling; /* ... to below here are kept; the larger ones are only counted. Above 1: none */
    const double *row_least, *col_least; /* not NULL: in the place of `least` the smaller of the two
                                          * variables' own; they only ever rise */
    int64_t k; /* with these: a variable's own may rise to the k-th largest weight among any of its pairs */
} gcor_edge_rule;

/* The least weight that (row, col) is kept for. */
GCOR_INLINE double gcor_least(const gcor_edge_rule *rule, int64_t row, int64_t col) {
    if (!rule->row_least) return rule->least;
    double a = rule->row_least[row], b = rule->col_least[col];
    return a < b ? a : b;
}

/* A growing array, alone in its line of the cache, as every thread has one. */
typedef struct {
    gcor_edge *list;
    int64_t n, room;
    char fill[40];
} gcor_edge_list;

typedef struct gcor_edges {
    gcor_sink sink;
    gcor_edge_rule rule;
    int64_t above; /* pairs with a weight from the ceiling on */
    /* Take all edges of a tile, ordered by row, then by column; `tile` may be some of the rows of a tile
     * of the tile loop, then the rest follow. Called by the thread that called gcor_run() only; may use
     * context->threads threads; `list` is the caller's. A back end that has a tile's edges in order calls
     * it; from others they come through the sink's begin_tile(), take() and end_tile(). */
    gcor_status (*keep_tile)(struct gcor_edges *edges, gcor_context *context, const gcor_tile *tile,
                             const gcor_edge *list, int64_t n);
    /* What take() collects with; owned, NULL and 0 until the first begin_tile(). */
    int threads;
    gcor_edge_list *loose;  /* one for each of the threads: the tile's edges, in no order */
    gcor_edge_list ordered;
    int64_t *next, next_room; /* threads x rows of the tile: where a thread's next edge of a row goes */
} gcor_edges;

/* The owner sets keep_tile, and frees with gcor_edges_free() what was collected with, as soon as a run is
 * over or any time later, once or more often. */
gcor_edges gcor_edges_sink(gcor_shape shape, gcor_edge_rule rule);
void gcor_edges_free(gcor_edges *edges);

/* Between begin_tile() and end_tile(): room for n more edges in a thread's list; it is for the caller to
 * write them and to raise the list's n. NULL after an error. Any thread. */
gcor_edge_list *gcor_edges_room(gcor_edges *edges, gcor_context *context, int thread, int64_t n);

/* loose.c: the sink's begin_tile() and end_tile(). */
gcor_status gcor_edges_begin(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);
gcor_status gcor_edges_end(gcor_sink *sink, gcor_context *context, const gcor_tile *tile);

/* Edges in memory, in runs: one of 12 bytes an edge for each keep_tile(). Owned by whoever made it, freed
 * by gcor_store_free(), which may be given NULL. */
typedef struct gcor_store gcor_store;

/* most: up to INT32_MAX; with more edges than these a run fails with GCOR_TOO_MANY. NULL after an error. */
gcor_store *gcor_store_new(gcor_context *context, gcor_shape shape, gcor_edge_rule rule, int64_t most);
void gcor_store_free(gcor_store *store);
gcor_edges *gcor_store_edges(gcor_store *store); /* its sink */

/* What follows uses context->threads threads and can be interrupted. */

/* How many pairs have a weight of at least `least`, those above the ceiling among them. */
gcor_status gcor_store_count(const gcor_store *store, gcor_context *context, double least, int64_t *count);

/* The k-th largest weight, k from 1: Inf if it is above the ceiling, 0 if there are fewer than k. */
gcor_status gcor_store_rank(const gcor_store *store, gcor_context *context, int64_t k, double *weight);

/* Compressed rows of all edges with a weight of at least `least`: row i's columns, ascending, at
 * start[i] .. start[i+1]-1. First the starts (n_row + 1), then col and r (start[n_row] each); all are the
 * caller's. gcor_store_rows() frees the store's runs as it goes: after it, only gcor_store_free() may follow. */
gcor_status gcor_store_starts(gcor_store *store, gcor_context *context, double least, int64_t n_row, int32_t *start);
gcor_status gcor_store_rows(gcor_store *store, gcor_context *context, double least, int64_t n_row,
                            const int32_t *start, int32_t *col, double *r);

/* The k strongest neighbours of every variable; of equal weights the earlier variable is the
 * stronger. Owned like a store. n_col: variables of x, n_row: of y, or 0. */
typedef struct gcor_neighbours gcor_neighbours;

gcor_neighbours *gcor_neighbours_new(gcor_context *context, gcor_side side, int64_t k, int64_t n_col, int64_t n_row);
void gcor_neighbours_free(gcor_neighbours *neighbours);
gcor_edges *gcor_neighbours_edges(gcor_neighbours *neighbours);
/* Put into a store without runs, as one, the edges that either variable, or with `mutual` both, has among its own. */
gcor_status gcor_neighbours_store(const gcor_neighbours *neighbours, gcor_context *context, int mutual,
                                  gcor_store *store);

/* ---- histogram ---------------------------------------------------------------------- */

/* Coefficients in bins of equal width over [-1, 1]: bin b holds r with b <= (r + 1) BINS / 2 < b + 1,
 * the last one 1, too. A tenth of a permille wide: fine enough to find a quantile's neighbourhood,
 * few enough for a GPU's shared memory. */
enum { GCOR_BINS = 10000 };

GCOR_INLINE int gcor_bin(double r) {
    int bin = (int)((r + 1) * (GCOR_BINS / 2));
    return bin < 0 ? 0 : bin < GCOR_BINS ? bin : GCOR_BINS - 1;
}

typedef struct {
    gcor_sink sink;
    int64_t *counts; /* context->threads x GCOR_BINS, owned; after gcor_histogram_end() the sums come first */
    double error;    /* what was counted may be off by as much */
} gcor_histogram;

/* Count those of n values that are at most `most`. */
void gcor_count_bins(const double *values, int64_t n, double most, int64_t *counts);

/* approximate: cheap values will do, with an error. counts is NULL after an error. */
gcor_histogram gcor_histogram_sink(gcor_context *context, gcor_shape shape, int approximate);
void gcor_histogram_add(gcor_histogram *histogram, const int64_t *counts); /* GCOR_BINS of them */
void gcor_histogram_end(gcor_histogram *histogram, int threads);

/* ---- connectivity ------------------------------------------------------------------- */

typedef enum { GCOR_UNSIGNED, GCOR_SIGNED, GCOR_HYBRID } gcor_similarity; /* |r|, (1 + r) / 2, max(r, 0) */

GCOR_INLINE double gcor_base(gcor_similarity similarity, double r) {
    return similarity == GCOR_UNSIGNED ? fabs(r) : similarity == GCOR_SIGNED ? (1 + r) / 2 : r > 0 ? r : 0;
}

/* base^power; small whole numbers, as the steps from one power to the next mostly are, without pow(). */
GCOR_INLINE double gcor_raise(double base, double power) {
    if (power > 32 || power != (double)(int)power) return pow(base, power);
    double value = 1;
    for (int p = (int)power; p > 0; p--) value *= base;
    return value;
}

enum { GCOR_MOST_POWERS = 32 };

/* What is summed over a variable's pairs. steps: the powers ascending, each but the first less the
 * one before. */
typedef struct {
    gcor_side side;
    double least; /* weight of an edge, decided on exact coefficients; above 1: no edges wanted */
    gcor_similarity similarity;
    int n_power;
    double steps[GCOR_MOST_POWERS];
} gcor_sums_rule;

/* Sums over a variable's pairs. */
typedef struct {
    int64_t degree;
    double strength, soft[GCOR_MOST_POWERS];
} gcor_sums;

GCOR_INLINE void gcor_sums_add(const gcor_sums_rule *rule, double r, gcor_sums *sums) {
    double weight = gcor_weight(rule->side, r);
    if (!(r <= 1)) return;
    if (weight >= rule->least) {
        sums->degree++;
        sums->strength += weight;
    }
    double base = gcor_base(rule->similarity, r), value = 1;
    for (int p = 0; p < rule->n_power; p++) {
        value *= gcor_raise(base, rule->steps[p]);
        sums->soft[p] += value;
    }
}

/* Sums over the pairs of a triangle. The arrays are the caller's, n_var each and cleared:
 * degrees, strengths, and soft: n_var x n_power, column by column. */
typedef struct {
    gcor_histogram histogram; /* first: it begins with the sink */
    gcor_sums_rule rule;
    int64_t n_var;
    double *degree, *strength, *soft;
    gcor_tile at; /* the tile at hand, and its values row by row */
    double *tile, *partial; /* partial: sums of its rows, strip by strip of columns */
    int64_t tile_room, partial_room;
} gcor_connectivity;

/* histogram.counts is NULL after an error. */
gcor_connectivity gcor_connectivity_sink(gcor_context *context, gcor_sums_rule rule, int64_t n_var, double *degree,
                                         double *strength, double *soft);
void gcor_connectivity_free(gcor_connectivity *connectivity); /* what it owns; the arrays stay */

#ifdef __cplusplus
}
#endif
#endif
