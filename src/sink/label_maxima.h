/* For each permutation of the subjects' group labels, the largest difference between the groups over all pairs.
 *
 * A pair's difference is a weighted sum of the subjects' Fisher z; a permutation is a set of weights. The sink takes
 * every subject's coefficients (GCOR_EACH), computes their z once, and forms the sums of all permutations from them. */
#ifndef GPUCOR_LABEL_MAXIMA_H
#define GPUCOR_LABEL_MAXIMA_H

#include "combine_loops.h"
#include "weight.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Weights of all permutations, n_subjects of the first one, then of the next. Borrowed. */
typedef struct {
    const double *weight;
    int64_t n_subjects, n;
} gcor_label_permutations;

typedef struct {
    gcor_sink sink; /* first */
    gcor_side side;
    gcor_label_permutations permutations;
    const gcor_combine_loops *loops;
    int threads;
    double *z;    /* scratch: for each thread, every subject's z of a block of pairs; owned */
    double *best; /* for each thread, the largest weight of z of each permutation, -Inf if there is none; owned */
} gcor_label_maxima;

/* *maxima is the caller's, to end with gcor_sink_free(); NULL after an error. */
gcor_status gcor_label_maxima_new(gcor_context *context, int64_t n_var, gcor_side side,
                                  const gcor_label_permutations *permutations, gcor_label_maxima **maxima);
/* tanh of the largest weight of permutation number k, the same on every back end; GCOR_NO_WEIGHT if no pair has a
 * coefficient in all subjects. */
double gcor_label_maxima_of(const gcor_label_maxima *maxima, int64_t k);

#ifdef __cplusplus
}
#endif
#endif
