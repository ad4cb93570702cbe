#include "shard.h"

#include "alloc.h"
#include "triangle.h"

#include <string.h>

/* A side of 2,048 is enough work for a device; a smaller problem is cut into some 64 x 64 squares, so that several
 * devices can share it. */
enum { LARGEST_SIDE = 2048, SMALLEST_SIDE = 64, SIDES = 64 };

gcor_grid gcor_grid_of(gcor_shape shape, int64_t n_row, int64_t n_col) {
    gcor_grid grid = {.shape = shape, .n_row = n_row, .n_col = n_col, .side = LARGEST_SIDE};
    int64_t n = n_row > n_col ? n_row : n_col;
    while (grid.side > SMALLEST_SIDE && n < SIDES * grid.side) grid.side /= 2;
    while (grid.side << grid.levels < n) grid.levels++;
    return grid;
}

gcor_grid gcor_grid_of_side(gcor_shape shape, int64_t n_var, int64_t side) {
    gcor_grid grid = {.shape = shape, .n_row = n_var, .n_col = n_var, .side = side};
    while (grid.side << grid.levels < n_var) grid.levels++;
    return grid;
}

gcor_tile gcor_square_tile(const gcor_grid *grid, const gcor_square *square) {
    gcor_tile tile = {square->row, gcor_clamp(grid->n_row - square->row, 0, square->side), square->col,
                      gcor_clamp(grid->n_col - square->col, 0, square->side)};
    return tile;
}

int64_t gcor_square_pairs(const gcor_grid *grid, const gcor_square *square) {
    gcor_tile tile = gcor_square_tile(grid, square);
    return tile.n_row > 0 && tile.n_col > 0 ? gcor_tile_pairs(&tile, grid->shape) : 0;
}

static gcor_square quarter(const gcor_square *square, int number) {
    int64_t half = square->side / 2;
    return (gcor_square){square->row + (number / 2) * half, square->col + (number % 2) * half, half};
}

/* Number of smallest squares in a square. */
static int64_t count_cells(const gcor_grid *grid, const gcor_square *square) {
    int64_t sides = square->side / grid->side;
    return sides * sides;
}

/* Interleaves the bits of its row and column. */
int64_t gcor_square_number(const gcor_grid *grid, const gcor_square *square) {
    int64_t row = square->row / grid->side, col = square->col / grid->side, cell = 0;
    for (int bit = 0; bit < grid->levels; bit++)
        cell |= (col >> bit & 1) << 2 * bit | (row >> bit & 1) << (2 * bit + 1);
    return cell;
}

static gcor_square whole(const gcor_grid *grid) {
    return (gcor_square){0, 0, grid->side << grid->levels};
}

/* Index of the first smallest square before which there are at least `wanted` pairs. */
static int64_t cell_after(const gcor_grid *grid, int64_t wanted) {
    gcor_square at = whole(grid);
    int64_t before = 0;
    if (wanted <= 0) return 0;
    while (at.side > grid->side) {
        int q = 0;
        for (; q < 3; q++) {
            gcor_square part = quarter(&at, q);
            int64_t pairs = gcor_square_pairs(grid, &part);
            if (before + pairs >= wanted) break;
            before += pairs;
        }
        at = quarter(&at, q);
    }
    return gcor_square_number(grid, &at) + 1;
}

/* First smallest square of a shard. pairs * index may exceed 63 bits. */
static int64_t shard_begin(const gcor_grid *grid, int64_t pairs, int64_t index, int64_t of) {
    gcor_square all = whole(grid);
    if (index == of) return count_cells(grid, &all);
    return cell_after(grid, (int64_t)((gcor_int128)pairs * index / of));
}

static gcor_status reserve(gcor_queue *queue, gcor_context *context, int64_t n) {
    void *list = queue->list;
    gcor_status status = gcor_grow(context, &list, queue->n, &queue->capacity, queue->n + n, sizeof *queue->list,
                                   "the tiles to be done");
    queue->list = list;
    return status;
}

