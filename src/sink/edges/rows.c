/* Compressed rows from a store's chunks, all at once or in bands. A first walk over the chunks counts the entries of
 * each row, a second walk writes them to their rows, and then each row is sorted by column. */
#include "store.h"

#include "../../base/alloc.h"
#include "../../base/shard.h"
#include "../../base/threads.h"
#include "../file.h"

#include <stdlib.h>
#include <string.h>

static const char *const WHAT = "the network's rows";

/* The requested entries: rows first .. end-1 of a view, from a min weight on. */
typedef struct {
    gcor_side side;
    double min;
    int all;              /* non-zero: every edge has the min weight */
    int direct, mirrored; /* take edges as they are stored; take edges with row and column exchanged */
    int64_t first, end;
} wanted;

static wanted wanted_of(const gcor_store *store, double min, gcor_view view, int64_t first, int64_t n_row) {
    return (wanted){.side = store->edges.rule.side,
                    .min = min,
                    .all = min <= store->min,
                    .direct = view != GCOR_COLUMNS,
                    .mirrored = view != GCOR_ROWS,
                    .first = first,
                    .end = first + n_row};
}

static int64_t rows_of(const gcor_sink *sink, gcor_view view) {
    return view == GCOR_COLUMNS ? sink->n_col : sink->n_row;
}

static int is_kept(const wanted *w, const gcor_chunk_view *view, int64_t e) {
    return w->all || gcor_raw_weight(w->side, view->r[e]) >= w->min;
}

static int is_in(const wanted *w, int64_t row) {
    return row >= w->first && row < w->end;
}

/* Returns the end of the edges from e on that are in the same row, mostly those of a segment. */
static int64_t end_of_row(const gcor_chunk_view *view, int64_t e) {
    uint32_t row = view->position[e] >> view->bits;
    while (++e < view->n && view->position[e] >> view->bits == row) {}
    return e;
}

static int32_t count_kept(const wanted *w, const gcor_chunk_view *view, int64_t e, int64_t end) {
    int32_t kept = 0;
    if (w->all) return (int32_t)(end - e);
    for (; e < end; e++) kept += is_kept(w, view, e);
    return kept;
}

/* ---- count entries ---------------------------------------------------------------------------- */

typedef struct {
    wanted wanted; /* of all rows */
    int32_t *entries;
} row_count;

static void count_chunk(void *user, gcor_context *context, const gcor_chunk *chunk, const gcor_chunk_view *view) {
    const row_count *c = user;
    const wanted *w = &c->wanted;
    for (int64_t e = 0, end; w->direct && e < view->n; e = end) {
        end = end_of_row(view, e);
        __atomic_fetch_add(&c->entries[gcor_row_at(view, e)], count_kept(w, view, e, end), __ATOMIC_RELAXED);
    }
    for (int64_t e = 0; w->mirrored && e < view->n; e++)
        if (is_kept(w, view, e)) __atomic_fetch_add(&c->entries[gcor_col_at(view, e)], 1, __ATOMIC_RELAXED);
}

static int by_position(const void *a, const void *b) {
    const gcor_tile *x = &((const gcor_chunk *)a)->tile, *y = &((const gcor_chunk *)b)->tile;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return (x->col > y->col) - (x->col < y->col);
}

/* Sorts the chunks by position, so that later walks write to few rows at a time. */
gcor_status gcor_store_entries(gcor_store *store, gcor_context *context, double min, gcor_view view, int32_t *entries) {
    int64_t n_row = rows_of(&store->edges.sink, view);
    row_count c = {wanted_of(store, min, view, 0, n_row), entries};
    const gcor_walk walk = {
        .what = c.wanted.all ? GCOR_POSITIONS : GCOR_POSITIONS | GCOR_VALUES, .look = count_chunk, .user = &c};
    if (gcor_store_to_host(store, context)) return context->error.status;
    if (store->n_chunks > 0) qsort(store->chunks, (size_t)store->n_chunks, sizeof *store->chunks, by_position);
    memset(entries, 0, (size_t)n_row * sizeof *entries);
    return gcor_chunk_walk(context, store->chunks, store->n_chunks, &walk);
}

/* Returns the last row in (first, end] where a block of `size` rows ends; `end` if there is none. */
static int64_t end_of_block(int64_t first, int64_t end, int64_t size) {
    return end / size * size > first ? end / size * size : end;
}

