/* Fisher's z, the inverse hyperbolic tangent of a coefficient, of many at once. */
#ifndef GPUCOR_FISHER_H
#define GPUCOR_FISHER_H

#include <stdint.h>
#include <string.h>

/* Coefficients larger than GCOR_MOST_R have the z of it, GCOR_MOST_Z: in single precision nothing more is known of
 * them, and z of 1 is infinite. */
#define GCOR_MOST_Z 8.0
#define GCOR_MOST_R 0.99999977492967588981

/* log(x) within a few roundings, of a positive x that is neither very large nor subnormal, without a branch: x = 2^e m
 * with m from the root of 1/2 to that of 2, and log(m) = 2 artanh((m - 1) / (m + 1)), by its series. */
static inline double gcor_log(double x) {
    const uint64_t root = 0x3fe6a09e667f3bcdu, fraction = 0x000fffffffffffffu;
    uint64_t bits, above;
    double m, e, f, square, series = 1. / 19;
    memcpy(&bits, &x, sizeof bits);
    bits -= root;
    above = 0x4330000000000000u | (bits >> 52 ^ 0x800); /* 2^52 + 2048 + e, as a double has it */
    bits = (bits & fraction) + root;
    memcpy(&m, &bits, sizeof m);
    memcpy(&e, &above, sizeof e);
    f = (m - 1) / (m + 1);
    square = f * f;
    series = series * square + 1. / 17;
    series = series * square + 1. / 15;
    series = series * square + 1. / 13;
    series = series * square + 1. / 11;
    series = series * square + 1. / 9;
    series = series * square + 1. / 7;
    series = series * square + 1. / 5;
    series = series * square + 1. / 3;
    return (e - (0x1p52 + 2048)) * 0.693147180559945309417 + 2 * (f + f * square * series);
}

/* z of n coefficients in [-1, 1]. */
static inline void gcor_fisher_z(const double *r, int64_t n, double *z) {
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
        double own = r[k] > GCOR_MOST_R ? GCOR_MOST_R : r[k] < -GCOR_MOST_R ? -GCOR_MOST_R : r[k];
        z[k] = 0.5 * gcor_log((1 + own) / (1 - own));
    }
}

#endif
