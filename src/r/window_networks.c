/* A network of each window, or its degrees. */
#include "windows.h"

#include "../base/alloc.h"
#include "../source/source.h"
#include "../sink/connectivity.h"
#include "../sink/neighbours.h"

typedef struct {
    r_windows_job job;
    r_window_rule rule;
    double guess;      /* atomic: another window's threshold, from which to search, or 0 */
    int64_t max_edges; /* of a window */
    gcor_store **stores;
    double *min; /* of each window, the weight from which on its edges count */
    double *degree, *strength;
} request;

/* ---- edges of a window ---------------------------------------------------------------------- */

static gcor_status new_store(const request *q, gcor_context *context, int64_t n_var, double min, gcor_store **store) {
    gcor_edge_rule rule = {.side = q->rule.side, .min = min, .ceiling = 2};
    return gcor_store_new(context, GCOR_LOWER, n_var, n_var, rule, q->max_edges, store);
}

/* Finds the edges of weight >= min. wanted: number of the strongest that are enough, so that weaker ones are dropped
 * early; 0: all. *store is the caller's; NULL after an error. */
static gcor_status run_store(const request *q, gcor_session *session, gcor_context *context, gcor_job *job, double min,
                             int64_t wanted, gcor_store **store) {
    gcor_status status = new_store(q, context, job->x->n_var, min, store);
    if (status) return status;
    if (wanted > 0) gcor_store_want(*store, wanted);
    if (wanted > 0 && q->degree) (*store)->location = GCOR_ON_DEVICE;
    job->sink = &(*store)->edges.sink;
    status = gcor_run(session, context, job);
    if (!status) {
        gcor_edges_free(&(*store)->edges);
        return GCOR_OK;
    }
    gcor_sink_free(&(*store)->edges.sink);
    *store = NULL;
    return status;
}

/* ---- by density ------------------------------------------------------------------------------ */

/* A guessed weight should find MARGIN_PERCENT more edges than are wanted, and MARGIN_EDGES. */
enum { MARGIN_PERCENT = 20, MARGIN_EDGES = 64 };

static int64_t with_margin(double edges) {
    return (int64_t)(edges * (1 + MARGIN_PERCENT / 100.0)) + MARGIN_EDGES;
}

/* Min number of a sample's columns, and of the edges among them. */
enum { SAMPLE_COLUMNS = 512, SAMPLE_EDGES = 1024 };

/* Returns how many variables a sample needs; 0: a sample would hardly be smaller than the data. */
static int64_t sample_size(const request *q, int64_t n_var) {
    double density = q->rule.value / ((double)n_var * (double)(n_var - 1) / 2), size = sqrt(2 * SAMPLE_EDGES / density);
    size = size > SAMPLE_COLUMNS ? size : SAMPLE_COLUMNS;
    return 3 * size < (double)n_var ? (int64_t)size : 0;
}

/* Multiples of the golden ratio, modulo 1, are spread over the variables, differ, and follow no pattern of the
 * variables. */
static void pick_variables(int32_t *number, int64_t size, int64_t n_var) {
    const double golden = 0.6180339887498949;
    for (int64_t j = 0; j < size; j++) {
        double at = (double)(j + 1) * golden;
        number[j] = (int32_t)((at - floor(at)) * (double)n_var);
    }
}

/* Estimates from a sample of `size` variables the weight from which on there are more edges than wanted, by a margin.
 */
static gcor_status guess_by_sample(const request *q, gcor_session *session, gcor_context *context, const gcor_job *job,
                                   int64_t size, double *min) {
    int64_t n = job->x->n_var;
    int32_t *number = gcor_alloc(context, size, sizeof *number, "a sample of the variables");
    if (!number) return GCOR_NO_MEMORY;
    pick_variables(number, size, n);
    gcor_picked columns = gcor_picked_source(job->x, number);
    columns.source.n_var = size;
    gcor_job sample = *job;
    sample.x = &columns.source;
    gcor_store *store;
    double of_all = (double)size * (double)(size - 1) / ((double)n * (double)(n - 1));
    int64_t wanted = with_margin(q->rule.value * of_all);
    gcor_status status = run_store(q, session, context, &sample, 0, wanted, &store);
    if (!status) status = gcor_store_rank(store, context, wanted, min);
    if (store) gcor_sink_free(&store->edges.sink);
    gcor_free(number);
    return status;
}

