/* The leading eigenvector of a symmetric matrix that has no negative eigenvalue. */
#ifndef GPUCOR_STATS_LEADING_H
#define GPUCOR_STATS_LEADING_H

#include <stdint.h>

/* Returns the number of doubles that gcor_leading() needs as scratch. */
int64_t gcor_leading_scratch(int64_t n);

/* Sets vector[n], of length 1 and any sign, and returns the eigenvalue. matrix: n rows, `stride` apart. The residual is
 * at most 1e-10 of the eigenvalue, unless many eigenvalues are equal to it. Any thread. */
double gcor_leading(const double *matrix, int64_t n, int64_t stride, double *vector, double *scratch);

#endif
