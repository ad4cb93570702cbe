/* A sink before another one that multiplies each correlation by how far both columns have the same spread and, for
 * concordance, the same mean: by at most 1. */
#pragma once

#include "../../gpucor.h"

GCOR_BEGIN_C

/* A column's mean, its standard deviation with the number of observations as divisor, and 1 / sd. */
typedef struct {
    double mean, sd, inverse;
} gcor_spread;

/* Those of a data set's variables, owned; rows and cols are the same array if the sides have the same variables. */
typedef struct {
    gcor_spread *rows, *cols;
} gcor_spreads;

/* Sets the spreads of a data set's columns; those of columns with missing or infinite values are undefined.
 * gcor_spreads_free(): also after an error, and if all are NULL. */
gcor_status gcor_spreads_of(gcor_context *context, const gcor_columns *rows, const gcor_columns *cols,
                            gcor_spreads *spreads);
void gcor_spreads_free(gcor_spreads *spreads);

/* Takes each tile once for each of n_sets data sets, in their order. */
typedef struct {
    gcor_sink sink; /* first */
    gcor_sink *to;  /* the caller's */
    const gcor_spreads *spreads;
    int64_t n_sets, set; /* the set of the next tile */
    int has_means;       /* whether different means count */
} gcor_agreement;

/* *agreement is the caller's, to free with gcor_sink_free(), which leaves `to` alone; NULL after an error. */
gcor_status gcor_agreement_new(gcor_context *context, gcor_sink *to, int in_double, int has_means,
                               const gcor_spreads *spreads, int64_t n_sets, gcor_sink **agreement);

GCOR_END_C
