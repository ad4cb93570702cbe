/* Degrees and strengths: the number of edges of each variable, and the sum of their weights. Edges arrive tile by tile,
 * in any order and from any thread. Each thread has sums for the tile's rows and columns, which are added up after the
 * tile. Sums are fixed-point numbers (weight.h), so that the order does not matter. With several thresholds, an edge
 * counts for the highest level that it reaches. */
#ifndef GPUCOR_SUMS_H
#define GPUCOR_SUMS_H

#include "../weight.h"

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
