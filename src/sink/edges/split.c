/* A tile's edges in blocks of columns. Whoever writes rows of both halves some at a time looks for some columns of all
 * rows, and should not have to read those of a whole tile, which may be a hundred thousand wide. */
#include "run.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"

#include <string.h>

enum { ROW_EDGES = 4 }; /* a block's start of each row should be little beside its edges */

int64_t gcor_split_width(const gcor_tile *tile, int64_t n) {
    int64_t width = GCOR_SPLIT_WIDTH;
    while (width < tile->n_col && n / ((tile->n_col + width - 1) / width) < ROW_EDGES * tile->n_row) width *= 2;
    return width;
}

static int64_t block_of(const gcor_tile *tile, int64_t width, const gcor_edge *edge) {
    return (edge->col - tile->col) / width;
}

/* From how many edges of a block each thread has to where its first one goes; `end`: where blocks end. */
static void plan_positions(int64_t *next, int threads, int64_t blocks, int64_t *end) {
    int64_t at = 0;
    for (int64_t b = 0; b < blocks; b++) {
        for (int t = 0; t < threads; t++) {
            int64_t own = next[t * blocks + b];
            next[t * blocks + b] = at;
            at += own;
        }
        end[b] = at;
    }
}

/* Each thread has a stretch of the list, twice: to count, and to move. next: of `threads` times `blocks`. */
static void move_edges(const gcor_edge *list, int64_t n, const gcor_tile *tile, int64_t width, int threads,
                       int64_t blocks, int64_t *next, int64_t *end, gcor_edge *split) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++)
        for (int64_t e = n * t / threads; e < n * (t + 1) / threads; e++)
            next[t * blocks + block_of(tile, width, &list[e])]++;
    plan_positions(next, threads, blocks, end);
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int t = 0; t < threads; t++)
        for (int64_t e = n * t / threads; e < n * (t + 1) / threads; e++)
            split[next[t * blocks + block_of(tile, width, &list[e])]++] = list[e];
}

gcor_status gcor_split_edges(gcor_context *context, const gcor_edge *list, int64_t n, const gcor_tile *tile,
                             int64_t width, gcor_edge **split, int64_t **end) {
    int threads = context->threads;
    int64_t blocks = (tile->n_col + width - 1) / width;
    int64_t *next = gcor_alloc(context, threads * blocks, sizeof *next, "edges of a tile");
    *split = gcor_alloc(context, n, sizeof **split, "edges of a tile");
    *end = gcor_alloc(context, blocks, sizeof **end, "edges of a tile");
    gcor_status status = next && *split && *end ? GCOR_OK : GCOR_NO_MEMORY;
    if (!status) {
        gcor_huge_pages(*split, (size_t)n * sizeof **split);
        memset(next, 0, (size_t)(threads * blocks) * sizeof *next);
        move_edges(list, n, tile, width, threads, blocks, next, *end, *split);
    }
    gcor_free(next);
    return status;
}
