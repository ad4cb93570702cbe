/* Confidence intervals of coefficients, by the normal approximation of Fisher's z = atanh(r). */
#ifndef GPUCOR_INTERVAL_H
#define GPUCOR_INTERVAL_H

#include "tail.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    double low, high;
} gcor_interval;

/* Returns the interval of a coefficient r in [-1, 1] with df degrees of freedom. quantile: of the standard normal
 * distribution, for both sides or, if the alternative is one-sided, for one; the other bound is then -1 or 1. Both
 * bounds are `missing` if df is too small for z to have a variance. Any thread. */
gcor_interval gcor_interval_of(const gcor_measure *measure, gcor_alternative alternative, double quantile, double df,
                               double r, double missing);

#ifdef __cplusplus
}
#endif
#endif
