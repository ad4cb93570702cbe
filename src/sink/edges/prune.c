/* The chunks of a store: adds and drops them, counts their edges from a min weight on, finds the k-th largest weight,
 * prunes, and adds up degrees. */
#include "store.h"

#include "../../base/alloc.h"
#include "../../stats/summary.h"
#include "../../base/threads.h"
#include "../file.h"

#include <string.h>

/* ---- chunks ------------------------------------------------------------------------------- */

gcor_chunk *gcor_store_open_chunk(gcor_store *store, gcor_context *context) {
    void *chunks = store->chunks;
    gcor_status status = gcor_grow(context, &chunks, store->n_chunks, &store->capacity, store->n_chunks + 1,
                                   sizeof *store->chunks, "edges of the network");
    store->chunks = chunks;
    return status ? NULL : &store->chunks[store->n_chunks];
}

void gcor_store_note_held(const gcor_store *store, const gcor_chunk *chunk, int sign) {
    if (store->spool && chunk->r) (void)gcor_spool_file_held(store->spool, sign * gcor_chunk_bytes(chunk));
}

void gcor_store_add_chunk(gcor_store *store) {
    const gcor_chunk *chunk = &store->chunks[store->n_chunks++];
    store->count += chunk->n;
    gcor_store_note_held(store, chunk, 1);
}

void gcor_store_drop_chunk(const gcor_store *store, gcor_chunk *chunk) {
    gcor_store_note_held(store, chunk, -1);
    gcor_free(chunk->r);
    chunk->r = NULL;
    gcor_spool_file_leave(chunk->file);
    chunk->file = NULL;
}

gcor_status gcor_too_many_edges(gcor_context *context, int64_t max) {
    return gcor_fail(context, GCOR_TOO_MANY,
                     "the network has more than %.0f edges, as many as a sparse matrix can hold; ask for fewer, or "
                     "write it to a file with file =",
                     (double)max);
}

gcor_status gcor_store_check(const gcor_store *store, gcor_context *context, int64_t n) {
    return n <= store->max - store->count ? GCOR_OK : gcor_too_many_edges(context, store->max);
}

/* ---- count ----------------------------------------------------------------------------------- */

typedef struct {
    gcor_side side;
    double min;
    int64_t n;
} counting;

static int64_t count_kept(gcor_side side, double min, const double *r, int64_t n) {
    int64_t kept = 0;
    for (int64_t e = 0; e < n; e++) kept += gcor_raw_weight(side, r[e]) >= min;
    return kept;
}

static void count_chunk(void *user, gcor_context *context, const gcor_chunk *chunk, const gcor_chunk_view *view) {
    counting *c = user;
    __atomic_fetch_add(&c->n, count_kept(c->side, c->min, view->r, view->n), __ATOMIC_RELAXED);
}

gcor_status gcor_store_count(const gcor_store *store, gcor_context *context, double min, int64_t *count) {
    gcor_edge_buffer *buffer = store->buffer;
    counting c = {store->edges.rule.side, min, 0};
    const gcor_walk walk = {.what = GCOR_VALUES, .look = count_chunk, .user = &c};
    gcor_status status = buffer ? buffer->type->count(buffer, context, min, &c.n)
                                : gcor_chunk_walk(context, store->chunks, store->n_chunks, &walk);
    *count = c.n + store->edges.above;
    return status;
}

/* ---- the k-th largest ---------------------------------------------------------------------------- */

/* Weights are at least 0, so that their bits, as integers, have the order of the weights. gcor_short_of_one() reverses
 * it: the max weight 1 becomes 0. A piece of a chunk fits in the cache; every chunk has PIECES pieces, and the last
 * ones may be empty. */
enum { PIECE = 1 << 15, PIECES = GCOR_CHUNK / PIECE };

typedef struct {
    const gcor_store *store;
    gcor_chunk_buffers buffers;
} weights;

static int64_t read_weights(void *user, gcor_context *context, int thread, int64_t p, uint64_t *out) {
    const weights *w = user;
    const gcor_chunk *chunk = &w->store->chunks[p / PIECES];
    int64_t first = p % PIECES * PIECE, n = gcor_clamp(chunk->n - first, 0, PIECE);
    const double *r = n > 0 ? gcor_chunk_values(chunk, context, &w->buffers, thread, first, n) : NULL;
    for (int64_t e = 0; r && e < n; e++) out[e] = gcor_short_of_one(gcor_raw_weight(w->store->edges.rule.side, r[e]));
    return r ? n : 0;
}

