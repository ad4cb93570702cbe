/* Autocorrelations of columns, and the effective number of observations that they imply for a pair. */
#ifndef GPUCOR_AUTOCORRELATION_H
#define GPUCOR_AUTOCORRELATION_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Autocorrelations of each variable at lags 1, 2, ..., n_lags, multiplied by the root of the fraction of
 * observations that have a neighbour at that lag; NaN for a variable without coefficients. */
typedef struct {
    int64_t n_var, n_lags;
    double *values; /* n_lags per variable */
} gcor_autocorrelation;

/* Max lag: a quarter of the observations. */
static inline int64_t gcor_max_lags(int64_t n_obs) {
    return n_obs / 4;
}

/* Autocorrelations of columns as the measure and columns->design prepare them: ranked, weighted, residualized.
 * Observations that are missing or not in use keep their positions in time. NULL after an error; the caller frees it
 * with gcor_autocorrelation_free(). */
gcor_autocorrelation *gcor_autocorrelation_new(gcor_context *context, const gcor_columns *columns,
                                               const gcor_measure *measure);
void gcor_autocorrelation_free(gcor_autocorrelation *of); /* NULL is allowed */

/* The effect of regression and weights on the sum over lags in Bartlett's formula: n_points sums, ascending, and the
 * effective number of observations for each, out of n_obs in use. Between the points it is interpolated; beyond them
 * it is that of the nearest. */
typedef struct {
    int64_t n_points, n_obs;
    const double *sums, *counts;
} gcor_calibration;

/* Effective number of independent observations of variable i of a and j of b with n pairwise-complete observations
 * (Bartlett 1935); at most n. calibration: NULL if columns are neither weighted nor residualized. Any thread. */
double gcor_effective_count(const gcor_autocorrelation *a, int64_t i, const gcor_autocorrelation *b, int64_t j,
                            int64_t n, const gcor_calibration *calibration);

#ifdef __cplusplus
}
#endif
#endif
