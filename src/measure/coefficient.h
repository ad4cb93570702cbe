/* From a product to a coefficient, the same on every back end. */
#ifndef GPUCOR_COEFFICIENT_H
#define GPUCOR_COEFFICIENT_H

#include "../base/triangle.h"

#include <math.h>

GCOR_INLINE double gcor_limit(double r) {
    return r > 1 ? 1 : r < -1 ? -1 : r; /* NaN stays NaN: every comparison with it is false */
}

/* The coefficient of a product, or a value above 1 that says why there is none; the reasons are
 * ranked as stats::cor ranks them. The root of the product of norms, not the product of their
 * roots: equal norms give back exactly the norm, so a column against its copy is exactly 1. */
GCOR_INLINE double gcor_coefficient(double product, double norm, double other_norm) {
    if (norm < 0 || other_norm < 0) return GCOR_NO_VALUE;
    if (norm == 0 || other_norm == 0) return GCOR_ZERO_SD;
    return gcor_limit(product / sqrt(norm * other_norm));
}

/* Sums in a fixed order, that of a warp: 32 running sums, folded in halves. So every back end
 * arrives at the same last bit. */
enum { GCOR_LANES = 32 };

GCOR_INLINE double gcor_fold_lanes(double *lane) {
    for (int step = GCOR_LANES / 2; step > 0; step /= 2)
        for (int l = 0; l < step; l++) lane[l] += lane[l + step];
    return lane[0];
}

/* The product of two columns; that of two floats is exact in double. */
GCOR_INLINE double gcor_dot(const float *x, const float *y, int64_t n_obs) {
    double lane[GCOR_LANES] = {0};
    int64_t k = 0;
    for (; k + GCOR_LANES <= n_obs; k += GCOR_LANES)
        for (int l = 0; l < GCOR_LANES; l++) lane[l] += (double)x[k + l] * y[k + l];
    for (int l = 0; k + l < n_obs; l++) lane[l] += (double)x[k + l] * y[k + l];
    return gcor_fold_lanes(lane);
}

/* The order of sums of products of doubles, which round: fused, one after the other, in runs of so many observations,
 * whose sums are added in order. */
enum { GCOR_OBS_RUN = 128 };

/* Whether two columns of floats, NaN where missing, have at least two rows in common. */
GCOR_INLINE int gcor_has_common_pair(const float *x, const float *y, int64_t n_obs) {
    int common = 0;
    for (int64_t k = 0; k < n_obs && common < 2; k++) common += x[k] == x[k] && y[k] == y[k];
    return common == 2;
}

/* A power of two that brings the largest finite |value| near 1, so that squares neither
 * overflow nor vanish; exact, and no coefficient changes by it. */
GCOR_INLINE double gcor_scale(double largest) {
    int exponent = 0;
    if (!(largest > 0)) return 1;
    frexp(largest, &exponent);
    return ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
}

/* What values are multiplied by where differences between them, or the sum of up to 2^30 of these, overflow. */
#define GCOR_SMALL_UNIT 0x1p-32

/* The number of pairs of observations. */
GCOR_INLINE int64_t gcor_obs_pairs(int64_t n_obs) {
    return n_obs > 0 ? gcor_triangular(n_obs - 1) : 0;
}

/* A float sum of n products of unit columns is off by up to n 2^-24 (and will be, where one
 * observation outweighs the others and these repeat). Sums of 12 are within 8e-7 with the
 * rounding of the columns themselves; the sums are added in double. */
enum { GCOR_OBS_SLICE = 12 };

/* Whether a slice's products of scores (whole numbers up to n_obs - 1) sum exactly in float: all
 * below 2^24. Where they do not, scores are scaled to unit length before they are multiplied. */
GCOR_INLINE int gcor_exact_scores(int64_t n_obs) {
    return n_obs < 65536 && GCOR_OBS_SLICE * (n_obs - 1) * (n_obs - 1) <= (int64_t)1 << 24;
}

/* Signs are bits, one for each pair of observations (k, q). They are ordered by lag: bit
 * (d - 1) n + k is the pair (k, (k + d) mod n), d = 1, 2, ..., n/2; the last lag of an even n
 * is half as long. So any run of bits can be made without the ones before it. */

#endif
