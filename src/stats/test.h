/* Statistics and p values of pairs, from their coefficients: the one place where they are computed. */
#ifndef GPUCOR_TEST_H
#define GPUCOR_TEST_H

#include "autocorrelation.h"
#include "exact.h"
#include "observed.h"
#include "recompute.h"
#include "tail.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The effective number of weighted observations. */
typedef enum {
    GCOR_WORTH_COUNT, /* as many as count: weights are precisions */
    GCOR_WORTH_KISH,  /* the square of the weights' sum over the sum of their squares: weights are importances */
    GCOR_WORTH_SUM    /* the weights' sum, times `unit`: weights are frequencies */
} gcor_worth;

/* Degrees of freedom of Student's t: as many as the observations are worth, less what the measure takes and regression
 * took (lost); or `given`, if that is not 0; or estimated from the autocorrelations of a pair's columns, with a
 * calibration (n_points 0: none) that knows of that. */
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
    int is_log;        /* p values are wanted as natural logarithms */
    int64_t max_exact; /* up to how many observations p values are exact where there are no ties; those of Spearman's
                        * rho are of gcor_rho_beta_of() elsewhere; 0: none are, rho's are Student's t */
    int64_t min_obs;   /* a pair with fewer observations is not tested; at least 3 */
    int in_double;     /* coefficients are in double precision: none is computed anew */
    double missing;    /* what a pair has that cannot be tested */
    gcor_df_rule df;
} gcor_test_rule;

/* Max number of observations with which a rank correlation of 1 or -1 is common by chance. */
enum { GCOR_VERY_FEW = 5 };

/* What the pairs of x's variables with y's (or x's own) need; made once for all of them. */
typedef struct {
    gcor_test_rule rule;
    gcor_columns x_columns, y_columns;
    gcor_observed *x, *y; /* y: x where there is none */
    const double *weight; /* of the observations that count; NULL: all are 1 */
    double worth; /* of all weighted observations; 0: they are counted, or pairs have observations of their own */
    gcor_autocorrelation *x_lags, *y_lags; /* the same; NULL: degrees of freedom are not estimated */
    int64_t low, n_found;                  /* pairs that are tested have low .. low + n_found - 1 observations */
    int64_t n_tables;                      /* tables of p values for the first of these */
    gcor_t_table **tables;
    gcor_rho_beta *betas; /* for low .. low + n_found - 1 observations: approximate p values are of these; NULL: they
                             are not (exact.h) */
    gcor_exact *exact;    /* NULL: no p value is */
    int64_t tied;         /* of all pairs, those that ties kept from an exact p value */
    int64_t few;          /* of all pairs, those that have very few observations and a coefficient of 1 or -1 */
} gcor_test;

/* x, y: the observations that count, with their design, y NULL: none; common: pairs have observations of their own;
 * n_pairs: how many are going to be tested. After an error there is nothing to free. */
gcor_status gcor_test_open(gcor_context *context, const gcor_test_rule *rule, const gcor_columns *x,
                           const gcor_columns *y, int common, int64_t n_pairs, gcor_test *test);
void gcor_test_close(gcor_test *test);

/* Whether all pairs have the same number of observations. */
static inline int gcor_test_is_single(const gcor_test *test) {
    return !test->x->present;
}

/* True if pairs have degrees of freedom that do not follow from their number of observations. common: pairs have
 * observations of their own. */
static inline int gcor_df_is_own(const gcor_df_rule *rule, int common) {
    return rule->is_estimated || (common && !(rule->given > 0) && rule->worth != GCOR_WORTH_COUNT);
}

typedef struct {
    double n, df, statistic, p; /* df: of Student's t; NaN where there are none */
    int is_tied;                /* which kept p from being exact */
    int is_few;                 /* 1 or -1 of very few observations */
} gcor_tested;

/* Whether p of a coefficient of single precision, which is off by up to 2^-22, could be off by more than 2^-10 of
 * itself: the error of log(p) is df / (1 - r^2) times that of r. Where 1 - r^2 is 2^-4 or more that takes so many
 * degrees of freedom that p is below 1e-300, or coefficients are off by less. */
static inline int gcor_is_near(double df, double r) {
    double rest = (1 - r) * (1 + r);
    return rest < 0x1p-4 && rest < df * 0x1p-12;
}
/* The max degrees of freedom of a pair. */
double gcor_test_max_df(const gcor_test *test);
/* Whether coefficients of the test are to be computed anew where gcor_is_near(): by gcor_recompute(). */
int gcor_test_recomputes(const gcor_test *test);

/* Variable i of x with j of y, whose coefficient is r. NaN stays what it is. Any thread. */
gcor_tested gcor_test_pair(const gcor_test *test, int64_t i, int64_t j, double r);

/* All pairs, as R has them: of a triangle by rows, or of all variables of x (fastest) with all of y. n and df may be
 * NULL, and r may be `statistic`. Uses context->threads threads; can be interrupted. */
gcor_status gcor_test_pairs(gcor_context *context, gcor_test *test, int is_triangle, const double *r, double *n,
                            double *df, double *statistic, double *p);

#ifdef __cplusplus
}
#endif
#endif
