/* The grid of tiles and its division into shards. The grid consists of squares of variables whose size depends on
 * the problem only, never on the device, its memory or the number of threads. Squares form larger squares in a
 * quadtree, whose order is the order of the grid. A shard is a range of that order with its fraction of the pairs:
 * squares that are near in the order share variables. */
#pragma once

#include "../gpucor.h"

typedef struct {
    gcor_shape shape;
    int64_t n_row, n_col;
    int64_t side; /* of the smallest squares, a power of two */
    int levels;   /* the whole grid is a square of side << levels */
} gcor_grid;

gcor_grid gcor_grid_of(gcor_shape shape, int64_t n_row, int64_t n_col);
/* The grid of a triangle of n_var variables with smallest squares of that side, a power of two. */
gcor_grid gcor_grid_of_side(gcor_shape shape, int64_t n_var, int64_t side);

/* A square at (row, col); it may extend beyond the last variable. */
typedef struct {
    int64_t row, col, side;
} gcor_square;

/* Returns the part of the square that is in the grid; it may have no rows or no columns. */
gcor_tile gcor_square_tile(const gcor_grid *grid, const gcor_square *square);
/* Index, in the order of the grid, of its first smallest square. */
int64_t gcor_square_number(const gcor_grid *grid, const gcor_square *square);
/* Number of its pairs of the grid's shape. */
int64_t gcor_square_pairs(const gcor_grid *grid, const gcor_square *square);

/* Max number of shards; at least 1. */
int64_t gcor_count_shards(const gcor_grid *grid);

/* The squares of a shard that have not been drawn yet, or were returned. One thread at a time. */
typedef struct {
    gcor_grid grid;
    int64_t first, end; /* range of the shard's smallest squares, in the order of the grid */
    int64_t pairs;      /* number of pairs not drawn yet */
    gcor_square *list;  /* a stack: the next square is the last */
    int64_t n, capacity;
} gcor_queue;

/* Fills an empty queue with a shard. The caller frees it with gcor_queue_free(), also after an error. An index not
 * below `of` is GCOR_BAD_INPUT. */
gcor_status gcor_queue_fill(gcor_queue *queue, gcor_context *context, const gcor_grid *grid, const gcor_shard *shard);
void gcor_queue_free(gcor_queue *queue);

/* Draws the next square with a pair of the shape; *found is 0 if there is none. It has at most 1/parts of the pairs
 * left, but is not made smaller than `min` on a side for that. GCOR_NO_MEMORY leaves the queue unchanged. */
gcor_status gcor_queue_draw(gcor_queue *queue, gcor_context *context, int64_t parts, int64_t min, gcor_square *square,
                            int *found);
/* Returns a square, which is then drawn next. */
gcor_status gcor_queue_return(gcor_queue *queue, gcor_context *context, const gcor_square *square);
