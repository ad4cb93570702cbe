/* Dot products, several at a time, so that x is read less often and no sum waits for the one before. */
#pragma once

#include "isa.h"

#include <stdint.h>

enum { GCOR_DOTS = 4, GCOR_DOT_LANES = 8 };

/* Half of the lanes: compilers keep vectors of this size in registers, and split them where these are shorter. */
typedef double gcor_half_lanes
    __attribute__((vector_size(GCOR_DOT_LANES / 2 * sizeof(double)), aligned(sizeof(double)), may_alias));

/* Sets dots[GCOR_DOTS] to the dot products of x with as many vectors, all of n doubles: the same bits on every
 * processor. Any thread. */
GCOR_BODY void gcor_dots(const double *const *vectors, const double *x, int64_t n, double *dots) {
    enum { HALF = GCOR_DOT_LANES / 2 };
    gcor_half_lanes a[GCOR_DOTS] = {{0}}, b[GCOR_DOTS] = {{0}};
    int64_t k = 0;
    for (; k + GCOR_DOT_LANES <= n; k += GCOR_DOT_LANES) {
#ifndef __CUDACC__ /* knows no such pragma */
#pragma GCC unroll 4
#endif
        for (int v = 0; v < GCOR_DOTS; v++) {
            a[v] += *(const gcor_half_lanes *)(vectors[v] + k) * *(const gcor_half_lanes *)(x + k);
            b[v] += *(const gcor_half_lanes *)(vectors[v] + k + HALF) * *(const gcor_half_lanes *)(x + k + HALF);
        }
    }
    for (int v = 0; v < GCOR_DOTS; v++) {
        const gcor_half_lanes sum = a[v] + b[v];
        dots[v] = (sum[0] + sum[2]) + (sum[1] + sum[3]);
        for (int64_t l = k; l < n; l++) dots[v] += vectors[v][l] * x[l];
    }
}
