/* Which observations each variable has, and which of them tie: what the p value of a pair needs beside its
 * coefficient. */
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

/* Student's t of a coefficient. */
static inline double gcor_t_score(double df, double r) {
    return r * sqrt(df / ((1 - r) * (1 + r)));
}

/* ---- observations and ties of each variable ---- */

typedef struct {
    int64_t n_var, n_obs;
    int64_t *n_present; /* n_var: number of values present */
    double *quotient;   /* n_var: effect of ties on a rank statistic (above); NULL: not requested */
    double *orders;     /* n_var: number of its orders that look the same (above); NULL if quotient is NULL */
    int64_t words;
    uint64_t *present; /* `words` words per variable, one bit per observation; NULL: pairs are not pairwise-complete */
    int32_t **tied;    /* each variable's runs of ties: the length and the indices of the observations, terminated by 0;
                          NULL: no ties. NULL: not requested, or pairs are not pairwise-complete */
} gcor_observed;

/* common: pairs are pairwise-complete; ties: also collect ties, for a rank statistic. NULL after an error. The
 * caller frees it with gcor_observed_free(). */
gcor_observed *gcor_observed_new(gcor_context *context, const gcor_columns *columns, int common, int ties);
void gcor_observed_free(gcor_observed *observed); /* NULL is allowed */

/* Number of pairwise-complete observations of variable i of a and j of b. Any thread. */
int64_t gcor_common_count(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j);
/* Sums the weights of these observations, and their squares. weight: n_obs; NULL: all are 1. Any thread. */
typedef struct {
    double sum, squares;
} gcor_weight_sums;
gcor_weight_sums gcor_common_weights(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j,
                                     const double *weight);
/* quotient and orders of variable i of a over its n pairwise-complete observations with variable j of b. Any thread. */
double gcor_common_quotient(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j, int64_t n);
double gcor_common_orders(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