static gcor_status rank_in_chunks(const gcor_store *store, gcor_context *context, double min, int64_t k,
                                  double *weight) {
    weights w = {.store = store};
    gcor_numbers numbers = {.n_pieces = store->n_chunks * PIECES, .capacity = PIECE, .read = read_weights, .user = &w};
    uint64_t found = 0;
    gcor_status status = gcor_chunk_buffers_new(context, store->chunks, store->n_chunks, &w.buffers);
    if (!status) status = gcor_select(context, &numbers, 0, gcor_short_of_one(min), k, &found);
    if (!status) *weight = gcor_weight_short_of_one(found);
    gcor_chunk_buffers_free(&w.buffers);
    return status;
}

gcor_status gcor_store_rank(const gcor_store *store, gcor_context *context, int64_t k, double *weight) {
    double min = store->min > 0 ? store->min : 0;
    gcor_edge_buffer *buffer = store->buffer;
    k -= store->edges.above;
    *weight = k < 1 ? INFINITY : 0;
    if (k < 1 || k > store->count) return GCOR_OK;
    return buffer ? buffer->type->rank(buffer, context, min, k, weight)
                  : rank_in_chunks(store, context, min, k, weight);
}

/* ---- pruning --------------------------------------------------------------------------------------- */

/* The store prunes when it has 1.5 times the edges that it keeps, so that the work is proportional to the edges that
 * arrive. */
static void set_limit(gcor_store *store) {
    enum { MIN_EDGES = 1 << 16 }; /* pruning fewer gains nothing */
    int64_t kept = gcor_max(store->count, store->wanted);
    store->limit = gcor_max(kept, MIN_EDGES) / 2 * 3;
}

void gcor_store_want(gcor_store *store, int64_t k) {
    store->wanted = k;
    set_limit(store);
}

typedef struct {
    gcor_store *store;
    gcor_context *context;
    double min;
} pruning;

/* Replaces a chunk by its edges from the min weight on, in new memory. Chunks in files are not changed, nor any chunk
 * after an error. */
static void prune_chunk(void *argument, int thread, int64_t k) {
    const pruning *p = argument;
    gcor_chunk *chunk = &p->store->chunks[k];
    const gcor_side side = p->store->edges.rule.side;
    gcor_chunk fresh = *chunk;
    if (chunk->file || gcor_stop(p->context)) return;
    fresh.n = count_kept(side, p->min, chunk->r, chunk->n);
    fresh.r = NULL;
    if (fresh.n == chunk->n || (fresh.n > 0 && gcor_chunk_allocate(p->context, &fresh))) return;
    for (int64_t e = 0, at = 0; at < fresh.n; e++) {
        fresh.r[at] = chunk->r[e];
        fresh.position[at] = chunk->position[e];
        at += gcor_raw_weight(side, chunk->r[e]) >= p->min;
    }
    gcor_store_drop_chunk(p->store, chunk);
    *chunk = fresh;
    gcor_store_note_held(p->store, chunk, 1);
}

static gcor_status prune(gcor_store *store, gcor_context *context, double min) {
    int64_t n_chunks = store->n_chunks;
    if (store->buffer) return store->buffer->type->prune(store->buffer, context, min, &store->count);
    pruning all = {store, context, min};
    gcor_for_each(context->threads, n_chunks, prune_chunk, &all);
    store->n_chunks = store->count = 0;
    for (int64_t k = 0; k < n_chunks; k++) {
        store->count += store->chunks[k].n;
        if (store->chunks[k].n > 0) store->chunks[store->n_chunks++] = store->chunks[k];
    }
    return context->error.status;
}

/* The k-th largest weight of all pairs is not below the k-th largest of the edges so far. */
gcor_status gcor_store_prune(gcor_store *store, gcor_context *context) {
    double weight;
    gcor_status status = gcor_store_rank(store, context, store->wanted, &weight);
    if (!status && weight > store->edges.rule.min) {
        store->edges.rule.min = weight;
        status = prune(store, context, weight);
    }
    set_limit(store);
    return status;
}

/* ---- degrees ------------------------------------------------------------------------------------ */

/* Degrees and strengths, chunk by chunk; each chunk has edges of one tile. */

enum { BLOCK = 1 << 14 }; /* edges that a thread adds at a time */

typedef struct {
    gcor_context *context;
    gcor_edge_sums *sums;
    gcor_side side;
    double min;
    const gcor_chunk_view *view;
} addition;

/* A weight above 1 means that the file was modified after it was attached. */
static void add_block(void *argument, int thread, int64_t from, int64_t end) {
    const addition *a = argument;
    const gcor_chunk_view *view = a->view;
    for (int64_t e = from; e < end; e++) {
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
    gcor_for_blocks(threads, view->n, BLOCK, add_block, a);
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
