/* The product of all coefficients with a vector, without any of them: columns of length one are X, coefficients X'X,
 * and X'X v is X'(X v). */
#ifndef GPUCOR_CPU_GRAM_H
#define GPUCOR_CPU_GRAM_H

#include "../gpucor.h"

typedef struct cpu_gram cpu_gram;

/* The job's x, made ready by its measure, whose coefficients must be products of columns: otherwise GCOR_BAD_INPUT.
 * Only x, measure, use, in_double and x_flags of the job are looked at, and n_obs_used is written. *gram is the
 * caller's, to end with cpu_gram_free(); NULL after an error. */
gcor_status cpu_gram_new(gcor_context *context, gcor_job *job, cpu_gram **gram);
void cpu_gram_free(cpu_gram *gram); /* NULL is allowed */

/* Whether variable j has coefficients. */
int cpu_gram_has(const cpu_gram *gram, int64_t j);
/* Row j of the result is the sum over k of (r + 1) v[k], of all variables that have coefficients, j itself among them;
 * 0 if j has none. The same bits by any number of threads. */
gcor_status cpu_gram_times(const cpu_gram *gram, gcor_context *context, const double *v, double *result);

#endif
