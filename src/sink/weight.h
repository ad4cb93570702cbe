/* The weight of a pair, and the rule which pairs are edges: one definition for every sink on every back end. */
#pragma once

#include "../base/triangle.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The weight of a pair: |r|, r or -r. */
typedef enum { GCOR_ABSOLUTE, GCOR_POSITIVE, GCOR_NEGATIVE } gcor_side;

/* A weight is size |r| + sign r. The formula has no branch, so that loops are vectorized. */
typedef struct {
    double size, sign;
} gcor_weighing;

GCOR_INLINE gcor_weighing gcor_weigh(gcor_side side) {
    gcor_weighing w = {side == GCOR_ABSOLUTE ? 1.0 : 0.0, side == GCOR_POSITIVE   ? 1.0
                                                          : side == GCOR_NEGATIVE ? -1.0
                                                                                  : 0.0};
    return w;
}

/* Returns the weight of a value without checking that it is a coefficient: an approximate value may be slightly above
 * 1, and NaN gives NaN. */
GCOR_INLINE double gcor_raw_weight(gcor_side side, double value) {
    gcor_weighing w = gcor_weigh(side);
    return w.size * fabs(value) + w.sign * value;
}

/* The weight of a pair without a coefficient, below any threshold. */
#define GCOR_NO_WEIGHT (-2.0)

GCOR_INLINE double gcor_weight(gcor_side side, double r) {
    return r <= 1 ? gcor_raw_weight(side, r) : GCOR_NO_WEIGHT;
}

#ifndef __CUDACC__
/* Defines a function that returns the max weight of n values, or `low` if all are smaller or NaN. Compilers vectorize
 * it, as the order in which it compares depends on its lanes only. */
#define GCOR_MAX_WEIGHT(name, type, absolute) \
    static inline type name(gcor_weighing w, const type *value, int64_t n, type low) { \
        enum { LANES = 64 / sizeof(type) }; \
        const type size = (type)w.size, sign = (type)w.sign; \
        type lane[LANES], weight; \
        int64_t k = 0; \
        for (int l = 0; l < LANES; l++) lane[l] = low; \
        for (; k + LANES <= n; k += LANES) \
            for (int l = 0; l < LANES; l++) { \
                weight = size * absolute(value[k + l]) + sign * value[k + l]; \
                lane[l] = weight > lane[l] ? weight : lane[l]; \
            } \
        for (; k < n; k++) { \
            weight = size * absolute(value[k]) + sign * value[k]; \
            lane[0] = weight > lane[0] ? weight : lane[0]; \
        } \
        for (int l = 0; l < LANES; l++) low = lane[l] > low ? lane[l] : low; \
        return low; \
    }
GCOR_MAX_WEIGHT(gcor_max_weight_double, double, fabs)
GCOR_MAX_WEIGHT(gcor_max_weight_float, float, fabsf)

/* Returns the max weight of n values of a segment from `from` on, as delivered; GCOR_NO_WEIGHT if none is a
 * coefficient. Without a branch, except for segments that have pairs without a coefficient. */
static inline double gcor_largest_weight(gcor_side side, const gcor_segment *segment, int64_t from, int64_t n) {
    const gcor_weighing w = gcor_weigh(side);
    const double *doubles = segment->doubles + (segment->doubles ? from : 0);
    const float *floats = segment->floats + (segment->floats ? from : 0);
    double max = 1 + segment->error;
    double best = segment->floats ? gcor_max_weight_float(w, floats, n, (float)GCOR_NO_WEIGHT)
                                  : gcor_max_weight_double(w, doubles, n, GCOR_NO_WEIGHT);
    if (best <= max) return best;
    best = GCOR_NO_WEIGHT;
    for (int64_t k = from; k < from + n; k++) {
        double value = gcor_value(segment, k), weight = value <= max ? gcor_raw_weight(side, value) : GCOR_NO_WEIGHT;
        best = weight > best ? weight : best;
    }
    return best;
}
#endif

