#include "sums.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"

#include <string.h>

enum { BLOCK = 512 }; /* variables whose sums a thread folds at a time */

gcor_status gcor_edge_sums_begin(gcor_edge_sums *sums, gcor_context *context, const gcor_tile *tile, int threads) {
    int64_t wanted = threads * gcor_edge_levels(sums) * (tile->n_row + tile->n_col);
    sums->at = *tile;
    sums->threads = threads;
    if (wanted <= sums->capacity) return GCOR_OK;
    gcor_free(sums->partial);
    sums->capacity = 0;
    sums->partial = gcor_alloc(context, wanted, sizeof *sums->partial, "sums over a tile's edges");
    if (!sums->partial) return GCOR_NO_MEMORY;
    sums->capacity = wanted;
    memset(sums->partial, 0, (size_t)wanted * sizeof *sums->partial);
    return GCOR_OK;
}

/* Adds all threads' sums at position k, among the tile's rows and columns, to a variable, and clears them. */
static void fold(gcor_edge_sums *sums, int64_t k, int64_t var) {
    int64_t positions = sums->at.n_row + sums->at.n_col, levels = gcor_edge_levels(sums);
    for (int t = 0; t < sums->threads; t++)
        for (int64_t level = 0; level < levels; level++) {
            gcor_edge_sum *own = sums->partial + (t * positions + k) * levels + level;
            sums->degree[level * sums->n_var + var] += own->degree;
            sums->strength[level * sums->n_var + var] += own->strength;
            *own = (gcor_edge_sum){0, 0};
        }
}

static void fold_rows(void *argument, int thread, int64_t k) {
    gcor_edge_sums *sums = argument;
    const gcor_range rows = gcor_block(sums->at.n_row, BLOCK, k);
    (void)thread;
    for (int64_t i = rows.from; i < rows.end; i++) fold(sums, i, sums->first_row + sums->at.row + i);
}

static void fold_columns(void *argument, int thread, int64_t k) {
    gcor_edge_sums *sums = argument;
    const gcor_range columns = gcor_block(sums->at.n_col, BLOCK, k);
    (void)thread;
    for (int64_t j = columns.from; j < columns.end; j++) fold(sums, sums->at.n_row + j, sums->at.col + j);
}

/* Rows before columns, because a variable may be in both. */
void gcor_edge_sums_end(gcor_edge_sums *sums, gcor_context *context) {
    gcor_for_each(context->threads, gcor_blocks(sums->at.n_row, BLOCK), fold_rows, sums);
    gcor_for_each(context->threads, gcor_blocks(sums->at.n_col, BLOCK), fold_columns, sums);
}

void gcor_edge_sums_free(gcor_edge_sums *sums) {
    gcor_free(sums->partial);
    sums->partial = NULL;
    sums->capacity = 0;
}
