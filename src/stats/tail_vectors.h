/* Two-sided p values and Student's t by vectors. Each file tail_*.c includes this file for one instruction set, and
 * defines
 *
 *   ALL_P   the name of its function for p values (tail_block.h)
 *   ALL_T   the name of its function for t
 *   WIDTH   doubles of a vector
 *   TARGET  the compiler's names of its instructions
 *   ROOT    (x): square roots
 *   GATHER  (from, at): the doubles from[at[k]], at: a vector of 64-bit integers
 *
 * Each operation on vectors is the one that tail.c and base/elementary.c apply to single numbers, so that results have
 * the same bits. Where those have branches, both sides are computed and one is chosen. */
#include "tail_block.h"

#include "../base/elementary.h"
#include "tail_table.h"
#include "tie_variance.h"

#include <math.h>
#include <string.h>

#define PRAGMA_(text) _Pragma(#text)
#define PRAGMA(text) PRAGMA_(text)
#if defined(__clang__)
PRAGMA(clang attribute push(__attribute__((target(TARGET))), apply_to = function))
#else
PRAGMA(GCC target(TARGET))
#endif

#define INLINE static inline __attribute__((always_inline))
typedef double vec __attribute__((vector_size(8 * WIDTH), aligned(8)));
typedef int64_t mask __attribute__((vector_size(8 * WIDTH), aligned(8)));
typedef uint64_t words __attribute__((vector_size(8 * WIDTH), aligned(8)));

INLINE vec choose(mask where, vec a, vec b) {
    return (vec)(((mask)a & where) | ((mask)b & ~where));
}

INLINE vec size_of(vec x) {
    return (vec)((words)x & 0x7fffffffffffffffu);
}

/* ---- logarithm and exponential: elementary.h -------------------------------------------------------- */

INLINE vec artanh_series(vec t) {
    vec u = t * t;
    vec even = 1 / 5.0 + u * (1 / 9.0 + u * (1 / 13.0 + u * (1 / 17.0 + u * (1 / 21.0))));
    vec odd = 1 / 7.0 + u * (1 / 11.0 + u * (1 / 15.0 + u * (1 / 19.0 + u * (1 / 23.0))));
    return even + t * odd;
}

INLINE vec log_of(vec f, vec rest, vec k) {
    vec s = f / (2 + f), t = s * s, half = f * f / 2;
    vec sum = s * (half + 2 * t * (1 / 3.0 + t * artanh_series(t)));
    return k * GCOR_LOG_2 - ((half - (sum + (k * GCOR_LOG_2_LOW + rest))) - f);
}

/* log(1 - r^2), 0 <= r < 1. */
INLINE vec log_of_rest(vec r) {
    const double base = 4503599627370496.0 + 1023; /* 2^52 + the exponent's bias */
    const vec zero = {0};
    vec y = r * r, x = choose(y < 0.5, 1 - y, (1 - r) * (1 + r));
    vec m = (vec)(((words)x & 0xfffffffffffffu) | 0x3ff0000000000000u);
    vec k = (vec)((words)x >> 52 | 0x4330000000000000u) - base;
    mask is_large = m > 1.4142135623730951, is_near = y < 0.29;
    k = choose(is_near, zero, choose(is_large, k + 1, k));
    m = choose(is_large, m / 2, m);
    return log_of(choose(is_near, -y, m - 1), choose(is_near | (y >= 0.5), zero, (-y - (x - 1)) / x), k);
}

/* e^(x + low), -745 < x <= 0. */
INLINE vec exp_of(vec x, vec low) {
    const double round = 6755399441055744.0; /* 1.5 * 2^52 */
    vec sum = x * 1.4426950408889634 + round, k = sum - round;
    vec f = (x - k * GCOR_LOG_2) - (k * GCOR_LOG_2_LOW - low), t = f * f;
    vec even = 1 / 2.0 +
               t * (1 / 24.0 + t * (1 / 720.0 + t * (1 / 40320.0 + t * (1 / 3628800.0 + t * (1 / 479001600.0)))));
    vec odd = 1 / 6.0 +
              t * (1 / 120.0 + t * (1 / 5040.0 + t * (1 / 362880.0 + t * (1 / 39916800.0 + t * (1 / 6227020800.0)))));
    vec value = 1 + (f + t * (even + f * odd));
    words n = (words)sum - 0x4338000000000000u + 2 * 1023, first = n >> 1, second = n - first; /* k = n - 2 * 1023 */
    return value * (vec)(first << 52) * (vec)(second << 52);
}

/* ---- Student's t ------------------------------------------------------------------------------------- */

