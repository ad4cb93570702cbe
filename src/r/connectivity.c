/* gpuConnectivity: sums over each variable's pairs. */
#include "r.h"

#include "../sink/sinks.h"

static gcor_sums_rule parse_sums(SEXP rule) {
    SEXP steps = r_element(rule, "steps");
    gcor_sums_rule sums = {.side = (gcor_side)Rf_asInteger(r_element(rule, "side")),
                           .least = Rf_asReal(r_element(rule, "least")),
                           .similarity = (gcor_similarity)Rf_asInteger(r_element(rule, "similarity")),
                           .n_power = (int)Rf_xlength(steps)};
    if (sums.n_power > GCOR_MOST_POWERS) Rf_error("more than %d powers", GCOR_MOST_POWERS);
    for (int p = 0; p < sums.n_power; p++) sums.steps[p] = REAL(steps)[p];
    return sums;
}

static double *allocate_cleared(SEXP result, int at, SEXP values) {
    SET_VECTOR_ELT(result, at, values);
    if (Rf_xlength(values) > 0) memset(REAL(values), 0, (size_t)Rf_xlength(values) * sizeof(double));
    return REAL(values);
}

SEXP r_connectivity(SEXP x, SEXP method, SEXP use, SEXP rule, SEXP settings) {
    const char *names[] = {"n_obs", "x_flags", "y_flags", "degree", "strength", "soft", "counts", ""};
    r_job q;
    r_job_parse(&q, x, R_NilValue, method, use, Rf_ScalarLogical(0), settings);
    gcor_sums_rule sums = parse_sums(rule);
    R_xlen_t n = q.x.n_var;
    SEXP result = PROTECT(r_job_result(&q, names));
    double *degree = allocate_cleared(result, 3, Rf_allocVector(REALSXP, n));
    double *strength = allocate_cleared(result, 4, Rf_allocVector(REALSXP, n));
    double *soft = allocate_cleared(result, 5, Rf_allocMatrix(REALSXP, (int)n, sums.n_power));
    double *counts = allocate_cleared(result, 6, Rf_allocVector(REALSXP, GCOR_BINS));
    gcor_connectivity sink = gcor_connectivity_sink(&q.context, sums, n, degree, strength, soft);
    gcor_status status = sink.histogram.counts ? r_job_run(&q, &sink.histogram.sink, result) : GCOR_NO_MEMORY;
    if (!status) gcor_histogram_end(&sink.histogram, q.context.threads);
    for (int b = 0; !status && b < GCOR_BINS; b++) counts[b] = (double)sink.histogram.counts[b];
    gcor_connectivity_free(&sink);
    r_progress_end(&q.progress);
    UNPROTECT(1);
    return status ? r_failure(&q.context.error) : result;
}
