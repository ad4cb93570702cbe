/* Degrees and strengths from a store's edges, run by run: a run's edges are those of a tile. */
#include "parts.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"
#include "../file.h"

#include <string.h>

/* Which edges count, and where they are added. */
typedef struct {
    gcor_side side;
    double min;
    gcor_edge_sums sums;
    gcor_edge_reader *readers; /* one for each thread */
} adding;

/* A column that no edge of the run can have is in a file that was written to. */
static gcor_status add_part(adding *a, gcor_context *context, const gcor_edge_part *part, int thread) {
    const gcor_tile *tile = &part->run->tile;
    gcor_edges_view seen;
    gcor_status status = gcor_read_part(part, context, &a->readers[thread], 1, &seen);
    if (status) return status;
    for (int64_t i = 0; i < part->n_row; i++)
        for (int64_t e = seen.start[i] - seen.base; e < seen.start[i + 1] - seen.base; e++) {
            double weight = gcor_raw_weight(a->side, seen.r[e]);
            int64_t col = seen.col[e];
            if (!(weight >= a->min)) continue;
            if (!(weight <= 1) || col < tile->col || col >= tile->col + tile->n_col) return gcor_damaged(context);
            gcor_edge_sums_add(&a->sums, thread, part->row + i, col, weight);
        }
    return GCOR_OK;
}

static gcor_status add_run(adding *a, gcor_context *context, const gcor_edge_run *run) {
    int64_t step = gcor_rows_of_part(run), parts = (run->n_row + step - 1) / step;
    gcor_tile tile = {run->row, run->n_row, run->tile.col, run->tile.n_col};
    int threads = gcor_edge_sums_threads(context, &tile, run->n);
    gcor_status status = gcor_edge_sums_begin(&a->sums, context, &tile, threads);
    if (status) return status;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (int64_t p = 0; p < parts; p++) {
        int64_t row = p * step, n = run->n_row - row < step ? run->n_row - row : step;
        gcor_edge_part part = {run, run->row + row, n, 0};
        /* A failure is in the context. */
        if (!gcor_stop(context)) (void)add_part(a, context, &part, omp_get_thread_num());
    }
    gcor_edge_sums_end(&a->sums, context);
    return context->error.status;
}

gcor_status gcor_store_degrees(gcor_store *store, gcor_context *context, double min, int64_t *degree,
                               gcor_int128 *strength) {
    int64_t n_var = store->edges.sink.n_col;
    adding a = {.side = store->edges.rule.side, .min = min, .sums = {.degree = degree, .strength = strength}};
    if (store->keeper) return store->keeper->type->degrees(store->keeper, context, min, n_var, degree, strength);
    a.readers = gcor_alloc(context, context->threads, sizeof *a.readers, "degrees");
    if (!a.readers) return GCOR_NO_MEMORY;
    memset(a.readers, 0, (size_t)context->threads * sizeof *a.readers);
    memset(degree, 0, (size_t)n_var * sizeof *degree);
    memset(strength, 0, (size_t)n_var * sizeof *strength);
    for (int64_t k = 0; k < store->n_runs && !add_run(&a, context, &store->runs[k]); k++) continue;
    for (int t = 0; t < context->threads; t++) gcor_free_reader(&a.readers[t]);
    gcor_free(a.readers);
    gcor_edge_sums_free(&a.sums);
    return context->error.status;
}
