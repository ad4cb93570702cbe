/* Which observations variables have, and which of these tie: what the p value of a pair needs beside its coefficient.
 */
#ifndef GPUCOR_OBSERVED_H
#define GPUCOR_OBSERVED_H

#include "../gpucor.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- what ties do to the p value of a statistic of ranks ---- */

/* Sums over a variable's runs of ties, each of t observations. */
typedef struct {
    double pairs, cubes; /* of t (t - 1), and of t^3 - t; whole numbers */
    double same_orders;  /* the product of t!: how many orders look the same; infinite where that is no double */
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

/* Of a variable with n values: sum(score^2) / (2 untied pairs) - 1, a score being how many values are below less how
 * many are above. (n - 2) / 3 without ties, the least; NaN if all values are the same. */
static inline double gcor_tie_quotient(double n, gcor_tie_sums ties) {
    return (n * (n - 1) * (n + 1) - ties.cubes) / 3 / (n * (n - 1) - ties.pairs) - 1;
}

/* Whether that is of a variable without ties, which change it by 2 / (3 n) at least. */
static inline int gcor_is_untied(double n, double quotient) {
    return fabs(quotient - (n - 2) / 3) * n < 0.25;
}

/* The standard deviation of tau-b of independent variables with n >= 3 observations: its variance under permutation is
 * a product of one number of each variable, and of what it would be otherwise (Daniels 1944). The same as the variance
 * of Kendall's S with ties, in which tau-b's numerator is S. */
static inline double gcor_kendall_deviation(double n, double quotient, double other) {
    return sqrt(4 * quotient * other / (n * (n - 1) * (n - 2)) + 2 / (n * (n - 1)));
}

/* Student's t of a coefficient. */
static inline double gcor_t_score(double df, double r) {
    return r * sqrt(df / ((1 - r) * (1 + r)));
}

/* ---- observations and ties of each variable ---- */

typedef struct {
    int64_t n_var, n_obs;
    int64_t *n_present; /* n_var: how many values each has */
    double *quotient;   /* n_var: what ties among these do to a statistic of ranks (above); NULL: not asked for */
    double *orders;     /* n_var: how many of its orders look the same (above); NULL where quotient is */
    int64_t words;
    uint64_t *present; /* words for each variable, a bit for each observation; NULL: pairs have no observations of
                          their own */
    int32_t **tied;    /* each variable's runs of ties: how many and which observations, closed by 0; NULL: it has
                          none. NULL: not asked for, or pairs have no observations of their own */
} gcor_observed;

/* common: pairs have observations of their own; ties: for a statistic of ranks. NULL after an error. */
gcor_observed *gcor_observed_new(gcor_context *context, const gcor_columns *columns, int common, int ties);
void gcor_observed_free(gcor_observed *observed); /* NULL is allowed */

/* How many observations variables i of a and j of b have in common. Any thread. */
int64_t gcor_common_count(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j);
/* Adds up the weights of these observations, and their squares. weight: n_obs; NULL: all are 1. Any thread. */
typedef struct {
    double sum, squares;
} gcor_weight_sums;
gcor_weight_sums gcor_common_weights(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j,
                                     const double *weight);
/* The quotient of variable i of a among its n common observations with variable j of b; and how many orders of these
 * look the same. Any thread. */
double gcor_common_quotient(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j, int64_t n);
double gcor_common_orders(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
