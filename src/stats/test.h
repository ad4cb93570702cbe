/* Computes statistics and p values of pairs from their coefficients; the only place that does. */
#ifndef GPUCOR_TEST_H
#define GPUCOR_TEST_H

#include "../measure/compact.h"
#include "autocorrelation.h"
#include "exact.h"
#include "interval.h"
#include "pair_observations.h"
#include "recompute.h"
#include "tail_block.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    int has_interval;  /* confidence intervals are computed, with this quantile (interval.h) */
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
    gcor_rho_beta *betas; /* for low .. low + n_found - 1 observations, if approximate p values use them (exact.h);
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

#ifdef __cplusplus
}
#endif
#endif
