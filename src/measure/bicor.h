/* What the biweight midcorrelation is on every back end (bicor.c). */
#pragma once

#include "../gpucor.h"
#include "../base/triangle.h"

#include <math.h>

GCOR_BEGIN_C

double gcor_prepare_bicor(double *x, int64_t n, gcor_preparing *with, float *out);
double gcor_prepare_bicor_double(double *x, int64_t n, gcor_preparing *with, double *out);
extern const gcor_option gcor_bicor_options[];

/* Moves the k-th smallest of n values, from 0, to position k, with no larger value before it and no smaller one
 * after it (quickselect; Hoare 1961). Returns it. Any thread. */
double gcor_kth_smallest(double *x, int64_t n, int64_t k);

GCOR_END_C

/* Indices of the options; what to do if the median absolute deviation is zero. */
enum { GCOR_BICOR_MAX_OUTLIERS, GCOR_BICOR_QUICK, GCOR_BICOR_FALLBACK };
enum { GCOR_BICOR_NO_FALLBACK, GCOR_BICOR_INDIVIDUAL, GCOR_BICOR_ALL_PEARSON };

/* Differences from the median at which weights are zero, by the median absolute deviation and the `quantile` of the
 * differences beyond which only the allowed fraction of them lies on that side, all of them positive. If that would be
 * beyond half of nine deviations, the side is widened until it lies there. */
GCOR_INLINE double gcor_bicor_reach(double deviation, double quantile) {
    const double unit = 9 * deviation, widened_from = 0.5, part = quantile / unit;
    return unit * (part > widened_from ? part / widened_from : 1);
}

/* A difference times its biweight; below, above: the reach on each side of the median. */
GCOR_INLINE double gcor_bicor_weighted(double x, double below, double above) {
    double u = x / (x < 0 ? below : above), v = 1 - u * u;
    return x * (v > 0 ? v * v : 0);
}

/* Quantile of type 7 of R's quantile(): between values k and k + 1 of n in ascending order, from 0; *part: how far. */
GCOR_INLINE int64_t gcor_quantile_index(int64_t n, double fraction, double *part) {
    double at = fraction * (double)(n - 1);
    int64_t k = (int64_t)at < n - 1 ? (int64_t)at : n - 1;
    *part = k == n - 1 ? 0 : at - (double)k;
    return k;
}
