/* Degrees and strengths from a store's edges, chunk by chunk; each chunk has edges of one tile. */
#include "store.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"
#include "../file.h"

#include <string.h>

enum { BLOCK = 1 << 14 }; /* edges that a thread adds at a time */

typedef struct {
    gcor_context *context;
    gcor_edge_sums *sums;
    gcor_side side;
    double min;
    const gcor_chunk_view *view;
} addition;

/* A weight above 1 means that the file was modified after it was attached. */
static void add_block(void *argument, int thread, int64_t k) {
    const addition *a = argument;
    const gcor_chunk_view *view = a->view;
    const gcor_range block = gcor_block(view->n, BLOCK, k);
    for (int64_t e = block.from; e < block.end; e++) {
        double weight = gcor_raw_weight(a->side, view->r[e]);
        if (!(weight <= 1))
            (void)gcor_damaged(a->context);
        else if (weight >= a->min)
            gcor_edge_sums_add(a->sums, thread, gcor_row_at(view, e), gcor_col_at(view, e), weight);
    }
}

static gcor_status add_chunk(addition *a, const gcor_chunk *chunk, const gcor_chunk_view *view) {
    int threads = gcor_edge_sums_threads(a->context, &chunk->tile, chunk->n);
    gcor_status status = gcor_edge_sums_begin(a->sums, a->context, &chunk->tile, threads);
    if (status) return status;
    a->view = view;
    gcor_for_each(threads, gcor_blocks(view->n, BLOCK), add_block, a);
    gcor_edge_sums_end(a->sums, a->context);
    return a->context->error.status;
}

gcor_status gcor_store_degrees(gcor_store *store, gcor_context *context, double min, int64_t *degree,
                               gcor_int128 *strength) {
    int64_t n_var = store->edges.sink.n_col;
    gcor_edge_sums sums = {.degree = degree, .strength = strength};
    addition all = {.context = context, .sums = &sums, .side = store->edges.rule.side, .min = min};
    gcor_chunk_buffers buffers;
    if (store->buffer) return store->buffer->type->degrees(store->buffer, context, min, n_var, degree, strength);
    gcor_status status = gcor_chunk_buffers_new(context, store->chunks, store->n_chunks, &buffers);
    memset(degree, 0, (size_t)n_var * sizeof *degree);
    memset(strength, 0, (size_t)n_var * sizeof *strength);
    for (int64_t k = 0; !status && k < store->n_chunks; k++) {
        gcor_chunk_view view;
        status = gcor_stop(context) ? context->error.status : GCOR_OK;
        if (!status)
            status = gcor_chunk_open(&store->chunks[k], context, &buffers, 0, GCOR_VALUES | GCOR_POSITIONS, &view);
        if (!status) status = add_chunk(&all, &store->chunks[k], &view);
    }
    gcor_chunk_buffers_free(&buffers);
    gcor_edge_sums_free(&sums);
    return status;
}
