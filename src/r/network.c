/* gpuCorNetwork: edges in a store that R owns through a pointer, and what becomes of them. */
#include "r.h"

#include "../base/alloc.h"
#include "../base/pool.h"
#include "../sink/histogram.h"
#include "../sink/neighbours.h"

static void finalize(SEXP pointer) {
    gcor_sink_free(R_ExternalPtrAddr(pointer)); /* a store begins with its sink */
    R_ClearExternalPtr(pointer);
}

SEXP r_store_owner(void) {
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
                            .min = Rf_asReal(r_element(rule, "least")),
                            .ceiling = Rf_asReal(r_element(rule, "ceiling"))};
}

/* Where a store's runs go: list(folder, bytes), or NULL for nowhere but memory. */
static gcor_status spool(gcor_store *store, gcor_context *context, SEXP path) {
    if (Rf_isNull(path)) return GCOR_OK;
    const char *folder = Rf_translateChar(STRING_ELT(r_element(path, "folder"), 0));
    return gcor_store_spool(store, context, folder, (int64_t)Rf_asReal(r_element(path, "bytes")));
}

/* A fresh store, which is NULL after an error. R owns it before it is known where it spools. */
static gcor_store *allocate_store(r_job *q, const gcor_edge_rule *rule, SEXP max, SEXP path, int64_t wanted,
                                  SEXP owner) {
    gcor_store *store;
    const gcor_source *rows = q->job.y ? q->job.y : q->job.x;
    (void)gcor_store_new(&q->call.context, q->job.y ? GCOR_FULL : GCOR_LOWER, rows->n_var, q->job.x->n_var, *rule,
                         (int64_t)Rf_asReal(max), &store);
    R_SetExternalPtrAddr(owner, store);
    if (!store) return NULL;
    gcor_store_want(store, wanted);
    if (!spool(store, &q->call.context, path)) return store;
    finalize(owner);
    return NULL;
}

/* A list with a fresh store in it. */
static SEXP allocate_edges(r_job *q, const gcor_edge_rule *rule, SEXP max, SEXP path, int64_t wanted,
                           gcor_store **store) {
    const char *names[] = {"n_obs", "x_flags", "y_flags", "store", ""};
    SEXP result = PROTECT(r_job_result(q, names)), owner = r_store_owner();
    SET_VECTOR_ELT(result, 3, owner);
    *store = allocate_store(q, rule, max, path, wanted, owner);
    UNPROTECT(1);
    return result;
}

/* What remains of a run: its result, or the reason and no edges. */
static SEXP edges_result(r_job *q, gcor_status status, SEXP result) {
    SEXP owner = VECTOR_ELT(result, 3);
    if (status)
        finalize(owner);
    else
        gcor_edges_free(&store_of(owner)->edges);
    return r_job_end(q, status, result);
}

SEXP r_edges(SEXP x, SEXP y, SEXP method, SEXP use, SEXP rule, SEXP max, SEXP settings) {
    r_job q;
    gcor_store *store;
    gcor_edge_rule edge_rule = parse_rule(rule);
    r_job_parse(&q, x, y, method, use, Rf_ScalarLogical(0), settings);
    SEXP result = PROTECT(allocate_edges(&q, &edge_rule, max, r_element(rule, "spool"),
                                         (int64_t)Rf_asReal(r_element(rule, "wanted")), &store));
    if (store && !q.part.save) store->stay = (gcor_stay)Rf_asInteger(r_element(rule, "stay"));
    gcor_status status = store ? r_job_run(&q, &store->edges.sink, result) : GCOR_NO_MEMORY;
    result = edges_result(&q, status, result);
    UNPROTECT(1);
    return result;
}

/* A list of owners of n stores. */
static SEXP allocate_owners(R_xlen_t n) {
    SEXP owners = PROTECT(Rf_allocVector(VECSXP, n));
    for (R_xlen_t s = 0; s < n; s++) SET_VECTOR_ELT(owners, s, r_store_owner());
    UNPROTECT(1);
    return owners;
}

/* Each k's store of the list, the largest first. */
static gcor_status store_each(r_job *q, gcor_neighbours *neighbours, const gcor_edge_rule *rule, const double *k,
                              int mutual, SEXP max, SEXP path, SEXP owners) {
    gcor_status status = GCOR_OK;
    for (R_xlen_t s = 0; !status && s < Rf_xlength(owners); s++) {
        gcor_store *store = allocate_store(q, rule, max, path, 0, VECTOR_ELT(owners, s));
        gcor_neighbours_cut(neighbours, (int64_t)k[s]);
        status = store ? gcor_neighbours_store(neighbours, &q->call.context, mutual, store) : GCOR_NO_MEMORY;
        if (store) gcor_edges_free(&store->edges);
    }
    return status;
}

