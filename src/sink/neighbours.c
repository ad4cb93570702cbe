/* The strongest neighbours of every variable. After each tile its edges are inserted into heaps, which raises the min
 * weights of the variables, so that later tiles deliver fewer edges. */
#include "neighbours.h"

#include "../base/alloc.h"
#include "../mask/pairs.h"
#include "../base/threads.h"
#include "file.h"

#include <string.h>

/* True if a is weaker than b. */
static int weaker(gcor_side side, const gcor_neighbour *a, const gcor_neighbour *b) {
    double x = gcor_weight(side, a->r), y = gcor_weight(side, b->r);
    return x < y || (x == y && a->other > b->other);
}

static void sift_up(gcor_side side, gcor_neighbour *heap, int64_t at) {
    for (int64_t parent; at > 0; at = parent) {
        parent = (at - 1) / 2;
        if (!weaker(side, &heap[at], &heap[parent])) return;
        gcor_neighbour swap = heap[at];
        heap[at] = heap[parent];
        heap[parent] = swap;
    }
}

static void sift_down(gcor_side side, gcor_neighbour *heap, int64_t n) {
    for (int64_t at = 0, child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && weaker(side, &heap[child + 1], &heap[child])) child++;
        if (!weaker(side, &heap[child], &heap[at])) return;
        gcor_neighbour swap = heap[at];
        heap[at] = heap[child];
        heap[child] = swap;
    }
}

static void insert(gcor_side side, gcor_heaps *heaps, int64_t k, int32_t var, gcor_neighbour fresh) {
    gcor_neighbour *heap = heaps->heap + var * k;
    if (gcor_weight(side, fresh.r) < heaps->min[var]) return;
    if (heaps->count[var] < k) {
        heap[heaps->count[var]] = fresh;
        sift_up(side, heap, heaps->count[var]++);
    } else if (weaker(side, &heap[0], &fresh)) {
        heap[0] = fresh;
        sift_down(side, heap, k);
    }
    if (heaps->count[var] == k) heaps->min[var] = gcor_weight(side, heap[0].r);
}

/* True if the variable belongs to this thread. Threads own groups of variables, to avoid false sharing. */
static int is_own(int32_t var, int thread, int threads) {
    return (var >> 6) % threads == thread;
}

/* The variables' indices outside of a permuted run, which decide ties; NULL: not permuted. */
typedef struct {
    const int32_t *rows, *cols;
} outer_names;

static outer_names names_of(const gcor_sink *sink) {
    if (!sink->pairs) return (outer_names){NULL, NULL};
    return (outer_names){gcor_pairs_rows(sink->pairs), gcor_pairs_cols(sink->pairs)};
}

static int32_t name_of(const int32_t *names, int32_t var) {
    return names ? names[var] : var;
}

/* Edges of a tile to insert. Variables are divided into parts. */
typedef struct {
    gcor_edges *edges;
    gcor_context *context;
    const gcor_edge *list;
    int64_t n;
    int parts;
} insertion;

/* Goes through all edges, and inserts those of the part's own variables. */
static void insert_part(void *argument, int thread, int64_t part) {
    const insertion *i = argument;
    gcor_neighbours *neighbours = (gcor_neighbours *)i->edges;
    gcor_side side = i->edges->rule.side;
    gcor_heaps *cols = &neighbours->cols, *rows = i->edges->sink.shape == GCOR_FULL ? &neighbours->rows : cols;
    const outer_names names = names_of(&i->edges->sink);
    const gcor_edge *list = i->list;
    for (int64_t e = 0; e < i->n && !(e % 1024 == 0 && gcor_stop(i->context)); e++) {
        gcor_neighbour of_row = {name_of(names.cols, list[e].col), list[e].r};
        gcor_neighbour of_col = {name_of(names.rows, list[e].row), list[e].r};
        if (is_own(list[e].row, (int)part, i->parts)) insert(side, rows, neighbours->k, list[e].row, of_row);
        if (is_own(list[e].col, (int)part, i->parts)) insert(side, cols, neighbours->k, list[e].col, of_col);
    }
}

static gcor_status keep_tile(gcor_edges *edges, gcor_context *context, const gcor_tile *tile, const gcor_edge *list,
                             int64_t n) {
    enum { FEW = 1 << 12 }; /* one thread inserts these before others would start */
    insertion i = {edges, context, list, n, n > FEW ? context->threads : 1};
    gcor_for_each(i.parts, i.parts, insert_part, &i);
    return context->error.status;
}

