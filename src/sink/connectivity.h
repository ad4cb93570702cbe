/* Sums over each variable's pairs: how many edges it has, their weights, and powers of all similarities; and how many
 * pairs have which coefficient. Degrees and bins are whole numbers and the others fixed ones (fixed.h), so that they
 * are the same however the pairs are divided between threads, devices and shares. */
#ifndef GPUCOR_CONNECTIVITY_H
#define GPUCOR_CONNECTIVITY_H

#include "edge_sums.h"
#include "edges.h"
#include "histogram.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum { GCOR_UNSIGNED, GCOR_SIGNED, GCOR_HYBRID } gcor_similarity; /* |r|, (1 + r) / 2, max(r, 0) */

GCOR_INLINE double gcor_base(gcor_similarity similarity, double r) {
    return similarity == GCOR_UNSIGNED ? fabs(r) : similarity == GCOR_SIGNED ? (1 + r) / 2 : r > 0 ? r : 0;
}

/* Whether base^power is multiplied out: small whole numbers, as the steps from one power to the next mostly are, and
 * halves. */
GCOR_INLINE int gcor_is_multiplied(double power) {
    return power <= 32 && 2 * power == (double)(int)(2 * power);
}

/* base^power; a root rounds alike on every back end, as pow() does not. */
GCOR_INLINE double gcor_raise(double base, double power) {
    if (!gcor_is_multiplied(power)) return pow(base, power);
    double value = power == (double)(int)power ? 1 : sqrt(base);
    for (int p = (int)power; p > 0; p--) value *= base;
    return value;
}

enum { GCOR_MOST_POWERS = 32 };

/* What is summed over a variable's pairs. steps: the powers ascending, each but the first less the
 * one before; equal ones next to one another are raised to once. */
typedef struct {
    gcor_side side;
    double least; /* weight of an edge, decided on exact coefficients; above 1: no edges wanted */
    gcor_similarity similarity;
    int n_power;
    int histogram; /* whether the pairs are counted, too */
    double steps[GCOR_MOST_POWERS];
} gcor_sums_rule;

/* Of the pairs of a triangle. */
typedef struct {
    gcor_edges edges; /* first: this is its sink; its lists are not used */
    gcor_bins bins;   /* none without a histogram */
    gcor_sums_rule rule;
    int64_t n_var;
    int64_t *degree;   /* n_var */
    gcor_int128 *sums; /* 1 + n_power times n_var: strengths, then each power */
    gcor_edge_sums edge_sums;
    /* Where every pair counts: the tile at hand, and its values row by row. */
    gcor_tile at;
    double *tile;
    gcor_int128 *partial; /* powers of its rows, of each thread */
    int64_t tile_room, partial_room;
} gcor_connectivity;

/* Where edges are all that counts; and where every pair does. */
extern const gcor_sink_type gcor_degrees_type, gcor_connectivity_type;

/* *connectivity is the caller's, to end with gcor_sink_free(); NULL after an error. */
gcor_status gcor_connectivity_new(gcor_context *context, gcor_sums_rule rule, int64_t n_var,
                                  gcor_connectivity **connectivity);

#ifdef __cplusplus
}
#endif
#endif
