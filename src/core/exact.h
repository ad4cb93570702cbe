/* Exact p values of rank correlations without ties, from the distributions over all orders of n observations. */
#ifndef GPUCOR_EXACT_H
#define GPUCOR_EXACT_H

#include "gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of more observations there is none: n! is no double; the series for Spearman's rho is not needed there. */
enum { GCOR_MOST_KENDALL = 170, GCOR_MOST_SPEARMAN = 1290 };

/* Lower tails for up to `most` observations. Freed by gcor_exact_free(); NULL after an error. */
typedef struct gcor_exact gcor_exact;
gcor_exact *gcor_exact_new(gcor_context *context, const gcor_measure *measure, int64_t most);
void gcor_exact_free(gcor_exact *exact); /* NULL is allowed */

/* Up to how many observations a measure's p values can be exact; 0: none. */
int64_t gcor_most_exact(const gcor_measure *measure);
/* How probable a coefficient of n untied observations, 2 <= n <= most, is that is at most r; and at least r. Any
 * thread. */
double gcor_exact_lower(const gcor_exact *exact, int64_t n, double r);
double gcor_exact_upper(const gcor_exact *exact, int64_t n, double r);

#ifdef __cplusplus
}
#endif
#endif
