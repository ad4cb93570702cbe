/* The k-th largest weight of a store: weights are not negative, and as whole numbers their bits are in the order of the
 * weights. What is short of the largest, 1, makes the largest the first. */
#include "store.h"

#include "../../base/alloc.h"
#include "../../stats/select.h"

typedef struct {
    gcor_side side;
    gcor_piece *pieces;
    double *buffers; /* to read pieces to */
} store_weights;

static int64_t read_weights(void *user, gcor_context *context, int64_t p, uint64_t *out) {
    const store_weights *w = user;
    const gcor_piece *piece = &w->pieces[p];
    const double *r = gcor_piece_values(piece, context, w->buffers);
    if (!r) return 0;
    for (int64_t e = 0; e < piece->n; e++) out[e] = gcor_short_of_one(gcor_raw_weight(w->side, r[e]));
    return piece->n;
}

static gcor_status rank_in_runs(const gcor_store *store, gcor_context *context, double min, int64_t k, double *weight) {
    store_weights w = {.side = store->edges.rule.side};
    gcor_numbers numbers = {.capacity = GCOR_PIECE, .read = read_weights, .user = &w};
    gcor_status status = gcor_store_pieces(store, context, &w.pieces, &numbers.n_pieces, &w.buffers);
    if (status) return status;
    uint64_t found = 0;
    status = gcor_select(context, &numbers, 0, gcor_short_of_one(min), k, &found);
    if (!status) *weight = gcor_weight_short_of_one(found);
    gcor_free(w.buffers);
    gcor_free(w.pieces);
    return status;
}

gcor_status gcor_store_rank(const gcor_store *store, gcor_context *context, int64_t k, double *weight) {
    double min = store->min > 0 ? store->min : 0;
    gcor_keeper *keeper = store->keeper;
    k -= store->edges.above;
    *weight = k < 1 ? INFINITY : 0;
    if (k < 1 || k > store->count) return GCOR_OK;
    return keeper ? keeper->type->rank(keeper, context, min, k, weight) : rank_in_runs(store, context, min, k, weight);
}
