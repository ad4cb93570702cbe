/* Which observations each variable has, and which of them tie: what the p value of a pair needs beside its
 * coefficient. */
#ifndef GPUCOR_PAIR_OBSERVATIONS_H
#define GPUCOR_PAIR_OBSERVATIONS_H

#include "../gpucor.h"
#include "tie_variance.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int64_t n_var, n_obs;
    int64_t *n_present; /* n_var: number of values present */
    double *quotient;   /* n_var: effect of ties on a rank statistic (tie_variance.h); NULL: not requested */
    double *orders;     /* n_var: number of its orders that look the same (tie_variance.h); NULL if quotient is NULL */
    int64_t words;
    uint64_t *present; /* `words` words per variable, one bit per observation; NULL: pairs are not pairwise-complete */
    int32_t **tied;    /* each variable's runs of ties: the length and the indices of the observations, terminated by 0;
                          NULL: no ties. NULL: not requested, or pairs are not pairwise-complete */
} gcor_observed;

/* common: pairs are pairwise-complete; ties: also collect ties, for a rank statistic. NULL after an error. The
 * caller frees it with gcor_observed_free(). */
gcor_observed *gcor_observed_new(gcor_context *context, const gcor_columns *columns, int common, int ties);
void gcor_observed_free(gcor_observed *observed); /* NULL is allowed */

/* Number of pairwise-complete observations of variable i of a and j of b. Any thread. */
int64_t gcor_common_count(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j);
/* Sums the weights of these observations, and their squares. weight: n_obs; NULL: all are 1. Any thread. */
typedef struct {
    double sum, squares;
} gcor_weight_sums;
gcor_weight_sums gcor_common_weights(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j,
                                     const double *weight);
/* quotient and orders of variable i of a over its n pairwise-complete observations with variable j of b. Any thread. */
double gcor_common_quotient(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j, int64_t n);
double gcor_common_orders(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
