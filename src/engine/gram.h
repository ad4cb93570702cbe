/* Multiplies the matrix of all coefficients by a vector without computing the coefficients: with unit-length columns
 * X they are X'X, and X'X v = X'(X v). */
#ifndef GPUCOR_GRAM_H
#define GPUCOR_GRAM_H

#include "../gpucor.h"

typedef struct gcor_gram gcor_gram; /* a back end's own: prepared columns */

/* The functions, all required, of a back end that has them (gcor_backend.gram). */
struct gcor_gram_type {
    /* Prepares the job's x by its measure, whose coefficients must be products of columns (otherwise GCOR_BAD_INPUT).
     * Of the job, reads x, measure, use, design, in_double and writes x_flags and n_obs_used. *gram is the caller's, to
     * end with free(); NULL after an error. */
    gcor_status (*prepare)(gcor_context *context, gcor_job *job, gcor_gram **gram);
    void (*free)(gcor_gram *gram); /* NULL is allowed */

    /* True if variable j has coefficients. */
    int (*has)(const gcor_gram *gram, int64_t j);
    /* result[j] = the sum over k of (r[j][k] + 1) v[k], over all variables with coefficients, including j; 0 if j has
     * none. result and v: n_var. The result does not depend on the number of threads. */
    gcor_status (*times)(const gcor_gram *gram, gcor_context *context, const double *v, double *result);
};

#endif
