/* Moments of each pair over all windows, of all pairs, or of the most variable ones as a network. */
#include "windows.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../mask/pairs.h"
#include "../base/triangle.h"

#include "../sink/neighbours.h"
#include "../engine/windows.h"

typedef struct {
    r_windows_job job;
    double *mean, *sd, *min, *max; /* of all pairs, by rows of the upper triangle */
    int *count;
    r_window_rule rule;
    gcor_store *store; /* owned by run_network()'s caller */
    gcor_sink *sink;   /* takes the standard deviations: the store, or neighbours, or a filter before them */
} request;

/* ---- all pairs ------------------------------------------------------------------------------- */

static void put_pair(request *q, const gcor_moments *moments, int64_t k, int64_t to) {
    q->mean[to] = gcor_moments_mean(moments, k, NA_REAL);
    q->sd[to] = gcor_moments_sd(moments, k, NA_REAL);
    q->min[to] = gcor_moments_min(moments, k, NA_REAL);
    q->max[to] = gcor_moments_max(moments, k, NA_REAL);
    q->count[to] = (int)moments->count[k];
}

typedef struct {
    request *q;
    const gcor_tile *tile;
    const gcor_moments *moments;
    double *values;
} kept_tile;

/* Columns of the tile are rows of the result: a thread reads a cache line of some of them at a time. */
enum { KEPT_COLS = 8 };

static void keep_columns(void *argument, int thread, int64_t from, int64_t end) {
    const kept_tile *t = argument;
    const gcor_tile *tile = t->tile;
    int64_t n_var = t->q->job.windows.series->source.n_var, row_end = tile->row + tile->n_row;
    for (int64_t row = gcor_max(tile->row, tile->col + from + 1); row < row_end; row++)
        for (int64_t k = from; k < gcor_min(end, row - tile->col); k++)
            put_pair(t->q, t->moments, gcor_tile_offset(tile, GCOR_LOWER, row) + k,
                     gcor_row_position(tile->col + k, row, n_var));
}

static gcor_status keep_all(void *user, gcor_context *context, const gcor_tile *tile, const gcor_moments *moments,
                            double *values) {
    kept_tile t = {user, tile, moments, values};
    gcor_for_blocks(context->threads, tile->n_col, KEPT_COLS, keep_columns, &t);
    return gcor_stop(context) ? context->error.status : GCOR_OK;
}

static void allocate_all(request *q, SEXP result) {
    R_xlen_t pairs = (R_xlen_t)gcor_triangular(q->job.windows.series->source.n_var - 1);
    double **to[] = {&q->mean, &q->sd, &q->min, &q->max};
    for (int k = 0; k < 4; k++) {
        SET_VECTOR_ELT(result, 2 + k, Rf_allocVector(REALSXP, pairs));
        *to[k] = REAL(VECTOR_ELT(result, 2 + k));
        gcor_huge_pages(*to[k], (size_t)pairs * sizeof(double));
    }
    SET_VECTOR_ELT(result, 6, Rf_allocVector(INTSXP, pairs));
    q->count = INTEGER(VECTOR_ELT(result, 6));
}

/* ---- the most variable pairs ----------------------------------------------------------------- */

/* Pairs that the sink gets at a time: from one to the next the min weight may rise, so that fewer are kept. */
enum { TAKEN_PAIRS = 1 << 22, BLOCK = 1 << 14 };

static void keep_deviations(void *argument, int thread, int64_t from, int64_t end) {
    const kept_tile *t = argument;
    for (int64_t k = from; k < end; k++) t->values[k] = gcor_moments_sd(t->moments, k, 2 * GCOR_NO_VALUE) / 2;
}

/* Halves standard deviations, which are up to sqrt(2), because a weight is at most 1. */
static gcor_status keep_strong(void *user, gcor_context *context, const gcor_tile *tile, const gcor_moments *moments,
                               double *values) {
    request *q = user;
    int64_t end = tile->row + tile->n_row, rows = gcor_max(1, TAKEN_PAIRS / tile->n_col);
    gcor_status status = GCOR_OK;
    kept_tile t = {q, tile, moments, values};
    gcor_for_blocks(context->threads, moments->n, BLOCK, keep_deviations, &t);
    for (int64_t row = tile->row; !status && row < end; row += rows) {
        const gcor_tile part = {row, gcor_min(rows, end - row), tile->col, tile->n_col};
        status = gcor_take_tile(q->sink, context, &part, values + gcor_tile_offset(tile, GCOR_LOWER, row), NULL);
    }
    return status;
}

