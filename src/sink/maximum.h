/* The sink that finds the largest weight of all pairs. */
#pragma once

#include "weight.h"

GCOR_BEGIN_C

typedef struct {
    gcor_sink sink; /* must be first */
    gcor_side side;
    int threads;
    double *best; /* one per thread, each in its own cache line; owned */
    double min;   /* the largest of these when the tile began, at least 0: smaller coefficients are not needed */
} gcor_maximum;

/* *maximum is the caller's, to free with gcor_sink_free(); NULL after an error. */
gcor_status gcor_maximum_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_side side,
                             gcor_maximum **maximum);
/* Updates the maximum with a weight found elsewhere. */
void gcor_maximum_add(gcor_maximum *maximum, double weight);
/* Returns the largest weight, the same on every back end; below -1 if no pair has a coefficient. */
double gcor_maximum_of(const gcor_maximum *maximum);

GCOR_END_C
