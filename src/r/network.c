/* gpuCorNetwork: edges in a store that R owns through an external pointer, and what is made of them. */
#include "job.h"
#include "vector.h"

#include "../base/alloc.h"
#include "../sink/histogram.h"
#include "../sink/neighbours.h"

static void release(void *store) {
    gcor_sink_free(store); /* a store begins with its sink */
}

SEXP r_store_owner(void) {
    return r_new_owner(release, TRUE);
}

static gcor_store *store_of(SEXP owner) {
    gcor_store *store = R_ExternalPtrAddr(owner);
    if (!store) r_error("this network's edges have been freed");
    return store;
}

/* ---- stores ------------------------------------------------------------------------------------ */

/* What a store keeps, and where. */
typedef struct {
    gcor_edge_rule rule;
    int64_t max_edges;           /* more are an error */
    int64_t n_wanted;            /* see gcor_store_want(); 0: all */
    gcor_edge_location location; /* of edges that a device finds */
    const char *folder;          /* R's, for edges that exceed max_memory bytes; NULL: all edges stay in memory */
    int64_t max_memory;
} store_plan;

/* rule: list(side, min_weight, ceiling, wanted, stay, spool: NULL or list(folder, bytes)). */
static store_plan parse_store(SEXP rule, SEXP max_edges) {
    SEXP spool = r_element(rule, "spool");
    store_plan plan = {.rule = {.side = (gcor_side)Rf_asInteger(r_element(rule, "side")),
                                .min = Rf_asReal(r_element(rule, "min_weight")),
                                .ceiling = Rf_asReal(r_element(rule, "ceiling"))},
                       .max_edges = (int64_t)Rf_asReal(max_edges),
                       .n_wanted = (int64_t)Rf_asReal(r_element(rule, "wanted")),
                       .location = (gcor_edge_location)Rf_asInteger(r_element(rule, "stay"))};
    if (Rf_isNull(spool)) return plan;
    plan.folder = Rf_translateChar(STRING_ELT(r_element(spool, "folder"), 0));
    plan.max_memory = (int64_t)Rf_asReal(r_element(spool, "bytes"));
    return plan;
}

/* Makes an empty store, which the owner owns, also after an error; NULL after an error. */
static gcor_store *new_store(r_job *q, const store_plan *plan, SEXP owner) {
    gcor_context *context = &q->call.context;
    gcor_store *store;
    (void)gcor_store_new(context, r_shape(q), r_n_row(q), q->job.x->n_var, plan->rule, plan->max_edges, &store);
    R_SetExternalPtrAddr(owner, store);
    if (!store) return NULL;
    gcor_store_want(store, plan->n_wanted);
    if (!q->part.save && !q->backend->is_host) gcor_store_stay(store, context, plan->location);
    if (plan->folder && gcor_store_spool(store, context, plan->folder, plan->max_memory)) return NULL;
    return store;
}

/* arguments: rule (parse_store()), max_edges. Returns list(n_obs, x_flags, y_flags, store: an external pointer that
 * owns the edges). */
gcor_status r_edges(r_job *q, const SEXP *arguments, SEXP result) {
    const store_plan plan = parse_store(arguments[0], arguments[1]);
    SEXP owner = r_store_owner();
    SET_VECTOR_ELT(result, 3, owner);
    gcor_store *store = new_store(q, &plan, owner);
    gcor_status status = store ? r_job_run(q, &store->edges.sink, result) : GCOR_NO_MEMORY;
    if (status)
        (void)r_free(owner);
    else
        gcor_edges_free(&store->edges);
    return status;
}

/* Returns a list of owners of n stores. */
static SEXP new_owners(R_xlen_t n) {
    SEXP owners = PROTECT(Rf_allocVector(VECSXP, n));
    for (R_xlen_t s = 0; s < n; s++) SET_VECTOR_ELT(owners, s, r_store_owner());
    UNPROTECT(1);
    return owners;
}

/* Makes a store of each k neighbours; k descends. */
static gcor_status store_each(r_job *q, gcor_neighbours *neighbours, const store_plan *plan, const double *k,
                              int mutual, SEXP owners) {
    gcor_status status = GCOR_OK;
    for (R_xlen_t s = 0; !status && s < Rf_xlength(owners); s++) {
        gcor_store *store = new_store(q, plan, VECTOR_ELT(owners, s));
        gcor_neighbours_cut(neighbours, (int64_t)k[s]);
        status = store ? gcor_neighbours_store(neighbours, &q->call.context, mutual, store) : GCOR_NO_MEMORY;
        if (store) gcor_edges_free(&store->edges);
    }
    return status;
}

/* r_edges() for the k strongest neighbours of each variable. arguments: rule, k: descending, mutual, max_edges. `store`
 * is a list if there are several k. */
