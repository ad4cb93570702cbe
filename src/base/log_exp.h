/* The kernels of elementary.h's logarithms and exponential, for the processor and for the GPU. */
#ifndef GPUCOR_LOG_EXP_H
#define GPUCOR_LOG_EXP_H

#include "artanh.h"

#include <float.h>
#include <math.h>

/* GCOR_LOG_2 has so few digits that its product with an exponent is exact. The sum of all three is log(2). */
#define GCOR_LOG_2 0.6931467056274414
#define GCOR_LOG_2_LOW 4.7493250390316726e-07
#define GCOR_LOG_2_LOWEST (-2.34079388656782e-23)

/* ---- logarithms ----------------------------------------------------------------------------------- */

/* x = 2^k m for positive finite x; returns m, between sqrt(1/2) and sqrt(2). */
GCOR_INLINE double gcor_split(double x, double *k) {
    *k = 0;
    if (x < DBL_MIN) x *= 0x1p54, *k = -54;
    uint64_t bits = gcor_bits_of(x);
    double m = gcor_double_of((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
    *k += (double)(bits >> 52) - 1023;
    if (m > 1.4142135623730951) m /= 2, *k += 1;
    return m;
}

/* The series 1/5 + t/7 + ... + t^9/23 of artanh, for t up to 0.0295; even and odd terms are separate, which is
 * faster. */
GCOR_INLINE double gcor_artanh_series(double t) {
    double u = t * t;
    double even = 1 / 5.0 + u * (1 / 9.0 + u * (1 / 13.0 + u * (1 / 17.0 + u * (1 / 21.0))));
    double odd = 1 / 7.0 + u * (1 / 11.0 + u * (1 / 15.0 + u * (1 / 19.0 + u * (1 / 23.0))));
    return even + t * odd;
}

/* log(1 + f) + rest + k log(2). With s = f / (2 + f), log(1 + f) = 2 artanh(s), and 2 s = f - f^2 / 2 + s f^2 / 2,
 * where f is exact. */
GCOR_INLINE double gcor_log_of(double f, double rest, double k) {
    double s = f / (2 + f), t = s * s, half = f * f / 2;
    double sum = s * (half + 2 * t * (1 / 3.0 + t * gcor_artanh_series(t)));
    return k * GCOR_LOG_2 - ((half - (sum + (k * GCOR_LOG_2_LOW + rest))) - f);
}

/* gcor_log1p(-y) for 0 <= y < 1, the same bits without a branch, so that compilers vectorize loops over it. */
GCOR_INLINE double gcor_log_of_rest(double y) {
    const double base = 0x1p52 + 1023;
    double u = 1 - y, lost = (-y - (u - 1)) / u;
    uint64_t bits = gcor_bits_of(u);
    double m = gcor_double_of((bits & 0xfffffffffffffu) | 0x3ff0000000000000u);
    double k = gcor_double_of(bits >> 52 | 0x4330000000000000u) - base;
    k = m > 1.4142135623730951 ? k + 1 : k;
    m = m > 1.4142135623730951 ? m / 2 : m;
    return gcor_log_of(y < 0.29 ? -y : m - 1, y < 0.29 ? 0 : lost, y < 0.29 ? 0 : k);
}

/* ---- exponential ---------------------------------------------------------------------------------- */

/* e^(x + low), |low| much smaller than 1. e^x = 2^k e^f, |f| <= log(2) / 2. */
GCOR_INLINE double gcor_exp_of(double x, double low) {
    const double round = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer */
    if (!(x < 710)) return x != x ? x : INFINITY;
    if (x < -746) return 0;
    double k = (x * 1.4426950408889634 + round) - round;
    double f = (x - k * GCOR_LOG_2) - (k * GCOR_LOG_2_LOW - low), t = f * f;
    double even = 1 / 2.0 +
                  t * (1 / 24.0 + t * (1 / 720.0 + t * (1 / 40320.0 + t * (1 / 3628800.0 + t * (1 / 479001600.0)))));
    double odd = 1 / 6.0 + t * (1 / 120.0 +
                                t * (1 / 5040.0 + t * (1 / 362880.0 + t * (1 / 39916800.0 + t * (1 / 6227020800.0)))));
    double value = 1 + (f + t * (even + f * odd));
    int first = (int)k / 2, second = (int)k - first; /* a denormal result is rounded once, in the last product */
    return value * gcor_double_of((uint64_t)(first + 1023) << 52) * gcor_double_of((uint64_t)(second + 1023) << 52);
}

#endif
