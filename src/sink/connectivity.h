/* Sums over each variable's edges (their number and weights), or over all of its pairs (powers of similarities, maps)
 * with a histogram of the coefficients. Degrees and bins are integers and the others fixed-point numbers (fixed.h), so
 * they are the same however the pairs are divided between threads, devices and shards. Sums over all pairs are of the
 * coefficients that a dense result holds (GCOR_AS_FLOATS), so they are the same on every back end. */
#ifndef GPUCOR_CONNECTIVITY_H
#define GPUCOR_CONNECTIVITY_H

#include "../measure/similarity.h"
#include "edges/sums.h"
#include "edges/edges.h"
#include "histogram.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GCOR_MAX_POWERS = 32, GCOR_MAX_LEVELS = 32 };

/* Maps of all coefficients, or-ed together: sums of r, of Fisher's z (as a part of GCOR_MAX_Z, fisher.h) and of r^2.
 * Where there is one, the coefficients are counted, too. */
enum { GCOR_MAP_MEAN = 1, GCOR_MAP_Z = 2, GCOR_MAP_SQUARE = 4, GCOR_MAX_MAPS = 4 };

/* What is summed over a variable's pairs. steps: the powers ascending, each but the first less the
 * one before; equal ones next to one another are raised to once. */
typedef struct {
    gcor_side side;
    double min; /* minimum weight of an edge, decided on exact coefficients; ignored in sums over all pairs */
    gcor_similarity similarity;
    int n_power;   /* with a power, a histogram or a map the sums are over all pairs, otherwise over edges */
    int histogram; /* whether the coefficients are counted, too */
    double steps[GCOR_MAX_POWERS];
    int n_level;                    /* thresholds; `least` is the first. 0 or 1: it is the only one */
    double levels[GCOR_MAX_LEVELS]; /* ascending; an edge is summed at the highest that it reaches */
    int maps;
} gcor_sums_rule;

GCOR_INLINE int gcor_count_levels_of(const gcor_sums_rule *rule) {
    return rule->n_level > 1 ? rule->n_level : 1;
}

/* How many sums of its own each map has, the count among them. */
GCOR_INLINE int gcor_count_maps(const gcor_sums_rule *rule) {
    int all = 0;
    for (int map = GCOR_MAP_MEAN; map <= GCOR_MAP_SQUARE; map *= 2) all += (rule->maps & map) != 0;
    return all > 0 ? 1 + all : 0;
}

/* Of the pairs of a triangle; or of x's variables (columns) with y's, of which the former come first. */
typedef struct {
    gcor_edges edges; /* first: this is its sink; its lists are not used */
    gcor_bins bins;   /* none without a histogram */
    gcor_sums_rule rule;
    int64_t n_var;
    int64_t *degree;   /* levels times n_var */
    gcor_int128 *sums; /* (levels + n_power + maps) times n_var: strengths, each power, the count, each map */
    gcor_edge_sums edge_sums;
    /* Where every pair counts: the tile at hand, and its values row by row. */
    gcor_tile at;
    double *tile;
    gcor_int128 *partial; /* powers of its rows, of each thread */
    int64_t tile_capacity, partial_capacity;
} gcor_connectivity;

/* The number of the first row's variable among all of them. */
static inline int64_t gcor_first_row(const gcor_sink *sink) {
    return sink->shape == GCOR_FULL ? sink->n_col : 0;
}

/* Sums over edges; over all pairs; and over all pairs with maps or y. */
extern const gcor_sink_type gcor_degrees_type, gcor_connectivity_type, gcor_maps_type;

/* *connectivity is the caller's, to end with gcor_sink_free(); NULL after an error. */
gcor_status gcor_connectivity_new(gcor_context *context, gcor_sums_rule rule, gcor_shape shape, int64_t n_row,
                                  int64_t n_col, gcor_connectivity **connectivity);

/* power_sums.c: powers of a tile's similarities, summed over its rows and columns when all its values are there.
 * begin() allocates scratch for a tile's sums; end() adds the values in c->tile, GCOR_NO_VALUE where a pair does not
 * count, to c->sums. */
gcor_status gcor_power_sums_begin(gcor_connectivity *c, gcor_context *context, const gcor_tile *tile);
gcor_status gcor_power_sums_end(gcor_connectivity *c, gcor_context *context, const gcor_tile *tile);

#ifdef __cplusplus
}
#endif
#endif
