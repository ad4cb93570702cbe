/* gpuConnectivity: sums over each variable's pairs. */
#include "r.h"

#include "../sink/connectivity.h"

static gcor_sums_rule parse_sums(SEXP rule) {
    SEXP steps = r_element(rule, "steps");
    gcor_sums_rule sums = {.side = (gcor_side)Rf_asInteger(r_element(rule, "side")),
                           .least = Rf_asReal(r_element(rule, "least")),
                           .similarity = (gcor_similarity)Rf_asInteger(r_element(rule, "similarity")),
                           .n_power = (int)Rf_xlength(steps),
                           .histogram = Rf_asLogical(r_element(rule, "histogram"))};
    if (sums.n_power > GCOR_MOST_POWERS) Rf_error("more than %d powers", GCOR_MOST_POWERS);
    for (int p = 0; p < sums.n_power; p++) sums.steps[p] = REAL(steps)[p];
    return sums;
}

static double *allocate(SEXP result, int at, SEXP values) {
    SET_VECTOR_ELT(result, at, values);
    return REAL(values);
}

static void write_sums(gcor_connectivity *c, double *degree, double *strength, double *soft, double *counts) {
    int64_t n = c->n_var;
    for (int64_t j = 0; j < n; j++) degree[j] = (double)c->degree[j];
    for (int64_t j = 0; j < n; j++) strength[j] = gcor_fixed_value(c->sums[j]);
    for (int64_t k = 0; k < n * c->rule.n_power; k++) soft[k] = gcor_fixed_value(c->sums[n + k]);
    if (!c->rule.histogram) return;
    gcor_bins_sum(&c->bins);
    for (int b = 0; b < GCOR_BINS; b++) counts[b] = (double)c->bins.counts[b];
}

SEXP r_connectivity(SEXP x, SEXP y, SEXP method, SEXP use, SEXP rule, SEXP settings) {
    const char *names[] = {"n_obs", "x_flags", "y_flags", "degree", "strength", "soft", "counts", ""};
    r_job q;
    r_job_parse(&q, x, y, method, use, Rf_ScalarLogical(0), settings);
    gcor_sums_rule sums = parse_sums(rule);
    R_xlen_t n = q.job.x->n_var;
    SEXP result = PROTECT(r_job_result(&q, names));
    double *degree = allocate(result, 3, Rf_allocVector(REALSXP, n));
    double *strength = allocate(result, 4, Rf_allocVector(REALSXP, n));
    double *soft = allocate(result, 5, Rf_allocMatrix(REALSXP, (int)n, sums.n_power));
    double *counts = allocate(result, 6, Rf_allocVector(REALSXP, sums.histogram ? GCOR_BINS : 0));
    gcor_connectivity *c;
    gcor_status status = gcor_connectivity_new(&q.call.context, sums, n, &c);
    if (!status) status = r_job_run(&q, &c->edges.sink, result);
    if (!status) write_sums(c, degree, strength, soft, counts);
    gcor_sink_free(c ? &c->edges.sink : NULL);
    result = r_job_end(&q, status, result);
    UNPROTECT(1);
    return result;
}