/* Passes on only pairs that count. */
static gcor_status run_masked(request *q, gcor_context *context, const gcor_pair_rule *rule) {
    int64_t n = q->job.windows.series->source.n_var;
    gcor_pairs *pairs;
    gcor_status status = gcor_pairs_new(context, rule, GCOR_LOWER, n, n, 0, 0, &pairs);
    if (status) return status;
    gcor_sink *of = q->sink;
    gcor_filter filter = gcor_filter_of(of, pairs);
    q->sink = &filter.sink;
    status = gcor_window_moments(&q->job.windows, q->job.session, context, 1, keep_strong, q);
    of->pairs = NULL;
    gcor_pairs_free(pairs);
    return status;
}

static gcor_status run_network(request *q) {
    gcor_context *context = &q->job.job->call.context;
    int64_t n = q->job.windows.series->source.n_var;
    gcor_neighbours *neighbours = NULL;
    gcor_status status = GCOR_OK;
    q->sink = &q->store->edges.sink;
    if (q->rule.criterion == R_BY_DENSITY) gcor_store_want(q->store, (int64_t)q->rule.value);
    if (q->rule.criterion == R_BY_K) {
        status = gcor_neighbours_new(context, GCOR_LOWER, n, n, GCOR_POSITIVE, (int64_t)q->rule.value, &neighbours);
        if (status) return status;
        q->sink = &neighbours->edges.sink;
    }
    const gcor_pair_rule *mask = q->job.windows.job.pairs;
    q->job.windows.job.pairs = NULL; /* the rule is for all variables, a window's run has those of a tile */
    status = mask ? run_masked(q, context, mask)
                  : gcor_window_moments(&q->job.windows, q->job.session, context, 1, keep_strong, q);
    if (!status && neighbours) status = gcor_neighbours_store(neighbours, context, q->rule.mutual, q->store);
    gcor_sink_free(neighbours ? &neighbours->edges.sink : NULL);
    return status;
}

/* ---- the computations ------------------------------------------------------------------------ */

/* arguments: windows (r_windows_parse()), attributes: of each of the last five. Returns list(n_obs, notes, mean, sd,
 * min, max, count: the number of windows in which the pair has a value) of each pair. */
gcor_status r_window_moments(r_job *job, const SEXP *arguments, SEXP result) {
    request q;
    r_windows_parse(&q.job, job, arguments[0], result);
    allocate_all(&q, result);
    gcor_status status = r_windows_begin(&q.job);
    if (!status) status = gcor_window_moments(&q.job.windows, q.job.session, &job->call.context, 0, keep_all, &q);
    status = r_windows_end(&q.job, status);
    for (int k = 2; !status && k < 7; k++)
        r_windows_attributes(&q.job, VECTOR_ELT(result, k), VECTOR_ELT(arguments[1], k - 2));
    return status;
}

/* arguments: windows, rule (r_window_rule_of()). Returns list(n_obs, notes, store: a network of half the standard
 * deviations, min_weight: the weight from which on its edges count). */
gcor_status r_moment_network(r_job *job, const SEXP *arguments, SEXP result) {
    request q = {.rule = r_window_rule_of(arguments[1])};
    r_windows_parse(&q.job, job, arguments[0], result);
    SEXP owner = r_store_owner();
    SET_VECTOR_ELT(result, 2, owner);
    double *min = r_new_doubles(result, 3, 1);
    gcor_context *context = &job->call.context;
    int64_t n = job->x.source.n_var;
    gcor_edge_rule edges = {.side = GCOR_POSITIVE, .ceiling = 2};
    if (q.rule.criterion == R_BY_THRESHOLD) edges.min = q.rule.value / 2;
    *min = edges.min;
    gcor_status status = r_windows_begin(&q.job);
    if (!status) status = gcor_store_new(context, GCOR_LOWER, n, n, edges, INT32_MAX, &q.store);
    if (!status) status = run_network(&q);
    if (!status && q.rule.criterion == R_BY_DENSITY)
        status = gcor_store_rank(q.store, context, (int64_t)q.rule.value, min);
    if (!status)
        gcor_edges_free(&q.store->edges);
    else
        gcor_sink_free(q.store ? &q.store->edges.sink : NULL);
    R_SetExternalPtrAddr(owner, status ? NULL : q.store);
    return r_windows_end(&q.job, status);
}