/* Index of the first neighbour of a part: parts begin where a variable's neighbours do. */
static int64_t first_of_part(const insertion *i, int64_t part) {
    int64_t first = i->n * part / i->parts;
    while (first > 0 && first < i->n && i->list[first].row == i->list[first - 1].row) first++;
    return first;
}

static void add_part(void *argument, int thread, int64_t part) {
    const insertion *i = argument;
    gcor_neighbours *neighbours = (gcor_neighbours *)i->edges;
    const int64_t n_col = neighbours->cols.n_var, end = first_of_part(i, part + 1);
    for (int64_t e = first_of_part(i, part); e < end; e++) {
        const int64_t var = i->list[e].row;
        const gcor_neighbour fresh = {i->list[e].col, i->list[e].r};
        gcor_heaps *heaps = var < n_col ? &neighbours->cols : &neighbours->rows;
        insert(i->edges->rule.side, heaps, neighbours->k, (int32_t)(var < n_col ? var : var - n_col), fresh);
    }
}

void gcor_neighbours_add(gcor_neighbours *neighbours, gcor_context *context, const gcor_edge *list, int64_t n) {
    insertion i = {&neighbours->edges, context, list, n, context->threads};
    gcor_for_each(i.parts, i.parts, add_part, &i);
}

static gcor_status new_heaps(gcor_context *context, gcor_heaps *heaps, int64_t k, int64_t n_var) {
    const char *what = "the neighbours of each variable";
    heaps->n_var = n_var;
    heaps->heap = gcor_alloc(context, n_var * k, sizeof(gcor_neighbour), what);
    heaps->count = gcor_alloc(context, n_var, sizeof(int64_t), what);
    heaps->min = gcor_alloc(context, n_var, sizeof(double), what);
    if (!heaps->heap || !heaps->count || !heaps->min) return GCOR_NO_MEMORY;
    for (int64_t j = 0; j < n_var; j++) heaps->count[j] = 0, heaps->min[j] = 0;
    return GCOR_OK;
}

static void release_heaps(gcor_heaps *heaps) {
    gcor_free(heaps->heap);
    gcor_free(heaps->count);
    gcor_free(heaps->min);
}

static void release(gcor_sink *sink) {
    gcor_neighbours *neighbours = (gcor_neighbours *)sink;
    gcor_edges_free(&neighbours->edges);
    release_heaps(&neighbours->cols);
    release_heaps(&neighbours->rows);
}

/* ---- forks and files ----------------------------------------------------------------------- */

static gcor_status allocate(gcor_sink *sink, gcor_context *context) {
    gcor_neighbours *neighbours = (gcor_neighbours *)sink;
    gcor_edge_rule *rule = &neighbours->edges.rule;
    gcor_edges_clear(&neighbours->edges);
    neighbours->stride = neighbours->k;
    neighbours->rows = (gcor_heaps){0};
    gcor_status status = new_heaps(context, &neighbours->cols, neighbours->k, sink->n_col);
    if (!status && sink->shape == GCOR_FULL) status = new_heaps(context, &neighbours->rows, neighbours->k, sink->n_row);
    rule->col_min = neighbours->cols.min;
    rule->row_min = sink->shape == GCOR_FULL ? neighbours->rows.min : neighbours->cols.min;
    return status;
}

/* The neighbours of a variable do not depend on the order of insertion. */
static void merge_heaps(gcor_side side, gcor_heaps *heaps, gcor_heaps *from, int64_t k) {
    for (int64_t j = 0; j < from->n_var; j++) {
        for (int64_t e = 0; e < from->count[j]; e++) insert(side, heaps, k, (int32_t)j, from->heap[j * k + e]);
        from->count[j] = 0;
        from->min[j] = 0;
    }
}

static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_neighbours *neighbours = (gcor_neighbours *)sink, *from = (gcor_neighbours *)other;
    gcor_side side = neighbours->edges.rule.side;
    merge_heaps(side, &neighbours->cols, &from->cols, neighbours->k);
    merge_heaps(side, &neighbours->rows, &from->rows, neighbours->k);
    return GCOR_OK;
}

static gcor_status save_heaps(const gcor_heaps *heaps, int64_t k, gcor_context *context, FILE *file) {
    gcor_status status = gcor_put(context, file, heaps->count, heaps->n_var, sizeof *heaps->count);
    for (int64_t j = 0; !status && j < heaps->n_var; j++)
        status = gcor_put(context, file, heaps->heap + j * k, heaps->count[j], sizeof *heaps->heap);
    return status;
}

