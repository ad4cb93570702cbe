/* Eigenvector centrality of all pairs, or of a network. */
#include "job.h"

#include "../stats/centrality.h"

#include <math.h>

/* Returns list(n_obs, x_flags, y_flags, eigenvector, error): the centrality of x's columns, NA without coefficients. */
gcor_status r_centrality(r_job *q, const SEXP *arguments, SEXP result) {
    (void)arguments;
    double *vector = r_new_doubles(result, 3, q->job.x->n_var), *error = r_new_doubles(result, 4, 1);
    gcor_status status = gcor_pair_centrality(&q->call.context, &gcor_cpu, &q->job, vector, error);
    REAL(VECTOR_ELT(result, 0))[0] = (double)q->job.n_obs_used;
    for (int64_t j = 0; !status && j < q->job.x->n_var; j++)
        if (isnan(vector[j])) vector[j] = NA_REAL;
    return status;
}

/* Returns list(eigenvector, error) of the network with the compressed columns p, i, x (an upper triangle). */
SEXP r_network_centrality(SEXP p, SEXP i, SEXP x, SEXP settings) {
    const char *names[] = {"eigenvector", "error", ""};
    r_check_compressed(p, i, x, Rf_xlength(p) - 1);
    const gcor_upper network = {.n = Rf_xlength(p) - 1, .start = INTEGER(p), .row = INTEGER(i), .r = REAL(x)};
    r_call call;
    r_quiet_call_parse(&call, settings);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    double *vector = r_new_doubles(result, 0, network.n), *error = r_new_doubles(result, 1, 1);
    gcor_status status = gcor_network_centrality(&call.context, &network, vector, error);
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}
