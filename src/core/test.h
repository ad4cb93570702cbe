/* Statistics and p values of pairs, from their coefficients: the one place where they are computed. */
#ifndef GPUCOR_TEST_H
#define GPUCOR_TEST_H

#include "autocorrelation.h"
#include "exact.h"
#include "observed.h"
#include "tail.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How many observations weighted ones are worth. */
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
    int is_log;         /* p values are wanted as natural logarithms */
    int64_t most_exact; /* up to how many observations p values are exact where there are no ties; 0: none are */
    double missing;     /* what a pair has that cannot be tested */
    gcor_df_rule df;
} gcor_test_rule;

/* What the pairs of x's variables with y's (or x's own) need; made once for all of them. */
typedef struct {
    gcor_test_rule rule;
    gcor_observed *x, *y;                  /* y: x where there is none */
    const double *weight;                  /* of the observations that count; NULL: all are 1 */
    double worth;                          /* of all of these; 0: pairs have observations of their own */
    gcor_autocorrelation *x_lags, *y_lags; /* the same; NULL: degrees of freedom are not estimated */
    int64_t low, n_tables;                 /* tables of p values for low .. low + n_tables - 1 observations */
    gcor_t_table **tables;
    gcor_exact *exact; /* NULL: no p value is */
    int64_t tied;      /* of all pairs, those that ties kept from an exact p value */
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

/* Whether pairs have degrees of freedom that do not follow from how many observations they have. common: pairs have
 * observations of their own. */
static inline int gcor_df_is_own(const gcor_df_rule *rule, int common) {
    return rule->is_estimated || (common && !(rule->given > 0) && rule->worth != GCOR_WORTH_COUNT);
}

typedef struct {
    double n, df, statistic, p; /* df: of Student's t; NaN where there are none */
    int is_tied;                /* which kept p from being exact */
} gcor_tested;

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
