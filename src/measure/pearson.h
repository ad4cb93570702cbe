/* Pearson's correlation, and the cosine, with the same bits on every back end: how columns are centred, and sums over
 * pairwise-complete observations. */
#pragma once

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

GCOR_BEGIN_C

/* Rows of the table of measures have these. */
double gcor_prepare_pearson(double *x, int64_t n, gcor_preparing *with, float *out);
double gcor_prepare_pearson_double(double *x, int64_t n, gcor_preparing *with, double *out);
double gcor_prepare_cosine(double *x, int64_t n, gcor_preparing *with, float *out);
double gcor_prepare_cosine_double(double *x, int64_t n, gcor_preparing *with, double *out);

/* Centres and scales x. Returns the sum of squares about the mean. Not for device code. */
double gcor_centre(double *x, int64_t n);

GCOR_END_C

/* ---- pairwise-complete observations ------------------------------------------------------------- */

/* They are computed from sums over all observations: a column's own sums, less those of the rows that only the other
 * column misses. The sum of products is an ordinary product of columns with zeros at the missing values. */

/* A column's scores are its values less `origin`, times `scale`. squares: NaN if they are not finite. */
typedef struct {
    double origin, scale, sum, squares;
} gcor_common_sums;

/* A missing value has score 0. */
GCOR_INLINE double gcor_common_score(const gcor_common_sums *all, double value) {
    return value == value ? (value - all->origin) * all->scale : 0;
}

/* Returns the sums of a column. */
GCOR_INLINE gcor_common_sums gcor_sum_common(const double *x, int64_t n_obs, int centred) {
    gcor_common_sums all = {0, 1, 0, 0};
    double first = 0, differences = 0, largest = 0;
    int64_t present = 0;
    for (int64_t k = 0; k < n_obs && centred; k++) {
        if (x[k] != x[k]) continue;
        if (present++ == 0) first = x[k];
        differences += x[k] - first;
    }
    if (present > 0) all.origin = first + differences / (double)present;
    for (int64_t k = 0; k < n_obs; k++) {
        double size = fabs(x[k] - all.origin);
        if (size > largest) largest = size;
    }
    all.scale = gcor_scale(isfinite(largest) ? largest : 0);
    for (int64_t k = 0; k < n_obs; k++) {
        double score = gcor_common_score(&all, x[k]);
        all.sum += score;
        all.squares += score * score;
    }
    if (!isfinite(all.squares)) all.squares = NAN;
    return all;
}

/* The sums of a pair over n common rows. own, other: those of both columns; product: of the products. */
typedef struct {
    gcor_common_sums own, other;
    double product, n;
} gcor_common_pair;

/* Moves the sums to the means of the common rows. Returns false if the pair's rows must be summed by themselves: little
 * is left of a column's squares, so that digits have cancelled. all, all_other: squares of all rows. */
GCOR_INLINE int gcor_settle_common(gcor_common_pair *pair, int centred, double all, double all_other) {
    const double part = 0x1p-4;
    if (centred) {
        const double inverse = 1 / pair->n;
        pair->product -= pair->own.sum * pair->other.sum * inverse;
        pair->own.squares -= pair->own.sum * pair->own.sum * inverse;
        pair->other.squares -= pair->other.sum * pair->other.sum * inverse;
    }
    return pair->n >= 2 && pair->own.squares > part * all && pair->other.squares > part * all_other;
}

/* Coefficients from here on are computed from the common rows alone, as the difference from 1 counts. */
static const double GCOR_NEAR_ONE = 1 - 0x1p-10;
