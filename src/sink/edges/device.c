/* Stores whose edges are in a device edge buffer. */
#include "store.h"

/* Prefaults the memory of many rows while the device finds edges. */
static void expect_rows(gcor_store *store, const gcor_context *context) {
    enum { MIN_EDGES = 1 << 22 };
    if (store->location != GCOR_ON_DEVICE_FOR_ROWS || store->count < MIN_EDGES) return;
    if (!store->prefaulted) store->prefaulted = gcor_prefaulted_new(context, INT32_MAX);
    if (store->prefaulted) gcor_prefaulted_expect(store->prefaulted, store->count);
}

gcor_status gcor_store_buffered(gcor_store *store, gcor_context *context, int64_t n) {
    gcor_status status = gcor_store_check(store, context, n);
    if (status) return status;
    store->count += n;
    expect_rows(store, context);
    return store->wanted > 0 && store->count >= store->limit ? gcor_store_prune(store, context) : GCOR_OK;
}

gcor_status gcor_store_to_host(gcor_store *store, gcor_context *context) {
    gcor_edge_buffer *buffer = store->buffer;
    store->location = GCOR_ON_HOST;
    if (!buffer) return GCOR_OK;
    gcor_prefaulted_free(store->prefaulted);
    store->prefaulted = NULL;
    store->buffer = NULL;
    store->count = 0;
    gcor_status status = buffer->type->to_host(buffer, context, &store->edges);
    buffer->type->free(buffer);
    return status;
}
