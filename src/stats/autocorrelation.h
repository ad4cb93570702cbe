/* Autocorrelations of columns, and what those of two columns leave of their observations. */
#ifndef GPUCOR_AUTOCORRELATION_H
#define GPUCOR_AUTOCORRELATION_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Each variable's at lags 1, 2, ..., n_lags, times the root of the share of the observations that have such a
 * neighbour; NaN where it has no coefficients. */
typedef struct {
    int64_t n_var, n_lags;
    double *values; /* n_lags of each variable */
} gcor_autocorrelation;

/* Up to which lag: a quarter of the observations. */
static inline int64_t gcor_max_lags(int64_t n_obs) {
    return n_obs / 4;
}

/* Of columns as the measure and columns->design have them: ranked, weighted, regressed. Observations that do not count,
 * or are missing, stay where they are in time. NULL after an error; gcor_autocorrelation_free() frees it. */
gcor_autocorrelation *gcor_autocorrelation_new(gcor_context *context, const gcor_columns *columns,
                                               const gcor_measure *measure);
void gcor_autocorrelation_free(gcor_autocorrelation *of); /* NULL is allowed */

/* What regression and weights do to the sum over lags in Bartlett's formula: n_points sums, ascending, and the
 * effective number of observations that each stands for, of n_obs that count. Between the points the number is
 * interpolated, and beyond them it is that of the nearest. */
typedef struct {
    int64_t n_points, n_obs;
    const double *sums, *counts;
} gcor_calibration;

/* How many independent observations variable i of a and j of b are worth that have n in common (Bartlett 1935): n at
 * the most. calibration NULL: the columns are neither weighted nor regressed. Any thread. */
double gcor_effective_count(const gcor_autocorrelation *a, int64_t i, const gcor_autocorrelation *b, int64_t j,
                            int64_t n, const gcor_calibration *calibration);

#ifdef __cplusplus
}
#endif
#endif
