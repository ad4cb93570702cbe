/* Edges in memory: a run for each tile. */
#include "edge_store.h"

#include "../core/alloc.h"
#include "../core/threads.h"
#include "file.h"

#include <string.h>

/* A place for one more run. NULL after an error. */
static gcor_edge_run *open_run(gcor_store *store, gcor_context *context) {
    if (store->n_runs < store->room) return &store->runs[store->n_runs];
    int64_t room = store->room > 0 ? 2 * store->room : 64;
    gcor_edge_run *fresh = gcor_alloc(context, room, sizeof *fresh, "edges of the network");
    if (!fresh) return NULL;
    if (store->n_runs > 0) memcpy(fresh, store->runs, (size_t)store->n_runs * sizeof *fresh);
    gcor_free(store->runs);
    store->runs = fresh;
    store->room = room;
    return &fresh[store->n_runs];
}

static int64_t run_bytes(const gcor_edge_run *run) {
    return 12 * run->n + 4 * (run->n_row + 1);
}

static gcor_status allocate_run(gcor_context *context, gcor_edge_run *run) {
    int64_t bytes = run_bytes(run);
    run->r = gcor_alloc(context, bytes, 1, "edges of the network");
    if (!run->r) return GCOR_NO_MEMORY;
    gcor_huge_pages(run->r, (size_t)bytes);
    run->col = (int32_t *)(run->r + run->n);
    run->start = run->col + run->n;
    return GCOR_OK;
}

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

static gcor_status check_count(const gcor_store *store, gcor_context *context, int64_t n) {
    if (n <= store->most - store->count) return GCOR_OK;
    return gcor_fail(context, GCOR_TOO_MANY,
                     "the network has more than %.0f edges, as many as a sparse matrix can hold; ask for fewer, or "
                     "write it to a file with file =",
                     (double)store->most);
}

static gcor_status keep_tile(gcor_edges *edges, gcor_context *context, const gcor_tile *tile, const gcor_edge *list,
                             int64_t n) {
    gcor_store *store = (gcor_store *)edges;
    if (n == 0) return GCOR_OK;
    gcor_status status = check_count(store, context, n);
    if (status) return status;
    gcor_edge_run *run = open_run(store, context);
    if (!run) return GCOR_NO_MEMORY;
    *run = (gcor_edge_run){.tile = *tile, .row = list[0].row, .n_row = list[n - 1].row - list[0].row + 1, .n = n};
    status = allocate_run(context, run);
    if (status) return status;
    store->n_runs++;
    store->count += n;
    fill_run(context, list, run);
    return GCOR_OK;
}

/* ---- forks and files ----------------------------------------------------------------- */

static gcor_status fork_sink(gcor_sink *sink, gcor_context *context, gcor_sink **other) {
    const gcor_store *store = (const gcor_store *)sink;
    gcor_store *fresh;
    gcor_status status = gcor_store_new(context, sink->shape, sink->n_row, sink->n_col, store->edges.rule, store->most,
                                        &fresh);
    *other = fresh ? &fresh->edges.sink : NULL;
    return status;
}

/* The runs change hands. */
static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_store *store = (gcor_store *)sink, *from = (gcor_store *)other;
    gcor_status status = check_count(store, context, from->count);
    for (; !status && from->n_runs > 0; from->n_runs--) {
        gcor_edge_run *run = open_run(store, context);
        if (!run) return GCOR_NO_MEMORY;
        *run = from->runs[from->n_runs - 1];
        store->n_runs++;
        store->count += run->n;
        from->count -= run->n;
    }
    store->edges.above += from->edges.above;
    from->edges.above = 0;
    return status;
}

static gcor_status put_settings(const gcor_store *store, gcor_context *context, FILE *file,
                                gcor_status (*work)(gcor_context *, FILE *, const void *, size_t)) {
    gcor_status status = work(context, file, &store->edges.rule.side, sizeof store->edges.rule.side);
    if (!status) status = work(context, file, &store->edges.rule.least, sizeof store->edges.rule.least);
    return status ? status : work(context, file, &store->edges.rule.ceiling, sizeof store->edges.rule.ceiling);
}

static gcor_status put_one(gcor_context *context, FILE *file, const void *data, size_t size) {
    return gcor_put(context, file, data, 1, size);
}

static gcor_status save(gcor_sink *sink, gcor_context *context, const gcor_share *share, FILE *file) {
    const gcor_store *store = (const gcor_store *)sink;
    gcor_status status = put_settings(store, context, file, put_one);
    (void)share;
    if (!status) status = gcor_put(context, file, &store->edges.above, 1, sizeof store->edges.above);
    if (!status) status = gcor_put(context, file, &store->n_runs, 1, sizeof store->n_runs);
    for (const gcor_edge_run *run = store->runs; !status && run < store->runs + store->n_runs; run++) {
        status = gcor_put(context, file, run, 1, sizeof *run);
        if (!status) status = gcor_put(context, file, run->r, run_bytes(run), 1);
        if (!status && gcor_stop(context)) status = context->error.status;
    }
    return status;
}

/* Whether what was read can be a run: its counts decide how much is read next. */
static int is_sound(const gcor_sink *sink, const gcor_edge_run *run) {
    return run->row >= 0 && run->row < sink->n_row && run->n_row > 0 && run->n_row <= sink->n_row - run->row &&
           run->n > 0 && run->n <= INT32_MAX && run->n <= run->n_row * sink->n_col;
}

