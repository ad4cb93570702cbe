/* Computes statistics and p values of pairs from their coefficients; the only place that does. */
#pragma once

#include "../measure/compact.h"
#include "tail.h"

/* ---- exact p values (exact.c) ------------------------------------------------------------------- */

/* Exact p values of rank correlations without ties, from the distribution over all orders of n observations; and the
 * approximation of Spearman's rho for larger n. */

/* Max number of observations with an exact distribution: beyond, n! overflows a double (Kendall), or there are too
 * many sets of ranks (Spearman, of which from 15 on only the tail is exact). */
enum { GCOR_MAX_KENDALL = 170, GCOR_MAX_SPEARMAN = 20 };

/* Lower tails for n from `min` (at least 2) to `max` observations. The caller frees it with gcor_exact_free();
 * NULL after an error. */
typedef struct gcor_exact gcor_exact;
gcor_exact *gcor_exact_new(gcor_context *context, const gcor_measure *measure, int64_t min, int64_t max);
void gcor_exact_free(gcor_exact *exact); /* NULL is allowed */

/* Max number of observations for which a measure's p values can be exact; 0: none. */
int64_t gcor_max_exact(const gcor_measure *measure);
/* Number of equal steps from -1 to 1 that a measure's coefficient of n untied observations can take. */
int64_t gcor_exact_steps(const gcor_measure *measure, int64_t n);
/* Probability that a coefficient of n untied observations, least <= n <= most, is at most r; and that it is at least
 * r. Any thread. */
double gcor_exact_lower(const gcor_exact *exact, int64_t n, double r);
double gcor_exact_upper(const gcor_exact *exact, int64_t n, double r);

/* The symmetric beta distribution with the first four moments of Spearman's rho for n >= 3 untied observations (Olds
 * 1938): rho / scale has the distribution of a coefficient whose t has df degrees of freedom. */
typedef struct {
    double df, scale;
} gcor_rho_beta;
gcor_rho_beta gcor_rho_beta_of(double n);

/* ---- ties ------------------------------------------------------------------------------------------- */

/* The effect of ties on the variance of rank statistics. measure/rank.c has the denominator of tau-b. */

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

/* ---- degrees of freedom of series (series.c) ------------------------------------------------------ */

/* Autocorrelations of columns, and the effective number of observations that they imply for a pair. */

/* Autocorrelations of each variable at lags up to n_lags, a quarter of the observations, multiplied by the root of the
 * fraction of observations that have a neighbour at that lag; NaN for a variable without coefficients. */
typedef struct {
    int64_t n_var, n_lags;
    double *values; /* n_lags per variable */
} gcor_autocorrelation;

/* Autocorrelations of columns as the measure and columns->design prepare them: ranked, weighted, residualized.
 * Observations that are missing or not in use keep their positions in time. NULL after an error; the caller frees it
 * with gcor_autocorrelation_free(). */
gcor_autocorrelation *gcor_autocorrelation_new(gcor_context *context, const gcor_columns *columns,
                                               const gcor_measure *measure);
void gcor_autocorrelation_free(gcor_autocorrelation *of); /* NULL is allowed */

/* The effect of regression and weights on the sum over lags in Bartlett's formula: n_points sums, ascending, and the
 * effective number of observations for each, out of n_obs in use. Between the points it is interpolated; beyond them
 * it is that of the nearest. */
typedef struct {
    int64_t n_points, n_obs;
    const double *sums, *counts;
} gcor_calibration;

/* Effective number of independent observations of variable i of a and j of b with n pairwise-complete observations
 * (Bartlett 1935); at most n. calibration: NULL if columns are neither weighted nor residualized. Any thread. */
double gcor_effective_count(const gcor_autocorrelation *a, int64_t i, const gcor_autocorrelation *b, int64_t j,
                            int64_t n, const gcor_calibration *calibration);

/* ---- observations of pairs (pair_observations.c) ------------------------------------------------ */

/* Which observations each variable has, and which of them tie: what the p value of a pair needs beside its
 * coefficient. */

