/* Tail probabilities of test statistics, stored as factor * exp(exponent), so that the logarithm exists even if the
 * probability is below the smallest double. R's distribution functions are not used: any thread may compute p
 * values. */
#pragma once

#include "../gpucor.h"

typedef struct {
    double exponent, factor;
} gcor_tail;

/* Two-sided tail of a standard normal variable. Any thread. */
gcor_tail gcor_normal_tail(double z);
/* Upper tail of a chi-squared variable with 1 degree of freedom; 1 if x is negative. Any thread. */
gcor_tail gcor_chi_squared_tail(double x);
/* Two-sided tail of a coefficient r in [-1, 1] whose r sqrt(df / (1 - r^2)) has Student's t distribution; df >= 1.
 * Any thread. */
gcor_tail gcor_t_tail(double df, double r);

/* A table that computes gcor_t_tail() for many coefficients of one df in a tenth of the time. The caller frees it
 * with gcor_free(); NULL after an error. */
typedef struct gcor_t_table gcor_t_table;
gcor_t_table *gcor_t_table_new(gcor_context *context, double df);
gcor_tail gcor_t_table_tail(const gcor_t_table *table, double r);

typedef enum { GCOR_TWO_SIDED, GCOR_LESS, GCOR_GREATER } gcor_alternative;

/* p, or its natural logarithm (is_log), given the two-sided tail and the statistic's sign; the distribution is
 * symmetric. Any thread. */
double gcor_tail_p(gcor_tail tail, double statistic, gcor_alternative alternative, int is_log);
/* Natural logarithm of the two-sided p. Any thread. */
double gcor_tail_log(gcor_tail tail);

/* ---- confidence intervals ----------------------------------------------------------------------- */

/* Confidence intervals of coefficients, by the normal approximation of Fisher's z = atanh(r). */

typedef struct {
    double low, high;
} gcor_interval;

/* Returns the interval of a coefficient r in [-1, 1] with df degrees of freedom. quantile: of the standard normal
 * distribution, for both sides or, if the alternative is one-sided, for one; the other bound is then -1 or 1. Both
 * bounds are `missing` if df is too small for z to have a variance, or of measures of ranks to be nearly normal. Any
 * thread. */
gcor_interval gcor_interval_of(const gcor_measure *measure, gcor_alternative alternative, double quantile, double df,
                               double r, double missing);
