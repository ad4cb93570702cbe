/* P values of many statistics of one distribution: the numbers that tail.h computes one by one, with AVX2 and AVX-512
 * by vectors. */
#ifndef GPUCOR_TAIL_BLOCK_H
#define GPUCOR_TAIL_BLOCK_H

#include "tail.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the two-sided p values of n coefficients, and of n standard normal statistics, to p, which may be the same
 * array; NaN stays NaN. Any thread. */
void gcor_t_table_p(const gcor_t_table *table, const double *r, int64_t n, double *p);
void gcor_normal_p(const double *z, int64_t n, double *p);

/* The same for values of a distribution, table NULL: the normal one, by vectors if they are below `limit` in size, and
 * otherwise one by one; with the instructions of a set that isa.h names (tail_vectors.h). Any thread. */
void gcor_all_p_avx2(const gcor_t_table *table, const double *x, int64_t n, double limit, double *p);
void gcor_all_p_avx512(const gcor_t_table *table, const double *x, int64_t n, double limit, double *p);
/* One p value. Any thread. */
double gcor_one_p(const gcor_t_table *table, double x);

#ifdef __cplusplus
}
#endif
#endif
