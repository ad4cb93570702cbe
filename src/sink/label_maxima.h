/* For each permutation of the subjects, finds the largest statistic (permuted_tests.h) over all pairs. The sink takes
 * every subject's coefficients (GCOR_EACH). */
#ifndef GPUCOR_LABEL_MAXIMA_H
#define GPUCOR_LABEL_MAXIMA_H

#include "permuted_tests.h"
#include "weight.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    gcor_sink sink; /* must be first */
    gcor_side side;
    gcor_permutations permutations;
    const gcor_combine_loops *loops;
    int threads;
    double *scratch; /* for each thread; owned */
    double *best;    /* for each thread, the largest weight of each permutation; -Inf if there is none; owned */
} gcor_label_maxima;

/* *maxima is the caller's, to free with gcor_sink_free(); NULL after an error. */
gcor_status gcor_label_maxima_new(gcor_context *context, int64_t n_var, gcor_side side,
                                  const gcor_permutations *permutations, gcor_label_maxima **maxima);
/* Returns the largest weight of permutation k: of t, or of tanh of the weighted sum; the same on every back end.
 * GCOR_NO_WEIGHT if no pair has a coefficient in all subjects. */
double gcor_label_maxima_of(const gcor_label_maxima *maxima, int64_t k);

#ifdef __cplusplus
}
#endif
#endif
