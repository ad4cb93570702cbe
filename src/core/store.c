/* Edges in memory: blocks that threads fill side by side, made into compressed rows at the end. */
#include "sinks.h"

#include "alloc.h"
#include "threads.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_EDGES = 1 << 16 }; /* 1 MB */

typedef struct block {
    struct block *next;
    int64_t n;
    gcor_edge edges[BLOCK_EDGES];
} block;

struct gcor_store {
    gcor_edges edges; /* first: a store is its sink */
    int64_t most, count; /* count: of all threads */
    int threads;
    block **first; /* per thread; the block being filled comes first */
};

static block *open_block(gcor_store *store, gcor_context *context, int thread) {
    block *open = store->first[thread];
    if (open && open->n < BLOCK_EDGES) return open;
    block *fresh = gcor_alloc(context, 1, sizeof *fresh, "edges of the network");
    if (!fresh) return NULL;
    fresh->next = open;
    fresh->n = 0;
    return store->first[thread] = fresh;
}

static gcor_status keep(gcor_edges *edges, gcor_context *context, int thread, const gcor_edge *list, int64_t n) {
    gcor_store *store = (gcor_store *)edges;
    if (__atomic_add_fetch(&store->count, n, __ATOMIC_RELAXED) > store->most)
        return gcor_fail(context, GCOR_BAD_INPUT,
                         "the network has more than %.0f edges, as many as a sparse matrix can hold; ask for fewer, or "
                         "write it to a file with file =",
                         (double)store->most);
    while (n > 0) {
        block *open = open_block(store, context, thread);
        if (!open) return context->error.status;
        int64_t room = BLOCK_EDGES - open->n, part = n < room ? n : room;
        memcpy(open->edges + open->n, list, (size_t)part * sizeof *list);
        open->n += part;
        list += part;
        n -= part;
    }
    return GCOR_OK;
}

gcor_store *gcor_store_new(gcor_context *context, gcor_shape shape, gcor_edge_rule rule, int64_t most) {
    gcor_store *store = gcor_alloc(context, 1, sizeof *store, "a network");
    block **first = gcor_alloc(context, context->threads, sizeof *first, "a network");
    if (!store || !first) {
        gcor_free(store);
        gcor_free(first);
        return NULL;
    }
    memset(first, 0, (size_t)context->threads * sizeof *first);
    *store = (gcor_store){gcor_edges_sink(shape, rule), most, 0, context->threads, first};
    store->edges.keep = keep;
    return store;
}

/* Take the last block off a thread's list. */
static void drop_block(block **first) {
    block *next = (*first)->next;
    gcor_free(*first);
    *first = next;
}

void gcor_store_free(gcor_store *store) {
    if (!store) return;
    for (int t = 0; t < store->threads; t++)
        while (store->first[t]) drop_block(&store->first[t]);
    gcor_free(store->first);
    gcor_free(store);
}

gcor_edges *gcor_store_edges(gcor_store *store) {
    return &store->edges;
}

int64_t gcor_store_count(const gcor_store *store) {
    return store->count;
}

void gcor_store_drain(gcor_store *store, void (*take)(void *user, const gcor_edge *edge), void *user) {
    for (int t = 0; t < store->threads; t++)
        for (block **first = &store->first[t]; *first; drop_block(first))
            for (int64_t e = 0; e < (*first)->n; e++) take(user, &(*first)->edges[e]);
    store->count = 0;
}

/* All blocks, so that threads can share them out; gcor_free(). NULL after an error. */
static block **list_blocks(const gcor_store *store, gcor_context *context, int64_t *n) {
    *n = 0;
    for (int t = 0; t < store->threads; t++)
        for (block *b = store->first[t]; b; b = b->next) ++*n;
    block **list = gcor_alloc(context, *n, sizeof *list, "the network's rows");
    for (int64_t t = 0, at = 0; list && t < store->threads; t++)
        for (block *b = store->first[t]; b; b = b->next) list[at++] = b;
    return list;
}

