/* Statistics of pairs for permuted subjects. The subjects' Fisher z of a block of pairs are computed once, and each
 * permutation is a set of weights: of subjects whose labels are permuted, or of the terms of a linear model whose
 * residuals are permuted or change their signs. */
#ifndef GPUCOR_PERMUTED_TESTS_H
#define GPUCOR_PERMUTED_TESTS_H

#include "group_tests.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Weights of all permutations, those of the first one first. Borrowed. */
typedef struct {
    const double *weight;
    int64_t n_weights, n; /* weights of a permutation, and number of permutations */
    int64_t n_subjects;
    int is_t; /* 1: weights are 1 for subjects of the first group and 0 for the others, the statistic is Welch's t; 0:
                 the statistic is the weighted sum of the subjects' z. Without a model */
    const gcor_linear_model *model; /* the statistic is its t, and the weights are `terms` rows as long as its effect
                                       (gcor_combine_loops.linear_t()). NULL: none */
} gcor_permutations;

/* Returns 1 if the statistic is t. */
int gcor_permuted_is_t(const gcor_permutations *permutations);

/* Returns the number of doubles of scratch that a thread needs. */
int64_t gcor_permuted_scratch(const gcor_permutations *permutations);

/* Prepares n <= GCOR_GROUP_BLOCK pairs; subject s has their coefficients at r + s * stride. Any thread. */
void gcor_permuted_begin(const gcor_permutations *permutations, const gcor_combine_loops *loops, const double *r,
                         int64_t stride, int64_t n, double *scratch);
/* Returns the prepared pairs' statistics under permutation k, in scratch: sums, or t |t|, which has the order of t; NaN
 * without one. */
const double *gcor_permuted_values(const gcor_permutations *permutations, const gcor_combine_loops *loops, int64_t k,
                                   int64_t n, double *scratch);

#ifdef __cplusplus
}
#endif
#endif
