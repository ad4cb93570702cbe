/* The product of a network's weights with a vector, for eigenvectors. */
#ifndef GPUCOR_NETWORK_TIMES_H
#define GPUCOR_NETWORK_TIMES_H

#include "../gpucor.h"

/* A symmetric network of n variables without diagonal, as the upper triangle in compressed columns: column j has the
 * entries start[j] .. start[j+1]-1, each with its row and coefficient. Borrowed. */
typedef struct {
    int64_t n;
    const int32_t *start, *row;
    const double *r;
} gcor_upper;

/* Writes the product of the matrix of |r| with v[n] to product[n]; the same bits with any number of threads. */
gcor_status gcor_network_times(gcor_context *context, const gcor_upper *network, const double *v, double *product);

#endif