SEXP r_neighbours(SEXP x, SEXP y, SEXP method, SEXP use, SEXP rule, SEXP k, SEXP mutual, SEXP max, SEXP settings) {
    const char *names[] = {"n_obs", "x_flags", "y_flags", "store", ""};
    r_job q;
    gcor_neighbours *neighbours;
    gcor_edge_rule edge_rule = parse_rule(rule);
    SEXP path = r_element(rule, "spool"), number = PROTECT(Rf_coerceVector(k, REALSXP));
    r_job_parse(&q, x, y, method, use, Rf_ScalarLogical(0), settings);
    SEXP result = PROTECT(r_job_result(&q, names)), owners = allocate_owners(Rf_xlength(k));
    SET_VECTOR_ELT(result, 3, owners);
    const gcor_source *rows = q.job.y ? q.job.y : q.job.x;
    gcor_status status = gcor_neighbours_new(&q.call.context, q.job.y ? GCOR_FULL : GCOR_LOWER, rows->n_var,
                                             q.job.x->n_var, edge_rule.side, (int64_t)REAL(number)[0], &neighbours);
    if (!status) status = r_job_run(&q, &neighbours->edges.sink, result);
    if (!status && !q.part.save)
        status = store_each(&q, neighbours, &edge_rule, REAL(number), Rf_asLogical(mutual), max, path, owners);
    gcor_sink_free(neighbours ? &neighbours->edges.sink : NULL);
    for (R_xlen_t s = 0; status && s < Rf_xlength(owners); s++) finalize(VECTOR_ELT(owners, s));
    if (Rf_xlength(owners) == 1) SET_VECTOR_ELT(result, 3, VECTOR_ELT(owners, 0));
    result = r_job_end(&q, status, result);
    UNPROTECT(2);
    return result;
}

SEXP r_store_count(SEXP pointer, SEXP min, SEXP settings) {
    r_call call;
    r_quiet_call_parse(&call, settings);
    int64_t count;
    if (gcor_store_count(store_of(pointer), &call.context, Rf_asReal(min), &count))
        return r_failure(&call.context.error);
    return Rf_ScalarReal((double)count);
}

SEXP r_store_rank(SEXP pointer, SEXP k, SEXP settings) {
    r_call call;
    r_quiet_call_parse(&call, settings);
    double weight;
    if (gcor_store_rank(store_of(pointer), &call.context, (int64_t)Rf_asReal(k), &weight))
        return r_failure(&call.context.error);
    return Rf_ScalarReal(weight);
}

SEXP r_store_degrees(SEXP pointer, SEXP min, SEXP settings) {
    const char *names[] = {"degree", "strength", ""};
    gcor_store *store = store_of(pointer);
    int64_t n = store->edges.sink.n_col;
    r_call call;
    r_quiet_call_parse(&call, settings);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_allocVector(REALSXP, n));
    SET_VECTOR_ELT(result, 1, Rf_allocVector(REALSXP, n));
    int64_t *degree = gcor_alloc(&call.context, n, sizeof *degree, "degrees");
    gcor_int128 *strength = gcor_alloc(&call.context, n, sizeof *strength, "degrees");
    gcor_status status = degree && strength ? GCOR_OK : GCOR_NO_MEMORY;
    if (!status) status = gcor_store_degrees(store, &call.context, Rf_asReal(min), degree, strength);
    for (int64_t j = 0; !status && j < n; j++) {
        REAL(VECTOR_ELT(result, 0))[j] = (double)degree[j];
        REAL(VECTOR_ELT(result, 1))[j] = gcor_fixed_value(strength[j]);
    }
    gcor_free(degree);
    gcor_free(strength);
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}

/* Fewer entries are R's own vectors, for which R has memory at hand. */
enum { OWNED_MIN = 1 << 22 };

/* In memory of the pool's, which stays for the next network. */
static gcor_status take_entries(gcor_context *context, int64_t n, SEXP col, SEXP r) {
    *r_owned_block(col) = gcor_pool_take(context, n * (int64_t)sizeof(int), "the network");
    *r_owned_block(r) = gcor_pool_take(context, n * (int64_t)sizeof(double), "the network");
    return context->error.status;
}

/* Room for n columns and coefficients, to result[1] and [2]: what is there already, or fresh. */
static gcor_status allocate_entries(gcor_store *store, gcor_context *context, int64_t n, SEXP result) {
    gcor_landing *landing = store->landing;
    int is_owned = landing || n >= OWNED_MIN;
    if (is_owned) r_collect_garbage(12 * n);
    SET_VECTOR_ELT(result, 1, is_owned ? r_owned_new(INTSXP, n, !landing) : Rf_allocVector(INTSXP, n));
    SET_VECTOR_ELT(result, 2, is_owned ? r_owned_new(REALSXP, n, !landing) : Rf_allocVector(REALSXP, n));
    if (!is_owned) return GCOR_OK;
    SEXP col = VECTOR_ELT(result, 1), r = VECTOR_ELT(result, 2);
    if (!landing) return take_entries(context, n, col, r);
    store->landing = NULL;
    int taken = gcor_landing_take(landing, n, r_owned_block(col), r_owned_block(r));
    gcor_landing_free(landing);
    return taken ? GCOR_OK : allocate_entries(store, context, n, result);
}

