/* Rows of a network some at a time, with both halves of a symmetric one, from runs in memory or in files.
 *
 * Row v of a symmetric network has the columns before v from the runs that have row v, in the order of their columns,
 * and then those behind v from the runs that have column v, in the order of their rows. So the parts of runs that a
 * band needs are put into this order and cut into as many stretches as there are threads; each thread finds the entries
 * of its stretch, and where in a row these go follows from how many the threads before it have found. */
#include "parts.h"

#include "../../base/alloc.h"
#include "../../base/shard.h"
#include "../../base/threads.h"
#include "../file.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    gcor_edge_part *list;
    int64_t n;
} part_list;

/* Which entries are wanted: of rows first .. end-1. */
typedef struct {
    gcor_side side;
    double min;
    int all;              /* whatever their weight */
    int direct, mirrored; /* from runs that have these rows; from those that have them as columns */
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

static int is_kept(const wanted *w, double r) {
    return w->all || gcor_raw_weight(w->side, r) >= w->min;
}

/* ---- parts of runs ------------------------------------------------------------------------ */

/* A run's rows row .. end-1 as parts to list[n] and on, if there is a list; returns the n behind them. */
static int64_t add_parts(gcor_edge_part *list, int64_t n, const gcor_edge_run *run, int64_t row, int64_t end,
                         int mirrored) {
    int64_t step = gcor_rows_of_part(run);
    for (; row < end; row += step, n++)
        if (list) list[n] = (gcor_edge_part){run, row, end - row < step ? end - row : step, mirrored};
    return n;
}

static int64_t add_run(gcor_edge_part *list, int64_t n, const gcor_edge_run *run, const wanted *w) {
    int64_t end = run->row + run->n_row, col_end = run->tile.col + run->tile.n_col;
    if (w->direct)
        n = add_parts(list, n, run, run->row > w->first ? run->row : w->first, end < w->end ? end : w->end, 0);
    if (w->mirrored && run->tile.col < w->end && col_end > w->first) n = add_parts(list, n, run, run->row, end, 1);
    return n;
}

static int by_position(const void *a, const void *b) {
    const gcor_edge_part *x = a, *y = b;
    if (x->mirrored != y->mirrored) return x->mirrored - y->mirrored;
    int64_t u = x->mirrored ? x->row : x->run->tile.col, v = y->mirrored ? y->row : y->run->tile.col;
    return (u > v) - (u < v);
}

/* All that the rows need, in order; parts->list is the caller's, NULL after an error. */
static gcor_status list_parts(const gcor_store *store, gcor_context *context, const wanted *w, part_list *parts) {
    parts->n = 0;
    for (int64_t k = 0; k < store->n_runs; k++) parts->n = add_run(NULL, parts->n, &store->runs[k], w);
    parts->list = gcor_alloc(context, parts->n, sizeof *parts->list, "the network's rows");
    if (!parts->list) return GCOR_NO_MEMORY;
    for (int64_t k = 0, n = 0; k < store->n_runs; k++) n = add_run(parts->list, n, &store->runs[k], w);
    if (parts->n > 0) qsort(parts->list, (size_t)parts->n, sizeof *parts->list, by_position);
    return GCOR_OK;
}

/* ---- how many entries ------------------------------------------------------------------------- */

static void add(int32_t *entries, int64_t n) {
    if (n > 0) __atomic_fetch_add(entries, (int32_t)n, __ATOMIC_RELAXED);
}

/* Of the part's rows, and of its columns, which are below n_col. */
static void count_part(const gcor_edge_part *p, const gcor_edges_view *seen, const wanted *w, int64_t n_col,
                       int32_t *entries) {
    for (int64_t i = 0; i < p->n_row; i++) {
        int64_t begin = seen->start[i] - seen->base, end = seen->start[i + 1] - seen->base, found = 0;
        for (int64_t e = begin; (w->mirrored || !w->all) && e < end; e++) {
            if (!w->all && !is_kept(w, seen->r[e])) continue;
            found++;
            if (w->mirrored && seen->col[e] >= 0 && seen->col[e] < n_col) add(&entries[seen->col[e]], 1);
        }
        if (w->direct) add(&entries[p->row + i], w->mirrored || !w->all ? found : end - begin);
    }
}

gcor_status gcor_store_entries(gcor_store *store, gcor_context *context, double min, gcor_view view, int32_t *entries) {
    const gcor_sink *sink = &store->edges.sink;
    wanted w = wanted_of(store, min, view, 0, rows_of(sink, view));
    wanted once = wanted_of(store, min, GCOR_ROWS, 0, sink->n_row); /* each part */
    part_list parts;
    if (gcor_store_land(store, context)) return context->error.status;
    gcor_edge_reader *readers = gcor_alloc(context, context->threads, sizeof *readers, "the network's rows");
    if (!readers) return GCOR_NO_MEMORY;
    memset(readers, 0, (size_t)context->threads * sizeof *readers);
    memset(entries, 0, (size_t)rows_of(sink, view) * sizeof *entries);
    if (!list_parts(store, context, &once, &parts)) {
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
        for (int64_t k = 0; k < parts.n; k++) {
            gcor_edges_view seen;
            if (gcor_stop(context)) continue;
            if (!gcor_read_part(&parts.list[k], context, &readers[omp_get_thread_num()], !w.all, &seen))
                count_part(&parts.list[k], &seen, &w, sink->n_col, entries);
        }
    }
    gcor_free(parts.list);
    for (int t = 0; t < context->threads; t++) gcor_free_reader(&readers[t]);
    gcor_free(readers);
    return context->error.status;
}

/* The last row, from `first` on, where a block of so many ends; `end` if none does. */
static int64_t end_of_block(int64_t first, int64_t end, int64_t size) {
    return end / size * size > first ? end / size * size : end;
}

/* Rows that end where tiles do, or the blocks that these are kept in: their columns' runs are wanted by no other band
 * then. */
int64_t gcor_band_rows(const gcor_store *store, gcor_view view, const int32_t *entries, int64_t first, int64_t max) {
    enum { MAX_ROWS = 1 << 17 }; /* each thread has a counter for each */
    const gcor_sink *sink = &store->edges.sink;
    int64_t side = gcor_grid_of(sink->shape, sink->n_row, sink->n_col).side, n_row = rows_of(sink, view);
    int64_t n = 0, end = first;
    while (end < n_row && end - first < MAX_ROWS && (end == first || n + entries[end] <= max)) n += entries[end++];
    if (end == n_row) return end - first;
    end = end_of_block(first, end, side);
    return (store->spool ? end_of_block(first, end, GCOR_SPLIT_WIDTH) : end) - first;
}

/* ---- the entries ------------------------------------------------------------------------------- */

/* What one thread finds: the entries of parts from .. to-1, of which `row` is counted from the band's first. */
typedef struct {
    int64_t from, to;
    gcor_edge *list;
    int64_t n, capacity;
    int32_t *next; /* the band's rows: how many were found, then where the next one goes */
} stretch;

typedef struct {
    part_list parts;
    wanted wanted;
    int64_t entries; /* how many there are */
    int n;
    stretch *stretches;
    int32_t *next;
} band;

static void find_entries(stretch *s, const gcor_edge_part *p, const gcor_edges_view *seen, const wanted *w) {
    int64_t n = s->n;
    for (int64_t i = 0; i < p->n_row; i++) {
        int64_t row = p->row + i;
        for (int64_t e = seen->start[i] - seen->base; e < seen->start[i + 1] - seen->base; e++) {
            int32_t col = seen->col[e];
            int64_t own = p->mirrored ? col : row;
            if (own < w->first || own >= w->end || !is_kept(w, seen->r[e])) continue;
            s->list[n++] = (gcor_edge){(int32_t)(own - w->first), p->mirrored ? (int32_t)row : col, seen->r[e]};
            s->next[own - w->first]++;
        }
    }
    s->n = n;
}

/* Room for n more, at first for as many as the stretch should have. */
static gcor_status reserve(const band *b, gcor_context *context, stretch *s, int64_t n) {
    void *list = s->list;
    int64_t fresh = s->capacity == 0, wanted = s->n + n, fraction = b->entries / b->n + b->entries / b->n / 8;
    if (fresh && wanted < fraction) wanted = fraction;
    gcor_status status = gcor_grow(context, &list, s->n, &s->capacity, wanted, sizeof *s->list, "the network's rows");
    s->list = list;
    if (fresh && !status) gcor_huge_pages(list, (size_t)s->capacity * sizeof *s->list);
    return status;
}

static gcor_status find_stretch(const band *b, gcor_context *context, stretch *s) {
    gcor_status status = GCOR_OK;
    gcor_edge_reader own = {NULL, NULL, NULL, 0, 0, 0};
    for (int64_t k = s->from; !status && k < s->to; k++) {
        const gcor_edge_part *p = &b->parts.list[k];
        gcor_edges_view seen;
        status = gcor_stop(context) ? context->error.status : gcor_read_part(p, context, &own, 1, &seen);
        if (!status) status = reserve(b, context, s, seen.start[p->n_row] - seen.start[0]);
        if (!status) find_entries(s, p, &seen, &b->wanted);
    }
    gcor_free_reader(&own);
    return status;
}

/* About as many edges to read for each; parts of the same run are alike. */
static void cut(band *b) {
    double all = 0, done = 0;
    int64_t k = 0;
    for (int64_t j = 0; j < b->parts.n; j++)
        all += (double)b->parts.list[j].run->n / b->parts.list[j].run->n_row * b->parts.list[j].n_row;
    for (int t = 0; t < b->n; t++) {
        b->stretches[t].from = k;
        for (; k < b->parts.n && (t == b->n - 1 || done < all * (t + 1) / b->n); k++)
            done += (double)b->parts.list[k].run->n / b->parts.list[k].run->n_row * b->parts.list[k].n_row;
        b->stretches[t].to = k;
    }
}

/* From numbers to places. Another number than was counted before is a file that was written to since. */
static gcor_status plan_positions(const band *b, gcor_context *context, const int32_t *entries) {
    int64_t at = 0;
    int same = 1;
    for (int64_t i = 0; i < b->wanted.end - b->wanted.first; i++) {
        int64_t before = at;
        for (int t = 0; t < b->n; t++) {
            int32_t n = b->stretches[t].next[i];
            b->stretches[t].next[i] = (int32_t)at;
            at += n;
        }
        same &= at - before == entries[b->wanted.first + i];
        at = before + entries[b->wanted.first + i];
    }
    return same ? GCOR_OK : gcor_damaged(context);
}

static gcor_status open_band(band *b, const gcor_store *store, gcor_context *context) {
    int64_t n_row = b->wanted.end - b->wanted.first;
    gcor_status status = list_parts(store, context, &b->wanted, &b->parts);
    b->n = context->threads;
    if (b->parts.n < b->n) b->n = b->parts.n > 0 ? (int)b->parts.n : 1;
    if (!status) b->stretches = gcor_alloc(context, b->n, sizeof *b->stretches, "the network's rows");
    if (b->stretches) b->next = gcor_alloc(context, b->n * n_row, sizeof *b->next, "the network's rows");
    if (!b->next) return GCOR_NO_MEMORY;
    memset(b->next, 0, (size_t)(b->n * n_row) * sizeof *b->next);
    for (int t = 0; t < b->n; t++) b->stretches[t] = (stretch){.next = b->next + t * n_row};
    cut(b);
    return GCOR_OK;
}

static void close_band(band *b) {
    for (int t = 0; b->next && t < b->n; t++) gcor_free(b->stretches[t].list);
    gcor_free(b->next);
    gcor_free(b->stretches);
    gcor_free(b->parts.list);
}

gcor_status gcor_store_band(const gcor_store *store, gcor_context *context, double min, gcor_view view,
                            const int32_t *entries, int64_t first, int64_t n_row, int32_t *col, double *r) {
    band b = {.wanted = wanted_of(store, min, view, first, n_row)};
    for (int64_t row = first; row < first + n_row; row++) b.entries += entries[row];
    gcor_huge_pages(col, (size_t)b.entries * sizeof *col);
    gcor_huge_pages(r, (size_t)b.entries * sizeof *r);
    gcor_status status = open_band(&b, store, context);
    if (!status) {
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
        for (int t = 0; t < b.n; t++) (void)find_stretch(&b, context, &b.stretches[t]);
        status = context->error.status;
    }
    if (!status) status = plan_positions(&b, context, entries);
    if (!status) {
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
        for (int t = 0; t < b.n; t++) {
            stretch *s = &b.stretches[t];
            for (int64_t e = 0; e < s->n; e++) {
                int32_t at = s->next[s->list[e].row]++;
                col[at] = s->list[e].col;
                r[at] = s->list[e].r;
            }
        }
    }
    close_band(&b);
    return status;
}
