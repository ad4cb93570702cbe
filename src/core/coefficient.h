/* From a product to a coefficient, the same on every back end. */
#ifndef GPUCOR_COEFFICIENT_H
#define GPUCOR_COEFFICIENT_H

#include "triangle.h"

#include <math.h>

/* NaN stays NaN: every comparison with it is false. */
GCOR_INLINE double gcor_limit(double r) {
    return r > 1 ? 1 : r < -1 ? -1 : r;
}

/* A constant column has norm 0 and product 0 with everything, hence NaN. The root of the
 * product, not the product of the roots: equal norms give back exactly the norm, so a column
 * against its copy is exactly 1. */
GCOR_INLINE double gcor_coefficient(double product, double norm, double other_norm) {
    return gcor_limit(product / sqrt(norm * other_norm));
}

/* A power of two that brings the largest finite |value| near 1, so that squares neither
 * overflow nor vanish; exact, and no coefficient changes by it. */
GCOR_INLINE double gcor_scale(double largest) {
    int exponent = 0;
    if (!(largest > 0)) return 1;
    frexp(largest, &exponent);
    return ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
}

/* The number of pairs of observations. */
GCOR_INLINE int64_t gcor_obs_pairs(int64_t n_obs) {
    return n_obs > 0 ? gcor_triangular(n_obs - 1) : 0;
}

/* The rounding of a float sum grows with its terms: with r near 1 and a thousand observations it
 * passes 1e-6. So only this many products are summed in float, the slices' sums in double. */
enum { GCOR_OBS_SLICE = 64 };

/* Whether a slice's products of scores (whole numbers up to n_obs - 1) sum exactly in float. Where
 * they do not, scores are scaled to unit length before they are multiplied: roundings of sums of
 * whole numbers all go the same way (odd squares are 1 modulo 8) and would add up. */
GCOR_INLINE int gcor_exact_scores(int64_t n_obs) {
    return n_obs <= 513; /* 64 * 512^2 = 2^24 */
}

/* Signs are bits, one for each pair of observations (k, q). They are ordered by lag: bit
 * (d - 1) n + k is the pair (k, (k + d) mod n), d = 1, 2, ..., n/2; the last lag of an even n
 * is half as long. So any run of bits can be made without the ones before it. */
typedef struct {
    int64_t k, q;
} gcor_obs_pair;

GCOR_INLINE gcor_obs_pair gcor_obs_pair_of(int64_t bit, int64_t n_obs) {
    gcor_obs_pair pair = {bit % n_obs, bit % n_obs + bit / n_obs + 1};
    if (pair.q >= n_obs) pair.q -= n_obs;
    return pair;
}

#endif