SEXP r_store_rows(SEXP pointer, SEXP min, SEXP n_row, SEXP settings) {
    const char *names[] = {"p", "i", "x", ""};
    gcor_store *store = store_of(pointer);
    r_call call;
    r_quiet_call_parse(&call, settings);
    int64_t n = (int64_t)Rf_asReal(n_row);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names)), p = Rf_allocVector(INTSXP, n + 1);
    SET_VECTOR_ELT(result, 0, p);
    gcor_status status = gcor_store_starts(store, &call.context, Rf_asReal(min), n, INTEGER(p));
    if (!status) {
        gcor_pool_keep((int64_t)Rf_asReal(r_element(settings, "keep")));
        status = allocate_entries(store, &call.context, INTEGER(p)[n], result);
        if (!status)
            status = gcor_store_rows(store, &call.context, Rf_asReal(min), n, INTEGER(p),
                                     INTEGER(VECTOR_ELT(result, 1)), REAL(VECTOR_ELT(result, 2)));
        finalize(pointer);
    }
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}

SEXP r_store_free(SEXP pointer) {
    finalize(pointer);
    return R_NilValue;
}

/* The rows of the file are the variables of x: columns of a store that has y in its rows. */
static gcor_view view_of(const gcor_store *store) {
    return store->edges.sink.shape == GCOR_FULL ? GCOR_COLUMNS : GCOR_BOTH_HALVES;
}

SEXP r_store_entries(SEXP pointer, SEXP min, SEXP settings) {
    gcor_store *store = store_of(pointer);
    r_call call;
    r_quiet_call_parse(&call, settings);
    SEXP entries = PROTECT(Rf_allocVector(INTSXP, store->edges.sink.n_col));
    gcor_status status = gcor_store_entries(store, &call.context, Rf_asReal(min), view_of(store), INTEGER(entries));
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : entries;
}

SEXP r_store_band(SEXP pointer, SEXP min, SEXP entries, SEXP first, SEXP max, SEXP settings) {
    const char *names[] = {"n", "i", "x", ""};
    gcor_store *store = store_of(pointer);
    r_call call;
    r_quiet_call_parse(&call, settings);
    int64_t begin = (int64_t)Rf_asReal(first), total = 0;
    int64_t n = gcor_band_rows(store, view_of(store), INTEGER(entries), begin, (int64_t)Rf_asReal(max));
    for (int64_t row = begin; row < begin + n; row++) total += INTEGER(entries)[row];
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_ScalarReal((double)n));
    SET_VECTOR_ELT(result, 1, Rf_allocVector(INTSXP, total));
    SET_VECTOR_ELT(result, 2, Rf_allocVector(REALSXP, total));
    gcor_status status = gcor_store_band(store, &call.context, Rf_asReal(min), view_of(store), INTEGER(entries), begin,
                                         n, INTEGER(VECTOR_ELT(result, 1)), REAL(VECTOR_ELT(result, 2)));
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}

/* places: list(path, r, col), where the rows go. */
SEXP r_store_write(SEXP pointer, SEXP min, SEXP entries, SEXP max, SEXP positions, SEXP settings) {
    gcor_store *store = store_of(pointer);
    r_call call;
    r_quiet_call_parse(&call, settings);
    gcor_positions to = {.path = Rf_translateChar(STRING_ELT(r_element(positions, "path"), 0)),
                         .r = (int64_t)Rf_asReal(r_element(positions, "r")),
                         .col = (int64_t)Rf_asReal(r_element(positions, "col"))};
    if (gcor_store_write(store, &call.context, Rf_asReal(min), view_of(store), INTEGER(entries),
                         (int64_t)Rf_asReal(max), &to))
        return r_failure(&call.context.error);
    return R_NilValue;
}

SEXP r_histogram(SEXP x, SEXP y, SEXP method, SEXP use, SEXP settings) {
    const char *names[] = {"n_obs", "x_flags", "y_flags", "counts", "error", ""};
    r_job q;
    r_job_parse(&q, x, y, method, use, Rf_ScalarLogical(0), settings);
    SEXP result = PROTECT(r_job_result(&q, names));
    SET_VECTOR_ELT(result, 3, Rf_allocVector(REALSXP, GCOR_BINS));
    SET_VECTOR_ELT(result, 4, Rf_allocVector(REALSXP, 1));
    const gcor_source *rows = q.job.y ? q.job.y : q.job.x;
    gcor_histogram *histogram;
    gcor_status status = gcor_histogram_new(&q.call.context, q.job.y ? GCOR_FULL : GCOR_LOWER, rows->n_var,
                                            q.job.x->n_var, 1, &histogram);
    if (!status) status = r_job_run(&q, &histogram->sink, result);
    if (!status) {
        gcor_bins_sum(&histogram->bins);
        for (int b = 0; b < GCOR_BINS; b++) REAL(VECTOR_ELT(result, 3))[b] = (double)histogram->bins.counts[b];
        REAL(VECTOR_ELT(result, 4))[0] = histogram->error;
    }
    gcor_sink_free(histogram ? &histogram->sink : NULL);
    result = r_job_end(&q, status, result);
    UNPROTECT(1);
    return result;
}