/* Converts a weight, at least 0, to an integer: 0 for weight 1, larger for smaller weights, the same for -0 and 0. */
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

/* The rule which pairs are edges. It applies to exact coefficients. */
typedef struct {
    gcor_side side;
    double min;     /* edges are kept if their weight is at least `min` ... */
    double ceiling; /* ... and below `ceiling`; from there on they are only counted. Above 1: no ceiling */
    const double *row_min, *col_min; /* the variables' min weights, which only increase; the smaller of a pair's two
                                        replaces `min`. NULL: `min` applies */
    int64_t k; /* with row_min: a variable's min weight is at most the k-th largest weight among its pairs */
} gcor_edge_rule;

/* Returns the min weight for which pair (row, col) is kept. */
GCOR_INLINE double gcor_min_weight(const gcor_edge_rule *rule, int64_t row, int64_t col) {
    if (!rule->row_min) return rule->min;
    double a = rule->row_min[row], b = rule->col_min[col];
    return a < b ? a : b;
}

/* The decision about a pair: ignored, only counted, or kept. */
typedef enum { GCOR_NOTHING, GCOR_ABOVE, GCOR_KEPT } gcor_verdict;

/* Decides about pair (row, col) by its exact coefficient. */
GCOR_INLINE gcor_verdict gcor_judge(const gcor_edge_rule *rule, int64_t row, int64_t col, double r) {
    double weight = gcor_weight(rule->side, r);
    return weight >= rule->ceiling ? GCOR_ABOVE : weight >= gcor_min_weight(rule, row, col) ? GCOR_KEPT : GCOR_NOTHING;
}

/* Decides by a value within `error` of the exact coefficient: GCOR_NOTHING and GCOR_ABOVE are certain; after GCOR_KEPT
 * the exact coefficient must decide. */
GCOR_INLINE gcor_verdict gcor_judge_approx(const gcor_edge_rule *rule, int64_t row, int64_t col, double value,
                                           double error) {
    double weight = gcor_raw_weight(rule->side, value);
    if (weight >= rule->ceiling + error) return GCOR_ABOVE;
    return weight >= gcor_min_weight(rule, row, col) - error ? GCOR_KEPT : GCOR_NOTHING;
}

/* ---- sums in fixed point ------------------------------------------------------------------------ */

/* Sums that do not depend on the order of addition: fixed-point numbers with 91 fractional bits, in 128 bits. A term
 * of magnitude up to 1 is split into two doubles that are multiples of 2^-45 and of 2^-91. Up to 256 of either kind
 * add up without rounding, in vectors or across a warp, before conversion to fixed point. The error of a term is at
 * most 2^-92, and 2^35 terms fit. */

enum { GCOR_EXACT_TERMS = 256, GCOR_FIXED_BITS = 91 };

/* Adding and subtracting a number whose last bit is worth 2^-45 (2^-91) rounds to multiples of that. Also for vectors.
 */
#define GCOR_HIGH_PART(term) (((term) + 0x1.8p7) - 0x1.8p7)
#define GCOR_LOW_PART(term, high) ((((term) - (high)) + 0x1.8p-39) - 0x1.8p-39)
GCOR_INLINE double gcor_high_part(double term) {
    return GCOR_HIGH_PART(term);
}
GCOR_INLINE double gcor_low_part(double term, double high) {
    return GCOR_LOW_PART(term, high);
}

/* Converts sums of high and of low parts to one fixed-point number. */
GCOR_INLINE gcor_int128 gcor_fixed(double high, double low) {
    return (gcor_int128)(int64_t)(high * 0x1p45) * ((gcor_int128)1 << 46) + (int64_t)(low * 0x1p91);
}

GCOR_INLINE double gcor_fixed_value(gcor_int128 sum) {
    return (double)sum * 0x1p-91;
}
