/* Undoes the permutation of variables after a run: takes edges out of the store, some chunks at a time, and adds them
 * to a new store with the original indices. */
#include "store.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"

/* The original indices of the permuted variables; NULL: not permuted. */
typedef struct {
    const int32_t *rows, *cols;
    int is_triangle;
} names;

enum { BLOCK = 1 << 14 }; /* edges that a thread unpermutes at a time */

typedef struct {
    const names *to;
    const gcor_chunk_view *view;
    gcor_edge *list;
} unpermutation;

static void unpermute_block(void *argument, int thread, int64_t from, int64_t end) {
    const unpermutation *u = argument;
    const gcor_chunk_view *view = u->view;
    for (int64_t e = from; e < end; e++) {
        const int64_t row = gcor_row_at(view, e), col = gcor_col_at(view, e);
        int32_t i = u->to->rows ? u->to->rows[row] : (int32_t)row, j = u->to->cols ? u->to->cols[col] : (int32_t)col;
        u->list[e] = u->to->is_triangle && i < j ? (gcor_edge){j, i, view->r[e]} : (gcor_edge){i, j, view->r[e]};
    }
}

/* Moves the last chunk's edges to the list, and removes the chunk from the store. */
static gcor_status take_chunk(gcor_store *store, gcor_context *context, const gcor_chunk_buffers *buffers,
                              const names *to, gcor_edge *list) {
    gcor_chunk *chunk = &store->chunks[store->n_chunks - 1];
    gcor_chunk_view view;
    gcor_status status = gcor_chunk_open(chunk, context, buffers, 0, GCOR_VALUES | GCOR_POSITIONS, &view);
    if (status) return status;
    unpermutation all = {to, &view, list};
    gcor_for_blocks(context->threads, view.n, BLOCK, unpermute_block, &all);
    store->count -= chunk->n;
    store->n_chunks--;
    gcor_store_drop_chunk(store, chunk);
    return GCOR_OK;
}

/* Moves chunks to the list, which has a capacity of `capacity` edges, until the next one does not fit. */
static gcor_status fill_list(gcor_store *store, gcor_context *context, const gcor_chunk_buffers *buffers,
                             const names *to, gcor_edge *list, int64_t capacity, int64_t *n) {
    gcor_status status = GCOR_OK;
    *n = 0;
    while (!status && store->n_chunks > 0) {
        int64_t own = store->chunks[store->n_chunks - 1].n;
        if (*n + own > capacity) break;
        status = gcor_stop(context) ? context->error.status : take_chunk(store, context, buffers, to, list + *n);
        *n += own;
    }
    return status;
}

static gcor_status unpermute_all(gcor_store *store, gcor_context *context, const names *to, gcor_store *fresh) {
    const gcor_tile whole = {0, store->edges.sink.n_row, 0, store->edges.sink.n_col};
    const int64_t capacity = gcor_min(store->count, 4 * (int64_t)GCOR_CHUNK);
    gcor_chunk_buffers buffers;
    gcor_status status = gcor_chunk_buffers_new(context, store->chunks, store->n_chunks, &buffers);
    gcor_edge *list = status ? NULL : gcor_alloc(context, capacity, sizeof *list, "edges of the network");
    if (!status && !list) status = GCOR_NO_MEMORY;
    while (!status && store->n_chunks > 0) {
        int64_t n;
        status = fill_list(store, context, &buffers, to, list, capacity, &n);
        if (!status) status = fresh->edges.keep_tile(&fresh->edges, context, &whole, list, n);
    }
    gcor_free(list);
    gcor_chunk_buffers_free(&buffers);
    return status;
}

gcor_status gcor_store_unpermute(gcor_sink *sink, gcor_context *context, const int32_t *rows, const int32_t *cols) {
    gcor_store *store = (gcor_store *)sink;
    const names to = {rows, cols, sink->shape != GCOR_FULL};
    gcor_sink *fresh = NULL;
    gcor_status status = gcor_store_to_host(store, context);
    if (status || store->n_chunks == 0) return status;
    status = gcor_sink_fork(sink, context, &fresh);
    if (!status) status = unpermute_all(store, context, &to, (gcor_store *)fresh);
    if (!status) status = sink->type->merge(sink, context, fresh);
    gcor_sink_free(fresh);
    return status;
}
