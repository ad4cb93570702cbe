/* The strongest neighbours of every variable. A tile's edges are sorted in when the tile is done; then the
 * variables' own least weights rise, so that later tiles hand over less and less. */
#include "sinks.h"

#include "../core/alloc.h"
#include "../core/threads.h"

#include <string.h>

typedef struct {
    int32_t other;
    double r;
} neighbour;

/* Variables of one side: the neighbours of variable j are a heap at heap[j * k], the weakest on
 * top; least[j]: that one's weight once there are k, before 0. */
typedef struct {
    int64_t n_var;
    neighbour *heap;
    int64_t *count;
    double *least;
} side_heaps;

struct gcor_neighbours {
    gcor_edges edges; /* first: this is its sink */
    int64_t k;
    side_heaps cols, rows; /* rows: of y */
};

/* Whether a is weaker than b. */
static int weaker(gcor_side side, const neighbour *a, const neighbour *b) {
    double x = gcor_weight(side, a->r), y = gcor_weight(side, b->r);
    return x < y || (x == y && a->other > b->other);
}

static void sift_up(gcor_side side, neighbour *heap, int64_t at) {
    for (int64_t parent; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (!weaker(side, &heap[at], &heap[parent])) return;
        neighbour swap = heap[at];
        heap[at] = heap[parent];
        heap[parent] = swap;
    }
}

