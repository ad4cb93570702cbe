/* Compressed rows from a store's runs. A thread takes a block of rows at a time, and of them all runs
 * that have any, from the left to the right: the entries of a row are in order as they come. */
#include "run.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCK_ROWS = 64 };

/* Block b's runs, of ascending columns, are runs[start[b]] .. runs[start[b+1]-1]. */
typedef struct {
    int64_t n, *start;
    gcor_edge_run **runs;
} row_blocks;

/* Which entries count. */
typedef struct {
    gcor_side side;
    double min;
    int all;
} row_filter;

static void free_blocks(row_blocks *blocks) {
    gcor_free(blocks->start);
    gcor_free(blocks->runs);
}

static int64_t first_block(const gcor_edge_run *run) {
    return run->row / BLOCK_ROWS;
}

static int64_t last_block(const gcor_edge_run *run) {
    return (run->row + run->n_row - 1) / BLOCK_ROWS;
}

/* The runs of one row of tiles differ in their columns or have no rows in common. */
static int by_column(const void *a, const void *b) {
    int64_t x = ((const gcor_edge_run *)a)->tile.col, y = ((const gcor_edge_run *)b)->tile.col;
    return (x > y) - (x < y);
}

/* Filling moves each start on to the next one, so they begin one further on. */
static gcor_status list_blocks(gcor_store *store, gcor_context *context, int64_t n_row, row_blocks *blocks) {
    gcor_edge_run *end = store->runs + store->n_runs;
    *blocks = (row_blocks){.n = (n_row + BLOCK_ROWS - 1) / BLOCK_ROWS};
    blocks->start = gcor_alloc(context, blocks->n + 2, sizeof *blocks->start, "the network's rows");
    if (!blocks->start) return GCOR_NO_MEMORY;
    memset(blocks->start, 0, (size_t)(blocks->n + 2) * sizeof *blocks->start);
    if (store->n_runs > 0) qsort(store->runs, (size_t)store->n_runs, sizeof *store->runs, by_column);
    for (const gcor_edge_run *run = store->runs; run < end; run++)
        for (int64_t b = first_block(run); b <= last_block(run); b++) blocks->start[b + 2]++;
    for (int64_t b = 0; b <= blocks->n; b++) blocks->start[b + 1] += blocks->start[b];
    blocks->runs = gcor_alloc(context, blocks->start[blocks->n + 1], sizeof *blocks->runs, "the network's rows");
    if (!blocks->runs) {
        gcor_free(blocks->start);
        return GCOR_NO_MEMORY;
    }
    for (gcor_edge_run *run = store->runs; run < end; run++)
        for (int64_t b = first_block(run); b <= last_block(run); b++) blocks->runs[blocks->start[b + 1]++] = run;
    return GCOR_OK;
}

/* A run's rows in block b: from *row, before the one returned. */
static int64_t rows_of(const gcor_edge_run *run, int64_t b, int64_t *row) {
    int64_t end = run->row + run->n_row, block_end = (b + 1) * BLOCK_ROWS;
    *row = run->row > b * BLOCK_ROWS ? run->row : b * BLOCK_ROWS;
    return end < block_end ? end : block_end;
}

static int32_t count_entries(const gcor_edge_run *run, int64_t row, const row_filter *filter) {
    int32_t begin = run->start[row - run->row], end = run->start[row - run->row + 1], n = 0;
    if (filter->all) return end - begin;
    for (int32_t e = begin; e < end; e++) n += gcor_raw_weight(filter->side, run->r[e]) >= filter->min;
    return n;
}

static row_filter filter_of(const gcor_store *store, double min) {
    return (row_filter){store->edges.rule.side, min, min <= store->min};
}

/* From what is in files or on a device, or may be more than the starts can count. */
static gcor_status starts_of_lengths(gcor_store *store, gcor_context *context, double min, int64_t n_row,
                                     int32_t *start) {
    int64_t at = 0;
    gcor_keeper *keeper = store->keeper;
    gcor_status status = keeper ? keeper->type->lengths(keeper, context, min, n_row, start)
                                : gcor_store_entries(store, context, min, GCOR_ROWS, start);
    if (status) return status;
    for (int64_t row = 0; row < n_row; row++) {
        int32_t n = start[row];
        start[row] = (int32_t)at;
        at += n;
        if (at > INT32_MAX) return gcor_too_many_edges(context, INT32_MAX);
    }
    start[n_row] = (int32_t)at;
    return GCOR_OK;
}

