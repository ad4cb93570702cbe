/* Edges in runs: one for each tile, or some if it has many. */
#include "run.h"

#include "../../base/alloc.h"
#include "../../base/os.h"
#include "../../base/threads.h"

#include <string.h>

/* ---- runs --------------------------------------------------------------------------------- */

int64_t gcor_run_bytes(const gcor_edge_run *run) {
    return 12 * run->n + 4 * (run->n_row + 1);
}

gcor_status gcor_run_allocate(gcor_context *context, gcor_edge_run *run) {
    int64_t bytes = gcor_run_bytes(run);
    run->file = NULL;
    run->r = gcor_alloc(context, bytes, 1, "edges of the network");
    if (!run->r) return GCOR_NO_MEMORY;
    gcor_huge_pages(run->r, (size_t)bytes);
    run->col = (int32_t *)(run->r + run->n);
    run->start = run->col + run->n;
    return GCOR_OK;
}

gcor_edge_run *gcor_store_open_run(gcor_store *store, gcor_context *context) {
    void *runs = store->runs;
    gcor_status status = gcor_grow(context, &runs, store->n_runs, &store->capacity, store->n_runs + 1,
                                   sizeof *store->runs, "edges of the network");
    store->runs = runs;
    return status ? NULL : &store->runs[store->n_runs];
}

void gcor_store_note_held(const gcor_store *store, const gcor_edge_run *run, int sign) {
    if (store->spool && run->r) (void)gcor_run_file_held(store->spool, sign * gcor_run_bytes(run));
}

void gcor_store_add_run(gcor_store *store) {
    const gcor_edge_run *run = &store->runs[store->n_runs++];
    store->count += run->n;
    gcor_store_note_held(store, run, 1);
}

void gcor_store_drop_run(gcor_store *store, gcor_edge_run *run) {
    gcor_store_note_held(store, run, -1);
    gcor_free(run->r);
    run->r = NULL;
    gcor_run_file_leave(run->file);
    run->file = NULL;
}

gcor_status gcor_too_many_edges(gcor_context *context, int64_t max) {
    return gcor_fail(context, GCOR_TOO_MANY,
                     "the network has more than %.0f edges, as many as a sparse matrix can hold; ask for fewer, or "
                     "write it to a file with file =",
                     (double)max);
}

gcor_status gcor_store_check(const gcor_store *store, gcor_context *context, int64_t n) {
    if (n <= store->max - store->count) return GCOR_OK;
    return gcor_too_many_edges(context, store->max);
}

int gcor_store_has_files(const gcor_store *store) {
    for (int64_t k = 0; k < store->n_runs; k++)
        if (store->runs[k].file) return 1;
    return 0;
}

/* ---- edges that come ------------------------------------------------------------------------ */

/* By all threads: most of the time is the first touch of the memory. An edge also begins those rows
 * that are behind the one of the edge before it. */
static void fill_run(gcor_context *context, const gcor_edge *list, gcor_edge_run *run) {
    enum { FEW = 1 << 14 }; /* sooner done than shared */
#pragma omp parallel for num_threads(context->threads) schedule(static) if (run->n > FEW)
    for (int64_t e = 0; e < run->n; e++) {
        run->r[e] = list[e].r;
        run->col[e] = list[e].col;
        for (int64_t i = e > 0 ? list[e - 1].row - run->row + 1 : 0; i <= list[e].row - run->row; i++)
            run->start[i] = (int32_t)e;
    }
    run->start[run->n_row] = (int32_t)run->n;
}

/* A run that is not the store's yet goes to the spool, if what is in memory is enough. */
static gcor_status spool_run(const gcor_store *store, gcor_context *context, gcor_edge_run *run) {
    int64_t bytes = gcor_run_bytes(run);
    if (!store->spool || gcor_run_file_held(store->spool, 0) + bytes <= store->budget) return GCOR_OK;
    gcor_status status = gcor_run_file_append(store->spool, context, run->r, bytes, &run->offset);
    if (status) return status;
    gcor_free(run->r);
    run->r = NULL;
    run->file = gcor_run_file_join(store->spool);
    return GCOR_OK;
}

/* An error before the system ends the process, as it does when pages are missing. Asked for every STEP bytes of edges;
 * with a spool they go to the disk before. */
static gcor_status check_memory(const gcor_store *store, gcor_context *context, const gcor_edge_run *run) {
    const int64_t STEP = 16 << 20, held = 12 * store->count, bytes = gcor_run_bytes(run);
    if (store->spool || held / STEP == (held + bytes) / STEP) return GCOR_OK;
    int64_t available = gcor_available_memory();
    if (available >= bytes + STEP) return GCOR_OK;
    return gcor_fail(
        context, GCOR_NO_MEMORY,
        "cannot allocate more memory for the edges of the network: %.0f take %.1f MB, and %.1f MB are free; "
        "ask for fewer edges, or write them to a file with file =",
        (double)store->count, (double)held / 1e6, (double)available / 1e6);
}

