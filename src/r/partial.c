/* Sums for partial correlations given all other variables. */
#include "job.h"

#include "../base/alloc.h"
#include "../stats/partial.h"

static gcor_status sum_observed(r_job *q, const gcor_observations *counted, SEXP result) {
    gcor_context *context = &q->call.context;
    gcor_design *design;
    gcor_partial_sums sums = {.products = REAL(VECTOR_ELT(result, 0)), .fourth = REAL(VECTOR_ELT(result, 1))};
    if (gcor_design_pick(context, q->job.design, counted->observed, counted->n_obs, &design))
        return context->error.status;
    gcor_columns columns = {
        .source = q->job.x, .observed = counted->observed, .n_obs = counted->n_obs, .design = design};
    gcor_status status = gcor_sum_products(context, &columns, q->job.measure, &sums);
    gcor_design_free(design);
    SET_VECTOR_ELT(result, 2, Rf_ScalarReal((double)sums.n_var));
    return status;
}

static SEXP new_zeros(SEXP list, int k, int64_t n) {
    SEXP zeros = Rf_allocVector(REALSXP, n);
    SET_VECTOR_ELT(list, k, zeros);
    memset(REAL(zeros), 0, (size_t)n * sizeof(double));
    return zeros;
}

/* Returns list(products: n * n, fourth: n, n_var) as gcor_partial_sums has them, of the n observations that
 * r_observations() counted. */
SEXP r_partial_sums(SEXP x, SEXP method, SEXP use, SEXP counted, SEXP settings) {
    const char *names[] = {"products", "fourth", "n_var", ""};
    r_job q;
    const gcor_observations observations = r_counted(counted);
    r_job_parse(&q, x, R_NilValue, method, use, Rf_ScalarLogical(0), settings);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    new_zeros(result, 0, observations.n_obs * observations.n_obs);
    new_zeros(result, 1, observations.n_obs);
    gcor_status status = sum_observed(&q, &observations, result);
    result = r_job_end(&q, status, result);
    UNPROTECT(1);
    return result;
}
