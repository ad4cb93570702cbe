/* Degrees and strengths from a store's edges, chunk by chunk; each chunk has edges of one tile. */
#include "store.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"
#include "../file.h"

#include <string.h>

static gcor_status add_chunk(gcor_edge_sums *sums, gcor_context *context, gcor_side side, double min,
                             const gcor_chunk *chunk, const gcor_chunk_view *view) {
    int threads = gcor_edge_sums_threads(context, &chunk->tile, chunk->n), sound = 1;
    gcor_status status = gcor_edge_sums_begin(sums, context, &chunk->tile, threads);
    if (status) return status;
#pragma omp parallel for num_threads(threads) schedule(static) reduction(& : sound)
    for (int64_t e = 0; e < chunk->n; e++) {
        double weight = gcor_raw_weight(side, view->r[e]);
        sound &= weight <= 1;
        if (weight >= min && weight <= 1)
            gcor_edge_sums_add(sums, omp_get_thread_num(), gcor_row_at(view, e), gcor_col_at(view, e), weight);
    }
    gcor_edge_sums_end(sums, context);
    return sound ? GCOR_OK : gcor_damaged(context); /* the file was modified after it was attached */
}

gcor_status gcor_store_degrees(gcor_store *store, gcor_context *context, double min, int64_t *degree,
                               gcor_int128 *strength) {
    int64_t n_var = store->edges.sink.n_col;
    gcor_side side = store->edges.rule.side;
    gcor_edge_sums sums = {.degree = degree, .strength = strength};
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
        if (!status) status = add_chunk(&sums, context, side, min, &store->chunks[k], &view);
    }
    gcor_chunk_buffers_free(&buffers);
    gcor_edge_sums_free(&sums);
    return status;
}
