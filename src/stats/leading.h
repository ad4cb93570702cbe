/* The leading eigenvector of a symmetric matrix: that of its largest eigenvalue, which must not be negative. */
#pragma once

#include "../gpucor.h"

/* Writes the product of a symmetric matrix with v[n] to product[n]; the same bits with any number of threads. */
typedef void gcor_times(const void *matrix, int threads, const double *v, double *product);

/* A symmetric matrix, of which only products with vectors are needed. */
typedef struct {
    int64_t n;
    gcor_times *times;
    const void *matrix; /* for times() */
    int threads;        /* the result does not depend on it */
    double tolerance;   /* max error, the length of matrix * vector - eigenvalue * vector over the eigenvalue */
    int check_every;    /* number of steps between tests of the error, each of which takes some microseconds */
} gcor_symmetric;

/* Returns the number of doubles that gcor_leading() needs as scratch. */
int64_t gcor_leading_scratch(int64_t n);

/* Replaces vector[n], n > 0, the start of the iteration, by the eigenvector, of length 1 and any sign. If the
 * eigenvalue is multiple, it is the start's projection on its eigenvectors. *error: the length of matrix * vector -
 * eigenvalue * vector; above tolerance * eigenvalue if the iteration has not converged. Any thread; stops as
 * gcor_stop() says. */
gcor_status gcor_leading(gcor_context *context, const gcor_symmetric *a, double *vector, double *scratch, double *value,
                         double *error);

/* Sets vector[n] to that of a matrix in memory, with rows `stride` apart, and returns the eigenvalue, by one thread.
 * The error is at most 1e-10, unless many eigenvalues are nearly equal to the largest. */
double gcor_leading_dense(gcor_context *context, const double *matrix, int64_t n, int64_t stride, double *vector,
                          double *scratch);
