/* gpuCorNetwork: edges in a store that R owns through a pointer, and what becomes of them. */
#include "r.h"

#include "../core/alloc.h"
#include "../sink/sinks.h"

static void finalize(SEXP pointer) {
    gcor_store_free(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

/* R's owner of a store, there before the store is. */
static SEXP allocate_owner(void) {
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizerEx(pointer, finalize, TRUE);
    UNPROTECT(1);
    return pointer;
}

static gcor_store *store_of(SEXP pointer) {
    gcor_store *store = R_ExternalPtrAddr(pointer);
    if (!store) Rf_error("this network's edges are gone");
    return store;
}

/* A rule from list(side, least, ceiling). */
static gcor_edge_rule parse_rule(SEXP rule) {
    return (gcor_edge_rule){.side = (gcor_side)Rf_asInteger(r_element(rule, "side")),
                            .least = Rf_asReal(r_element(rule, "least")),
                            .ceiling = Rf_asReal(r_element(rule, "ceiling"))};
}

/* What remains of a run: its result, or the reason and no edges. */
static SEXP edges_result(r_job *q, gcor_status status, SEXP result) {
    SEXP owner = VECTOR_ELT(result, 3);
    r_progress_end(&q->progress);
    if (!status) gcor_edges_free(gcor_store_edges(store_of(owner)));
    if (!status) return result;
    finalize(owner);
    return r_failure(&q->context.error);
}

/* A list with a fresh store in it, which is NULL after an error. */
static SEXP allocate_edges(r_job *q, const gcor_edge_rule *rule, SEXP most, gcor_store **store) {
    const char *names[] = {"n_obs", "x_flags", "y_flags", "store", ""};
    SEXP result = PROTECT(r_job_result(q, names)), owner = allocate_owner();
    SET_VECTOR_ELT(result, 3, owner);
    gcor_shape shape = q->job.y ? GCOR_FULL : GCOR_LOWER;
    *store = gcor_store_new(&q->context, shape, *rule, (int64_t)Rf_asReal(most));
    R_SetExternalPtrAddr(owner, *store);
    UNPROTECT(1);
    return result;
}

SEXP r_edges(SEXP x, SEXP y, SEXP method, SEXP use, SEXP rule, SEXP most, SEXP settings) {
    r_job q;
    gcor_store *store;
    gcor_edge_rule edge_rule = parse_rule(rule);
    r_job_parse(&q, x, y, method, use, Rf_ScalarLogical(0), settings);
    SEXP result = PROTECT(allocate_edges(&q, &edge_rule, most, &store));
    gcor_status status = store ? r_job_run(&q, &gcor_store_edges(store)->sink, result) : GCOR_NO_MEMORY;
    result = edges_result(&q, status, result);
    UNPROTECT(1);
    return result;
}

/* The run, and the edges that it leaves. */
static gcor_status run_neighbours(r_job *q, gcor_side side, int64_t k, int mutual, gcor_store *store, SEXP result) {
    int64_t n_row = q->job.y ? q->y.n_var : 0;
    gcor_neighbours *neighbours = gcor_neighbours_new(&q->context, side, k, q->x.n_var, n_row);
    if (!neighbours) return GCOR_NO_MEMORY;
    gcor_status status = r_job_run(q, &gcor_neighbours_edges(neighbours)->sink, result);
    if (!status) status = gcor_neighbours_store(neighbours, &q->context, mutual, store);
    gcor_neighbours_free(neighbours);
    return status;
}

SEXP r_neighbours(SEXP x, SEXP y, SEXP method, SEXP use, SEXP rule, SEXP k, SEXP mutual, SEXP most, SEXP settings) {
    r_job q;
    gcor_store *store;
    gcor_edge_rule edge_rule = parse_rule(rule);
    r_job_parse(&q, x, y, method, use, Rf_ScalarLogical(0), settings);
    SEXP result = PROTECT(allocate_edges(&q, &edge_rule, most, &store));
    gcor_status status = GCOR_NO_MEMORY;
    if (store) status = run_neighbours(&q, edge_rule.side, (int64_t)Rf_asReal(k), Rf_asLogical(mutual), store, result);
    result = edges_result(&q, status, result);
    UNPROTECT(1);
    return result;
}

SEXP r_store_count(SEXP pointer, SEXP least, SEXP settings) {
    r_progress progress;
    gcor_context context = r_quiet_context(settings, &progress);
    int64_t count;
    if (gcor_store_count(store_of(pointer), &context, Rf_asReal(least), &count)) return r_failure(&context.error);
    return Rf_ScalarReal((double)count);
}

SEXP r_store_rank(SEXP pointer, SEXP k, SEXP settings) {
    r_progress progress;
    gcor_context context = r_quiet_context(settings, &progress);
    double weight;
    if (gcor_store_rank(store_of(pointer), &context, (int64_t)Rf_asReal(k), &weight)) return r_failure(&context.error);
    return Rf_ScalarReal(weight);
}

SEXP r_store_rows(SEXP pointer, SEXP least, SEXP n_row, SEXP settings) {
    const char *names[] = {"p", "i", "x", ""};
    gcor_store *store = store_of(pointer);
    r_progress progress;
    gcor_context context = r_quiet_context(settings, &progress);
    int64_t n = (int64_t)Rf_asReal(n_row);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names)), p = Rf_allocVector(INTSXP, n + 1);
    SET_VECTOR_ELT(result, 0, p);
    gcor_status status = gcor_store_starts(store, &context, Rf_asReal(least), n, INTEGER(p));
    if (!status) {
        SET_VECTOR_ELT(result, 1, Rf_allocVector(INTSXP, INTEGER(p)[n]));
        SET_VECTOR_ELT(result, 2, Rf_allocVector(REALSXP, INTEGER(p)[n]));
        status = gcor_store_rows(store, &context, Rf_asReal(least), n, INTEGER(p), INTEGER(VECTOR_ELT(result, 1)),
                                 REAL(VECTOR_ELT(result, 2)));
        finalize(pointer);
    }
    UNPROTECT(1);
    return status ? r_failure(&context.error) : result;
}

SEXP r_histogram(SEXP x, SEXP y, SEXP method, SEXP use, SEXP settings) {
    const char *names[] = {"n_obs", "x_flags", "y_flags", "counts", "error", ""};
    r_job q;
    r_job_parse(&q, x, y, method, use, Rf_ScalarLogical(0), settings);
    SEXP result = PROTECT(r_job_result(&q, names));
    SET_VECTOR_ELT(result, 3, Rf_allocVector(REALSXP, GCOR_BINS));
    SET_VECTOR_ELT(result, 4, Rf_allocVector(REALSXP, 1));
    gcor_histogram histogram = gcor_histogram_sink(&q.context, Rf_isNull(y) ? GCOR_LOWER : GCOR_FULL, 1);
    gcor_status status = histogram.counts ? r_job_run(&q, &histogram.sink, result) : GCOR_NO_MEMORY;
    if (!status) gcor_histogram_end(&histogram, q.context.threads);
    for (int b = 0; !status && b < GCOR_BINS; b++) REAL(VECTOR_ELT(result, 3))[b] = (double)histogram.counts[b];
    REAL(VECTOR_ELT(result, 4))[0] = histogram.error;
    gcor_free(histogram.counts);
    r_progress_end(&q.progress);
    UNPROTECT(1);
    return status ? r_failure(&q.context.error) : result;
}