gcor_status gcor_store_window(const gcor_store *store, gcor_context *context, double low, double high, double *weights,
                              int64_t *between, int64_t *above) {
    gcor_side side = store->edges.rule.side;
    int64_t n, inside = 0, larger = 0;
    block **list = list_blocks(store, context, &n);
    if (!list) return GCOR_NO_MEMORY;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic) reduction(+ : larger)
    for (int64_t b = 0; b < n; b++) {
        if (gcor_stop(context, omp_get_thread_num())) continue;
        int64_t own = 0;
        for (int64_t e = 0; e < list[b]->n; e++) {
            double weight = gcor_weight(side, list[b]->edges[e].r);
            larger += weight >= high;
            own += weight >= low && weight < high;
        }
        int64_t at = __atomic_fetch_add(&inside, own, __ATOMIC_RELAXED);
        for (int64_t e = 0; weights && e < list[b]->n; e++) {
            double weight = gcor_weight(side, list[b]->edges[e].r);
            if (weight >= low && weight < high) weights[at++] = weight;
        }
    }
    gcor_free(list);
    *between = inside;
    *above = store->edges.above + larger;
    return context->error.status;
}

gcor_status gcor_store_starts(const gcor_store *store, gcor_context *context, double least, int64_t n_row,
                              int64_t *start) {
    gcor_side side = store->edges.rule.side;
    int64_t n;
    block **list = list_blocks(store, context, &n);
    if (!list) return GCOR_NO_MEMORY;
    memset(start, 0, (size_t)(n_row + 1) * sizeof *start);
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t b = 0; b < n; b++) {
        if (gcor_stop(context, omp_get_thread_num())) continue;
        for (int64_t e = 0; e < list[b]->n; e++)
            if (gcor_weight(side, list[b]->edges[e].r) >= least)
                __atomic_fetch_add(&start[list[b]->edges[e].row + 1], 1, __ATOMIC_RELAXED);
    }
    gcor_free(list);
    for (int64_t i = 0; i < n_row; i++) start[i + 1] += start[i];
    return context->error.status;
}

/* Move every edge to its row, in no order, freeing block after block; next[i]: where row i's next
 * edge goes. */
static gcor_status scatter(gcor_store *store, gcor_context *context, double least, int64_t *next, int32_t *col,
                           double *r) {
    gcor_side side = store->edges.rule.side;
    int64_t n;
    block **list = list_blocks(store, context, &n);
    if (!list) return GCOR_NO_MEMORY;
    memset(store->first, 0, (size_t)store->threads * sizeof *store->first);
    store->count = 0;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t b = 0; b < n; b++) {
        int stop = gcor_stop(context, omp_get_thread_num());
        for (int64_t e = 0; e < list[b]->n && !stop; e++) {
            gcor_edge edge = list[b]->edges[e];
            if (gcor_weight(side, edge.r) < least) continue;
            int64_t at = __atomic_fetch_add(&next[edge.row], 1, __ATOMIC_RELAXED);
            col[at] = edge.col;
            r[at] = edge.r;
        }
        gcor_free(list[b]);
    }
    gcor_free(list);
    return context->error.status;
}

static int by_column(const void *a, const void *b) {
    int32_t x = ((const gcor_edge *)a)->col, y = ((const gcor_edge *)b)->col;
    return (x > y) - (x < y);
}

static void sort_row(int64_t n, int32_t *col, double *r, gcor_edge *work) {
    for (int64_t e = 0; e < n; e++) work[e] = (gcor_edge){0, col[e], r[e]};
    qsort(work, (size_t)n, sizeof *work, by_column);
    for (int64_t e = 0; e < n; e++) col[e] = work[e].col, r[e] = work[e].r;
}

static void sort_rows(gcor_context *context, int64_t n_row, const int64_t *start, int64_t longest, int32_t *col,
                      double *r, gcor_edge *work) {
#pragma omp parallel for num_threads(context->threads) schedule(dynamic, 64)
    for (int64_t i = 0; i < n_row; i++) {
        int thread = omp_get_thread_num();
        if (!gcor_stop(context, thread))
            sort_row(start[i + 1] - start[i], col + start[i], r + start[i], work + thread * longest);
    }
}

gcor_status gcor_store_rows(gcor_store *store, gcor_context *context, double least, int64_t n_row,
                            const int64_t *start, int32_t *col, double *r) {
    int64_t longest = 0;
    for (int64_t i = 0; i < n_row; i++)
        if (start[i + 1] - start[i] > longest) longest = start[i + 1] - start[i];
    int64_t *next = gcor_alloc(context, n_row, sizeof *next, "the network's rows");
    gcor_edge *work = gcor_alloc(context, longest * context->threads, sizeof *work, "the network's rows");
    if (next && work) {
        for (int64_t i = 0; i < n_row; i++) next[i] = start[i];
        if (!scatter(store, context, least, next, col, r)) sort_rows(context, n_row, start, longest, col, r, work);
    }
    gcor_free(work);
    gcor_free(next);
    return context->error.status;
}
