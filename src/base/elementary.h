/* Elementary functions with the same bits on every system: only sums, products, quotients and bit operations, none
 * fused except by gcor_fma() (rounding.h). The system's own functions differ in their last bits. Errors are in units
 * in the last place, against long double (tests/unit/test_elementary.c). */
#pragma once

#include "triangle.h"

#include <float.h>
#include <math.h>
#include <string.h>

GCOR_BEGIN_C

/* ---- the bits of doubles ------------------------------------------------------------------------ */

GCOR_INLINE uint64_t gcor_bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

GCOR_INLINE double gcor_double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Maps doubles to integers of the same order, for sorting and binning by bits. The value must be neither NaN nor -0. */
GCOR_INLINE uint64_t gcor_key(double value) {
    uint64_t bits = gcor_bits_of(value);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

GCOR_INLINE double gcor_key_value(uint64_t key) {
    return gcor_double_of(key >> 63 ? key & ~((uint64_t)1 << 63) : ~key);
}

/* ---- Fisher's z and its inverse ----------------------------------------------------------------- */

/* Compilers vectorize loops over these. */

/* Coefficients closer to 1 or -1 are replaced by this one, the largest number below 1 in single precision, with z =
 * 8.7. */
#define GCOR_MAX_R (1 - 0x1p-24)
#define GCOR_MAX_Z 9.0 /* an upper bound of z */

/* artanh(r) for |r| <= 1, within 1e-15. With q = (1 + a) / (1 - a) = p m, p a power of two and m between sqrt(1/2)
 * and sqrt(2), it is log(p) / 2 + artanh(s), s = (m - 1) / (m + 1), at most 0.172; for small a, p = 1 and s = a.
 *
 * It consists of three parts, because one loop over all of it is slower: its chain of operations is so long that a
 * processor cannot begin enough of the following elements meanwhile. */

/* Returns s; *log_part: log(p) / 2. */
GCOR_INLINE double gcor_artanh_reduce(double r, double *log_part) {
    const double half_log_2 = 0.34657359027997264, base = 4503599627370496.0 + 1023; /* 2^52 + the exponent's bias */
    double a = fabs(r);
    a = a > GCOR_MAX_R ? GCOR_MAX_R : a;
    uint64_t q = gcor_bits_of((1 + a) / (1 - a) * 1.4142135623730951);
    double p = gcor_double_of(q & 0x7ff0000000000000u), k = gcor_double_of(q >> 52 | 0x4330000000000000u) - base;
    double other = p * (1 - a);
    *log_part = k * half_log_2;
    return p == 1 ? a : ((1 + a) - other) / ((1 + a) + other);
}

/* The tail of the series, 1/13 + t/15 + ... + t^5/23. */
GCOR_INLINE double gcor_artanh_tail(double t) {
    double sum = 1 / 23.0;
    sum = sum * t + 1 / 21.0;
    sum = sum * t + 1 / 19.0;
    sum = sum * t + 1 / 17.0;
    sum = sum * t + 1 / 15.0;
    sum = sum * t + 1 / 13.0;
    return sum;
}

/* sum: the tail for t = s^2. */
GCOR_INLINE double gcor_artanh_end(double r, double s, double sum, double log_part) {
    double t = s * s;
    sum = sum * t + 1 / 11.0;
    sum = sum * t + 1 / 9.0;
    sum = sum * t + 1 / 7.0;
    sum = sum * t + 1 / 5.0;
    sum = sum * t + 1 / 3.0;
    double z = log_part + (s + s * t * sum);
    return r < 0 ? -z : z;
}

GCOR_INLINE double gcor_artanh(double r) {
    double log_part, s = gcor_artanh_reduce(r, &log_part);
    return gcor_artanh_end(r, s, gcor_artanh_tail(s * s), log_part);
}

/* tanh(z), within 1e-15. exp(2 |z|) = p (1 + g), with p = 2^k and g = exp(f) - 1, |f| <= log(2) / 2. */
GCOR_INLINE double gcor_tanh(double z) {
    const double log_2_high = 0.69314718055966296, log_2_low = 2.8235290563031577e-13;
    const double round = 6755399441055744.0; /* 1.5 * 2^52: adding it rounds to an integer in the lowest bits */
    double a = fabs(z);
    a = a > 20 ? 20 : a;
    double x = 2 * a, sum = x * 1.4426950408889634 + round, k = sum - round;
    double p = gcor_double_of((gcor_bits_of(sum) + 1023) << 52);
    double f = (x - k * log_2_high) - k * log_2_low, g = 1 / 6227020800.0;
    g = g * f + 1 / 479001600.0;
    g = g * f + 1 / 39916800.0;
    g = g * f + 1 / 3628800.0;
    g = g * f + 1 / 362880.0;
    g = g * f + 1 / 40320.0;
    g = g * f + 1 / 5040.0;
    g = g * f + 1 / 720.0;
    g = g * f + 1 / 120.0;
    g = g * f + 1 / 24.0;
    g = g * f + 1 / 6.0;
    g = g * f + 1 / 2.0;
    g = f + g * f * f;
    double r = ((p - 1) + p * g) / ((p + 1) + p * g);
    r = r > 1 ? 1 : r;
    return z < 0 ? -r : r;
}

/* ---- functions of the whole range: elementary.c ------------------------------------------------- */

/* Natural logarithms of x and of 1 + x; max error 1. -Inf and NaN as in C. */
double gcor_log(double x);
double gcor_log1p(double x);

/* e^x; max error 1.1, twice that for denormal results. */
double gcor_exp(double x);

/* Complementary error function of x >= 0; max error 5. */
double gcor_erfc(double x);

/* base^power; max error 1.1 for base >= 0 and power > 0, both finite; otherwise C's pow(). */
double gcor_pow(double base, double power);

/* ---- kernels of logarithms and the exponential, for the processor and for the GPU ---------------- */

/* GCOR_LOG_2 has so few digits that its product with an exponent is exact. The sum of all three is log(2). */
#define GCOR_LOG_2 0.6931467056274414
#define GCOR_LOG_2_LOW 4.7493250390316726e-07
#define GCOR_LOG_2_LOWEST (-2.34079388656782e-23)

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

/* ---- terms of the complementary error function, for elementary.c and stats/tail_of_isa.h --------- */

// clang-format off
/* (1 + 2 x) e^(x^2) erfc(x) from 0.46 to 27 as a polynomial in t = (x - 3.5) / (x + 3.5), interpolated at Chebyshev
 * nodes with 40 digits; its error is 1.4e-17. */
#define GCOR_SCALED_ERFC \
    1.2423492448711544,      -0.1400091801376194,    -0.010555596332218167,  0.09751909515325463, \
    -0.1150895981602014,     0.08798315382504146,    -0.048823325827615886,  0.01909933093883817, \
    -0.004215019912274393,   -0.0003022678374613368, 0.0005643844588036124,  -0.00012151269533151757, \
    -4.2782464482978844e-05, 2.426214865413402e-05,  2.3291504167258613e-06, -3.8179611839093585e-06, \
    -4.61811922638822e-08,   6.070711081425606e-07,  -5.090413852206879e-09, -1.0145595117041056e-07, \
    -1.931858629105183e-09,  1.6282260957439735e-08, 1.1870059293459254e-09, -1.7858271303042028e-09, \
    -2.1959126793132594e-10

/* erf(x) is the sum of 2 / sqrt(pi) x^(2 n + 1) / divisor n; the next one is 11975040000. */
#define GCOR_ERF_DIVISORS 1, -3, 10, -42, 216, -1320, 9360, -75600, 685440, -6894720, 76204800, -918086400
// clang-format on

GCOR_END_C
