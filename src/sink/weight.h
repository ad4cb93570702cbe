/* What a pair counts for: is it an edge, and how strong. Said here once, for every sink on every back end. */
#ifndef GPUCOR_WEIGHT_H
#define GPUCOR_WEIGHT_H

#include "../base/triangle.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The weight of a pair: |r|, r or -r. */
typedef enum { GCOR_ABSOLUTE, GCOR_POSITIVE, GCOR_NEGATIVE } gcor_side;

/* A weight is size |r| + sign r: without a branch, so that many are found at once. */
typedef struct {
    double size, sign;
} gcor_weighing;

GCOR_INLINE gcor_weighing gcor_weigh(gcor_side side) {
    gcor_weighing w = {side == GCOR_ABSOLUTE ? 1.0 : 0.0, side == GCOR_POSITIVE   ? 1.0
                                                          : side == GCOR_NEGATIVE ? -1.0
                                                                                  : 0.0};
    return w;
}

/* The weight that a value would have, whether it is a coefficient or not: a cheap one may be a little
 * above 1, and NaN is no larger than anything. */
GCOR_INLINE double gcor_raw_weight(gcor_side side, double value) {
    gcor_weighing w = gcor_weigh(side);
    return w.size * fabs(value) + w.sign * value;
}

/* Below any threshold, where there is no coefficient. */
#define GCOR_NO_WEIGHT (-2.0)

GCOR_INLINE double gcor_weight(gcor_side side, double r) {
    return r <= 1 ? gcor_raw_weight(side, r) : GCOR_NO_WEIGHT;
}

#ifndef __CUDACC__
/* The largest weight of n values of a segment, as they were handed over, from `from` on: without a branch, but for
 * runs that have pairs without a coefficient. GCOR_NO_WEIGHT: there is none. */
static inline double gcor_largest_weight(gcor_side side, const gcor_segment *segment, int64_t from, int64_t n) {
    const gcor_weighing w = gcor_weigh(side);
    const double *doubles = segment->doubles + (segment->doubles ? from : 0);
    const float *floats = segment->floats + (segment->floats ? from : 0), size = (float)w.size, sign = (float)w.sign;
    double best = GCOR_NO_WEIGHT, max = 1 + segment->error;
    if (segment->floats) {
        float largest = (float)best;
#pragma omp simd reduction(max : largest)
        for (int64_t k = 0; k < n; k++) {
            float weight = size * fabsf(floats[k]) + sign * floats[k];
            largest = weight > largest ? weight : largest;
        }
        best = largest;
    } else {
#pragma omp simd reduction(max : best)
        for (int64_t k = 0; k < n; k++) {
            double weight = w.size * fabs(doubles[k]) + w.sign * doubles[k];
            best = weight > best ? weight : best;
        }
    }
    if (best <= max) return best;
    best = GCOR_NO_WEIGHT;
    for (int64_t k = from; k < from + n; k++) {
        double value = gcor_value(segment, k), weight = value <= max ? gcor_raw_weight(side, value) : GCOR_NO_WEIGHT;
        best = weight > best ? weight : best;
    }
    return best;
}
#endif

/* A weight, which is not negative, as a whole number: 0 for 1, and larger the smaller it is; -0 counts as 0. And back.
 */
GCOR_INLINE uint64_t gcor_short_of_one(double weight) {
    const double one = 1, own = weight + 0.0;
    uint64_t of_one, of_own;
    memcpy(&of_one, &one, sizeof of_one);
    memcpy(&of_own, &own, sizeof of_own);
    return of_one - of_own;
}

GCOR_INLINE double gcor_weight_short_of_one(uint64_t number) {
    double weight = 1;
    uint64_t own;
    memcpy(&own, &weight, sizeof own);
    own -= number;
    memcpy(&weight, &own, sizeof weight);
    return weight;
}

/* Which pairs are edges, decided on exact coefficients. */
typedef struct {
    gcor_side side;
    double min;                      /* weights from here on ... */
    double ceiling;                  /* ... to below here are kept; the larger ones are only counted. Above 1: none */
    const double *row_min, *col_min; /* not NULL: in the place of `least` the smaller of the two
                                      * variables' own; they only ever rise */
    int64_t k; /* with these: a variable's own may rise to the k-th largest weight among any of its pairs */
} gcor_edge_rule;

/* The least weight that (row, col) is kept for. */
GCOR_INLINE double gcor_min_weight(const gcor_edge_rule *rule, int64_t row, int64_t col) {
    if (!rule->row_min) return rule->min;
    double a = rule->row_min[row], b = rule->col_min[col];
    return a < b ? a : b;
}

/* What becomes of a pair: nothing, it is counted only, or kept. */
typedef enum { GCOR_NOTHING, GCOR_ABOVE, GCOR_KEPT } gcor_verdict;

/* Of pair (row, col), by its exact coefficient. */
GCOR_INLINE gcor_verdict gcor_judge(const gcor_edge_rule *rule, int64_t row, int64_t col, double r) {
    double weight = gcor_weight(rule->side, r);
    return weight >= rule->ceiling ? GCOR_ABOVE : weight >= gcor_min_weight(rule, row, col) ? GCOR_KEPT : GCOR_NOTHING;
}

/* The same by a value within `error` of the exact one: NOTHING and ABOVE are certain, KEPT is for the exact one to
 * decide. */
GCOR_INLINE gcor_verdict gcor_judge_approx(const gcor_edge_rule *rule, int64_t row, int64_t col, double value,
                                           double error) {
    double weight = gcor_raw_weight(rule->side, value);
    if (weight >= rule->ceiling + error) return GCOR_ABOVE;
    return weight >= gcor_min_weight(rule, row, col) - error ? GCOR_KEPT : GCOR_NOTHING;
}

#endif
