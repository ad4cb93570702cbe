/* A store whose edges stay on a device. */
#include "run.h"

/* Fewer edges have their memory as soon. */
enum { LANDING_MIN = 1 << 22 };

/* The memory of rows is got ready while edges are still looked for. */
static void expect_rows(gcor_store *store, const gcor_context *context) {
    if (store->stay != GCOR_STAY_FOR_ROWS || store->count < LANDING_MIN) return;
    if (!store->landing) store->landing = gcor_prefaulted_new(context, INT32_MAX);
    if (store->landing) gcor_prefaulted_expect(store->landing, store->count);
}

gcor_status gcor_store_kept(gcor_store *store, gcor_context *context, int64_t n) {
    gcor_status status = gcor_store_check(store, context, n);
    if (status) return status;
    store->count += n;
    expect_rows(store, context);
    return store->wanted > 0 && store->count >= store->limit ? gcor_store_prune(store, context) : GCOR_OK;
}

gcor_status gcor_store_land(gcor_store *store, gcor_context *context) {
    gcor_keeper *keeper = store->keeper;
    store->stay = GCOR_LEAVE;
    if (!keeper) return GCOR_OK;
    gcor_prefaulted_free(store->landing);
    store->landing = NULL;
    store->keeper = NULL;
    store->count = 0;
    gcor_status status = keeper->type->land(keeper, context, &store->edges);
    keeper->type->free(keeper);
    return status;
}
