/* Edges of a tile as threads find them, put in order when the tile is done. */
#include "edges.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"

#include <string.h>

static gcor_status reserve(gcor_context *context, gcor_edge_list *list, int64_t n) {
    enum { MIN = 1 << 12 };
    void *edges = list->list;
    gcor_status status = gcor_grow(context, &edges, list->n, &list->capacity, n > MIN ? n : MIN, sizeof *list->list,
                                   "edges of a tile");
    list->list = edges;
    return status;
}

gcor_status gcor_edges_reserve(gcor_edges *edges, gcor_context *context, int thread, int64_t n, gcor_edge_list **list) {
    *list = &edges->loose[thread];
    return reserve(context, *list, (*list)->n + n);
}

void gcor_edges_free(gcor_edges *edges) {
    for (int t = 0; t < edges->threads; t++) gcor_free(edges->loose[t].list);
    gcor_free(edges->loose);
    gcor_free(edges->ordered.list);
    gcor_free(edges->next);
    edges->threads = 0;
    edges->loose = NULL;
    edges->ordered = (gcor_edge_list){0};
    edges->next = NULL;
    edges->next_capacity = 0;
}

gcor_status gcor_edges_begin(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_edges *edges = (gcor_edges *)sink;
    (void)tile;
    if (edges->threads < context->threads) { /* a small run may have been before, by fewer */
        gcor_edges_free(edges);
        edges->loose = gcor_alloc(context, context->threads, sizeof *edges->loose, "edges of a tile");
        if (!edges->loose) return GCOR_NO_MEMORY;
        edges->threads = context->threads;
        memset(edges->loose, 0, (size_t)edges->threads * sizeof *edges->loose);
    }
    for (int t = 0; t < edges->threads; t++) edges->loose[t].n = 0;
    return GCOR_OK;
}

static int64_t *next_of(const gcor_edges *edges, const gcor_tile *tile, int t) {
    return edges->next + t * tile->n_row - tile->row;
}

/* The end of the edges of one row that begin at e: they come as a block of a tile has them, some at a time. */
static int64_t end_of_row(const gcor_edge_list *list, int64_t e) {
    int32_t row = list->list[e].row;
    while (++e < list->n && list->list[e].row == row) {}
    return e;
}

/* Where every thread's edges of every row go: a row's from the first thread's on. Uses as many
 * counters as there are threads and rows. */
static gcor_status plan_positions(gcor_edges *edges, gcor_context *context, const gcor_tile *tile) {
    int64_t counters = edges->threads * tile->n_row, at = 0;
    if (counters > edges->next_capacity) {
        gcor_free(edges->next);
        edges->next = gcor_alloc(context, counters, sizeof *edges->next, "edges of a tile");
        edges->next_capacity = edges->next ? counters : 0;
    }
    if (!edges->next) return GCOR_NO_MEMORY;
#pragma omp parallel for num_threads(context->threads) schedule(static)
    for (int t = 0; t < edges->threads; t++) {
        int64_t *count = next_of(edges, tile, t);
        memset(count + tile->row, 0, (size_t)tile->n_row * sizeof *count);
        const gcor_edge_list *loose = &edges->loose[t];
        for (int64_t e = 0, end; e < loose->n; e = end) {
            end = end_of_row(loose, e);
            count[loose->list[e].row] += end - e;
        }
    }
    for (int64_t row = 0; row < tile->n_row; row++)
        for (int t = 0; t < edges->threads; t++) {
            int64_t *own = &edges->next[t * tile->n_row + row], n = *own;
            *own = at;
            at += n;
        }
    return GCOR_OK;
}

typedef struct {
    gcor_edges *edges;
    gcor_context *context;
    const gcor_tile *tile;
} ordering;

static void scatter_list(void *argument, int thread, int64_t k) {
    const ordering *o = argument;
    int64_t *next = next_of(o->edges, o->tile, (int)k);
    const gcor_edge_list *loose = &o->edges->loose[k];
    (void)thread;
    for (int64_t e = 0, end; e < loose->n; e = end) {
        int64_t *at = &next[loose->list[e].row];
        end = end_of_row(loose, e);
        memcpy(o->edges->ordered.list + *at, loose->list + e, (size_t)(end - e) * sizeof *loose->list);
        *at += end - e;
    }
}