gcor_status r_neighbours(r_job *q, const SEXP *arguments, SEXP result) {
    gcor_neighbours *neighbours;
    const store_plan plan = parse_store(arguments[0], arguments[3]);
    const int mutual = Rf_asLogical(arguments[2]);
    SEXP k = PROTECT(Rf_coerceVector(arguments[1], REALSXP)), owners = new_owners(Rf_xlength(k));
    SET_VECTOR_ELT(result, 3, owners);
    gcor_status status = gcor_neighbours_new(&q->call.context, r_shape(q), r_n_row(q), q->job.x->n_var, plan.rule.side,
                                             (int64_t)REAL(k)[0], &neighbours);
    if (!status) status = r_job_run(q, &neighbours->edges.sink, result);
    if (!status && !q->part.save) status = store_each(q, neighbours, &plan, REAL(k), mutual, owners);
    gcor_sink_free(neighbours ? &neighbours->edges.sink : NULL);
    for (R_xlen_t s = 0; status && s < Rf_xlength(owners); s++) (void)r_free(VECTOR_ELT(owners, s));
    if (Rf_xlength(owners) == 1) SET_VECTOR_ELT(result, 3, VECTOR_ELT(owners, 0));
    UNPROTECT(1);
    return status;
}

/* ---- a histogram -------------------------------------------------------------------------------------- */

/* Counts the coefficients, those below `min` in size as 0, which also go to a store unless that is NULL. Sets
 * result[3], the counts of GCOR_BINS bins, and result[4], the error of the coefficients that were counted. */
static gcor_status count_bins(r_job *q, double min, gcor_store *store, SEXP result) {
    double *counts = r_new_doubles(result, 3, GCOR_BINS), *error = r_new_doubles(result, 4, 1);
    gcor_histogram *histogram;
    gcor_status status = gcor_histogram_new(&q->call.context, r_shape(q), r_n_row(q), q->job.x->n_var, 0, &histogram);
    if (!status) {
        histogram->min = min;
        histogram->sink.coarse = store != NULL;
        histogram->sink.of = store ? &store->edges.sink : NULL;
        status = r_job_run(q, &histogram->sink, result);
        histogram->sink.of = NULL; /* the store has another owner */
    }
    if (!status) {
        gcor_bins_sum(&histogram->bins);
        for (int b = 0; b < GCOR_BINS; b++) counts[b] = (double)histogram->bins.counts[b];
        *error = histogram->error;
    }
    gcor_sink_free(histogram ? &histogram->sink : NULL);
    return status;
}

/* Returns list(n_obs, x_flags, y_flags, counts, error). */
gcor_status r_histogram(r_job *q, const SEXP *arguments, SEXP result) {
    return count_bins(q, 0, NULL, result);
}

/* r_histogram() and r_edges() in one run. arguments: rule, max; the histogram may count weights below the third as 0.
 * Returns list(n_obs, x_flags, y_flags, counts, error, store). */
gcor_status r_counted_edges(r_job *q, const SEXP *arguments, SEXP result) {
    const store_plan plan = parse_store(arguments[0], arguments[1]);
    SEXP owner = r_store_owner();
    SET_VECTOR_ELT(result, 5, owner);
    gcor_store *store = new_store(q, &plan, owner);
    gcor_status status = store ? count_bins(q, Rf_asReal(arguments[2]), store, result) : GCOR_NO_MEMORY;
    if (status)
        (void)r_free(owner);
    else
        gcor_edges_free(&store->edges);
    return status;
}

/* ---- what a store answers ------------------------------------------------------------------------ */

/* Returns the answer, or after an error, which is in the context, anything. */
typedef SEXP answer(SEXP owner, gcor_context *context, const SEXP *arguments);

/* arguments: min. Returns how many edges have a weight of at least `min`. */
static SEXP count(SEXP owner, gcor_context *context, const SEXP *arguments) {
    int64_t count = 0;
    (void)gcor_store_count(store_of(owner), context, Rf_asReal(arguments[0]), &count);
    return Rf_ScalarReal((double)count);
}

/* arguments: k. Returns the k-th largest weight: Inf if it is above the rule's ceiling, 0 if there are fewer edges. */
static SEXP rank(SEXP owner, gcor_context *context, const SEXP *arguments) {
    double weight = 0;
    (void)gcor_store_rank(store_of(owner), context, (int64_t)Rf_asReal(arguments[0]), &weight);
    return Rf_ScalarReal(weight);
}

/* arguments: min. Returns list(degree, strength) of each variable, for edges of weight >= min. */
static SEXP degrees(SEXP owner, gcor_context *context, const SEXP *arguments) {
    const char *names[] = {"degree", "strength", ""};
    gcor_store *store = store_of(owner);
    int64_t n = store->edges.sink.n_col;
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    double *degrees = r_new_doubles(result, 0, n), *strengths = r_new_doubles(result, 1, n);
    int64_t *degree = gcor_alloc(context, n, sizeof *degree, "degrees");
    gcor_int128 *strength = gcor_alloc(context, n, sizeof *strength, "degrees");
    gcor_status status = degree && strength ? GCOR_OK : GCOR_NO_MEMORY;
    if (!status) status = gcor_store_degrees(store, context, Rf_asReal(arguments[0]), degree, strength);
    for (int64_t j = 0; !status && j < n; j++) {
        degrees[j] = (double)degree[j];
        strengths[j] = gcor_fixed_value(strength[j]);
    }
    gcor_free(degree);
    gcor_free(strength);
    UNPROTECT(1);
    return result;
}

