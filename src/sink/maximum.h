/* The largest weight of all pairs, and nothing else. */
#ifndef GPUCOR_MAXIMUM_H
#define GPUCOR_MAXIMUM_H

#include "weight.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    gcor_sink sink; /* first */
    gcor_side side;
    int threads;
    double *best; /* threads, each in a cache line of its own; owned */
} gcor_maximum;

extern const gcor_sink_type gcor_maximum_type;

/* *maximum is the caller's, to end with gcor_sink_free(); NULL after an error. */
gcor_status gcor_maximum_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_side side,
                             gcor_maximum **maximum);
/* Take over a weight that another has found. */
void gcor_maximum_add(gcor_maximum *maximum, double weight);
/* The largest weight, the same number on every back end; below -1: no pair has a coefficient. */
double gcor_maximum_of(const gcor_maximum *maximum);

#ifdef __cplusplus
}
#endif
#endif
