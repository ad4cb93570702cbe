/* Two-sided p values and Student's t by the vectors of one instruction set, included by cpu/kernels_of_isa.h, which
 * says what macros and types there are.
 *
 * Each operation on vectors is the one that tail.c and base/elementary.c apply to single numbers, so that results have
 * the same bits. Where those have branches, both sides are computed and one is chosen. */
#include "tail.h"

#include "../base/elementary.h"

INLINE double_vec magnitude(double_vec x) {
    return (double_vec)((word_vec)x & 0x7fffffffffffffffu);
}

/* ---- logarithm and exponential: elementary.h -------------------------------------------------------- */

INLINE double_vec artanh_series(double_vec t) {
    double_vec u = t * t;
    double_vec even = 1 / 5.0 + u * (1 / 9.0 + u * (1 / 13.0 + u * (1 / 17.0 + u * (1 / 21.0))));
    double_vec odd = 1 / 7.0 + u * (1 / 11.0 + u * (1 / 15.0 + u * (1 / 19.0 + u * (1 / 23.0))));
    return even + t * odd;
}

INLINE double_vec log_of(double_vec f, double_vec rest, double_vec k) {
    double_vec s = f / (2 + f), t = s * s, half = f * f / 2;
    double_vec sum = s * (half + 2 * t * (1 / 3.0 + t * artanh_series(t)));
    return k * GCOR_LOG_2 - ((half - (sum + (k * GCOR_LOG_2_LOW + rest))) - f);
}

/* log(1 - r^2), 0 <= r < 1. */
INLINE double_vec log_of_rest(double_vec r) {
    const double base = 4503599627370496.0 + 1023; /* 2^52 + the exponent's bias */
    const double_vec zero = {0};
    double_vec y = r * r, x = choose(y < 0.5, 1 - y, (1 - r) * (1 + r));
    double_vec m = (double_vec)(((word_vec)x & 0xfffffffffffffu) | 0x3ff0000000000000u);
    double_vec k = (double_vec)((word_vec)x >> 52 | 0x4330000000000000u) - base;
    mask_vec is_large = m > 1.4142135623730951, is_near = y < 0.29;
    k = choose(is_near, zero, choose(is_large, k + 1, k));
    m = choose(is_large, m / 2, m);
    return log_of(choose(is_near, -y, m - 1), choose(is_near | (y >= 0.5), zero, (-y - (x - 1)) / x), k);
}

/* e^(x + low), -745 < x <= 0. */
INLINE double_vec exp_of(double_vec x, double_vec low) {
    const double round = 6755399441055744.0; /* 1.5 * 2^52 */
    double_vec sum = x * 1.4426950408889634 + round, k = sum - round;
    double_vec f = (x - k * GCOR_LOG_2) - (k * GCOR_LOG_2_LOW - low), t = f * f;
    double_vec even = 1 / 2.0 + t * (1 / 24.0 +
                                     t * (1 / 720.0 + t * (1 / 40320.0 + t * (1 / 3628800.0 + t * (1 / 479001600.0)))));
    double_vec odd = 1 / 6.0 + t * (1 / 120.0 + t * (1 / 5040.0 + t * (1 / 362880.0 +
                                                                       t * (1 / 39916800.0 + t * (1 / 6227020800.0)))));
    double_vec value = 1 + (f + t * (even + f * odd));
    word_vec n = (word_vec)sum - 0x4338000000000000u + 2 * 1023, first = n >> 1,
             second = n - first; /* k = n - 2 * 1023 */
    return value * (double_vec)(first << 52) * (double_vec)(second << 52);
}

/* ---- Student's t ------------------------------------------------------------------------------------- */

#ifndef GATHER
INLINE double_vec gather(const double *from, mask_vec at) {
    double_vec value;
    for (int k = 0; k < BYTES / 8; k++) value[k] = from[at[k]];
    return value;
}
#define GATHER gather
#endif

/* gcor_t_quotient() */
INLINE double_vec quotient_at(const gcor_t_table *table, double_vec at) {
    const mask_vec last = GCOR_T_INTERVALS - 1 - (mask_vec){0};
    mask_vec interval = __builtin_convertvector(at, mask_vec), is_beyond = interval > last;
    interval = (last & is_beyond) | (interval & ~is_beyond);
    const double_vec u = 2 * (at - __builtin_convertvector(interval, double_vec)) - 1;
    const mask_vec first = interval * GCOR_T_TERMS;
    double_vec sum = GATHER(table->coefficient[0] + GCOR_T_TERMS - 1, first);
    for (int k = GCOR_T_TERMS - 2; k >= 0; k--) sum = sum * u + GATHER(table->coefficient[0] + k, first);
    return sum;
}