/* Bands end where tiles, or the blocks that tiles are cut into, end: most chunks are then read for one band only. */
int64_t gcor_band_rows(const gcor_store *store, gcor_view view, const int32_t *entries, int64_t first, int64_t max) {
    const gcor_sink *sink = &store->edges.sink;
    int64_t side = gcor_grid_of(sink->shape, sink->n_row, sink->n_col).side, n_row = rows_of(sink, view);
    int64_t n = 0, end = first;
    while (end < n_row && (end == first || n + entries[end] <= max)) n += entries[end++];
    if (end == n_row) return end - first;
    end = end_of_block(first, end, side);
    return (store->spool ? end_of_block(first, end, GCOR_BLOCK) : end) - first;
}

/* ---- gather entries ---------------------------------------------------------------------------- */

typedef struct {
    wanted wanted;
    const int32_t *start; /* row first + i has elements start[i] .. start[i+1]-1 of col and r */
    int32_t *next;        /* position of the row's next entry */
    int32_t *col;
    double *r;
    gcor_store *ends; /* the store whose chunks are freed once they are read; NULL: none */
} gathering;

static int wants_chunk(const void *user, const gcor_chunk *chunk) {
    const wanted *w = &((const gathering *)user)->wanted;
    const gcor_tile *tile = &chunk->tile;
    return (w->direct && tile->row < w->end && tile->row + tile->n_row > w->first) ||
           (w->mirrored && tile->col < w->end && tile->col + tile->n_col > w->first);
}

/* Claims n entries of a row, from *at on. Fails if the row has more entries than were counted, and then claims none:
 * the next position never passes the row's end, and so does not wrap. */
