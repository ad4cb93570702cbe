/* Preservation of modules: how similar a reference's modules are in a test set, and in modules of as many variables
 * that are drawn from the test set (Langfelder and others 2011). */
#pragma once

#include "../measure/compact.h"
#include "../measure/overlap.h"

/* The statistics of a module, in this order. A variable's contribution is its correlation with the module's first
 * principal component, whose sign is that of the contributions' sum; its degree is the sum of its adjacencies with the
 * others of the module; its ratio is the sum of their squares over the degree. */
enum {
    GCOR_MEAN_SQUARED_CONTRIBUTION,
    GCOR_MEAN_CONTRIBUTION, /* with the signs of the reference's contributions */
    GCOR_MEAN_COEFFICIENT,  /* with the signs of the reference's coefficients */
    GCOR_MEAN_ADJACENCY,
    GCOR_MEAN_RATIO,
    GCOR_COR_DEGREE, /* correlations of the reference's values with the test set's */
    GCOR_COR_CONTRIBUTION,
    GCOR_COR_COEFFICIENT,
    GCOR_COR_RATIO,
    GCOR_N_PRESERVATIONS
};

/* A data set. All memory is the caller's. */
typedef struct {
    const double *columns; /* n_obs values of each variable, of mean 0 and length 1 */
    int64_t n_obs;
    gcor_values overlaps; /* adjacencies of all pairs, in the order of `dist`; both members NULL: they follow from the
                           * coefficients */
} gcor_preserved_set;

typedef struct {
    gcor_preserved_set reference, test; /* of the same n_var variables */
    int64_t n_var, n_module, n_draw;
    const int *start;           /* n_module + 1: module m has the members at start[m] .. start[m + 1] - 1, at least 3 */
    const int *member;          /* start[n_module] variables of the reference, from 0 */
    const int *drawn;           /* n_draw times as many: the variables of the test set in their places */
    gcor_similarity similarity; /* how a coefficient becomes an adjacency: a power of the similarity */
    double power;
    double *statistics; /* GCOR_N_PRESERVATIONS x n_module x n_draw: written */
} gcor_preservation;

/* NaN if a statistic is not defined. The statistics do not depend on context->threads. */
gcor_status cpu_preservation(gcor_context *context, const gcor_preservation *job);
