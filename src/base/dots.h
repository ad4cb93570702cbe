/* Dot products, several at a time, so that x is read less often and no sum waits for the one before. */
#ifndef GPUCOR_DOTS_H
#define GPUCOR_DOTS_H

#include "wide.h"

#include <stdint.h>

enum { GCOR_DOTS = 4, GCOR_DOT_LANES = 8 };

/* Compilers split it on processors with shorter vectors. */
typedef double gcor_dot_lanes
    __attribute__((vector_size(GCOR_DOT_LANES * sizeof(double)), aligned(sizeof(double)), may_alias));

/* Sets dots[GCOR_DOTS] to the dot products of x with as many vectors, all of n doubles: the same bits on every
 * processor. Any thread. */
GCOR_BODY void gcor_dots(const double *const *vectors, const double *x, int64_t n, double *dots) {
    gcor_dot_lanes sums[GCOR_DOTS] = {{0}};
    int64_t k = 0;
    for (; k + GCOR_DOT_LANES <= n; k += GCOR_DOT_LANES)
        for (int v = 0; v < GCOR_DOTS; v++)
            sums[v] += *(const gcor_dot_lanes *)(vectors[v] + k) * *(const gcor_dot_lanes *)(x + k);
    for (int v = 0; v < GCOR_DOTS; v++) {
        gcor_dot_lanes s = sums[v];
        dots[v] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
        for (int64_t l = k; l < n; l++) dots[v] += vectors[v][l] * x[l];
    }
}

#endif