/* The next window searches from a little below the threshold of this one, as far as its edges tell. */
static gcor_status note_guess(request *q, gcor_context *context, const gcor_store *store, double min) {
    double guess = min;
    int64_t wanted = with_margin(q->rule.value);
    gcor_status status = GCOR_OK;
    if (store->count >= wanted) status = gcor_store_rank(store, context, wanted, &guess);
    if (!status) __atomic_store(&q->guess, &guess, __ATOMIC_RELAXED);
    return status;
}

/* Searches from another window's threshold; if that finds too few edges, from a sample's estimate, and then from 0. The
 * edges do not depend on the guesses. */
static gcor_status run_density(request *q, gcor_session *session, gcor_context *context, gcor_job *job,
                               gcor_store **store, double *threshold) {
    int64_t wanted = (int64_t)q->rule.value, size = job->pairs ? 0 : sample_size(q, job->x->n_var);
    double guess;
    gcor_status status = GCOR_OK;
    __atomic_load(&q->guess, &guess, __ATOMIC_RELAXED);
    for (int attempt = guess > 0 ? 0 : 1; !status; attempt++) {
        double min = attempt == 0 ? guess : 0;
        if (attempt == 1 && size > 0) status = guess_by_sample(q, session, context, job, size, &min);
        if (!status) status = run_store(q, session, context, job, min, wanted, store);
        if (!status) status = gcor_store_rank(*store, context, wanted, threshold);
        if (!status && *threshold >= min) {
            status = note_guess(q, context, *store, min);
            if (!status) return GCOR_OK;
        }
        gcor_sink_free(*store ? &(*store)->edges.sink : NULL);
        *store = NULL;
    }
    return status;
}

static gcor_status run_neighbours(const request *q, gcor_session *session, gcor_context *context, gcor_job *job,
                                  gcor_store **store) {
    int64_t n = job->x->n_var;
    gcor_neighbours *neighbours;
    gcor_status status = gcor_neighbours_new(context, GCOR_LOWER, n, n, q->rule.side, (int64_t)q->rule.value,
                                             &neighbours);
    if (status) return status;
    job->sink = &neighbours->edges.sink;
    status = gcor_run(session, context, job);
    if (!status) status = new_store(q, context, n, 0, store);
    if (!status) status = gcor_neighbours_store(neighbours, context, q->rule.mutual, *store);
    gcor_sink_free(&neighbours->edges.sink);
    if (!status || !*store) return status;
    gcor_sink_free(&(*store)->edges.sink);
    *store = NULL;
    return status;
}

/* Finds the window's edges, and the weight *min from which on they count. *store is the caller's; NULL after an error.
 */
static gcor_status find_edges(request *q, gcor_session *session, gcor_context *context, gcor_job *job,
                              gcor_store **store, double *min) {
    *store = NULL;
    *min = 0;
    switch (q->rule.criterion) {
    case R_BY_THRESHOLD: *min = q->rule.value; return run_store(q, session, context, job, *min, 0, store);
    case R_BY_DENSITY: return run_density(q, session, context, job, store, min);
    default: return run_neighbours(q, session, context, job, store);
    }
}

/* ---- networks ------------------------------------------------------------------------------- */

static gcor_status keep_network(void *user, gcor_session *session, gcor_context *context, gcor_job *job,
                                int64_t window) {
    request *q = user;
    return find_edges(q, session, context, job, &q->stores[window], &q->min[window]);
}

/* Gives R's owners the stores of all windows, or after an error frees the stores. */
static void hand_over(request *q, gcor_status status, SEXP owners) {
    for (R_xlen_t w = 0; q->stores && w < Rf_xlength(owners); w++) {
        if (status && q->stores[w]) gcor_sink_free(&q->stores[w]->edges.sink);
        if (!status) R_SetExternalPtrAddr(VECTOR_ELT(owners, w), q->stores[w]);
    }
    gcor_free(q->stores);
}

/* arguments: windows (r_windows_parse()), rule (r_window_rule_of()). Returns list(n_obs, notes, stores: an external
 * pointer for each window, min_weight: from which weight on its edges count). */
