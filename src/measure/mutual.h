/* Mutual information of binned columns. A column becomes a bin for each observation; the information of two columns
 * follows from the counts of their contingency table:
 *
 *   I = (sum c log c  -  sum a log a  -  sum b log b  +  n log n) / n   in nats
 *
 * over the table's cells c and its margins a and b. Terms c log c are integers in fixed point, so that sums are exact
 * in any order. The coefficient is Linfoot's: sqrt(1 - exp(-2 I)), in [0, 1). */
#pragma once

#include "measure.h"
#include "../base/elementary.h"

GCOR_BEGIN_C

/* Bounds of the number of bins, and the code of a missing value. */
enum { GCOR_MIN_BINS = 2, GCOR_MAX_BINS = 16, GCOR_NO_BIN = 255 };

/* Returns the number of bins for columns of n_obs observations: the design's option (NULL: the default). */
int gcor_bin_count(const gcor_design *design, int64_t n_obs);

/* Writes the bin of each of n ranked values, from 0, or GCOR_NO_BIN, to codes. A column of at most `bins` distinct
 * values has one bin for each; any other has bins of equal frequency, where tied values share a bin. Returns the number
 * of bins that have values, which is 1 only if all values are equal. Any thread. */
int gcor_bin_column(const gcor_ranks *ranks, int64_t n, int64_t present, int bins, unsigned char *codes);

/* Writes c log c for c = 0 .. n to terms, as multiples of a power of two, which it returns. It is so small that sums
 * over the cells of a table are below 2^61. */
double gcor_mutual_terms(int64_t n, int64_t *terms);

/* Prepares a column for the GPU: writes the bins of x to codes, which ranks are needed for, as gcor_prepare_real()
 * writes values. Returns 1 if several bins have values, otherwise 0. Any thread. */
double gcor_prepare_bins(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int *flags,
                         const gcor_ranks *ranks, unsigned char *codes);

/* Sums below this are rounding errors of the terms: up to 1.5 2^-52 of each, of which those of cells, of both margins
 * and of n log n add up to 4 n log n, and 1/2 of each in fixed point. */
#define GCOR_MIN_MUTUAL_SUM 4096

/* Returns the coefficient of a pair with n observations, given the sum of its terms in multiples of `unit`. Any
 * thread. */
GCOR_INLINE double gcor_mutual_coefficient(int64_t sum, int64_t n, double unit) {
    if (sum < GCOR_MIN_MUTUAL_SUM) return 0;
    return sqrt(1 - gcor_exp_of(-2 * ((double)sum * unit) / (double)n, 0));
}

/* What the pairs of complete columns share. */
typedef struct {
    int64_t n_obs;
    int64_t all; /* the term of n_obs */
    double unit;
} gcor_mutual_scale;

/* Returns the coefficient of complete columns: cells, the sum of the terms of the table's cells; each side's margin,
 * the sum of the terms of its bins, and norm. Sums may wrap, as pairs outside of a mask have arbitrary ones. Any
 * thread. */
GCOR_INLINE double gcor_mutual_of_cells(const gcor_mutual_scale *scale, int64_t cells, int64_t margin,
                                        int64_t other_margin, double norm, double other_norm) {
    if (norm < 0 || other_norm < 0) return GCOR_NO_VALUE;
    if (norm == 0 || other_norm == 0) return GCOR_ZERO_SD;
    int64_t others = scale->all - margin - other_margin;
    return gcor_mutual_coefficient((int64_t)((uint64_t)cells + (uint64_t)others), scale->n_obs, scale->unit);
}

GCOR_END_C
