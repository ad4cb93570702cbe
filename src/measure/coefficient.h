/* Converts products to coefficients, the same on every back end. */
#pragma once

#include "../base/triangle.h"

#include <math.h>

GCOR_INLINE double gcor_limit(double r) {
    return r > 1 ? 1 : r < -1 ? -1 : r; /* NaN stays NaN: every comparison with it is false */
}

/* The coefficient of a product, or a value above 1 that says why there is none; the reasons have the priority of
 * stats::cor. We take the root of the product of norms, not the product of roots: with equal norms it is exactly the
 * norm, so a column against its copy is exactly 1. */
GCOR_INLINE double gcor_coefficient(double product, double norm, double other_norm) {
    if (norm < 0 || other_norm < 0) return GCOR_NO_VALUE;
    if (norm == 0 || other_norm == 0) return GCOR_ZERO_SD;
    return gcor_limit(product / sqrt(norm * other_norm));
}

/* A coefficient in single precision may be computed from inverse roots of the norms, without a root and a quotient: the
 * error is less than 9 units in the last place of a double. It changes the float only if the double, of at least
 * GCOR_MIN_ROUNDED, is next to the midpoint of two floats: the bits below the float's are within GCOR_NEAR_MIDDLE of
 * GCOR_MIDDLE. */
enum { GCOR_MIDDLE = 1 << 28, GCOR_NEAR_MIDDLE = 16 };
#define GCOR_MIN_ROUNDED 0x1p-120

/* Sums have a fixed order, that of a warp: 32 running sums, folded in halves. So every back end gets the same bits. */
enum { GCOR_LANES = 32 };

GCOR_INLINE double gcor_fold_lanes(double *lane) {
    for (int step = GCOR_LANES / 2; step > 0; step /= 2)
        for (int l = 0; l < step; l++) lane[l] += lane[l + step];
    return lane[0];
}

/* Dot product of two columns; the product of two floats is exact in double. */
GCOR_INLINE double gcor_dot(const float *x, const float *y, int64_t n_obs) {
    double lane[GCOR_LANES] = {0};
    int64_t k = 0;
    for (; k + GCOR_LANES <= n_obs; k += GCOR_LANES)
        for (int l = 0; l < GCOR_LANES; l++) lane[l] += (double)x[k + l] * y[k + l];
    for (int l = 0; k + l < n_obs; l++) lane[l] += (double)x[k + l] * y[k + l];
    return gcor_fold_lanes(lane);
}

/* Order of sums of products of doubles, which round: fused multiply-add in sequence, in runs of this many
 * observations, whose sums are added in order. */
enum { GCOR_OBS_RUN = 128 };

/* True if two columns of floats (NaN: missing) have at least two pairwise-complete observations. */
GCOR_INLINE int gcor_has_common_pair(const float *x, const float *y, int64_t n_obs) {
    int common = 0;
    for (int64_t k = 0; k < n_obs && common < 2; k++) common += x[k] == x[k] && y[k] == y[k];
    return common == 2;
}

/* Returns a power of two that scales the largest finite |value| to about 1, so that squares neither overflow nor
 * underflow. The scaling is exact and does not change coefficients. */
GCOR_INLINE double gcor_scale(double largest) {
    int exponent = 0;
    if (!(largest > 0)) return 1;
    frexp(largest, &exponent);
    return ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
}

/* The same for n finite values. */
GCOR_INLINE double gcor_scale_of(const double *x, int64_t n) {
    double largest = 0;
    for (int64_t k = 0; k < n; k++)
        if (fabs(x[k]) > largest) largest = fabs(x[k]);
    return gcor_scale(largest);
}

/* Factor for values whose differences, or the sum of up to 2^30 differences, overflow. */
#define GCOR_SMALL_UNIT 0x1p-32

/* Number of pairs of observations. */
GCOR_INLINE int64_t gcor_obs_pairs(int64_t n_obs) {
    return n_obs > 0 ? gcor_triangular(n_obs - 1) : 0;
}

/* Products of unit columns per slice. The error of a float sum of n such products is up to n 2^-24 (and reaches it
 * if one observation dominates and repeats). With 12 it is within 8e-7 including the rounding of the columns; slices
 * are added in double. */
enum { GCOR_OBS_SLICE = 12 };

/* True if a slice's products of scores (integers up to n_obs - 1) sum exactly in float, that is, stay below 2^24.
 * Otherwise scores are scaled to unit length before they are multiplied. */
GCOR_INLINE int gcor_exact_scores(int64_t n_obs) {
    return n_obs < 65536 && GCOR_OBS_SLICE * (n_obs - 1) * (n_obs - 1) <= (int64_t)1 << 24;
}

/* Signs are bits, one per pair of observations (k, q), ordered by lag: bit (d - 1) n + k is the pair (k, (k + d) mod
 * n), d = 1, 2, ..., n/2; for even n the last lag is half as long. So any range of bits can be made without the
 * preceding ones. */
