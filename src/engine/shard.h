/* Which tiles. The grid is squares of variables, as large as the problem says, never the device, its memory or the
 * number of threads. Squares of squares form larger ones, which is the order of the grid: the four quarters of
 * the whole, of each quarter its four, and so on. A share is a run of that order with its part of the pairs: what is
 * close in it has variables in common. */
#ifndef GPUCOR_SHARD_H
#define GPUCOR_SHARD_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    gcor_shape shape;
    int64_t n_row, n_col;
    int64_t side; /* of the smallest squares, a power of two */
    int levels;   /* the whole is a square of side << levels */
} gcor_grid;

gcor_grid gcor_grid_of(gcor_shape shape, int64_t n_row, int64_t n_col);
/* Of n_var variables, with smallest squares of that side, a power of two. */
gcor_grid gcor_grid_of_side(gcor_shape shape, int64_t n_var, int64_t side);

/* A square at (row, col); beyond the last variable there is nothing. */
typedef struct {
    int64_t row, col, side;
} gcor_square;

/* What of the square is in the grid; no rows or no columns: nothing. */
gcor_tile gcor_square_tile(const gcor_grid *grid, const gcor_square *square);
/* The number, in the order of the grid, of its first smallest square. */
int64_t gcor_square_number(const gcor_grid *grid, const gcor_square *square);
/* How many of its pairs count. */
int64_t gcor_square_pairs(const gcor_grid *grid, const gcor_square *square);

/* How many shares there can be of which each has a pair, or 1. */
int64_t gcor_count_shards(const gcor_grid *grid);

/* The squares of a share that are still to be done, and those that come back. A worker at a time. */
typedef struct {
    gcor_grid grid;
    int64_t first, end; /* the share's smallest squares, numbered in the order of the grid */
    int64_t pairs;      /* of all that is still to be done */
    gcor_square *list;  /* the next one last */
    int64_t n, capacity;
} gcor_queue;

/* Fill an empty queue with a share; the caller ends it with gcor_queue_free(), also after an error. An index that is
 * not below `of` is GCOR_BAD_INPUT. */
gcor_status gcor_queue_fill(gcor_queue *queue, gcor_context *context, const gcor_grid *grid, const gcor_shard *shard);
void gcor_queue_free(gcor_queue *queue);

/* The next square, with a pair that counts; 0: there is none. It has at most one in `parts` of the pairs left,
 * but is not made smaller than `least` on a side for that. *square is the caller's. GCOR_NO_MEMORY leaves the queue
 * as it was. */
gcor_status gcor_queue_draw(gcor_queue *queue, gcor_context *context, int64_t parts, int64_t min, gcor_square *square,
                            int *found);
/* To be drawn again, first of all. */
gcor_status gcor_queue_return(gcor_queue *queue, gcor_context *context, const gcor_square *square);

#ifdef __cplusplus
}
#endif
#endif