/* The order in the file is not checked, because all neighbours are inserted again by merge(). */
static gcor_status load_heaps(gcor_heaps *heaps, int64_t k, int64_t n_others, gcor_context *context, FILE *file) {
    gcor_status status = gcor_get(context, file, heaps->count, heaps->n_var, sizeof *heaps->count);
    for (int64_t j = 0; !status && j < heaps->n_var; j++) {
        gcor_neighbour *own = heaps->heap + j * k;
        if (heaps->count[j] < 0 || heaps->count[j] > k) return gcor_damaged(context);
        status = gcor_get(context, file, own, heaps->count[j], sizeof *own);
        for (int64_t e = 0; !status && e < heaps->count[j]; e++)
            if (own[e].other < 0 || own[e].other >= n_others) status = gcor_damaged(context);
    }
    return status;
}

static gcor_status save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file) {
    const gcor_neighbours *neighbours = (const gcor_neighbours *)sink;
    gcor_status status = gcor_put(context, file, &neighbours->edges.rule.side, 1, sizeof(gcor_side));
    if (!status) status = gcor_put(context, file, &neighbours->k, 1, sizeof neighbours->k);
    if (!status) status = save_heaps(&neighbours->cols, neighbours->k, context, file);
    return status ? status : save_heaps(&neighbours->rows, neighbours->k, context, file);
}

static gcor_status load(gcor_sink *sink, gcor_context *context, FILE *file) {
    gcor_neighbours *neighbours = (gcor_neighbours *)sink;
    gcor_status status = gcor_expect(context, file, &neighbours->edges.rule.side, sizeof(gcor_side));
    if (!status) status = gcor_expect(context, file, &neighbours->k, sizeof neighbours->k);
    if (!status) status = load_heaps(&neighbours->cols, neighbours->k, sink->n_row, context, file);
    return status ? status : load_heaps(&neighbours->rows, neighbours->k, sink->n_col, context, file);
}

/* Moves each heap to its variable's index outside of the run. Its neighbours already have these indices. */
static gcor_status unpermute_heaps(gcor_heaps *heaps, int64_t k, gcor_context *context, const int32_t *names) {
    gcor_heaps fresh = *heaps;
    if (!names || heaps->n_var == 0) return GCOR_OK;
    gcor_status status = new_heaps(context, &fresh, k, heaps->n_var);
    for (int64_t j = 0; !status && j < heaps->n_var; j++) {
        int64_t to = names[j];
        memcpy(fresh.heap + to * k, heaps->heap + j * k, (size_t)heaps->count[j] * sizeof *heaps->heap);
        fresh.count[to] = heaps->count[j];
        fresh.min[to] = heaps->min[j];
    }
    release_heaps(status ? &fresh : heaps);
    if (!status) *heaps = fresh;
    return status;
}

static gcor_status unpermute_variables(gcor_sink *sink, gcor_context *context, const int32_t *rows,
                                       const int32_t *cols) {
    gcor_neighbours *neighbours = (gcor_neighbours *)sink;
    gcor_edge_rule *rule = &neighbours->edges.rule;
    gcor_status status = unpermute_heaps(&neighbours->cols, neighbours->k, context, cols);
    if (!status) status = unpermute_heaps(&neighbours->rows, neighbours->k, context, rows);
    rule->col_min = neighbours->cols.min;
    rule->row_min = sink->shape == GCOR_FULL ? neighbours->rows.min : neighbours->cols.min;
    return status;
}

static const gcor_sink_type TYPE = {
    .name = "neighbours",
    .size = sizeof(gcor_neighbours),
    .role = GCOR_NEIGHBOURS,
    .take = gcor_edges_take,
    .begin_tile = gcor_edges_begin,
    .end_tile = gcor_edges_end,
    .allocate = allocate,
    .merge = merge,
    .save = save,
    .load = load,
    .unpermute = unpermute_variables,
    .release = release,
};

gcor_status gcor_neighbours_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_side side,
                                int64_t k, gcor_neighbours **neighbours) {
    gcor_sink sink = {.type = &TYPE, .shape = shape, .n_row = n_row, .n_col = n_col, .approximate = 1, .coarse = 1};
    gcor_edge_rule rule = {.side = side, .ceiling = 2, .k = k};
    const gcor_neighbours like = {.edges = {.sink = sink, .rule = rule, .keep_tile = keep_tile}, .k = k};
    *neighbours = gcor_sink_new(context, &like);
    return *neighbours ? GCOR_OK : context->error.status;
}

/* ---- the edges that they make ------------------------------------------------------------- */

/* True if variable `var` of one side has `other` among its neighbours. Its min weight, mostly in a cache, decides
 * unless the weights are equal. */
