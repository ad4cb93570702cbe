/* Statistics of pairs for permuted subjects. The subjects' Fisher z of a block of pairs are computed once, and each
 * permutation is a set of weights: of subjects whose labels are permuted, or of the terms of a linear model whose
 * residuals are permuted or change their signs (Freedman and Lane 1983): its rows then belong to other subjects. */
#pragma once

#include "group_tests.h"
#include "../histogram.h"
#include "../weight.h"

/* Weights of all permutations, those of the first one first. Borrowed. */
typedef struct {
    const double *weight;
    int64_t n_weights, n; /* weights of a permutation, and number of permutations */
    gcor_groups groups; /* with a model the statistic is its t or F, and the weights are its permuted terms; skips: only
                           with a model, and the statistic of a pair that misses subjects is then the t or F with the
                           degrees of freedom of the others whose p value is as large */
    int is_t; /* without a model. 1: weights are 1 for subjects of the first group and 0 for the others, the statistic
                 is Welch's t; 0: the statistic is the weighted sum of the subjects' z */
} gcor_permutations;

/* ---- the sink of maxima ------------------------------------------------------------------------------- */

/* For each permutation of the subjects, finds the largest statistic over all pairs; or stores those of all pairs; or
 * counts those of all permutations in bins. The sink takes every subject's coefficients (GCOR_EACH). */

typedef struct {
    gcor_sink sink; /* must be first */
    gcor_side side;
    gcor_permutations permutations;
    const gcor_combine_loops *loops;
    int threads;
    double *scratch; /* for each thread; owned */
    double *best;    /* for each thread, the largest weight of each permutation; -Inf if there is none; owned */
    double df;       /* above 0: counts, of tanh of sums, or of t / sqrt(t^2 + df), where t may be the root of F */
    gcor_bins bins;  /* owned */
    float *t;        /* NULL, or where t or F of all pairs are stored, permutation by permutation, in the order of a
                        dist, up to 1e6 in size; borrowed; shape is GCOR_UPPER */
} gcor_label_maxima;

/* df: 0, or that of the counts, which replace the maxima. *maxima is the caller's, to free with gcor_sink_free(); NULL
 * after an error. */
gcor_status gcor_label_maxima_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_side side,
                                  double df, const gcor_permutations *permutations, gcor_label_maxima **maxima);
/* Returns the largest weight of permutation k: of t or F, or of tanh of the weighted sum; the same on every back end.
 * GCOR_NO_WEIGHT if no pair has a coefficient in all subjects. */
double gcor_label_maxima_of(const gcor_label_maxima *maxima, int64_t k);

/* ---- the sink of components ------------------------------------------------------------------ */

/* For each permutation of the subjects, the connected components of the pairs whose statistic is at
 * least a threshold (Zalesky and others 2010), and their sizes. The sink takes every subject's coefficients
 * (GCOR_EACH); no pair is stored. */

typedef struct {
    gcor_side side;
    int signs;        /* 2: a component has pairs of one sign, with GCOR_ABSOLUTE; 1: of any sign */
    double min;       /* the min weight (weight.h) of t or F, at least 0 */
    int sums_weights; /* 1: a component's size is the sum of its pairs' weights, less `min`; 0: their number */
} gcor_component_rule;

typedef struct gcor_components gcor_components;

/* *sink is the caller's, to free with gcor_sink_free(); NULL after an error. The statistic must be t or F. */
gcor_status gcor_components_new(gcor_context *context, int64_t n_var, const gcor_component_rule *rule,
                                const gcor_permutations *permutations, gcor_sink **sink);
/* Stores for each variable the size of its component under permutation k, 0 without a pair, and the index of the
 * component's smallest variable; with two signs those of positive pairs, then those of negative ones. Returns the
 * largest size. After the run, for each k once. */
double gcor_components_of(gcor_sink *sink, int64_t k, double *size, int *first);
