/* What every product of the CPU back end uses: a tile's blocks, scratch, the way to the sink. */
#include "cpu.h"

#include "../core/alloc.h"

void *cpu_work(gcor_state *state, int64_t count, size_t size) {
    size_t bytes = (size_t)count * size;
    if (state->work && state->work_bytes >= bytes) return state->work;
    gcor_free(state->work);
    state->work = gcor_alloc(state->context, count, size, "a tile");
    state->work_bytes = bytes;
    return state->work;
}

static int64_t block_columns(const gcor_tile *tile) {
    return (tile->n_col + CPU_BLOCK_COLS - 1) / CPU_BLOCK_COLS;
}

int64_t cpu_blocks(const gcor_tile *tile) {
    return (tile->n_row + CPU_BLOCK_ROWS - 1) / CPU_BLOCK_ROWS * block_columns(tile);
}

gcor_tile cpu_block(const gcor_tile *tile, int64_t b) {
    int64_t row = b / block_columns(tile) * CPU_BLOCK_ROWS, col = b % block_columns(tile) * CPU_BLOCK_COLS;
    gcor_tile block = {tile->row + row, tile->n_row - row, tile->col + col, tile->n_col - col};
    if (block.n_row > CPU_BLOCK_ROWS) block.n_row = CPU_BLOCK_ROWS;
    if (block.n_col > CPU_BLOCK_COLS) block.n_col = CPU_BLOCK_COLS;
    return block;
}

void cpu_deliver(gcor_state *state, int thread, int64_t row, int64_t col, int64_t n, const double *values) {
    gcor_segment segment = {.row = row, .col = col, .n = n, .doubles = values};
    (void)state->sink->take(state->sink, state->context, thread, &segment); /* a failure is in the context */
}