/* gcor_t_quotient() */
INLINE vec quotient_at(const gcor_t_table *table, vec at) {
    const mask last = GCOR_T_INTERVALS - 1 - (mask){0};
    mask interval = __builtin_convertvector(at, mask), is_beyond = interval > last;
    interval = (last & is_beyond) | (interval & ~is_beyond);
    const vec u = 2 * (at - __builtin_convertvector(interval, vec)) - 1;
    const mask first = interval * GCOR_T_TERMS;
    vec sum = GATHER(table->coefficient[0] + GCOR_T_TERMS - 1, first);
    for (int k = GCOR_T_TERMS - 2; k >= 0; k--) sum = sum * u + GATHER(table->coefficient[0] + k, first);
    return sum;
}

/* p of coefficients in (-1, 1) whose exponents do not underflow. */
INLINE vec t_p(const gcor_t_table *table, vec r) {
    const vec one = 1 - (vec){0};
    vec size = size_of(r), at = (1 / (1 + size * table->scale) - table->low) * table->per_y;
    vec p = quotient_at(table, at) * exp_of(table->half_df * log_of_rest(size), (vec){0});
    return choose(p > 1, one, p);
}

/* ---- the normal distribution: base/elementary.c and gcor_normal_tail() ------------------------------- */

INLINE vec erf_near_0(vec x) {
    vec t = x * x, sum = 1 / 11975040000.0 - (vec){0};
    static const double divisor[] = {GCOR_ERF_DIVISORS};
    for (int n = 11; n >= 0; n--) sum = sum * t + 1 / divisor[n];
    return 1.1283791670955126 * x * sum;
}

/* 0 <= x <= 27 */
INLINE vec erfc_of(vec x) {
    static const double terms[] = {GCOR_SCALED_ERFC};
    enum { TERMS = sizeof terms / sizeof *terms };
    vec t = (x - 3.5) / (x + 3.5), u = t * t, even = terms[TERMS - 1] - (vec){0}, odd = {0};
    for (int n = TERMS - 2; n > 0; n -= 2) odd = odd * u + terms[n], even = even * u + terms[n - 1];
    vec sum = even + t * odd, a = (vec)((words)x & 0xfffffffff8000000u), b = x - a;
    return choose(x < 0.5, 1 - erf_near_0(x), exp_of(-a * a, -(x + a) * b) * (sum / (1 + 2 * x)));
}

/* The rounding error of product = x * root. Of x the first 26 bits are split off, of root 26 rounded ones, so that all
 * four products and their sums are exact. */
INLINE vec lost_by(vec x, double root, vec product) {
    const double high = gcor_double_of((gcor_bits_of(root) + 0x4000000u) & 0xfffffffff8000000u), low = root - high;
    vec x_high = (vec)((words)x & 0xfffffffff8000000u), x_low = x - x_high;
    return ((x_high * high - product) + x_high * low + x_low * high) + x_low * low;
}

INLINE vec normal_p(vec z) {
    const double root = 0.70710678118654752440, rest = -4.8336466567264566e-17; /* their sum is sqrt(1/2) */
    const vec one = 1 - (vec){0};
    vec size = size_of(z), w = size * root, lost = lost_by(size, root, w) + size * rest;
    vec p = erfc_of(w) * (1 - 2 * w * lost);
    return choose(p > 1, one, p);
}

/* ---- arrays ---------------------------------------------------------------------------------------- */

/* Values below `limit` in size by vectors, all others one by one. table NULL: of the normal distribution. */
void ALL_P(const gcor_t_table *table, const double *x, int64_t n, double limit, double *p) {
    for (int64_t at = 0; at < n; at += WIDTH) {
        const int here = n - at < WIDTH ? (int)(n - at) : WIDTH;
        vec value = {0};
        memcpy(&value, x + at, (size_t)here * sizeof *x);
        mask is_inside = size_of(value) < limit;
        vec inside = choose(is_inside, value, (vec){0});
        inside = table ? t_p(table, inside) : normal_p(inside);
        memcpy(p + at, &inside, (size_t)here * sizeof *p);
        for (int k = 0; k < here; k++)
            if (!is_inside[k]) p[at + k] = gcor_one_p(table, value[k]);
    }
}

int64_t ALL_T(double df, double max_df, const double *r, int64_t n, double *t) {
    const double max_rest = fmin(0x1p-4, max_df * 0x1p-12);
    mask near = {0};
    int64_t at = 0, n_near = 0;
    for (; at + WIDTH <= n; at += WIDTH) {
        vec value;
        memcpy(&value, r + at, sizeof value);
        vec rest = (1 - value) * (1 + value), score = choose(value == value, value * ROOT(df / rest), value);
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

#if defined(__clang__)
PRAGMA(clang attribute pop)
#endif
