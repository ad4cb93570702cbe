/* Edges of a run that had its variables in another order: the runs of all tiles make new ones of whole rows, some at a
 * time. */
#include "run.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"

#include <stdlib.h>
#include <string.h>

/* The old names' new ones; NULL: the same. */
typedef struct {
    const int32_t *rows, *cols;
    int is_triangle;
} names;

static gcor_edge unpermuted(const names *to, int64_t row, int64_t col, double r) {
    int32_t i = to->rows ? to->rows[row] : (int32_t)row, j = to->cols ? to->cols[col] : (int32_t)col;
    return to->is_triangle && i < j ? (gcor_edge){j, i, r} : (gcor_edge){i, j, r};
}

/* Where the edges of rows first .. end-1 go: those of row first+i from next[i] on, which rises. list NULL: they are
 * counted only. */
typedef struct {
    int64_t *next, first, end;
    gcor_edge *list;
} collection;

static void collect(const collection *to, const gcor_edge *edge) {
    if (edge->row < to->first || edge->row >= to->end) return;
    int64_t at = __atomic_fetch_add(&to->next[edge->row - to->first], 1, __ATOMIC_RELAXED);
    if (to->list) to->list[at] = *edge;
}

/* A run with its edges in memory: its own, or read into *memory, which is to be freed. */
static gcor_status read_run(gcor_context *context, const gcor_edge_run *run, gcor_edge_run *read, void **memory) {
    *read = *run;
    *memory = NULL;
    if (run->r) return GCOR_OK;
    gcor_status status = gcor_run_allocate(context, read);
    if (status) return status;
    *memory = read->r;
    return gcor_run_file_read(run->file, context, run->offset, read->r, gcor_run_bytes(run));
}

static void collect_run(const gcor_edge_run *run, const names *to, const collection *collection) {
    for (int64_t i = 0; i < run->n_row; i++)
        for (int32_t e = run->start[i]; e < run->start[i + 1]; e++) {
            gcor_edge edge = unpermuted(to, run->row + i, run->col[e], run->r[e]);
            collect(collection, &edge);
        }
}

static gcor_status collect_all(const gcor_store *store, gcor_context *context, const names *to,
                               const collection *collection) {
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t k = 0; k < store->n_runs; k++) {
        gcor_edge_run run;
        void *memory;
        if (gcor_stop(context)) continue;
        if (!read_run(context, &store->runs[k], &run, &memory)) collect_run(&run, to, collection);
        gcor_free(memory);
    }
    return context->error.status;
}

static int by_column(const void *a, const void *b) {
    int32_t x = ((const gcor_edge *)a)->col, y = ((const gcor_edge *)b)->col;
    return (x > y) - (x < y);
}

/* Some edges' memory is enough for a look at all of them. */
static int64_t max_of_band(const gcor_store *store) {
    enum { MIN = 1 << 22, BANDS = 8 };
    int64_t max = store->count / BANDS > MIN ? store->count / BANDS : MIN;
    int64_t budget = store->spool ? store->budget / (int64_t)sizeof(gcor_edge) : max;
    return max < budget ? max : budget > MIN ? budget : MIN;
}

/* Rows first .. end-1, which begin at begin[first] of all edges, to `fresh`. */
static gcor_status unpermute_band(const gcor_store *store, gcor_context *context, const names *to, int64_t *begin,
                                  int64_t first, int64_t end, gcor_store *fresh) {
    int64_t from = begin[first], n = begin[end] - from;
    gcor_tile band = {first, end - first, 0, store->edges.sink.n_col};
    if (n == 0) return GCOR_OK;
    gcor_edge *list = gcor_alloc(context, n, sizeof *list, "edges of the network");
    int64_t *next = gcor_alloc(context, end - first, sizeof *next, "edges of the network");
    gcor_status status = list && next ? GCOR_OK : GCOR_NO_MEMORY;
    if (!status) {
        collection rows = {next, first, end, list};
        for (int64_t row = first; row < end; row++) next[row - first] = begin[row] - from;
        status = collect_all(store, context, to, &rows);
    }
#pragma omp parallel for num_threads(context->threads) schedule(dynamic, 64)
    for (int64_t row = first; row < (status ? first : end); row++)
        if (begin[row + 1] - begin[row] > 1)
            qsort(list + (begin[row] - from), (size_t)(begin[row + 1] - begin[row]), sizeof *list, by_column);
    if (!status) status = fresh->edges.keep_tile(&fresh->edges, context, &band, list, n);
    gcor_free(list);
    gcor_free(next);
    return status;
}

/* begin: where each row of all edges begins, and one more. */
static gcor_status unpermute_bands(const gcor_store *store, gcor_context *context, const names *to, int64_t *begin,
                                   gcor_store *fresh) {
    int64_t n_row = store->edges.sink.n_row, max = max_of_band(store);
    gcor_status status = GCOR_OK;
    for (int64_t first = 0, end; !status && first < n_row; first = end) {
        for (end = first + 1; end < n_row && begin[end + 1] - begin[first] <= max;) end++;
        status = unpermute_band(store, context, to, begin, first, end, fresh);
    }
    return status;
}

static gcor_status count_rows(const gcor_store *store, gcor_context *context, const names *to, int64_t *begin) {
    int64_t n_row = store->edges.sink.n_row;
    collection rows = {begin + 1, 0, n_row, NULL};
    memset(begin, 0, (size_t)(n_row + 1) * sizeof *begin);
    gcor_status status = collect_all(store, context, to, &rows);
    for (int64_t row = 0; row < n_row; row++) begin[row + 1] += begin[row];
    return status;
}

/* The old runs go, and those of `fresh` take their place. */
static gcor_status replace_runs(gcor_store *store, gcor_context *context, gcor_store *fresh) {
    for (int64_t k = 0; k < store->n_runs; k++) gcor_store_drop_run(store, &store->runs[k]);
    store->n_runs = store->count = 0;
    return store->edges.sink.type->merge(&store->edges.sink, context, &fresh->edges.sink);
}

gcor_status gcor_store_unpermute(gcor_sink *sink, gcor_context *context, const int32_t *rows, const int32_t *cols) {
    gcor_store *store = (gcor_store *)sink;
    const names to = {rows, cols, sink->shape != GCOR_FULL};
    gcor_sink *fresh = NULL;
    gcor_status status = gcor_store_land(store, context);
    if (status || store->n_runs == 0) return status;
    int64_t *begin = gcor_alloc(context, sink->n_row + 1, sizeof *begin, "edges of the network");
    status = begin ? count_rows(store, context, &to, begin) : GCOR_NO_MEMORY;
    if (!status) status = sink->type->fork(sink, context, &fresh);
    if (!status) status = unpermute_bands(store, context, &to, begin, (gcor_store *)fresh);
    if (!status) status = replace_runs(store, context, (gcor_store *)fresh);
    gcor_sink_free(fresh);
    gcor_free(begin);
    return status;
}
