/* For each permutation of the subjects, the connected components of the pairs whose statistic (permuted_tests.h) is at
 * least a threshold (Zalesky and others 2010), and their sizes. The sink takes every subject's coefficients
 * (GCOR_EACH); no pair is stored. */
#ifndef GPUCOR_COMPONENTS_H
#define GPUCOR_COMPONENTS_H

#include "permuted_tests.h"
#include "weight.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    gcor_side side;
    double min;       /* the min weight (weight.h) of t, at least 0 */
    int sums_weights; /* 1: a component's size is the sum of its pairs' weights, less `min`; 0: their number */
} gcor_component_rule;

typedef struct gcor_components gcor_components;

/* *sink is the caller's, to free with gcor_sink_free(); NULL after an error. The statistic must be t. */
gcor_status gcor_components_new(gcor_context *context, int64_t n_var, const gcor_component_rule *rule,
                                const gcor_permutations *permutations, gcor_sink **sink);
/* Stores for each variable the size of its component under permutation k, 0 without a pair, and the smallest number of
 * the component's variables. Returns the largest size. After the run, for each k once. */
double gcor_components_of(gcor_sink *sink, int64_t k, double *size, int *first);

#ifdef __cplusplus
}
#endif
#endif