/* Makes result[1] and [2] vectors of n columns and coefficients, if possible of the store's prefaulted memory. */
static gcor_status allocate_entries(gcor_store *store, gcor_context *context, int64_t n, SEXP result) {
    gcor_prefaulted *prefaulted = store->prefaulted;
    int is_taken = 0;
    r_collect_garbage(12 * n);
    if (prefaulted) {
        SET_VECTOR_ELT(result, 1, r_plain_vector(INTSXP, n));
        SET_VECTOR_ELT(result, 2, r_plain_vector(REALSXP, n));
        is_taken = gcor_prefaulted_take(prefaulted, n, r_vector_buffer(VECTOR_ELT(result, 1)),
                                        r_vector_buffer(VECTOR_ELT(result, 2)));
        store->prefaulted = NULL;
        gcor_prefaulted_free(prefaulted);
    }
    if (is_taken) return GCOR_OK;
    SET_VECTOR_ELT(result, 1, r_new_vector(context, INTSXP, n));
    SET_VECTOR_ELT(result, 2, r_new_vector(context, REALSXP, n));
    return context->error.status;
}

/* arguments: min, n_row. Returns list(p, i, x), compressed rows of the edges of weight >= min, and frees the store. */
static SEXP rows(SEXP owner, gcor_context *context, const SEXP *arguments) {
    const char *names[] = {"p", "i", "x", ""};
    gcor_store *store = store_of(owner);
    const double min = Rf_asReal(arguments[0]);
    int64_t n = (int64_t)Rf_asReal(arguments[1]);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names)), p = Rf_allocVector(INTSXP, n + 1);
    SET_VECTOR_ELT(result, 0, p);
    if (!gcor_store_starts(store, context, min, n, INTEGER(p))) {
        if (!allocate_entries(store, context, INTEGER(p)[n], result))
            (void)gcor_store_rows(store, context, min, n, INTEGER(p), INTEGER(VECTOR_ELT(result, 1)),
                                  REAL(VECTOR_ELT(result, 2)));
        (void)r_free(owner);
    }
    UNPROTECT(1);
    return result;
}

/* Rows of a file are the variables of x, which are the columns of a store. */
static gcor_view view_of(const gcor_store *store) {
    return store->edges.sink.shape == GCOR_FULL ? GCOR_COLUMNS : GCOR_BOTH_HALVES;
}

/* arguments: min. Returns how many edges of weight >= min each variable of x has, in both halves of a symmetric
 * network. */
static SEXP entries(SEXP owner, gcor_context *context, const SEXP *arguments) {
    gcor_store *store = store_of(owner);
    SEXP entries = PROTECT(Rf_allocVector(INTSXP, store->edges.sink.n_col));
    (void)gcor_store_entries(store, context, Rf_asReal(arguments[0]), view_of(store), INTEGER(entries));
    UNPROTECT(1);
    return entries;
}

/* arguments: min; entries(), for the same min; first; max. Returns list(n, i, x): the n rows from row `first`, from 0,
 * that have at most `max` (up to 2^31 - 1) entries together, or one row. */
static SEXP band(SEXP owner, gcor_context *context, const SEXP *arguments) {
    const char *names[] = {"n", "i", "x", ""};
    gcor_store *store = store_of(owner);
    const int *entries = INTEGER(arguments[1]);
    int64_t first = (int64_t)Rf_asReal(arguments[2]), total = 0;
    int64_t n = gcor_band_rows(store, view_of(store), entries, first, (int64_t)Rf_asReal(arguments[3]));
    for (int64_t row = first; row < first + n; row++) total += entries[row];
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names)), i = Rf_allocVector(INTSXP, total);
    SET_VECTOR_ELT(result, 1, i);
    r_new_doubles(result, 0, 1)[0] = (double)n;
    double *x = r_new_doubles(result, 2, total);
    (void)gcor_store_band(store, context, Rf_asReal(arguments[0]), view_of(store), entries, first, n, INTEGER(i), x);
    UNPROTECT(1);
    return result;
}

static const struct {
    const char *question;
    int n_arguments;
    answer *answer;
} questions[] = {
    {"count", 1, count}, {"rank", 1, rank},       {"degrees", 1, degrees},
    {"rows", 2, rows},   {"entries", 1, entries}, {"band", 4, band},
};

/* Returns a store's answer to that question, or r_failure()'s list. */
SEXP r_store(SEXP question, SEXP owner, SEXP arguments, SEXP place) {
    int n = (int)(sizeof questions / sizeof *questions), k = 0;
    r_call call;
    while (k < n && strcmp(questions[k].question, CHAR(STRING_ELT(question, 0))) != 0) k++;
    if (k == n) r_error("a store does not answer \"%s\"", CHAR(STRING_ELT(question, 0)));
    const SEXP *own = r_arguments(arguments, questions[k].n_arguments);
    r_quiet_call_parse(&call, place);
    gcor_buffers_limit((int64_t)Rf_asReal(r_place_of(place).keep));
    SEXP result = questions[k].answer(owner, &call.context, own);
    return call.context.error.status ? r_failure(&call.context.error) : result;
}
