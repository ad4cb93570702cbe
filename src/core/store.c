/* Edges in memory: blocks that threads fill side by side, made into compressed rows at the end. */
#include "network.h"

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

void gcor_store_window(const gcor_store *store, double low, double high, double *weights, int64_t *between,
                       int64_t *above) {
    gcor_side side = store->edges.rule.side;
    *between = 0;
    *above = store->edges.above;
    for (int t = 0; t < store->threads; t++)
        for (const block *b = store->first[t]; b; b = b->next)
            for (int64_t e = 0; e < b->n; e++) {
                double weight = gcor_weight(side, b->edges[e].r);
                if (weight >= high) {
                    ++*above;
                } else if (weight >= low) {
                    if (weights) weights[*between] = weight;
                    ++*between;
                }
            }
}

void gcor_store_starts(const gcor_store *store, double least, int64_t n_row, int64_t *start) {
    gcor_side side = store->edges.rule.side;
    memset(start, 0, (size_t)(n_row + 1) * sizeof *start);
    for (int t = 0; t < store->threads; t++)
        for (const block *b = store->first[t]; b; b = b->next)
            for (int64_t e = 0; e < b->n; e++)
                if (gcor_weight(side, b->edges[e].r) >= least) start[b->edges[e].row + 1]++;
    for (int64_t i = 0; i < n_row; i++) start[i + 1] += start[i];
}

/* Where the edges of each row go. */
typedef struct {
    gcor_side side;
    double least;
    int64_t *next; /* per row: the place of its next edge */
    int32_t *col;
    double *r;
} scatter;

static void place_edge(void *user, const gcor_edge *edge) {
    scatter *to = user;
    if (gcor_weight(to->side, edge->r) < to->least) return;
    int64_t at = to->next[edge->row]++;
    to->col[at] = edge->col;
    to->r[at] = edge->r;
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

gcor_status gcor_store_rows(gcor_store *store, gcor_context *context, double least, int64_t n_row,
                            const int64_t *start, int32_t *col, double *r) {
    int64_t longest = 0;
    for (int64_t i = 0; i < n_row; i++)
        if (start[i + 1] - start[i] > longest) longest = start[i + 1] - start[i];
    int64_t *next = gcor_alloc(context, n_row, sizeof *next, "the network's rows");
    gcor_edge *work = gcor_alloc(context, longest * context->threads, sizeof *work, "the network's rows");
    if (next && work) {
        for (int64_t i = 0; i < n_row; i++) next[i] = start[i];
        scatter to = {store->edges.rule.side, least, next, col, r};
        gcor_store_drain(store, place_edge, &to);
#pragma omp parallel for num_threads(context->threads) schedule(dynamic, 64)
        for (int64_t i = 0; i < n_row; i++) {
            int thread = omp_get_thread_num();
            if (gcor_stop(context, thread)) continue;
            sort_row(start[i + 1] - start[i], col + start[i], r + start[i], work + thread * longest);
        }
        (void)gcor_stop(context, 0);
    }
    gcor_free(work);
    gcor_free(next);
    return context->error.status;
}