static gcor_status rows_of_bands(const gcor_store *store, gcor_context *context, double min, int64_t n_row,
                                 const int32_t *start, int32_t *col, double *r) {
    enum { ENTRIES = 1 << 22 };
    gcor_status status = GCOR_OK;
    int32_t *entries = gcor_alloc(context, n_row, sizeof *entries, "the network's rows");
    if (!entries) return GCOR_NO_MEMORY;
    for (int64_t row = 0; row < n_row; row++) entries[row] = start[row + 1] - start[row];
    for (int64_t row = 0, n; !status && row < n_row; row += n) {
        n = gcor_band_rows(store, GCOR_ROWS, entries, row, ENTRIES);
        status = gcor_store_band(store, context, min, GCOR_ROWS, entries, row, n, col + start[row], r + start[row]);
    }
    gcor_free(entries);
    return status;
}

static int is_by_bands(const gcor_store *store) {
    return store->count > INT32_MAX || gcor_store_has_files(store);
}

gcor_status gcor_store_starts(gcor_store *store, gcor_context *context, double min, int64_t n_row, int32_t *start) {
    if (store->keeper || is_by_bands(store)) return starts_of_lengths(store, context, min, n_row, start);
    row_filter filter = filter_of(store, min);
    row_blocks blocks;
    gcor_status status = list_blocks(store, context, n_row, &blocks);
    if (status) return status;
    memset(start, 0, (size_t)(n_row + 1) * sizeof *start);
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t b = 0; b < blocks.n; b++) {
        if (gcor_stop(context)) continue;
        for (int64_t k = blocks.start[b], row; k < blocks.start[b + 1]; k++)
            for (int64_t end = rows_of(blocks.runs[k], b, &row); row < end; row++)
                start[row + 1] += count_entries(blocks.runs[k], row, &filter);
    }
    for (int64_t row = 0; row < n_row; row++) start[row + 1] += start[row];
    free_blocks(&blocks);
    return context->error.status;
}

/* A row's entries of a run to `at` .. end-1, or less; returns where the next one goes. What is not to stay
 * is written, too, if there is room, and then written over: that is faster than to go round it. */
static int32_t copy_entries(const gcor_edge_run *run, int64_t row, const row_filter *filter, int32_t at, int32_t end,
                            int32_t *col, double *r) {
    int32_t last = run->start[row - run->row + 1];
    for (int32_t e = run->start[row - run->row]; e < last && at < end; e++) {
        col[at] = run->col[e];
        r[at] = run->r[e];
        at += filter->all || gcor_raw_weight(filter->side, run->r[e]) >= filter->min;
    }
    return at;
}

/* A run that no block needs any more makes room for the rows to come. */
static void leave_run(gcor_edge_run *run) {
    if (__atomic_sub_fetch(&run->left, 1, __ATOMIC_ACQ_REL) > 0) return;
    gcor_free(run->r);
    run->r = NULL;
}

static void copy_block(const row_blocks *blocks, int64_t b, const row_filter *filter, int64_t n_row,
                       const int32_t *start, int32_t *col, double *r) {
    int32_t next[BLOCK_ROWS];
    for (int64_t i = 0; i < BLOCK_ROWS && b * BLOCK_ROWS + i < n_row; i++) next[i] = start[b * BLOCK_ROWS + i];
    for (int64_t k = blocks->start[b], row; k < blocks->start[b + 1]; k++) {
        for (int64_t end = rows_of(blocks->runs[k], b, &row); row < end; row++) {
            int32_t *at = &next[row - b * BLOCK_ROWS];
            *at = copy_entries(blocks->runs[k], row, filter, *at, start[row + 1], col, r);
        }
        leave_run(blocks->runs[k]);
    }
}

gcor_status gcor_store_rows(gcor_store *store, gcor_context *context, double min, int64_t n_row, const int32_t *start,
                            int32_t *col, double *r) {
    gcor_keeper *keeper = store->keeper;
    gcor_huge_pages(col, (size_t)start[n_row] * sizeof *col);
    gcor_huge_pages(r, (size_t)start[n_row] * sizeof *r);
    if (keeper) return keeper->type->rows(keeper, context, min, n_row, start, col, r);
    if (is_by_bands(store)) return rows_of_bands(store, context, min, n_row, start, col, r);
    row_filter filter = filter_of(store, min);
    row_blocks blocks;
    gcor_status status = list_blocks(store, context, n_row, &blocks);
    if (status) return status;
    for (int64_t k = 0; k < store->n_runs; k++)
        store->runs[k].left = (int)(last_block(&store->runs[k]) - first_block(&store->runs[k]) + 1);
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t b = 0; b < blocks.n; b++)
        if (!gcor_stop(context)) copy_block(&blocks, b, &filter, n_row, start, col, r);
    free_blocks(&blocks);
    return context->error.status;
}
