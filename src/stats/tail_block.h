/* P values of many statistics of one distribution: the numbers that tail.h computes one by one, with AVX2 and AVX-512
 * by vectors. */
#pragma once

#include "tail.h"

/* Writes the two-sided p values of n coefficients, and of n standard normal statistics, to p, which may be the same
 * array; NaN stays NaN. Any thread. */
void gcor_t_table_p(const gcor_t_table *table, const double *r, int64_t n, double *p);
void gcor_normal_p(const double *z, int64_t n, double *p);

/* Writes Student's t (tie_variance.h) of n coefficients to t; NaN stays as it is. Returns how many have gcor_is_near()
 * for max_df. Any thread. */
int64_t gcor_t_scores(double df, double max_df, const double *r, int64_t n, double *t);

/* The same for values of a distribution, table NULL: the normal one, by vectors if they are below `limit` in size, and
 * otherwise one by one; with the instructions of a set that isa.h names (tail_vectors.h). Any thread. */
void gcor_all_p_avx2(const gcor_t_table *table, const double *x, int64_t n, double limit, double *p);
void gcor_all_p_avx512(const gcor_t_table *table, const double *x, int64_t n, double limit, double *p);
int64_t gcor_all_t_avx2(double df, double max_df, const double *r, int64_t n, double *t);
int64_t gcor_all_t_avx512(double df, double max_df, const double *r, int64_t n, double *t);

/* True if p of a coefficient in single precision, whose error is up to 2^-22, could have a relative error above
 * 2^-10: the error of log(p) is df / (1 - r^2) times that of r. If 1 - r^2 >= 2^-4, this would need so many degrees
 * of freedom that p is below 1e-300, or the coefficient's error is smaller. */
static inline int gcor_is_near(double df, double r) {
    double rest = (1 - r) * (1 + r);
    return rest < 0x1p-4 && rest < df * 0x1p-12;
}

/* One p value. Any thread. */
double gcor_one_p(const gcor_t_table *table, double x);
