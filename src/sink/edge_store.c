/* Edges in memory: a run for each tile. */
#include "edge_store.h"

#include "../core/alloc.h"
#include "../core/threads.h"

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

static int allocate_run(gcor_context *context, gcor_edge_run *run) {
    int64_t bytes = 12 * run->n + 4 * (run->n_row + 1);
    run->r = gcor_alloc(context, bytes, 1, "edges of the network");
    if (!run->r) return 0;
    gcor_huge_pages(run->r, (size_t)bytes);
    run->col = (int32_t *)(run->r + run->n);
    run->start = run->col + run->n;
    return 1;
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

static gcor_status keep_tile(gcor_edges *edges, gcor_context *context, const gcor_tile *tile, const gcor_edge *list,
                             int64_t n) {
    gcor_store *store = (gcor_store *)edges;
    if (n == 0) return GCOR_OK;
    if (n > store->most - store->count)
        return gcor_fail(context, GCOR_TOO_MANY,
                         "the network has more than %.0f edges, as many as a sparse matrix can hold; ask for fewer, or "
                         "write it to a file with file =",
                         (double)store->most);
    gcor_edge_run *run = open_run(store, context);
    if (!run) return GCOR_NO_MEMORY;
    *run = (gcor_edge_run){.tile = *tile, .row = list[0].row, .n_row = list[n - 1].row - list[0].row + 1, .n = n};
    if (!allocate_run(context, run)) return GCOR_NO_MEMORY;
    store->n_runs++;
    store->count += n;
    fill_run(context, list, run);
    return GCOR_OK;
}

gcor_store *gcor_store_new(gcor_context *context, gcor_shape shape, gcor_edge_rule rule, int64_t most) {
    gcor_store *store = gcor_alloc(context, 1, sizeof *store, "a network");
    if (!store) return NULL;
    *store = (gcor_store){.edges = gcor_edges_sink(shape, rule), .most = most};
    store->edges.keep_tile = keep_tile;
    return store;
}

void gcor_store_free(gcor_store *store) {
    if (!store) return;
    for (int64_t k = 0; k < store->n_runs; k++) gcor_free(store->runs[k].r);
    gcor_free(store->runs);
    gcor_edges_free(&store->edges);
    gcor_free(store);
}

gcor_edges *gcor_store_edges(gcor_store *store) {
    return &store->edges;
}

gcor_piece *gcor_store_pieces(const gcor_store *store, gcor_context *context, int64_t *n) {
    enum { PIECE = 1 << 17 }; /* 1 MB */
    *n = 0;
    for (int64_t k = 0; k < store->n_runs; k++) *n += (store->runs[k].n + PIECE - 1) / PIECE;
    gcor_piece *pieces = gcor_alloc(context, *n, sizeof *pieces, "the network's weights"), *at = pieces;
    for (int64_t k = 0; pieces && k < store->n_runs; k++) {
        const gcor_edge_run *run = &store->runs[k];
        for (int64_t e = 0; e < run->n; e += PIECE)
            *at++ = (gcor_piece){run->r + e, run->n - e < PIECE ? run->n - e : PIECE};
    }
    return pieces;
}

gcor_status gcor_store_count(const gcor_store *store, gcor_context *context, double least, int64_t *count) {
    gcor_side side = store->edges.rule.side;
    int64_t n, found = 0;
    gcor_piece *pieces = gcor_store_pieces(store, context, &n);
    if (!pieces) return GCOR_NO_MEMORY;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic) reduction(+ : found)
    for (int64_t p = 0; p < n; p++) {
        if (gcor_stop(context, omp_get_thread_num())) continue;
        for (int64_t e = 0; e < pieces[p].n; e++) found += gcor_raw_weight(side, pieces[p].r[e]) >= least;
    }
    gcor_free(pieces);
    *count = store->edges.above + found;
    return context->error.status;
}
