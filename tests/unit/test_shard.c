/* Shards of a grid are disjoint, cover all pairs, are balanced, and depend on the problem only. */
#include "check.h"
#include "fixture.h"
#include "grids.h"

#include "../../src/base/alloc.h"

#include <stdlib.h>
#include <string.h>

/* ---- grids ----------------------------------------------------------------------------- */

static const int64_t sizes[] = {1, 2, 3, 63, 64, 65, 127, 129, 1000, 4095, 4096, 4097, 8191, 131071, 131073};

/* A triangle has as many rows as columns; a rectangle of that size is square, or thin in either direction. */
static int grid_of(int k, gcor_grid *grid) {
    int n_sizes = (int)(sizeof sizes / sizeof *sizes), form = k / n_sizes;
    int64_t n = sizes[k % n_sizes];
    switch (form) {
    case 0: *grid = gcor_grid_of(GCOR_UPPER, n, n); return 1;
    case 1: *grid = gcor_grid_of(GCOR_LOWER, n, n); return 1;
    case 2: *grid = gcor_grid_of(GCOR_FULL, n, n); return 1;
    case 3: *grid = gcor_grid_of(GCOR_FULL, 3, n); return 1;
    case 4: *grid = gcor_grid_of(GCOR_FULL, n, 65); return 1;
    default: return 0;
    }
}

int unit_next_grid(unit_grids *at) {
    if (!grid_of(at->k++, &at->grid)) return 0;
    const gcor_grid *grid = &at->grid;
    gcor_tile all = {0, grid->n_row, 0, grid->n_col};
    at->pairs = gcor_tile_pairs(&all, grid->shape);
    at->cells = (int64_t)1 << grid->levels;
    return 1;
}

/* ---- what a queue delivers, counted in smallest squares ----------------------------------- */

int64_t unit_count_square(const gcor_grid *grid, const gcor_square *square, unsigned char *seen) {
    int64_t cells = (int64_t)1 << grid->levels, pairs = 0, side = square->side / grid->side;
    CHECK(side >= 1 && side * grid->side == square->side && (side & (side - 1)) == 0);
    CHECK(square->row % square->side == 0 && square->col % square->side == 0);
    for (int64_t row = square->row / grid->side; row < square->row / grid->side + side; row++)
        for (int64_t col = square->col / grid->side; col < square->col / grid->side + side; col++) {
            gcor_square one = {row * grid->side, col * grid->side, grid->side};
            int64_t own = gcor_square_pairs(grid, &one);
            if (own > 0) seen[row * cells + col]++;
            pairs += own;
        }
    CHECK_INT(gcor_square_pairs(grid, square), pairs);
    return pairs;
}

void unit_check_all_seen(const gcor_grid *grid, const unsigned char *seen) {
    int64_t cells = (int64_t)1 << grid->levels, wrong = 0;
    for (int64_t row = 0; row < cells; row++)
        for (int64_t col = 0; col < cells; col++) {
            gcor_square one = {row * grid->side, col * grid->side, grid->side};
            wrong += seen[row * cells + col] != (gcor_square_pairs(grid, &one) > 0);
        }
    CHECK_INT(wrong, 0);
}

/* ---- tests ---------------------------------------------------------------------------------- */

static void grids_cover_the_problem(void) {
    unit_grids at = {0};
    while (unit_next_grid(&at)) {
        gcor_square all = {0, 0, at.grid.side << at.grid.levels};
        unit_about("grid %d", at.k);
        CHECK(all.side >= at.grid.n_row && all.side >= at.grid.n_col);
        CHECK(at.grid.side >= 64 && at.grid.side <= 2048);
        CHECK_INT(gcor_square_pairs(&at.grid, &all), at.pairs);
    }
}

