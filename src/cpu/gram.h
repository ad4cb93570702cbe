/* Multiplies the matrix of all coefficients by a vector without computing the coefficients: with unit-length columns
 * X they are X'X, and X'X v = X'(X v). */
#ifndef GPUCOR_GRAM_H
#define GPUCOR_GRAM_H

#include "../gpucor.h"

typedef struct cpu_gram cpu_gram;

/* Prepares the job's x by its measure, whose coefficients must be products of columns (otherwise GCOR_BAD_INPUT). Of
 * the job, reads x, measure, use, design, in_double and writes x_flags and n_obs_used. *gram is the caller's, to
 * free with cpu_gram_free(); NULL after an error. */
gcor_status cpu_gram_new(gcor_context *context, gcor_job *job, cpu_gram **gram);
void cpu_gram_free(cpu_gram *gram); /* NULL is allowed */

/* True if variable j has coefficients. */
int cpu_gram_has(const cpu_gram *gram, int64_t j);
/* result[j] = the sum over k of (r[j][k] + 1) v[k], over all variables with coefficients, including j; 0 if j has
 * none. result and v: n_var. The result does not depend on the number of threads. */
gcor_status cpu_gram_times(const cpu_gram *gram, gcor_context *context, const double *v, double *result);

#endif
