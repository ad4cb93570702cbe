/* How Pearson's columns are centred, with the same bits on every back end. */
#ifndef GPUCOR_PEARSON_H
#define GPUCOR_PEARSON_H

#include "coefficient.h"

#include <math.h>

/* Values are scaled, and the first one is subtracted before the mean, so that a constant column becomes exactly zero.
 */
typedef struct {
    double scale, first, mean;
} gcor_centring;

GCOR_INLINE double gcor_centred(const gcor_centring *c, double value) {
    return value * c->scale - c->first * c->scale - c->mean;
}

/* x: n >= 1 finite values. */
GCOR_INLINE gcor_centring gcor_centring_of(const double *x, int64_t n) {
    double sum = 0;
    gcor_centring c = {gcor_scale_of(x, n), x[0], 0};
    for (int64_t k = 0; k < n; k++) sum += gcor_centred(&c, x[k]);
    c.mean = sum / (double)n;
    return c;
}

/* Centres and scales x. Returns the sum of squares about the mean. Not for device code. */
double gcor_centre(double *x, int64_t n);

#endif
