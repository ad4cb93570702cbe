/* Sums for partial correlations given all other variables, shrunken as by Schaefer and Strimmer (2005). Both the
 * shrinkage and the design's map (measure/design.h) follow from sums over the variables, whose size is that of the
 * observations (R/data-partial.R). */
#pragma once

#include "../gpucor.h"

/* Sums over the variables that have coefficients. X: their n_obs x n_var matrix of columns prepared in double
 * precision and scaled to unit length. */
typedef struct {
    double *products; /* n_obs * n_obs: X X' */
    double *fourth;   /* n_obs: sums of the fourth powers of each row of X */
    int64_t n_var;    /* number of variables that were summed */
} gcor_partial_sums;

/* Adds to the caller's zeros. GCOR_BAD_INPUT if the measure has no partial correlations. The sums do not depend on the
 * number of threads. */
gcor_status gcor_sum_products(gcor_context *context, const gcor_columns *columns, const gcor_measure *measure,
                              gcor_partial_sums *sums);
