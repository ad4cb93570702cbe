/* Products of all coefficients, or of a network's weights, with a vector, for eigenvectors. */
#include "job.h"

#include "../engine/gram.h"
#include "../stats/network_times.h"

/* The first back end that has such products; the CPU does. */
static const struct gcor_gram_type *gram_type(void) {
    int k = 0;
    while (!gcor_backend_at(k)->gram) k++;
    return gcor_backend_at(k)->gram;
}

static void release(void *gram) {
    gram_type()->free(gram);
}

/* Prepares x's columns: list(n_obs, x_flags, y_flags, gram: an external pointer that owns them, known: whether each
 * column has coefficients). */
SEXP r_gram_new(SEXP x, SEXP method, SEXP use, SEXP settings) {
    const char *names[] = {"n_obs", "x_flags", "y_flags", "gram", "known", ""};
    r_job q;
    gcor_gram *gram;
    r_job_parse(&q, x, R_NilValue, method, use, Rf_ScalarLogical(0), settings);
    SEXP result = PROTECT(r_job_result(&q, names)), owner = r_new_owner(release, TRUE);
    SET_VECTOR_ELT(result, 3, owner);
    SET_VECTOR_ELT(result, 4, Rf_allocVector(LGLSXP, q.job.x->n_var));
    gcor_status status = gram_type()->prepare(&q.call.context, &q.job, &gram);
    R_SetExternalPtrAddr(owner, gram);
    REAL(VECTOR_ELT(result, 0))[0] = (double)q.job.n_obs_used;
    for (int64_t j = 0; gram && j < q.job.x->n_var; j++) LOGICAL(VECTOR_ELT(result, 4))[j] = gram_type()->has(gram, j);
    result = r_job_end(&q, status, result);
    UNPROTECT(1);
    return result;
}

/* Returns the product of r + 1, or 0 for columns without coefficients, with a vector. */
SEXP r_gram_times(SEXP gram, SEXP vector, SEXP settings) {
    r_call call;
    r_quiet_call_parse(&call, settings);
    if (!R_ExternalPtrAddr(gram)) Rf_error("these columns have been freed");
    SEXP result = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(vector)));
    gcor_status status = gram_type()->times(R_ExternalPtrAddr(gram), &call.context, REAL(vector), REAL(result));
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}

/* Returns the product of the network with the compressed columns p, i, x (an upper triangle), as |x|, with a vector. */
SEXP r_network_times(SEXP p, SEXP i, SEXP x, SEXP vector, SEXP settings) {
    r_call call;
    r_quiet_call_parse(&call, settings);
    gcor_upper network = {Rf_xlength(vector), INTEGER(p), INTEGER(i), REAL(x)};
    SEXP result = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(vector)));
    gcor_status status = gcor_network_times(&call.context, &network, REAL(vector), REAL(result));
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}
