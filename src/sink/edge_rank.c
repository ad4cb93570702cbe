/* The k-th largest weight of a store. Weights are not negative, so that as whole numbers their bits are in
 * the order of the weights: a histogram of the leading bits says which of them the k-th largest has, one of
 * the next bits among those weights the next, until all bits are known. Ties are no special case. */
#include "edge_store.h"

#include "../core/alloc.h"
#include "../core/threads.h"

#include <string.h>

enum { BIN_BITS = 15, BINS = 1 << BIN_BITS, FEW = 1 << 22 };

/* Weights of which the bits less `base` are below 2^bits are to be looked at. */
typedef struct {
    gcor_side side;
    gcor_piece *pieces;
    int64_t n_pieces;
    double *buffers; /* to read pieces to */
    uint64_t base;
    int bits;
    int64_t *counts; /* threads x BINS */
} selection;

/* -0 counts as 0. */
static uint64_t bits_of(double weight) {
    uint64_t bits;
    weight += 0.0;
    memcpy(&bits, &weight, sizeof bits);
    return bits;
}

static double weight_of(uint64_t bits) {
    double weight;
    memcpy(&weight, &bits, sizeof weight);
    return weight;
}

static int shift_of(const selection *s) {
    return s->bits > BIN_BITS ? s->bits - BIN_BITS : 0;
}

/* The bits of a coefficient's weight less the base; below 2^bits, or it is not to be looked at. */
static uint64_t place_of(const selection *s, double r) {
    return bits_of(gcor_raw_weight(s->side, r)) - s->base;
}

static void count_piece(const selection *s, gcor_context *context, const gcor_piece *piece, int64_t *counts) {
    const double *r = gcor_stop(context) ? NULL : gcor_piece_values(piece, context, s->buffers);
    int shift = shift_of(s);
    for (int64_t e = 0; r && e < piece->n; e++) {
        uint64_t bin = place_of(s, r[e]) >> shift;
        if (bin < BINS) counts[bin]++;
    }
}

/* Into bins of each thread that there is; the sums over them come first. */
static void count(const selection *s, gcor_context *context) {
    int team = 1;
#pragma omp parallel num_threads(context->threads)
    {
        int64_t *own = s->counts + (int64_t)omp_get_thread_num() * BINS;
        memset(own, 0, BINS * sizeof *own);
#pragma omp single
        team = omp_get_num_threads();
#pragma omp for schedule(dynamic)
        for (int64_t p = 0; p < s->n_pieces; p++) count_piece(s, context, &s->pieces[p], own);
    }
    for (int t = 1; t < team; t++)
        for (int64_t b = 0; b < BINS; b++) s->counts[b] += s->counts[t * (int64_t)BINS + b];
}

/* Only the bin that has the *k-th largest is left, in which *k is counted on; returns how many are in it. */
static int64_t narrow(selection *s, int64_t *k) {
    int shift = shift_of(s), bin = BINS - 1;
    while (bin > 0 && s->counts[bin] < *k) *k -= s->counts[bin--];
    s->base += (uint64_t)bin << shift;
    s->bits = shift;
    return s->counts[bin];
}

/* The coefficients whose weights are left to `out`, in no order; few of all, and never more than there is room for,
 * should a file have been written to since they were counted. */
static void gather(const selection *s, gcor_context *context, double *out, int64_t room) {
    int64_t n = 0;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t p = 0; p < s->n_pieces; p++) {
        int64_t size = s->pieces[p].n;
        const double *r = gcor_stop(context) ? NULL : gcor_piece_values(&s->pieces[p], context, s->buffers);
        for (int64_t e = 0; r && e < size; e++) {
            if (place_of(s, r[e]) >> s->bits > 0) continue;
            int64_t at = __atomic_fetch_add(&n, 1, __ATOMIC_RELAXED);
            if (at < room) out[at] = r[e];
        }
    }
}

/* some: room for FEW coefficients. Once no more are left the others are not looked at again. */
static gcor_status select_weight(selection *s, gcor_context *context, int64_t k, double *some, double *weight) {
    gcor_piece left = {.r = some};
    for (;;) {
        count(s, context);
        if (context->error.status) return context->error.status;
        int64_t n = narrow(s, &k);
        if (s->bits == 0) break;
        if (left.n > 0 || n > FEW) continue;
        gather(s, context, some, n);
        left.n = n;
        s->pieces[0] = left;
        s->n_pieces = 1;
    }
    *weight = weight_of(s->base);
    return GCOR_OK;
}

gcor_status gcor_store_rank(const gcor_store *store, gcor_context *context, int64_t k, double *weight) {
    const gcor_edge_rule *rule = &store->edges.rule;
    k -= store->edges.above;
    *weight = k < 1 ? INFINITY : 0;
    if (k < 1 || k > store->count) return GCOR_OK;
    selection s = {.side = rule->side, .base = bits_of(rule->least > 0 ? rule->least : 0)};
    while ((bits_of(1) - s.base) >> s.bits > 0) s.bits++;
    gcor_status status = gcor_store_pieces(store, context, &s.pieces, &s.n_pieces, &s.buffers);
    if (status) return status;
    s.counts = gcor_alloc(context, (int64_t)context->threads * BINS, sizeof *s.counts, "the network's weights");
    int64_t few = store->count < FEW ? store->count : FEW;
    double *some = gcor_alloc(context, few, sizeof *some, "the network's weights");
    status = GCOR_NO_MEMORY;
    if (s.counts && some) status = select_weight(&s, context, k, some, weight);
    gcor_free(some);
    gcor_free(s.counts);
    gcor_free(s.buffers);
    gcor_free(s.pieces);
    return status;
}