static gcor_status keep_run(gcor_store *store, gcor_context *context, const gcor_tile *tile, const gcor_edge *list,
                            int64_t n) {
    gcor_edge_run *run = gcor_store_open_run(store, context);
    if (!run) return GCOR_NO_MEMORY;
    *run = (gcor_edge_run){.tile = *tile, .row = list[0].row, .n_row = list[n - 1].row - list[0].row + 1, .n = n};
    gcor_status status = check_memory(store, context, run);
    if (!status) status = gcor_run_allocate(context, run);
    if (status) return status;
    fill_run(context, list, run);
    status = spool_run(store, context, run);
    if (status)
        gcor_free(run->r);
    else
        gcor_store_add_run(store);
    return status;
}

/* How many of n edges go to one run: whole rows, so many that its starts do not overflow. */
static int64_t first_rows(const gcor_edge *list, int64_t n) {
    enum { MAX = 1 << 22 };
    int64_t end = MAX;
    if (n <= MAX) return n;
    while (end > 1 && list[end].row == list[end - 1].row) end--;
    if (end > 1) return end;
    for (end = MAX; end < n && list[end].row == list[0].row;) end++;
    return end;
}

/* Those that go to a file as rows are kept in blocks of columns. */
static gcor_status keep_rows(gcor_store *store, gcor_context *context, const gcor_tile *tile, const gcor_edge *list,
                             int64_t n) {
    int64_t width = gcor_split_width(tile, n), *end;
    gcor_edge *split;
    if (!store->spool || width >= tile->n_col) return keep_run(store, context, tile, list, n);
    gcor_status status = gcor_split_edges(context, list, n, tile, width, &split, &end);
    for (int64_t col = 0, from = 0, b = 0; !status && col < tile->n_col; col += width, from = end[b++]) {
        int64_t n_col = tile->n_col - col < width ? tile->n_col - col : width;
        gcor_tile block = {tile->row, tile->n_row, tile->col + col, n_col};
        if (end[b] > from) status = keep_run(store, context, &block, split + from, end[b] - from);
    }
    gcor_free(split);
    gcor_free(end);
    return status;
}

static gcor_status keep_tile(gcor_edges *edges, gcor_context *context, const gcor_tile *tile, const gcor_edge *list,
                             int64_t n) {
    gcor_store *store = (gcor_store *)edges;
    gcor_status status = gcor_store_check(store, context, n);
    while (!status && n > 0) {
        int64_t taken = first_rows(list, n);
        status = keep_rows(store, context, tile, list, taken);
        list += taken;
        n -= taken;
    }
    if (!status && store->wanted > 0 && store->count >= store->limit) status = gcor_store_prune(store, context);
    return status;
}

/* ---- forks ----------------------------------------------------------------------------------- */

static gcor_status fork_sink(gcor_sink *sink, gcor_context *context, gcor_sink **other) {
    const gcor_store *store = (const gcor_store *)sink;
    gcor_store *fresh;
    gcor_edge_rule rule = store->edges.rule;
    rule.min = store->min;
    gcor_status status = gcor_store_new(context, sink->shape, sink->n_row, sink->n_col, rule, store->max, &fresh);
    *other = fresh ? &fresh->edges.sink : NULL;
    if (status) return status;
    gcor_store_want(fresh, store->wanted);
    fresh->spool = gcor_run_file_join(store->spool);
    fresh->budget = store->budget;
    return GCOR_OK;
}

/* The runs change hands. */
static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_store *store = (gcor_store *)sink, *from = (gcor_store *)other;
    gcor_status status = gcor_store_check(store, context, from->count);
    for (; !status && from->n_runs > 0; from->n_runs--) {
        gcor_edge_run *run = gcor_store_open_run(store, context);
        if (!run) return GCOR_NO_MEMORY;
        *run = from->runs[from->n_runs - 1];
        from->count -= run->n;
        gcor_store_note_held(from, run, -1);
        gcor_store_add_run(store);
    }
    store->edges.above += from->edges.above;
    from->edges.above = 0;
    return status;
}

static void release(gcor_sink *sink) {
    gcor_store *store = (gcor_store *)sink;
    for (int64_t k = 0; k < store->n_runs; k++) gcor_store_drop_run(store, &store->runs[k]);
    gcor_free(store->runs);
    if (store->keeper) store->keeper->type->free(store->keeper);
    gcor_prefaulted_free(store->landing);
    gcor_run_file_leave(store->spool);
    gcor_edges_free(&store->edges);
    gcor_free(store);
}