/* Whether a row of a run can be one: of pairs that count, by column, and with weights that are kept. */
static int is_sound_row(const gcor_store *store, const gcor_edge_run *run, int64_t row) {
    const gcor_sink *sink = &store->edges.sink;
    const gcor_tile all = {row, 1, 0, sink->n_col};
    int32_t begin = run->start[row - run->row], end = run->start[row - run->row + 1];
    int64_t col, n;
    gcor_tile_segment(&all, sink->shape, row, &col, &n);
    if (begin < 0 || end < begin || end > run->n) return 0;
    for (int32_t e = begin; e < end; e++) {
        if (run->col[e] < col || run->col[e] >= col + n || (e > begin && run->col[e] <= run->col[e - 1])) return 0;
        if (gcor_judge(&store->edges.rule, row, run->col[e], run->r[e]) != GCOR_KEPT) return 0;
    }
    return 1;
}

static int has_sound_rows(const gcor_store *store, const gcor_edge_run *run) {
    int sound = run->start[0] == 0 && run->start[run->n_row] == run->n;
    for (int64_t row = run->row; sound && row < run->row + run->n_row; row++) sound = is_sound_row(store, run, row);
    return sound;
}

static gcor_status load_run(gcor_store *store, gcor_context *context, FILE *file) {
    gcor_edge_run *run = open_run(store, context);
    if (!run) return GCOR_NO_MEMORY;
    gcor_status status = gcor_get(context, file, run, 1, sizeof *run);
    if (!status && !is_sound(&store->edges.sink, run)) status = gcor_damaged(context);
    if (!status) status = check_count(store, context, run->n);
    if (!status) status = allocate_run(context, run);
    if (status) return status;
    store->n_runs++;
    store->count += run->n;
    status = gcor_get(context, file, run->r, run_bytes(run), 1);
    return status || has_sound_rows(store, run) ? status : gcor_damaged(context);
}

static gcor_status load(gcor_sink *sink, gcor_context *context, FILE *file) {
    gcor_store *store = (gcor_store *)sink;
    int64_t *above = &store->edges.above, n_runs = 0;
    gcor_status status = put_settings(store, context, file, gcor_expect);
    if (!status) status = gcor_get(context, file, above, 1, sizeof *above);
    if (!status) status = gcor_get(context, file, &n_runs, 1, sizeof n_runs);
    if (!status && (n_runs < 0 || *above < 0 || *above > sink->n_row * sink->n_col)) status = gcor_damaged(context);
    for (int64_t k = 0; !status && k < n_runs; k++)
        status = gcor_stop(context) ? context->error.status : load_run(store, context, file);
    return status;
}

static void release(gcor_sink *sink) {
    gcor_store *store = (gcor_store *)sink;
    for (int64_t k = 0; k < store->n_runs; k++) gcor_free(store->runs[k].r);
    gcor_free(store->runs);
    gcor_edges_free(&store->edges);
    gcor_free(store);
}

const gcor_sink_type gcor_store_type = {
    .name = "store", .take = gcor_edges_take, .begin_tile = gcor_edges_begin, .end_tile = gcor_edges_end,
    .fork = fork_sink, .merge = merge, .save = save, .load = load, .free = release,
};

gcor_status gcor_store_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_edge_rule rule,
                           int64_t most, gcor_store **store) {
    gcor_sink sink = {.type = &gcor_store_type, .shape = shape, .n_row = n_row, .n_col = n_col, .approximate = 1};
    *store = gcor_alloc(context, 1, sizeof **store, "a network");
    if (!*store) return GCOR_NO_MEMORY;
    **store = (gcor_store){.edges = {.sink = sink, .rule = rule, .keep_tile = keep_tile}, .most = most};
    return GCOR_OK;
}

/* ---- weights --------------------------------------------------------------------------- */

gcor_status gcor_store_pieces(const gcor_store *store, gcor_context *context, gcor_piece **pieces, int64_t *n) {
    enum { PIECE = 1 << 17 }; /* 1 MB */
    *n = 0;
    for (int64_t k = 0; k < store->n_runs; k++) *n += (store->runs[k].n + PIECE - 1) / PIECE;
    gcor_piece *at = *pieces = gcor_alloc(context, *n, sizeof **pieces, "the network's weights");
    for (int64_t k = 0; at && k < store->n_runs; k++) {
        const gcor_edge_run *run = &store->runs[k];
        for (int64_t e = 0; e < run->n; e += PIECE)
            *at++ = (gcor_piece){run->r + e, run->n - e < PIECE ? run->n - e : PIECE};
    }
    return at ? GCOR_OK : GCOR_NO_MEMORY;
}

gcor_status gcor_store_count(const gcor_store *store, gcor_context *context, double least, int64_t *count) {
    gcor_side side = store->edges.rule.side;
    int64_t n, found = 0;
    gcor_piece *pieces;
    gcor_status status = gcor_store_pieces(store, context, &pieces, &n);
    if (status) return status;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic) reduction(+ : found)
    for (int64_t p = 0; p < n; p++) {
        if (gcor_stop(context)) continue;
        for (int64_t e = 0; e < pieces[p].n; e++) found += gcor_raw_weight(side, pieces[p].r[e]) >= least;
    }
    gcor_free(pieces);
    *count = store->edges.above + found;
    return context->error.status;
}
