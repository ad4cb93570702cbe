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

/* arguments: counted (r_observations()). Returns list(products: n * n, fourth: n, n_var) as
 * gcor_partial_sums has them, of the n observations that were counted. */
gcor_status r_partial_sums(r_job *q, const SEXP *arguments, SEXP result) {
    const gcor_observations counted = r_counted(arguments[0]);
    new_zeros(result, 0, counted.n_obs * counted.n_obs);
    new_zeros(result, 1, counted.n_obs);
    return sum_observed(q, &counted, result);
}
