/* Eigenvector centrality of all pairs, without computing their coefficients: with unit-length columns X these are X'X,
 * and X'X v = X'(X v). */
#ifndef GPUCOR_CPU_CENTRALITY_H
#define GPUCOR_CPU_CENTRALITY_H

#include "../gpucor.h"

/* Sets vector[n_var] to the centrality (stats/centrality.h) of the matrix r + 1 of the job's x; NaN for variables
 * without coefficients. The coefficients of its measure must be products of columns (otherwise GCOR_BAD_INPUT). Of the
 * job, reads x, measure, use, design, in_double and writes x_flags and n_obs_used. */
gcor_status cpu_centrality(gcor_context *context, gcor_job *job, double *vector, double *error);

#endif
