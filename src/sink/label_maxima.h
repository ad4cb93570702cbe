/* For each permutation of the subjects' group labels, finds the largest difference between the groups over all pairs,
 * or its largest Welch's t.
 *
 * A permutation is a set of weights. A pair's difference is the weighted sum of the subjects' Fisher z; for t the
 * weights are 1 for subjects of the first group and 0 for the others. The sink takes every subject's coefficients
 * (GCOR_EACH), computes their z once, and loops over all permutations. */
#ifndef GPUCOR_LABEL_MAXIMA_H
#define GPUCOR_LABEL_MAXIMA_H

#include "combine_loops.h"
#include "weight.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Weights of all permutations: n_subjects of the first permutation, then of the next. Borrowed. */
typedef struct {
    const double *weight;
    int64_t n_subjects, n;
    int is_t; /* Welch's t, otherwise differences */
} gcor_label_permutations;

typedef struct {
    gcor_sink sink; /* must be first */
    gcor_side side;
    gcor_label_permutations permutations;
    const gcor_combine_loops *loops;
    int threads;
    double *z;    /* scratch: for each thread, every subject's z of a block of pairs; owned */
    double *best; /* for each thread, the largest weight of z or t of each permutation; -Inf if there is none; owned */
} gcor_label_maxima;

/* *maxima is the caller's, to free with gcor_sink_free(); NULL after an error. */
gcor_status gcor_label_maxima_new(gcor_context *context, int64_t n_var, gcor_side side,
                                  const gcor_label_permutations *permutations, gcor_label_maxima **maxima);
/* Returns the largest weight of permutation k: of t, or of tanh of the difference; the same on every back end.
 * GCOR_NO_WEIGHT if no pair has a coefficient in all subjects. */
double gcor_label_maxima_of(const gcor_label_maxima *maxima, int64_t k);

#ifdef __cplusplus
}
#endif
#endif
