/* The effect of ties on the variance of rank statistics, for p values. measure/rank.c has the denominator of tau-b. */
#pragma once

#include <math.h>
#include <stdint.h>

/* Sums over a variable's runs of ties, each of t observations. */
typedef struct {
    double pairs, cubes; /* sums of t (t - 1), and of t^3 - t; integers */
    double same_orders;  /* product of t!: the number of orders that look the same; INFINITY on overflow */
} gcor_tie_sums;

static const gcor_tie_sums gcor_no_ties = {0, 0, 1};

static inline double gcor_factorial(int64_t n) {
    double product = 1;
    for (int64_t k = 2; k <= n && product < INFINITY; k++) product *= (double)k;
    return product;
}

static inline void gcor_add_ties(gcor_tie_sums *sums, int64_t run) {
    double t = (double)run;
    sums->pairs += t * (t - 1);
    sums->cubes += t * (t - 1) * (t + 1);
    if (run > 1) sums->same_orders *= gcor_factorial(run);
}

/* For a variable with n values: sum(score^2) / (2 untied pairs) - 1, where a score is the number of values below
 * minus the number above. The minimum, (n - 2) / 3, is reached without ties; NaN if all values are equal. */
static inline double gcor_tie_quotient(double n, gcor_tie_sums ties) {
    return (n * (n - 1) * (n + 1) - ties.cubes) / 3 / (n * (n - 1) - ties.pairs) - 1;
}

/* True if the quotient is that of a variable without ties; ties change it by at least 2 / (3 n). */
static inline int gcor_is_untied(double n, double quotient) {
    return fabs(quotient - (n - 2) / 3) * n < 0.25;
}

/* Standard deviation of tau-b of independent variables with n >= 3 observations. Its variance under permutation is
 * determined by one quotient per variable (Daniels 1944). It equals the variance of Kendall's S with ties, where S
 * is tau-b's numerator. */
static inline double gcor_kendall_deviation(double n, double quotient, double other) {
    return sqrt(4 * quotient * other / (n * (n - 1) * (n - 2)) + 2 / (n * (n - 1)));
}