static gcor_status push(gcor_queue *queue, gcor_context *context, const gcor_square *square) {
    gcor_status status = reserve(queue, context, 1);
    if (!status) queue->list[queue->n++] = *square;
    return status;
}

/* Number of pairs in the part of a square that belongs to the shard. */
static int64_t pairs_in(const gcor_queue *queue, const gcor_square *square) {
    int64_t cell = gcor_square_number(&queue->grid, square), cells = count_cells(&queue->grid, square), pairs = 0;
    if (cell + cells <= queue->first || cell >= queue->end) return 0;
    if (cell >= queue->first && cell + cells <= queue->end) return gcor_square_pairs(&queue->grid, square);
    for (int q = 0; q < 4; q++) {
        gcor_square part = quarter(square, q);
        pairs += pairs_in(queue, &part);
    }
    return pairs;
}

gcor_status gcor_queue_fill(gcor_queue *queue, gcor_context *context, const gcor_grid *grid, const gcor_shard *shard) {
    gcor_square all = whole(grid);
    int64_t pairs = gcor_square_pairs(grid, &all);
    *queue = (gcor_queue){.grid = *grid};
    if (shard->of < 1 || shard->index < 0 || shard->index >= shard->of)
        return gcor_fail(context, GCOR_BAD_INPUT, "shard %.0f of %.0f: shards are numbered from 0",
                         (double)shard->index, (double)shard->of);
    queue->first = shard_begin(grid, pairs, shard->index, shard->of);
    queue->end = shard_begin(grid, pairs, shard->index + 1, shard->of);
    queue->pairs = pairs_in(queue, &all);
    return queue->pairs > 0 ? push(queue, context, &all) : GCOR_OK;
}

void gcor_queue_free(gcor_queue *queue) {
    gcor_free(queue->list);
    queue->list = NULL;
    queue->n = queue->capacity = 0;
}

/* True if a square must be divided: it is not entirely in the shard, or has too many of the pairs left. */
static int is_large(const gcor_queue *queue, const gcor_square *square, int64_t parts, int64_t min) {
    if (square->side == queue->grid.side) return 0;
    int64_t cell = gcor_square_number(&queue->grid, square);
    if (cell < queue->first || cell + count_cells(&queue->grid, square) > queue->end) return 1;
    return square->side / 2 >= min && gcor_square_pairs(&queue->grid, square) > queue->pairs / parts;
}

gcor_status gcor_queue_draw(gcor_queue *queue, gcor_context *context, int64_t parts, int64_t min, gcor_square *square,
                            int *found) {
    *found = 0;
    while (queue->n > 0) {
        gcor_status status = reserve(queue, context, 3); /* four quarters replace one square */
        if (status) return status;
        gcor_square next = queue->list[--queue->n];
        if (pairs_in(queue, &next) == 0) continue;
        if (!is_large(queue, &next, parts, min)) {
            *square = next;
            *found = 1;
            queue->pairs -= gcor_square_pairs(&queue->grid, &next);
            return GCOR_OK;
        }
        for (int q = 3; q >= 0; q--) queue->list[queue->n++] = quarter(&next, q);
    }
    return GCOR_OK;
}

gcor_status gcor_queue_return(gcor_queue *queue, gcor_context *context, const gcor_square *square) {
    gcor_status status = push(queue, context, square);
    if (!status) queue->pairs += gcor_square_pairs(&queue->grid, square);
    return status;
}

int64_t gcor_count_shards(const gcor_grid *grid) {
    gcor_square all = whole(grid);
    int64_t pairs = gcor_square_pairs(grid, &all), cells = 0;
    int64_t rows = (grid->n_row + grid->side - 1) / grid->side, cols = (grid->n_col + grid->side - 1) / grid->side;
    if (pairs == 0) return 1;
    cells = grid->shape == GCOR_FULL ? rows * cols : gcor_triangular(cols);
    return cells;
}
