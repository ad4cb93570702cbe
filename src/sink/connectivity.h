/* Sums over each variable's edges (their number and weights), or over all of its pairs (powers of similarities,
 * centrality measures) with a histogram of the coefficients. Degrees and bins are integers and the other sums
 * fixed-point numbers (weight.h), so they do not depend on how pairs are divided among threads, devices and shards.
 * Sums over all pairs use the coefficients of a dense result (GCOR_AS_FLOATS), so they are the same on every back
 * end. */
#pragma once

#include "../measure/overlap.h"
#include "edges/tile_edges.h"
#include "histogram.h"

GCOR_BEGIN_C

enum { GCOR_MAX_POWERS = 32, GCOR_MAX_LEVELS = 32, GCOR_SUMS_BLOCK = 1 << 14 };

/* Centrality measures over all pairs, or-ed together: sums of r, of Fisher's z (divided by GCOR_MAX_Z, elementary.h),
 * and of r^2. With any of them, the pairs with a coefficient are counted, too. */
enum { GCOR_MAP_MEAN = 1, GCOR_MAP_Z = 2, GCOR_MAP_SQUARE = 4, GCOR_MAX_MAPS = 4 };

/* What to sum over a variable's pairs. steps: differences of ascending powers, the first being the first power
 * itself; if consecutive steps are equal, the factor is computed once. */
typedef struct {
    gcor_side side;
    double min; /* min weight of an edge, decided on exact coefficients; ignored in sums over all pairs */
    gcor_similarity similarity;
    int n_power;   /* number of powers. With a power, a histogram or a centrality measure, sums are over all pairs,
                      otherwise over edges */
    int histogram; /* 1: also count coefficients in bins */
    double steps[GCOR_MAX_POWERS];
    int n_level;                    /* number of thresholds, of which `min` is the first; 0 or 1: only that */
    double levels[GCOR_MAX_LEVELS]; /* ascending; an edge is added at the highest level that it reaches */
    int maps;
} gcor_sums_rule;

GCOR_INLINE int gcor_count_levels_of(const gcor_sums_rule *rule) {
    return rule->n_level > 1 ? rule->n_level : 1;
}

/* Number of arrays of sums for centrality measures, including the count. */
GCOR_INLINE int gcor_count_maps(const gcor_sums_rule *rule) {
    int all = 0;
    for (int map = GCOR_MAP_MEAN; map <= GCOR_MAP_SQUARE; map *= 2) all += (rule->maps & map) != 0;
    return all > 0 ? 1 + all : 0;
}

/* Number of sums over all pairs per variable. */
GCOR_INLINE int gcor_count_sums(const gcor_sums_rule *rule) {
    return rule->n_power + gcor_count_maps(rule);
}

/* Values of consecutive rows, which stay in a thread's cache; GCOR_NO_VALUE where there is no pair. */
typedef struct {
    gcor_tile at; /* with at most GCOR_SUMS_BLOCK pairs */
    double value[GCOR_SUMS_BLOCK];
} gcor_sums_block;

/* Sums over the pairs of a triangle, or over the pairs of x's variables (columns) with y's; x's variables come
 * first. */
typedef struct {
    gcor_edges edges; /* must be first: its sink is this sink's; its lists are unused */
    gcor_bins bins;   /* empty without a histogram */
    gcor_sums_rule rule;
    int64_t n_var;
    int64_t *degree; /* levels x n_var */
    gcor_int128
        *sums; /* (levels + n_power + centrality measures) x n_var: strengths, powers, count, centrality measures */
    gcor_edge_sums edge_sums;
    /* For sums over all pairs: the current tile; per thread, values that are not yet summed, and the sums of the tile's
     * rows and then of its columns. */
    gcor_tile at;
    gcor_sums_block *blocks;
    gcor_int128 *partial;
    int64_t partial_capacity;
} gcor_connectivity;

/* Index of the first row's variable among all variables. */
static inline int64_t gcor_first_row(const gcor_sink *sink) {
    return sink->shape == GCOR_FULL ? sink->n_col : 0;
}

/* *connectivity is the caller's, to free with gcor_sink_free(); NULL after an error. */
gcor_status gcor_connectivity_new(gcor_context *context, gcor_sums_rule rule, gcor_shape shape, int64_t n_row,
                                  int64_t n_col, gcor_connectivity **connectivity);

/* power_sums.c: powers of similarities and centrality measures, summed over a tile's rows and columns. begin()
 * allocates what a tile needs; take() is any thread's; end() adds the tile's sums to c->sums. */
gcor_status gcor_power_sums_begin(gcor_connectivity *c, gcor_context *context, const gcor_tile *tile);
void gcor_power_sums_take(gcor_connectivity *c, int thread, const gcor_segment *segment);
gcor_status gcor_power_sums_end(gcor_connectivity *c, gcor_context *context);

GCOR_END_C