const gcor_sink_type gcor_store_type = {
    .name = "store",
    .take = gcor_edges_take,
    .begin_tile = gcor_edges_begin,
    .end_tile = gcor_edges_end,
    .min = gcor_edges_min,
    .fork = fork_sink,
    .merge = merge,
    .save = gcor_store_save,
    .load = gcor_store_load,
    .unpermute = gcor_store_unpermute,
    .free = release,
};

gcor_status gcor_store_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_edge_rule rule,
                           int64_t max, gcor_store **store) {
    gcor_sink sink = {.type = &gcor_store_type, .shape = shape, .n_row = n_row, .n_col = n_col, .approximate = 1};
    *store = gcor_alloc(context, 1, sizeof **store, "a network");
    if (!*store) return GCOR_NO_MEMORY;
    **store = (gcor_store){.edges = {.sink = sink, .rule = rule, .keep_tile = keep_tile}, .max = max, .min = rule.min};
    return GCOR_OK;
}

gcor_status gcor_store_spool(gcor_store *store, gcor_context *context, const char *folder, int64_t budget) {
    gcor_run_file *file;
    gcor_status status = gcor_run_file_new(context, folder, &file);
    if (status) return status;
    for (int64_t k = 0; k < store->n_runs; k++) gcor_store_note_held(store, &store->runs[k], -1);
    gcor_run_file_leave(store->spool);
    store->spool = file;
    store->budget = budget;
    for (int64_t k = 0; k < store->n_runs; k++) gcor_store_note_held(store, &store->runs[k], 1);
    return GCOR_OK;
}

/* ---- weights --------------------------------------------------------------------------- */

static gcor_piece *list_pieces(const gcor_store *store, gcor_piece *at) {
    for (const gcor_edge_run *run = store->runs; run < store->runs + store->n_runs; run++)
        for (int64_t e = 0; e < run->n; e += GCOR_PIECE)
            *at++ = (gcor_piece){.r = run->r ? run->r + e : NULL,
                                 .n = run->n - e < GCOR_PIECE ? run->n - e : GCOR_PIECE,
                                 .first = e,
                                 .run = run};
    return at;
}

gcor_status gcor_store_pieces(const gcor_store *store, gcor_context *context, gcor_piece **pieces, int64_t *n,
                              double **buffers) {
    int64_t capacity = gcor_store_has_files(store) ? (int64_t)context->threads * GCOR_PIECE : 1;
    *n = 0;
    for (int64_t k = 0; k < store->n_runs; k++) *n += (store->runs[k].n + GCOR_PIECE - 1) / GCOR_PIECE;
    *buffers = NULL;
    *pieces = gcor_alloc(context, *n, sizeof **pieces, "the network's weights");
    if (*pieces) *buffers = gcor_alloc(context, capacity, sizeof **buffers, "the network's weights");
    if (*buffers) {
        (void)list_pieces(store, *pieces);
        return GCOR_OK;
    }
    gcor_free(*pieces);
    *pieces = NULL;
    return GCOR_NO_MEMORY;
}

const double *gcor_piece_values(const gcor_piece *piece, gcor_context *context, double *buffers) {
    double *own = buffers + (int64_t)omp_get_thread_num() * GCOR_PIECE;
    int64_t offset = piece->r ? 0 : piece->run->offset + piece->first * (int64_t)sizeof *own;
    if (piece->r) return piece->r;
    return gcor_run_file_read(piece->run->file, context, offset, own, piece->n * (int64_t)sizeof *own) ? NULL : own;
}

static gcor_status count_in_runs(const gcor_store *store, gcor_context *context, double min, int64_t *count) {
    gcor_side side = store->edges.rule.side;
    int64_t n, found = 0;
    gcor_piece *pieces;
    double *buffers;
    gcor_status status = gcor_store_pieces(store, context, &pieces, &n, &buffers);
    if (status) return status;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic) reduction(+ : found)
    for (int64_t p = 0; p < n; p++) {
        const double *r = gcor_stop(context) ? NULL : gcor_piece_values(&pieces[p], context, buffers);
        for (int64_t e = 0; r && e < pieces[p].n; e++) found += gcor_raw_weight(side, r[e]) >= min;
    }
    gcor_free(buffers);
    gcor_free(pieces);
    *count = found;
    return context->error.status;
}

gcor_status gcor_store_count(const gcor_store *store, gcor_context *context, double min, int64_t *count) {
    gcor_keeper *keeper = store->keeper;
    gcor_status status = keeper ? keeper->type->count(keeper, context, min, count)
                                : count_in_runs(store, context, min, count);
    *count += store->edges.above;
    return status;
}