gcor_status r_window_networks(r_job *job, const SEXP *arguments, SEXP result) {
    request q = {.rule = r_window_rule_of(arguments[1]), .max_edges = INT32_MAX};
    r_windows_parse(&q.job, job, arguments[0], result);
    int64_t n = q.job.windows.n;
    SEXP owners = Rf_allocVector(VECSXP, n);
    SET_VECTOR_ELT(result, 2, owners);
    for (int64_t w = 0; w < n; w++) SET_VECTOR_ELT(owners, w, r_store_owner());
    q.min = r_new_doubles(result, 3, n);
    gcor_status status = r_windows_begin(&q.job);
    q.stores = status ? NULL : gcor_alloc(&job->call.context, n, sizeof *q.stores, "the windows");
    if (!status && !q.stores) status = GCOR_NO_MEMORY;
    if (!status) memset(q.stores, 0, (size_t)n * sizeof *q.stores);
    if (!status) status = r_windows_run(&q.job, keep_network, &q);
    hand_over(&q, status, owners);
    return r_windows_end(&q.job, status);
}

/* ---- degrees -------------------------------------------------------------------------------- */

static void write_sums(request *q, int64_t window, const int64_t *degree, const gcor_int128 *strength) {
    int64_t n = q->job.windows.series->source.n_var;
    for (int64_t j = 0; j < n; j++) q->degree[window * n + j] = (double)degree[j];
    for (int64_t j = 0; j < n; j++) q->strength[window * n + j] = gcor_fixed_value(strength[j]);
}

static gcor_status sum_by_threshold(request *q, gcor_session *session, gcor_context *context, gcor_job *job,
                                    int64_t window) {
    gcor_sums_rule rule = {.side = q->rule.side, .min = q->rule.value};
    gcor_connectivity *c;
    gcor_status status = gcor_connectivity_new(context, rule, GCOR_LOWER, job->x->n_var, job->x->n_var, &c);
    if (status) return status;
    job->sink = &c->edges.sink;
    status = gcor_run(session, context, job);
    if (!status) write_sums(q, window, c->degree, c->sums);
    gcor_sink_free(&c->edges.sink);
    q->min[window] = q->rule.value;
    return status;
}

static gcor_status sum_by_density(request *q, gcor_session *session, gcor_context *context, gcor_job *job,
                                  int64_t window) {
    int64_t n = job->x->n_var;
    gcor_store *store;
    gcor_status status = find_edges(q, session, context, job, &store, &q->min[window]);
    if (status) return status;
    int64_t *degree = gcor_alloc(context, n, sizeof *degree, "degrees");
    gcor_int128 *strength = gcor_alloc(context, n, sizeof *strength, "degrees");
    status = degree && strength ? GCOR_OK : GCOR_NO_MEMORY;
    if (!status) status = gcor_store_degrees(store, context, q->min[window], degree, strength);
    if (!status) write_sums(q, window, degree, strength);
    gcor_free(degree);
    gcor_free(strength);
    gcor_sink_free(&store->edges.sink);
    return status;
}

static gcor_status keep_sums(void *user, gcor_session *session, gcor_context *context, gcor_job *job, int64_t window) {
    request *q = user;
    return q->rule.criterion == R_BY_THRESHOLD ? sum_by_threshold(q, session, context, job, window)
                                               : sum_by_density(q, session, context, job, window);
}

/* arguments: as of r_window_networks(). Returns list(n_obs, notes, degree and strength: variables x windows,
 * min_weight: the threshold of each window). */
gcor_status r_window_degrees(r_job *job, const SEXP *arguments, SEXP result) {
    request q = {.rule = r_window_rule_of(arguments[1]), .max_edges = INT64_MAX};
    r_windows_parse(&q.job, job, arguments[0], result);
    int n_var = (int)job->x.source.n_var, n = (int)q.job.windows.n;
    for (int k = 2; k < 4; k++) SET_VECTOR_ELT(result, k, Rf_allocMatrix(REALSXP, n_var, n));
    q.degree = REAL(VECTOR_ELT(result, 2));
    q.strength = REAL(VECTOR_ELT(result, 3));
    q.min = r_new_doubles(result, 4, n);
    gcor_status status = r_windows_begin(&q.job);
    if (!status) status = r_windows_run(&q.job, keep_sums, &q);
    return r_windows_end(&q.job, status);
}