/* p of coefficients in (-1, 1) whose exponents do not underflow. */
INLINE double_vec t_p(const gcor_t_table *table, double_vec r) {
    const double_vec one = 1 - (double_vec){0};
    double_vec size = magnitude(r), at = (1 / (1 + size * table->scale) - table->low) * table->per_y;
    double_vec p = quotient_at(table, at) * exp_of(table->half_df * log_of_rest(size), (double_vec){0});
    return choose(p > 1, one, p);
}

/* ---- the normal distribution: base/elementary.c and gcor_normal_tail() ------------------------------- */

INLINE double_vec erf_near_0(double_vec x) {
    double_vec t = x * x, sum = 1 / 11975040000.0 - (double_vec){0};
    static const double divisor[] = {GCOR_ERF_DIVISORS};
    for (int n = 11; n >= 0; n--) sum = sum * t + 1 / divisor[n];
    return 1.1283791670955126 * x * sum;
}

/* 0 <= x <= 27 */
INLINE double_vec erfc_of(double_vec x) {
    static const double terms[] = {GCOR_SCALED_ERFC};
    enum { TERMS = sizeof terms / sizeof *terms };
    double_vec t = (x - 3.5) / (x + 3.5), u = t * t, even = terms[TERMS - 1] - (double_vec){0}, odd = {0};
    for (int n = TERMS - 2; n > 0; n -= 2) odd = odd * u + terms[n], even = even * u + terms[n - 1];
    double_vec sum = even + t * odd, a = (double_vec)((word_vec)x & 0xfffffffff8000000u), b = x - a;
    return choose(x < 0.5, 1 - erf_near_0(x), exp_of(-a * a, -(x + a) * b) * (sum / (1 + 2 * x)));
}

/* The rounding error of product = x * root. Of x the first 26 bits are split off, of root 26 rounded ones, so that all
 * four products and their sums are exact. */
INLINE double_vec lost_by(double_vec x, double root, double_vec product) {
    const double high = gcor_double_of((gcor_bits_of(root) + 0x4000000u) & 0xfffffffff8000000u), low = root - high;
    double_vec x_high = (double_vec)((word_vec)x & 0xfffffffff8000000u), x_low = x - x_high;
    return ((x_high * high - product) + x_high * low + x_low * high) + x_low * low;
}

INLINE double_vec normal_p(double_vec z) {
    const double root = 0.70710678118654752440, rest = -4.8336466567264566e-17; /* their sum is sqrt(1/2) */
    const double_vec one = 1 - (double_vec){0};
    double_vec size = magnitude(z), w = size * root, lost = lost_by(size, root, w) + size * rest;
    double_vec p = erfc_of(w) * (1 - 2 * w * lost);
    return choose(p > 1, one, p);
}

/* ---- arrays ---------------------------------------------------------------------------------------- */

static void all_p(const gcor_t_table *table, const double *x, int64_t n, double limit, double *p) {
    enum { WIDTH = BYTES / 8 };
    for (int64_t at = 0; at < n; at += WIDTH) {
        const int here = n - at < WIDTH ? (int)(n - at) : WIDTH;
        double_vec value = {0};
        memcpy(&value, x + at, (size_t)here * sizeof *x);
        mask_vec is_inside = magnitude(value) < limit;
        double_vec inside = choose(is_inside, value, (double_vec){0});
        inside = table ? t_p(table, inside) : normal_p(inside);
        memcpy(p + at, &inside, (size_t)here * sizeof *p);
        for (int k = 0; k < here; k++)
            if (!is_inside[k]) p[at + k] = gcor_one_p(table, value[k]);
    }
}

static int64_t all_t(double df, double max_df, const double *r, int64_t n, double *t) {
    enum { WIDTH = BYTES / 8 };
    const double max_rest = fmin(0x1p-4, max_df * 0x1p-12);
    mask_vec near = {0};
    int64_t at = 0, n_near = 0;
    for (; at + WIDTH <= n; at += WIDTH) {
        double_vec value;
        memcpy(&value, r + at, sizeof value);
        double_vec rest = (1 - value) * (1 + value), score = choose(value == value, value * ROOT(df / rest), value);
        memcpy(t + at, &score, sizeof score);
        near -= rest < max_rest;
    }
    for (int k = 0; k < WIDTH; k++) n_near += near[k];
    for (; at < n; at++) {
        t[at] = r[at] == r[at] ? gcor_t_score(df, r[at]) : r[at];
        n_near += gcor_is_near(max_df, r[at]);
    }
    return n_near;
}

static const gcor_tail_loops tail_loops = {.all_p = all_p, .all_t = all_t};