typedef struct {
    int64_t n_var, n_obs;
    int64_t *n_present; /* n_var: number of values present */
    double *quotient;   /* n_var: effect of ties on a rank statistic (gcor_tie_quotient()); NULL: not requested */
    double *orders;     /* n_var: number of its orders that look the same (gcor_tie_sums); NULL if quotient is NULL */
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

/* ---- coefficients in double precision (recompute.c) --------------------------------------------- */

/* Recomputes the coefficients of some pairs in double precision. */

typedef struct {
    int64_t at;   /* the caller's: index of the pair in a list of its own */
    int64_t i, j; /* variables of x and of y */
    double r;
} gcor_pair_value;

/* Replaces r of the n pairs, sorted by j, by the coefficient in double precision over the pairwise-complete
 * observations. A pair without coefficient keeps its r. The measure must have a form in double precision
 * (gcor_has_double()). y may be x. Uses context->threads threads. */
gcor_status gcor_recompute(gcor_context *context, const gcor_measure *measure, const gcor_columns *x,
                           const gcor_columns *y, int64_t n, gcor_pair_value *pairs);

/* ---- tests (test.c) ----------------------------------------------------------------------------- */

/* How the effective number of weighted observations is defined. */
typedef enum {
    GCOR_WORTH_COUNT, /* the number of observations in use: weights are precisions */
    GCOR_WORTH_KISH,  /* (sum of weights)^2 / sum of squared weights: weights are importances */
    GCOR_WORTH_SUM    /* sum of weights times `unit`: weights are frequencies */
} gcor_worth;

/* Degrees of freedom of Student's t: the effective number of observations minus those that the measure takes and
 * that regression took (lost); or `given`, if not 0; or estimated from the autocorrelations of a pair's columns. The
 * calibration (n_points 0: none) then accounts for regression and weights. */
typedef struct {
    int64_t lost;
    double given;
    int is_estimated;
    gcor_calibration calibration;
    gcor_worth worth;
    double unit; /* what a weight of 1 stands for */
} gcor_df_rule;

typedef struct {
    const gcor_measure *measure;
    gcor_alternative alternative;
    int is_log;        /* p values are natural logarithms */
    int64_t max_exact; /* max number of observations for exact p values of untied pairs; beyond, Spearman's rho uses
                           gcor_rho_beta_of(). 0: no exact p values, rho uses Student's t */
    int64_t min_obs;   /* pairs with fewer observations are not tested; at least 3 */
    int in_double;     /* coefficients are in double precision and need not be recomputed */
    double missing;    /* result for pairs that cannot be tested */
    int has_interval;  /* confidence intervals are computed, with this quantile (tail.h) */
    double quantile;
    gcor_df_rule df;
} gcor_test_rule;

/* Max number of observations with which a rank correlation of 1 or -1 is common by chance. */
enum { GCOR_VERY_FEW = 5 };

/* Data for testing pairs of x's variables with y's (or with x's own), prepared once. */
typedef struct {
    gcor_test_rule rule;
    gcor_columns x_columns, y_columns;
    gcor_observed *x, *y; /* y is x if there is no second matrix */
    const double *weight; /* weights of the observations in use; NULL: all are 1 */
    double worth;         /* effective number of observations of every pair; 0: observations are counted, or pairs are
                             pairwise-complete */
    gcor_autocorrelation *x_lags,
        *y_lags; /* y_lags is x_lags if there is no second matrix; NULL: degrees of freedom are not estimated */
    int64_t low, n_found; /* tested pairs have low .. low + n_found - 1 observations */
    int64_t n_tables;     /* number of tables of p values, for the first of these numbers of observations */
    gcor_t_table **tables;
    gcor_rho_beta *betas; /* for low .. low + n_found - 1 observations, if approximate p values use them (test.h);
                             otherwise NULL */
    gcor_exact *exact;    /* NULL without exact p values */
    int64_t tied;         /* number of pairs whose p value is not exact because of ties */
    int64_t few;          /* number of pairs with very few observations and a coefficient of 1 or -1 */
} gcor_test;

/* x, y: the observations in use, with their design; y may be NULL. common: pairs are pairwise-complete; n_pairs:
 * number of pairs that will be tested. The caller closes *test with gcor_test_close(); after an error there is
 * nothing to free. */
gcor_status gcor_test_open(gcor_context *context, const gcor_test_rule *rule, const gcor_columns *x,
                           const gcor_columns *y, int common, int64_t n_pairs, gcor_test *test);
void gcor_test_close(gcor_test *test);

/* True if all pairs have the same number of observations. */
static inline int gcor_test_is_single(const gcor_test *test) {
    return !test->x->present;
}

/* True if a pair's degrees of freedom do not follow from its number of observations. common: pairs are
 * pairwise-complete. */
static inline int gcor_df_is_own(const gcor_df_rule *rule, int common) {
    return rule->is_estimated || (common && !(rule->given > 0) && rule->worth != GCOR_WORTH_COUNT);
}

typedef struct {
    double n, df, statistic, p; /* df: of Student's t; NaN if not applicable */
    gcor_interval interval;     /* undefined unless the rule has_interval */
    int is_tied;                /* p is not exact because of ties */
    int is_few;                 /* a coefficient of 1 or -1 of very few observations */
} gcor_tested;

/* Max degrees of freedom of a pair. */
double gcor_test_max_df(const gcor_test *test);
/* True if coefficients with gcor_is_near() are to be recomputed in double precision by gcor_recompute(). */
int gcor_test_recomputes(const gcor_test *test);

/* Tests variable i of x with j of y, whose coefficient is r; NaN stays NaN. Any thread. */
gcor_tested gcor_test_pair(const gcor_test *test, int64_t i, int64_t j, double r);

/* Results of all pairs, the caller's. n and df may be NULL, and low and high, the bounds of confidence intervals,
 * unless the rule has_interval. */
typedef struct {
    double *n, *df, *statistic, *p, *low, *high;
} gcor_tested_pairs;

/* Tests all pairs, whose coefficients are r, in R's order: a triangle by rows, or all variables of x (fastest) with all
 * of y; if y is x, the upper triangle of this matrix is not written, as it equals the lower one. Uses context->threads
 * threads; can be interrupted. */
gcor_status gcor_test_pairs(gcor_context *context, gcor_test *test, int is_triangle, const gcor_values *r,
                            const gcor_tested_pairs *results);

/* ---- surrogates of inter-subject correlation (isc.c) ---------------------------------------------------------- */

/* Surrogate series, whose largest values over all columns gpuISC() compares with. */

/* Complex numbers are pairs of doubles. Borrowed. */
typedef struct {
    int64_t n_subject, n_freq, n_col, n_perm;
    const double **spectra; /* each subject's Fourier coefficients, n_freq x n_col, whose products are those of the
                             * series; 0 for a subject without a coefficient */
    const double *factors;  /* n_freq x n_subject x n_perm, by which they are multiplied, of modulus 1 */
    int is_fisher;          /* whether coefficients are averaged by Fisher's z */
} gcor_isc;

/* Sets for each surrogate the largest mean over the subjects of all columns; -Inf for none. */
gcor_status gcor_isc_maxima(gcor_context *context, const gcor_isc *isc, double *maxima);
