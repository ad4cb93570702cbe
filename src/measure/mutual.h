/* Mutual information of binned columns. A column becomes a bin for each observation; the information of two columns
 * follows from the counts of their contingency table:
 *
 *   I = (sum c log c  -  sum a log a  -  sum b log b  +  n log n) / n   in nats
 *
 * over the table's cells c and its margins a and b. Terms c log c are integers in fixed point, so that sums are exact
 * in any order. The coefficient is Linfoot's: sqrt(1 - exp(-2 I)), in [0, 1). */
#ifndef GPUCOR_MUTUAL_H
#define GPUCOR_MUTUAL_H

#include "measure.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* Returns the coefficient of a pair with n observations, given the sum of its terms in multiples of `unit`. Any
 * thread. */
double gcor_mutual_coefficient(int64_t sum, int64_t n, double unit);

#ifdef __cplusplus
}
#endif
#endif