static void scatter(gcor_edges *edges, gcor_context *context, const gcor_tile *tile) {
    ordering o = {edges, context, tile};
    gcor_for_each(context->threads, edges->threads, scatter_list, &o);
}

/* Two ascending parts of a list of n, the first of `half`, into one; work: room for half. */
static void merge(gcor_edge *list, int64_t half, int64_t n, gcor_edge *work) {
    memcpy(work, list, (size_t)half * sizeof *list);
    for (int64_t a = 0, b = half, out = 0; a < half; out++)
        list[out] = b < n && list[b].col < work[a].col ? list[b++] : work[a++];
}

/* The first ascending parts of a row, at most `most`: their ends. Returns how many there are. */
static int find_parts(const gcor_edge *row, int64_t n, int64_t *end, int max) {
    int parts = 0;
    for (int64_t e = 1; e <= n && parts < max; e++)
        if (e == n || row[e].col < row[e - 1].col) end[parts++] = e;
    return parts;
}

/* Any row: parts of one, two, four edges and so on. */
static void sort_any(gcor_edge *row, int64_t n, gcor_edge *work) {
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t at = 0; at + half < n; at += 2 * half)
            if (row[at + half - 1].col > row[at + half].col)
                merge(row + at, half, n - at < 2 * half ? n - at : 2 * half, work);
}

/* By columns. What a row is made of comes in order, a part from each block, so that there are few parts to merge. */
static void sort_row(gcor_edge *row, int64_t n, gcor_edge *work) {
    enum { PARTS = 64 };
    int64_t end[PARTS];
    int parts = find_parts(row, n, end, PARTS);
    if (parts == PARTS) {
        sort_any(row, n, work);
        return;
    }
    while (parts > 1) {
        int merged = 0;
        for (int p = 0; p < parts; p += 2) {
            int64_t begin = p > 0 ? end[p - 1] : 0;
            if (p + 1 < parts) merge(row + begin, end[p] - begin, end[p + 1] - begin, work);
            end[merged++] = end[p + 1 < parts ? p + 1 : p];
        }
        parts = merged;
    }
}

enum { SORTED_AT_ONCE = 64 }; /* rows */

/* After scatter() the last thread's place in a row is the row's end, and the loose lists are free to
 * work in. */
static void sort_some_rows(void *argument, int thread, int64_t k) {
    const ordering *o = argument;
    const gcor_tile *tile = o->tile;
    const int64_t *end = next_of(o->edges, tile, o->edges->threads - 1);
    int64_t first = tile->row + k * SORTED_AT_ONCE, last = gcor_min(first + SORTED_AT_ONCE, tile->row + tile->n_row);
    for (int64_t row = first; row < last; row++) {
        int64_t begin = row > tile->row ? end[row - 1] : 0, n = end[row] - begin;
        gcor_edge_list *work;
        if (n < 2 || gcor_stop(o->context)) continue;
        if (!gcor_edges_reserve(o->edges, o->context, thread, n, &work))
            sort_row(o->edges->ordered.list + begin, n, work->list);
    }
}

static void sort_rows(gcor_edges *edges, gcor_context *context, const gcor_tile *tile) {
    ordering o = {edges, context, tile};
    for (int t = 0; t < edges->threads; t++) edges->loose[t].n = 0;
    gcor_for_each(context->threads, (tile->n_row + SORTED_AT_ONCE - 1) / SORTED_AT_ONCE, sort_some_rows, &o);
}

gcor_status gcor_edges_end(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_edges *edges = (gcor_edges *)sink;
    int64_t n = 0;
    for (int t = 0; t < edges->threads; t++) n += edges->loose[t].n;
    if (n == 0) return GCOR_OK;
    gcor_status status = reserve(context, &edges->ordered, n);
    if (!status) status = plan_positions(edges, context, tile);
    if (status) return status;
    scatter(edges, context, tile);
    sort_rows(edges, context, tile);
    if (context->error.status) return context->error.status;
    return edges->keep_tile(edges, context, tile, edges->ordered.list, n);
}
