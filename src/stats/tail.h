/* Tail probabilities of test statistics, stored as factor * exp(exponent), so that the logarithm exists even if the
 * probability is below the smallest double. R's distribution functions are not used: any thread may compute p
 * values. */
#pragma once

#include "../gpucor.h"

#include <math.h>

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

/* ---- many statistics of one distribution ------------------------------------------------------------------ */

/* Writes the two-sided p values of n coefficients, and of n standard normal statistics, to p, which may be the same
 * array; NaN stays NaN. Any thread. */
void gcor_t_table_p(const gcor_t_table *table, const double *r, int64_t n, double *p);
void gcor_normal_p(const double *z, int64_t n, double *p);
/* One such p value; table NULL: of the normal distribution. Any thread. */
double gcor_one_p(const gcor_t_table *table, double x);

/* Student's t of a coefficient. */
static inline double gcor_t_score(double df, double r) {
    return r * sqrt(df / ((1 - r) * (1 + r)));
}

/* Writes Student's t of n coefficients to t; NaN stays as it is. Returns how many have gcor_is_near() for max_df. Any
 * thread. */
int64_t gcor_t_scores(double df, double max_df, const double *r, int64_t n, double *t);

/* True if p of a coefficient in single precision, whose error is up to 2^-22, could have a relative error above
 * 2^-10: the error of log(p) is df / (1 - r^2) times that of r. If 1 - r^2 >= 2^-4, this would need so many degrees
 * of freedom that p is below 1e-300, or the coefficient's error is smaller. */
static inline int gcor_is_near(double df, double r) {
    double rest = (1 - r) * (1 + r);
    return rest < 0x1p-4 && rest < df * 0x1p-12;
}

/* The same by the vectors of an instruction set (tail_of_isa.h). */
typedef struct gcor_tail_loops {
    /* Values that are not below `limit` in size are computed one by one. */
    void (*all_p)(const gcor_t_table *table, const double *x, int64_t n, double limit, double *p);
    int64_t (*all_t)(double df, double max_df, const double *r, int64_t n, double *t);
} gcor_tail_loops;

/* As a function of y = 1 / (1 + r s), with s near sqrt(df / 2), the quotient (tail.c) has nearly the same shape for
 * every df. The table has polynomials on equal intervals of y. */
enum { GCOR_T_INTERVALS = 128, GCOR_T_TERMS = 9 };

struct gcor_t_table {
    double half_df, scale, low, per_y;                  /* index of the interval: (y - low) * per_y */
    double coefficient[GCOR_T_INTERVALS][GCOR_T_TERMS]; /* of powers of the position in the interval, -1 to 1 */
};

/* Evaluates the quotient at `at`, an index of intervals with a fraction. */
static inline double gcor_t_quotient(const struct gcor_t_table *table, double at) {
    int interval = (int)at;
    if (interval > GCOR_T_INTERVALS - 1) interval = GCOR_T_INTERVALS - 1; /* r = 0 */
    const double *c = table->coefficient[interval], u = 2 * (at - interval) - 1;
    double sum = c[GCOR_T_TERMS - 1];
    for (int k = GCOR_T_TERMS - 2; k >= 0; k--) sum = sum * u + c[k];
    return sum;
}

/* From here on erfc() underflows, and the asymptotic series of a normal tail is accurate to all digits. */
#define GCOR_FAR_NORMAL 37

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