static void sift_down(gcor_side side, neighbour *heap, int64_t n) {
    for (int64_t at = 0, child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && weaker(side, &heap[child + 1], &heap[child])) child++;
        if (!weaker(side, &heap[child], &heap[at])) return;
        neighbour swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

static void insert(gcor_side side, side_heaps *heaps, int64_t k, int32_t var, neighbour fresh) {
    neighbour *heap = heaps->heap + var * k;
    if (gcor_weight(side, fresh.r) < heaps->least[var]) return;
    if (heaps->count[var] < k) {
        heap[heaps->count[var]] = fresh;
        sift_up(side, heap, heaps->count[var]++);
    } else if (weaker(side, &heap[0], &fresh)) {
        heap[0] = fresh;
        sift_down(side, heap, k);
    }
    if (heaps->count[var] == k) heaps->least[var] = gcor_weight(side, heap[0].r);
}

/* Whether a variable is one of this thread's; in groups, as what is next to one another in memory would be
 * shared. */
static int is_own(int32_t var, int thread, int threads) {
    return (var >> 6) % threads == thread;
}

/* Every thread looks at all edges and has variables of its own. */
static gcor_status keep_tile(gcor_edges *edges, gcor_context *context, const gcor_tile *tile, const gcor_edge *list,
                             int64_t n) {
    enum { FEW = 1 << 12 }; /* sooner done than shared */
    gcor_neighbours *neighbours = (gcor_neighbours *)edges;
    gcor_side side = edges->rule.side;
    side_heaps *cols = &neighbours->cols, *rows = neighbours->rows.n_var > 0 ? &neighbours->rows : cols;
    (void)tile;
#pragma omp parallel num_threads(context->threads) if (n > FEW)
    {
        int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        for (int64_t e = 0; e < n && !(e % 1024 == 0 && gcor_stop(context, thread)); e++) {
            neighbour of_row = {list[e].col, list[e].r}, of_col = {list[e].row, list[e].r};
            if (is_own(list[e].row, thread, threads)) insert(side, rows, neighbours->k, list[e].row, of_row);
            if (is_own(list[e].col, thread, threads)) insert(side, cols, neighbours->k, list[e].col, of_col);
        }
    }
    return context->error.status;
}

static int allocate(gcor_context *context, side_heaps *heaps, int64_t k, int64_t n_var) {
    const char *what = "the neighbours of each variable";
    heaps->n_var = n_var;
    heaps->heap = gcor_alloc(context, n_var * k, sizeof(neighbour), what);
    heaps->count = gcor_alloc(context, n_var, sizeof(int64_t), what);
    heaps->least = gcor_alloc(context, n_var, sizeof(double), what);
    if (!heaps->heap || !heaps->count || !heaps->least) return 0;
    for (int64_t j = 0; j < n_var; j++) heaps->count[j] = 0, heaps->least[j] = 0;
    return 1;
}

static void release(side_heaps *heaps) {
    gcor_free(heaps->heap);
    gcor_free(heaps->count);
    gcor_free(heaps->least);
}

gcor_neighbours *gcor_neighbours_new(gcor_context *context, gcor_side side, int64_t k, int64_t n_col, int64_t n_row) {
    gcor_neighbours *neighbours = gcor_alloc(context, 1, sizeof *neighbours, "the neighbours of each variable");
    if (!neighbours) return NULL;
    *neighbours = (gcor_neighbours){.k = k};
    gcor_edge_rule rule = {.side = side, .ceiling = 2};
    gcor_shape shape = n_row > 0 ? GCOR_FULL : GCOR_LOWER;
    if (!allocate(context, &neighbours->cols, k, n_col) ||
        (n_row > 0 && !allocate(context, &neighbours->rows, k, n_row))) {
        gcor_neighbours_free(neighbours);
        return NULL;
    }
    rule.k = k;
    rule.col_least = neighbours->cols.least;
    rule.row_least = n_row > 0 ? neighbours->rows.least : neighbours->cols.least;
    neighbours->edges = gcor_edges_sink(shape, rule);
    neighbours->edges.keep_tile = keep_tile;
    return neighbours;
}

void gcor_neighbours_free(gcor_neighbours *neighbours) {
    if (!neighbours) return;
    gcor_edges_free(&neighbours->edges);
    release(&neighbours->cols);
    release(&neighbours->rows);
    gcor_free(neighbours);
}

gcor_edges *gcor_neighbours_edges(gcor_neighbours *neighbours) {
    return &neighbours->edges;
}

/* Whether `var` of one side has `other` among its neighbours. */
static int has(const gcor_neighbours *neighbours, const side_heaps *heaps, int64_t var, neighbour other) {
    if (heaps->count[var] < neighbours->k) return 1; /* has all there are */
    return !weaker(neighbours->edges.rule.side, &other, &heaps->heap[var * neighbours->k]);
}

/* The edge of variable j of one side with neighbour n. */
static gcor_edge edge_of(int triangle, int from_row, int32_t j, neighbour n) {
    if (!triangle) return from_row ? (gcor_edge){j, n.other, n.r} : (gcor_edge){n.other, j, n.r};
    return n.other < j ? (gcor_edge){j, n.other, n.r} : (gcor_edge){n.other, j, n.r};
}

/* Every edge is met from the column's side; from the row's side only those not met there. */
static gcor_status add_side(const gcor_neighbours *neighbours, gcor_context *context, int from_row, int mutual,
                            gcor_edges *out) {
    int triangle = neighbours->rows.n_var == 0;
    const side_heaps *own = from_row ? &neighbours->rows : &neighbours->cols;
    const side_heaps *others = triangle || from_row ? &neighbours->cols : &neighbours->rows;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic, 256)
    for (int64_t j = 0; j < own->n_var; j++) {
        int thread = omp_get_thread_num();
        if (gcor_stop(context, thread)) continue;
        gcor_edge_list *list = gcor_edges_room(out, context, thread, own->count[j]);
        for (int64_t e = 0; list && e < own->count[j]; e++) {
            neighbour n = own->heap[j * neighbours->k + e];
            int both = has(neighbours, others, n.other, (neighbour){(int32_t)j, n.r});
            int second_look = triangle ? n.other < j : from_row; /* met before, if both have it */
            if (both ? !second_look : !mutual) list->list[list->n++] = edge_of(triangle, from_row, (int32_t)j, n);
        }
    }
    return context->error.status;
}

gcor_status gcor_neighbours_store(const gcor_neighbours *neighbours, gcor_context *context, int mutual,
                                  gcor_store *store) {
    gcor_edges *out = gcor_store_edges(store);
    int64_t n_col = neighbours->cols.n_var, n_row = neighbours->rows.n_var;
    gcor_tile all = {0, n_row > 0 ? n_row : n_col, 0, n_col};
    gcor_status status = gcor_begin_tile(&out->sink, context, &all);
    if (!status) status = add_side(neighbours, context, 0, mutual, out);
    if (!status && n_row > 0) status = add_side(neighbours, context, 1, mutual, out);
    return status ? status : gcor_end_tile(&out->sink, context, &all);
}
