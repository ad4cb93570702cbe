/* The queue from which workers draw squares, and to which they return them. */
#include "check.h"
#include "fixture.h"
#include "grids.h"

#include "../../src/base/alloc.h"

#include <stdlib.h>
#include <time.h>

enum { MAX_DRAWN = 1 << 16 };
typedef struct {
    gcor_square squares[MAX_DRAWN];
    int n;
} drawing;

/* A square is never larger than requested if it could have been divided. */
static void check_size(const gcor_queue *before, const gcor_square *square, int64_t parts, int64_t min) {
    int64_t pairs = gcor_square_pairs(&before->grid, square);
    CHECK(pairs > 0);
    if (square->side > before->grid.side && square->side / 2 >= min) CHECK(pairs <= before->pairs / parts);
}

/* Draws with random requests until nothing is left, and returns some squares now and then. */
static void draw_at_random(const gcor_grid *grid, const gcor_shard *shard, drawing *d) {
    unit_call call;
    gcor_queue queue;
    int returns = 200, found = 1;
    unit_call_begin(&call, 1);
    CHECK_INT(gcor_queue_fill(&queue, &call.context, grid, shard), GCOR_OK);
    int64_t left = queue.pairs;
    for (d->n = 0; found && d->n < MAX_DRAWN;) {
        gcor_queue before = queue;
        int64_t parts = 1 + unit_random(40), min = 1 + unit_random(3 * grid->side);
        CHECK_INT(gcor_queue_draw(&queue, &call.context, parts, min, &d->squares[d->n], &found), GCOR_OK);
        if (found) {
            check_size(&before, &d->squares[d->n], parts, min);
            left -= gcor_square_pairs(grid, &d->squares[d->n++]);
        }
        for (; returns > 0 && d->n > 0 && unit_random(3) > 0; returns--, found = 1) {
            int k = (int)unit_random(d->n);
            CHECK_INT(gcor_queue_return(&queue, &call.context, &d->squares[k]), GCOR_OK);
            left += gcor_square_pairs(grid, &d->squares[k]);
            d->squares[k] = d->squares[--d->n];
        }
        CHECK_INT(queue.pairs, left);
    }
    CHECK_INT(left, 0);
    gcor_queue_free(&queue);
}

static void every_pair_is_drawn(void) {
    unit_grids at = {0};
    drawing *d = malloc(sizeof *d);
    unit_seed(2);
    while (unit_next_grid(&at)) {
        unsigned char *seen = calloc((size_t)(at.cells * at.cells), 1);
        gcor_shard shard = {0, 1 + unit_random(3)};
        for (; shard.index < shard.of; shard.index++) {
            unit_about("grid %d, share %d of %d", at.k, (int)shard.index, (int)shard.of);
            draw_at_random(&at.grid, &shard, d);
            for (int k = 0; k < d->n; k++) unit_count_square(&at.grid, &d->squares[k], seen);
        }
        unit_check_all_seen(&at.grid, seen);
        free(seen);
    }
    free(d);
}

/* Holds for any requested number of parts. */
static void squares_are_not_too_small(void) {
    unit_grids at = {0};
    while (unit_next_grid(&at))
        for (int64_t min = at.grid.side; min <= at.grid.side << at.grid.levels; min *= 2) {
            const gcor_shard all = {0, 1};
            unit_call call;
            gcor_queue queue;
            gcor_square square;
            int found = 1;
            unit_about("grid %d, squares of %d", at.k, (int)min);
            unit_call_begin(&call, 1);
            CHECK_INT(gcor_queue_fill(&queue, &call.context, &at.grid, &all), GCOR_OK);
            while (!gcor_queue_draw(&queue, &call.context, INT64_MAX, min, &square, &found) && found)
                CHECK_INT(square.side, min);
            gcor_queue_free(&queue);
        }
}

/* Workers hold a lock while drawing. */
static void large_problems_are_quick(void) {
    gcor_grid grid = gcor_grid_of(GCOR_LOWER, 1561152, 1561152);
    gcor_shard shard = {3, 7};
    gcor_square square;
    gcor_queue queue;
    unit_call call;
    int found = 1, n = 0;
    int64_t pairs = 0;
    clock_t started = clock();
    unit_call_begin(&call, 1);
    CHECK_INT(gcor_queue_fill(&queue, &call.context, &grid, &shard), GCOR_OK);
    int64_t all = queue.pairs;
    CHECK(all > (int64_t)1561152 * 1561151 / 2 / 7 - 2048 * 2048);
    for (; !gcor_queue_draw(&queue, &call.context, 32, 4096, &square, &found) && found; n++)
        pairs += gcor_square_pairs(&grid, &square);
    CHECK_INT(pairs, all);
    CHECK(n > 100 && n < 20000);
    CHECK(clock() - started < CLOCKS_PER_SEC);
    gcor_queue_free(&queue);
}

/* Holds after any number of returns, and wherever an allocation fails. */
static void no_memory_leaves_the_queue(void) {
    gcor_grid grid = gcor_grid_of(GCOR_FULL, 4097, 4097);
    gcor_shard shard = {0, 1};
    for (int held = 1; held < 300; held++) {
        gcor_square squares[300];
        gcor_queue queue;
        unit_call call;
        int found = 1, n = 0;
        unit_about("%d squares given back", held);
        unit_call_begin(&call, 1);
        CHECK_INT(gcor_queue_fill(&queue, &call.context, &grid, &shard), GCOR_OK);
        for (; n < held; n++)
            CHECK_INT(gcor_queue_draw(&queue, &call.context, INT64_MAX, 1, &squares[n], &found), GCOR_OK);
        while (n > 0) CHECK_INT(gcor_queue_return(&queue, &call.context, &squares[--n]), GCOR_OK);
        gcor_square whole = {0, 0, grid.side << grid.levels};
        CHECK_INT(gcor_queue_return(&queue, &call.context, &whole), GCOR_OK);
        int64_t pairs = queue.pairs, list = queue.n;
        gcor_set_fault(GCOR_HOST_MEMORY, 1);
        gcor_status status = gcor_queue_draw(&queue, &call.context, INT64_MAX, 1, squares, &found);
        gcor_set_fault(GCOR_HOST_MEMORY, 0);
        CHECK(status == GCOR_OK || status == GCOR_NO_MEMORY);
        if (status) CHECK_INT(queue.pairs, pairs);
        if (status) CHECK(!found && queue.n >= list);
        for (found = 1; !gcor_queue_draw(&queue, &call.context, 1, 1, squares, &found) && found;)
            ;
        CHECK_INT(queue.pairs, 0);
        gcor_queue_free(&queue);
    }
}

const unit_test queue_tests[] = {
    {"every pair is drawn once, or once more where it came back", every_pair_is_drawn},
    {"squares are as small as allowed, and no smaller", squares_are_not_too_small},
    {"large problems are quick", large_problems_are_quick},
    {"where there is no memory the queue stays as it was", no_memory_leaves_the_queue},
    {NULL, NULL},
};
