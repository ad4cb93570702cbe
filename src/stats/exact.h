/* Exact p values of rank correlations without ties, from the distribution over all orders of n observations; and the
 * approximation of Spearman's rho for larger n. */
#ifndef GPUCOR_EXACT_H
#define GPUCOR_EXACT_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Max number of observations with an exact distribution: beyond, n! overflows a double (Kendall), or there are too
 * many sets of ranks (Spearman). */
enum { GCOR_MAX_KENDALL = 170, GCOR_MAX_SPEARMAN = 14 };

/* Lower tails for n from `min` (at least 2) to `max` observations. The caller frees it with gcor_exact_free();
 * NULL after an error. */
typedef struct gcor_exact gcor_exact;
gcor_exact *gcor_exact_new(gcor_context *context, const gcor_measure *measure, int64_t min, int64_t max);
void gcor_exact_free(gcor_exact *exact); /* NULL is allowed */

/* Max number of observations for which a measure's p values can be exact; 0: none. */
int64_t gcor_max_exact(const gcor_measure *measure);
/* Number of equal steps from -1 to 1 that a measure's coefficient of n untied observations can take. */
int64_t gcor_exact_steps(const gcor_measure *measure, int64_t n);
/* Probability that a coefficient of n untied observations, least <= n <= most, is at most r; and that it is at least
 * r. Any thread. */
double gcor_exact_lower(const gcor_exact *exact, int64_t n, double r);
double gcor_exact_upper(const gcor_exact *exact, int64_t n, double r);

/* The symmetric beta distribution with the first four moments of Spearman's rho for n >= 3 untied observations (Olds
 * 1938): rho / scale has the distribution of a coefficient whose t has df degrees of freedom. */
typedef struct {
    double df, scale;
} gcor_rho_beta;
gcor_rho_beta gcor_rho_beta_of(double n);

#ifdef __cplusplus
}
#endif
#endif
