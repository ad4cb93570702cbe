/* Eigenvector centrality: the leading eigenvector of a matrix of weights, none of which is negative. */
#pragma once

#include "leading.h"
#include "upper.h"

/* Sets vector[n] to the centrality of the variables of a network with the weights |r|, scaled so that the largest is 1;
 * a network without edges has zeros. *error: the length of matrix * vector - eigenvalue * vector as a fraction of the
 * eigenvalue, at most 1e-12 if the iteration has converged. */
gcor_status gcor_network_centrality(gcor_context *context, const gcor_upper *network, double *vector, double *error);

/* The same for the matrix r + 1 of all pairs of the job's x, without computing their coefficients. backend: one that
 * has column(). vector is NaN for variables without coefficients. The coefficients of the job's measure must be
 * products of columns (otherwise GCOR_BAD_INPUT). Of the job, reads x, measure, use, design, in_double and writes
 * x_flags and n_obs_used. */
gcor_status gcor_pair_centrality(gcor_context *context, const gcor_backend *backend, gcor_job *job, double *vector,
                                 double *error);
