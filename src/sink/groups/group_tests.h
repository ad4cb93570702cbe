/* Student's t of subjects' Fisher z, pair by pair: of their mean against 0; for two groups of subjects, of the
 * difference of the groups' means with separate variances (Welch 1947); or of a contrast of a linear model, or F of
 * several of its terms. */
#pragma once

#include "../combine_loops.h"

GCOR_BEGIN_C

enum { GCOR_GROUP_BLOCK = GCOR_SUM_BLOCK }; /* max number of pairs tested at once */

/* A linear model of the subjects' z, as R/data-group-model.R describes it. Its terms are orthonormal: first n_steady
 * ones that permutations leave as they are, then others that are not tested, last the n_tested ones. Borrowed. */
typedef struct gcor_linear_model {
    const double *terms; /* n_terms columns of n_values rows */
    int64_t n_values;    /* the number of subjects; or half of it: z of subject s is less that of n_values + s */
    int64_t n_terms, n_tested, n_steady;
    double scale; /* times the coefficient of the only tested term is the contrast */
} gcor_linear_model;

/* The first n_first of n subjects form one group, the others another; n_first == n: there is one group. */
typedef struct {
    int64_t n, n_first;
    int skips; /* 1: subjects without a coefficient are left out of the pair; 0: the pair then has no test */
    const gcor_linear_model *model; /* tests its terms instead; NULL: none */
} gcor_groups;

/* Writes Fisher z of n <= GCOR_GROUP_BLOCK pairs to z[s * GCOR_GROUP_BLOCK + k]; NaN without a coefficient. Subject s
 * has the pairs' coefficients at r + s * stride. Any thread. */
void gcor_subject_z(const gcor_combine_loops *loops, const double *r, int64_t stride, int64_t subjects, int64_t n,
                    double *z);

/* The pairs of a block that miss the value of a subject. */
typedef struct {
    int64_t n, at[GCOR_GROUP_BLOCK];
} gcor_missing_pairs;
void gcor_find_missing(const double *z, int64_t subjects, int64_t n, gcor_missing_pairs *missing);

/* Tests of up to GCOR_GROUP_BLOCK pairs: difference (or mean), its standard error, degrees of freedom. Of several terms
 * the difference is the standard deviation of their effects over the subjects, and (difference / error)^2 is F. All are
 * NaN without a test: fewer than two subjects in a group, or no more subjects than terms. */
typedef struct {
    double difference[GCOR_GROUP_BLOCK], error[GCOR_GROUP_BLOCK], df[GCOR_GROUP_BLOCK];
} gcor_group_tests;

/* Tests n <= GCOR_GROUP_BLOCK pairs; subject s has their coefficients at r + s * stride. z: scratch,
 * gcor_group_scratch() doubles. Any thread. */
void gcor_test_groups(const gcor_groups *groups, const gcor_combine_loops *loops, const double *r, int64_t stride,
                      int64_t n, double *z, gcor_group_tests *tests);
int64_t gcor_group_scratch(const gcor_groups *groups);

/* In place of the subjects' z of n <= GCOR_GROUP_BLOCK pairs, the residuals of the model's terms that are not tested.
 * Residuals that are only rounding errors of z become 0; pairs that miss a value and are not skipped have a NaN.
 * scratch: what gcor_group_scratch() adds for a model. */
void gcor_linear_values(const gcor_groups *groups, const gcor_combine_loops *loops, double *z, int64_t n,
                        double *scratch, gcor_missing_pairs *missing);
/* Tests pair k by the residuals that it has, with `terms` in place of the model's. */
void gcor_linear_test_some(const gcor_linear_model *model, const double *terms, const double *values, int64_t k,
                           double *scratch, gcor_group_tests *tests);
/* Returns t or F of pair k. */
double gcor_group_statistic(const gcor_groups *groups, const gcor_group_tests *tests, int64_t k);

/* Converts the pairs' t to coefficients t / sqrt(t^2 + df), where df is the max that a pair can have, and F alike by
 * its root; NaN without a test. Any thread. */
void gcor_group_coefficients(const gcor_groups *groups, const gcor_group_tests *tests, int64_t n, double *r);

/* The pairs to test, as compressed rows of a network: row i has the columns col[start[i]] to
 * col[start[i + 1] - 1], ascending. start NULL: all pairs. */
typedef struct {
    const int *start, *col;
} gcor_listed_pairs;

/* Results, one for each pair: listed pairs in their order, all pairs in the order of a triangle by rows. Borrowed.
 * `missing` is the value without a test. */
typedef struct {
    double *difference, *error, *df, missing;
} gcor_group_results;

/* Creates a sink that takes every subject's coefficients (GCOR_EACH). shape, n_row, n_col: of the pairs (gcor_sink).
 * *sink is the caller's, to free with gcor_sink_free(); NULL after an error. */
gcor_status gcor_group_sink_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col,
                                const gcor_groups *groups, const gcor_listed_pairs *listed,
                                const gcor_group_results *results, gcor_sink **sink);

GCOR_END_C