static int has(const gcor_neighbours *neighbours, const gcor_heaps *heaps, int64_t var, gcor_neighbour other) {
    gcor_side side = neighbours->edges.rule.side;
    double weight = gcor_weight(side, other.r);
    if (weight != heaps->min[var]) return weight > heaps->min[var];
    if (heaps->count[var] < neighbours->k) return 1; /* it has all of its edges */
    return !weaker(side, &other, &heaps->heap[var * neighbours->stride]);
}

/* Removes the weakest neighbours until k are left. */
static void cut_heaps(gcor_side side, gcor_heaps *heaps, int64_t stride, int64_t k) {
    for (int64_t j = 0; j < heaps->n_var; j++) {
        gcor_neighbour *heap = heaps->heap + j * stride;
        while (heaps->count[j] > k) {
            heap[0] = heap[--heaps->count[j]];
            sift_down(side, heap, heaps->count[j]);
        }
        if (heaps->count[j] == k) heaps->min[j] = gcor_weight(side, heap[0].r);
    }
}

void gcor_neighbours_cut(gcor_neighbours *neighbours, int64_t k) {
    gcor_side side = neighbours->edges.rule.side;
    if (k >= neighbours->k) return;
    neighbours->k = k;
    cut_heaps(side, &neighbours->cols, neighbours->stride, k);
    cut_heaps(side, &neighbours->rows, neighbours->stride, k);
}

/* Returns the edge of variable j of one side with neighbour n. */
static gcor_edge edge_of(int triangle, int from_row, int32_t j, gcor_neighbour n) {
    if (!triangle) return from_row ? (gcor_edge){j, n.other, n.r} : (gcor_edge){n.other, j, n.r};
    return n.other < j ? (gcor_edge){j, n.other, n.r} : (gcor_edge){n.other, j, n.r};
}

enum { BLOCK = 256 }; /* variables whose edges a thread adds at a time */

/* The edges of one side. */
typedef struct {
    const gcor_neighbours *neighbours;
    gcor_context *context;
    int triangle, from_row, mutual;
    const gcor_heaps *own, *others;
    gcor_edges *out;
} side_edges;

/* Adds variable j's edges. An edge that both variables have is added once: by the column's side or, in a triangle, by
 * the variable with the smaller index. */
static void add_edges(const side_edges *s, int thread, int32_t j) {
    gcor_edge_list *list;
    if (gcor_stop(s->context) || gcor_edges_reserve(s->out, s->context, thread, s->own->count[j], &list)) return;
    for (int64_t e = 0; e < s->own->count[j]; e++) {
        gcor_neighbour n = s->own->heap[j * s->neighbours->stride + e];
        int both = has(s->neighbours, s->others, n.other, (gcor_neighbour){j, n.r});
        int second_look = s->triangle ? n.other < j : s->from_row; /* the other variable adds it, if both have it */
        if (both ? !second_look : !s->mutual) list->list[list->n++] = edge_of(s->triangle, s->from_row, j, n);
    }
}

static void add_edges_of_block(void *argument, int thread, int64_t from, int64_t end) {
    const side_edges *s = argument;
    for (int64_t j = from; j < end; j++) add_edges(s, thread, (int32_t)j);
}

static gcor_status add_side(const gcor_neighbours *neighbours, gcor_context *context, int from_row, int mutual,
                            gcor_edges *out) {
    int triangle = neighbours->edges.sink.shape != GCOR_FULL;
    side_edges s = {neighbours, context, triangle, from_row, mutual, .out = out};
    s.own = from_row ? &neighbours->rows : &neighbours->cols;
    s.others = triangle || from_row ? &neighbours->cols : &neighbours->rows;
    gcor_for_blocks(context->threads, s.own->n_var, BLOCK, add_edges_of_block, &s);
    return context->error.status;
}

gcor_status gcor_neighbours_store(const gcor_neighbours *neighbours, gcor_context *context, int mutual,
                                  gcor_store *store) {
    gcor_edges *out = &store->edges;
    int full = neighbours->edges.sink.shape == GCOR_FULL;
    int64_t n_col = neighbours->cols.n_var, n_row = full ? neighbours->rows.n_var : n_col;
    gcor_tile all = {0, n_row, 0, n_col};
    gcor_status status = gcor_begin_tile(&out->sink, context, &all);
    if (!status) status = add_side(neighbours, context, 0, mutual, out);
    if (!status && full) status = add_side(neighbours, context, 1, mutual, out);
    return status ? status : gcor_end_tile(&out->sink, context, &all);
}
