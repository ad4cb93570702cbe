/* Which observations variables have, and which of these tie: what the p value of a pair needs beside its coefficient.
 */
#ifndef GPUCOR_OBSERVED_H
#define GPUCOR_OBSERVED_H

#include "../gpucor.h"
#include "ties.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int64_t n_var, n_obs;
    int64_t *n_present; /* n_var: how many values each has */
    double *quotient;   /* n_var: what ties among these do to a statistic of ranks (ties.h); NULL: not asked for */
    double *orders;     /* n_var: how many of its orders look the same (ties.h); NULL where quotient is */
    int64_t words;
    uint64_t *present; /* words for each variable, a bit for each observation; NULL: pairs have no observations of
                          their own */
    int32_t **tied;    /* each variable's runs of ties: how many and which observations, closed by 0; NULL: it has
                          none. NULL: not asked for, or pairs have no observations of their own */
} gcor_observed;

/* common: pairs have observations of their own; ties: for a statistic of ranks. NULL after an error. */
gcor_observed *gcor_observed_new(gcor_context *context, const gcor_columns *columns, int common, int ties);
void gcor_observed_free(gcor_observed *observed); /* NULL is allowed */

/* How many observations variables i of a and j of b have in common. Any thread. */
int64_t gcor_common_count(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j);
/* Adds up the weights of these observations, and their squares. weight: n_obs; NULL: all are 1. Any thread. */
typedef struct {
    double sum, squares;
} gcor_weight_sums;
gcor_weight_sums gcor_common_weights(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j,
                                     const double *weight);
/* The quotient of variable i of a among its n common observations with variable j of b; and how many orders of these
 * look the same. Any thread. */
double gcor_common_quotient(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j, int64_t n);
double gcor_common_orders(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
