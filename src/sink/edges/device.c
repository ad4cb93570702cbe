/* Stores whose edges are in a device edge buffer. */
#include "store.h"

/* Prefaults the memory of many rows while devices find edges: of all forks together. */
void gcor_store_stay(gcor_store *store, const gcor_context *context, gcor_edge_location location) {
    const double MIN_PAIRS = 1 << 24;
    const gcor_sink *sink = &store->edges.sink;
    store->location = location;
    if (location != GCOR_ON_DEVICE_FOR_ROWS || (double)sink->n_row * (double)sink->n_col < MIN_PAIRS) return;
    store->prefaulted = store->expecting = gcor_prefaulted_new(context, INT32_MAX);
}

gcor_status gcor_store_buffered(gcor_store *store, gcor_context *context, int64_t n) {
    gcor_status status = gcor_store_check(store, context, n);
    if (status) return status;
    store->count += n;
    if (store->expecting && store->count > store->announced) {
        gcor_prefaulted_expect(store->expecting, store->count - store->announced);
        store->announced = store->count;
    }
    return store->wanted > 0 && store->count >= store->limit ? gcor_store_prune(store, context) : GCOR_OK;
}

gcor_status gcor_store_to_host(gcor_store *store, gcor_context *context) {
    gcor_edge_buffer *buffer = store->buffer;
    store->location = GCOR_ON_HOST;
    if (!buffer) return GCOR_OK;
    gcor_prefaulted_free(store->prefaulted);
    store->prefaulted = store->expecting = NULL;
    store->buffer = NULL;
    store->count = 0;
    gcor_status status = buffer->type->to_host(buffer, context, &store->edges);
    buffer->type->free(buffer);
    return status;
}

gcor_status gcor_store_join(gcor_store *store, gcor_context *context, gcor_store *fork) {
    int64_t left = fork->count;
    gcor_status status = GCOR_OK;
    if (!store->buffer && !fork->buffer) return GCOR_OK;
    if (store->n_chunks + fork->n_chunks == 0) {
        if (!store->buffer) {
            store->buffer = fork->buffer;
            fork->buffer = NULL;
            left = 0;
        } else if (fork->buffer) {
            status = store->buffer->type->absorb(store->buffer, context, fork->buffer, &left);
        }
        store->count += fork->count - left;
        fork->count = left;
        if (status || left == 0) return status;
    }
    status = gcor_store_to_host(store, context);
    return status ? status : gcor_store_to_host(fork, context);
}