static gcor_status claim(const gathering *g, gcor_context *context, int64_t row, int32_t n, int64_t *at) {
    const int64_t i = row - g->wanted.first;
    int32_t now = __atomic_load_n(&g->next[i], __ATOMIC_RELAXED);
    do
        if (n > g->start[i + 1] - now) return gcor_damaged(context);
    while (!__atomic_compare_exchange_n(&g->next[i], &now, now + n, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    *at = now;
    return GCOR_OK;
}

/* Writes edges e .. end-1, all of one row. */
static gcor_status put_row(const gathering *g, gcor_context *context, const gcor_chunk_view *view, int64_t e,
                           int64_t end) {
    int32_t n = count_kept(&g->wanted, view, e, end), *col = g->col;
    double *r = g->r;
    int64_t at = 0;
    gcor_status status = n > 0 ? claim(g, context, gcor_row_at(view, e), n, &at) : GCOR_OK;
    for (const int64_t last = at + n; !status && at < last; e++) {
        col[at] = (int32_t)gcor_col_at(view, e);
        r[at] = view->r[e];
        at += is_kept(&g->wanted, view, e);
    }
    return status;
}

static gcor_status put_rows(const gathering *g, gcor_context *context, const gcor_chunk_view *view) {
    gcor_status status = GCOR_OK;
    for (int64_t e = 0, end; !status && e < view->n; e = end) {
        end = end_of_row(view, e);
        if (is_in(&g->wanted, gcor_row_at(view, e))) status = put_row(g, context, view, e, end);
    }
    return status;
}

static gcor_status put_columns(const gathering *g, gcor_context *context, const gcor_chunk_view *view) {
    int64_t at;
    for (int64_t e = 0; e < view->n; e++) {
        int64_t col = gcor_col_at(view, e);
        if (!is_in(&g->wanted, col) || !is_kept(&g->wanted, view, e)) continue;
        if (claim(g, context, col, 1, &at)) return context->error.status;
        g->col[at] = (int32_t)gcor_row_at(view, e);
        g->r[at] = view->r[e];
    }
    return GCOR_OK;
}

/* Copies the view, because for the compiler the writes to col and r might change the original. */
static void gather_chunk(void *user, gcor_context *context, const gcor_chunk *chunk, const gcor_chunk_view *view) {
    const gathering g = *(const gathering *)user;
    const gcor_chunk_view own = *view;
    gcor_status status = g.wanted.direct ? put_rows(&g, context, &own) : GCOR_OK;
    if (!status && g.wanted.mirrored) (void)put_columns(&g, context, &own);
    if (g.ends) gcor_store_drop_chunk(g.ends, &g.ends->chunks[chunk - g.ends->chunks]);
}

/* ---- sort rows ----------------------------------------------------------------------------------- */

static int is_sorted(const int32_t *col, int64_t n) {
    int sorted = 1;
    for (int64_t k = 1; sorted && k < n; k++) sorted = col[k - 1] < col[k];
    return sorted;
}

enum { SORTED_ROWS = 64 }; /* that a thread sorts at a time */

/* memory: scratch, grown as needed. */
static gcor_status sort_row(gcor_context *context, int32_t *col, double *r, int64_t n, void **memory,
                            int64_t *capacity) {
    if (is_sorted(col, n)) return GCOR_OK;
    gcor_status status = gcor_grow(context, memory, 0, capacity, 2 * n, sizeof(gcor_edge), WHAT);
    gcor_edge *list = *memory;
    if (status) return status;
    for (int64_t k = 0; k < n; k++) list[k] = (gcor_edge){0, col[k], r[k]};
    gcor_sort_columns(list, n, list + n);
    for (int64_t k = 0; k < n; k++) {
        col[k] = list[k].col;
        r[k] = list[k].r;
    }
    return GCOR_OK;
}

typedef struct {
    gcor_context *context;
    const gathering *g;
} row_sorting;

/* A row with fewer entries than were counted means that a file was modified meanwhile. */
static void sort_some_rows(void *argument, int thread, int64_t from, int64_t end) {
    const row_sorting *s = argument;
    const gathering *g = s->g;
    void *memory = NULL;
    int64_t capacity = 0;
    for (int64_t i = from; i < end && !gcor_stop(s->context); i++) {
        int64_t begin = g->start[i], n = g->start[i + 1] - begin;
        if (g->next[i] != g->start[i + 1]) (void)gcor_damaged(s->context);
        (void)sort_row(s->context, g->col + begin, g->r + begin, n, &memory, &capacity);
    }
    gcor_free(memory);
}

static gcor_status gather(const gcor_store *store, gcor_context *context, gathering *g) {
    int64_t n_row = g->wanted.end - g->wanted.first;
    const gcor_walk walk = {GCOR_POSITIONS | GCOR_VALUES, wants_chunk, gather_chunk, g};
    gcor_huge_pages(g->col, (size_t)g->start[n_row] * sizeof *g->col);
    gcor_huge_pages(g->r, (size_t)g->start[n_row] * sizeof *g->r);
    g->next = gcor_alloc(context, n_row, sizeof *g->next, WHAT);
    if (!g->next) return GCOR_NO_MEMORY;
    memcpy(g->next, g->start, (size_t)n_row * sizeof *g->next);
    gcor_status status = gcor_chunk_walk(context, store->chunks, store->n_chunks, &walk);
    row_sorting sorting = {context, g};
    if (!status) gcor_for_blocks(context->threads, n_row, SORTED_ROWS, sort_some_rows, &sorting);
    gcor_free(g->next);
    return context->error.status;
}

/* Converts lengths of rows to starts. */
static gcor_status plan_starts(gcor_context *context, int32_t *start, int64_t n_row) {
    int64_t at = 0;
    for (int64_t row = 0; row < n_row; row++) {
        int32_t n = start[row];
        start[row] = (int32_t)at;
        at += n;
        if (at > INT32_MAX) return gcor_too_many_edges(context, INT32_MAX);
    }
    start[n_row] = (int32_t)at;
    return GCOR_OK;
}

gcor_status gcor_store_starts(gcor_store *store, gcor_context *context, double min, int64_t n_row, int32_t *start) {
    gcor_edge_buffer *buffer = store->buffer;
    gcor_status status = buffer ? buffer->type->lengths(buffer, context, min, n_row, start)
                                : gcor_store_entries(store, context, min, GCOR_ROWS, start);
    return status ? status : plan_starts(context, start, n_row);
}

gcor_status gcor_store_rows(gcor_store *store, gcor_context *context, double min, int64_t n_row, const int32_t *start,
                            int32_t *col, double *r) {
    gcor_edge_buffer *buffer = store->buffer;
    gathering g = {
        .wanted = wanted_of(store, min, GCOR_ROWS, 0, n_row), .start = start, .col = col, .r = r, .ends = store};
    if (!buffer) return gather(store, context, &g);
    gcor_huge_pages(col, (size_t)start[n_row] * sizeof *col);
    gcor_huge_pages(r, (size_t)start[n_row] * sizeof *r);
    return buffer->type->rows(buffer, context, min, n_row, start, col, r);
}

gcor_status gcor_store_band(const gcor_store *store, gcor_context *context, double min, gcor_view view,
                            const int32_t *entries, int64_t first, int64_t n_row, int32_t *col, double *r) {
    int32_t *start = gcor_alloc(context, n_row + 1, sizeof *start, WHAT);
    if (!start) return GCOR_NO_MEMORY;
    memcpy(start, entries + first, (size_t)n_row * sizeof *start);
    gathering g = {.wanted = wanted_of(store, min, view, first, n_row), .start = start, .col = col, .r = r};
    gcor_status status = plan_starts(context, start, n_row);
    if (!status) status = gather(store, context, &g);
    gcor_free(start);
    return status;
}
