/* A store whose edges stay on a device. */
#include "edge_run.h"

gcor_status gcor_store_kept(gcor_store *store, gcor_context *context, int64_t n) {
    gcor_status status = gcor_store_check(store, context, n);
    if (status) return status;
    store->count += n;
    return store->wanted > 0 && store->count >= store->limit ? gcor_store_raise(store, context) : GCOR_OK;
}

gcor_status gcor_store_land(gcor_store *store, gcor_context *context) {
    gcor_keeper *keeper = store->keeper;
    store->may_stay = 0;
    if (!keeper) return GCOR_OK;
    store->keeper = NULL;
    store->count = 0;
    gcor_status status = keeper->type->land(keeper, context, &store->edges);
    keeper->type->free(keeper);
    return status;
}
