/* Fisher's z and its inverse, with the same bits on every back end: only sums, products, quotients and bit
 * operations, none fused (rounding.h). Compilers vectorize loops over them. */
#ifndef GPUCOR_ARTANH_H
#define GPUCOR_ARTANH_H

#include "triangle.h"

#include <math.h>
#include <string.h>

/* Coefficients closer to 1 or -1 are replaced by this one, the largest number below 1 in single precision, with z =
 * 8.7. */
#define GCOR_MAX_R (1 - 0x1p-24)
#define GCOR_MAX_Z 9.0 /* an upper bound of z */

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

#endif