/* Draws a whole shard in pieces; returns its pairs. */
static int64_t draw_shard(const gcor_grid *grid, const gcor_shard *shard, int64_t parts, unsigned char *seen) {
    unit_call call;
    gcor_queue queue;
    gcor_square square;
    int found = 1;
    int64_t pairs = 0;
    unit_call_begin(&call, 1);
    CHECK_INT(gcor_queue_fill(&queue, &call.context, grid, shard), GCOR_OK);
    int64_t promised = queue.pairs;
    while (!gcor_queue_draw(&queue, &call.context, parts, 1, &square, &found) && found)
        pairs += unit_count_square(grid, &square, seen);
    CHECK_INT(pairs, promised);
    CHECK_INT(queue.pairs, 0);
    gcor_queue_free(&queue);
    return pairs;
}

static void check_shards(const unit_grids *at, int64_t of) {
    const gcor_grid *grid = &at->grid;
    unsigned char *seen = calloc((size_t)(at->cells * at->cells), 1);
    int64_t sum = 0, max = at->pairs / of + 1 + grid->side * grid->side;
    for (int64_t index = 0; index < of; index++) {
        gcor_shard shard = {index, of};
        unit_about("grid %d, share %d of %d", at->k, (int)index, (int)of);
        int64_t pairs = draw_shard(grid, &shard, 1 + index % 5, seen);
        CHECK(pairs <= max);
        sum += pairs;
    }
    CHECK_INT(sum, at->pairs);
    unit_check_all_seen(grid, seen);
    free(seen);
}

static void shards_are_all_pairs(void) {
    const int64_t ofs[] = {1, 2, 3, 7, 64, 1000};
    unit_grids at = {0};
    while (unit_next_grid(&at))
        for (size_t k = 0; k < sizeof ofs / sizeof *ofs; k++)
            if (ofs[k] < 1000 || at.cells < 32) check_shards(&at, ofs[k]);
}

static void indices_out_of_range(void) {
    const gcor_shard wrong[] = {{-1, 2}, {2, 2}, {3, 2}, {0, 0}, {0, -1}, {-1, -1}, {INT64_MAX, 1}, {0, INT64_MIN}};
    gcor_grid grid = gcor_grid_of(GCOR_UPPER, 100, 100);
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        unit_call call;
        gcor_queue queue;
        unit_call_begin(&call, 1);
        CHECK_INT(gcor_queue_fill(&queue, &call.context, &grid, &wrong[k]), GCOR_BAD_INPUT);
        CHECK_TEXT(call.context.error.message, "numbered from 0");
        gcor_queue_free(&queue);
    }
}

/* Pairs times shards exceed 64 bits. */
static void largest_problems(void) {
    const int64_t n = 2147483647, ofs[] = {1, 3, 1000003, INT64_MAX / 2, INT64_MAX};
    for (size_t k = 0; k < sizeof ofs / sizeof *ofs; k++)
        for (int shape = GCOR_UPPER; shape <= GCOR_FULL; shape++) {
            gcor_grid grid = gcor_grid_of((gcor_shape)shape, n, n);
            int64_t indices[] = {0, 1, ofs[k] / 2, ofs[k] - 1},
                    all = shape == GCOR_FULL ? n * n : n / 2 * (n - 1) + (n - 1) / 2;
            gcor_square whole = {0, 0, grid.side << grid.levels};
            CHECK_INT(gcor_square_pairs(&grid, &whole), shape == GCOR_FULL ? n * n : (n - 1) / 2 * n);
            for (int i = 0; i < 4; i++) {
                unit_call call;
                gcor_queue queue;
                gcor_shard shard = {indices[i] < ofs[k] ? indices[i] : 0, ofs[k]};
                unit_about("share %lld of %lld, shape %d", (long long)shard.index, (long long)shard.of, shape);
                unit_call_begin(&call, 1);
                CHECK_INT(gcor_queue_fill(&queue, &call.context, &grid, &shard), GCOR_OK);
                CHECK(queue.pairs >= 0 && queue.pairs <= all / ofs[k] + 1 + grid.side * grid.side);
                gcor_queue_free(&queue);
            }
        }
}

const unit_test shard_tests[] = {
    {"grids cover the problem", grids_cover_the_problem},
    {"shares are disjoint, balanced, and together all pairs", shards_are_all_pairs},
    {"an index that is out of range is an error", indices_out_of_range},
    {"shares of the largest problems are found without overflow", largest_problems},
    {NULL, NULL},
};
