/* Shared by the products of the CPU back end: memory, blocks of a tile, delivery to the sink. */
#include "cpu.h"

#include "../base/alloc.h"
#include "../base/os.h"
#include "../mask/pairs.h"
#include "../base/triangle.h"

void *cpu_reserve(gcor_context *context, cpu_scratch *scratch, int64_t count, size_t size) {
    int64_t bytes = count * (int64_t)size;
    if (scratch->at && scratch->bytes >= bytes) return scratch->at;
    gcor_free(scratch->at);
    scratch->at = gcor_alloc(context, count, size, "a tile");
    scratch->bytes = scratch->at ? bytes : 0;
    if (scratch->at) gcor_huge_pages(scratch->at, (size_t)bytes);
    return scratch->at;
}

void cpu_trim(cpu_scratch *scratch, int64_t max) {
    if (scratch->bytes <= max && max > 0) return;
    gcor_free(scratch->at);
    *scratch = (cpu_scratch){0};
}

/* We promise 1 GB in total; operands take less if the result leaves less. */
static const int64_t OPERAND_MEMORY = (int64_t)512 << 20, MIN_OPERAND_MEMORY = (int64_t)64 << 20;

int64_t cpu_memory(const gcor_state *state) {
    if (!state || !state->context) return OPERAND_MEMORY;
    return gcor_clamp(gcor_available_memory() - state->context->result_bytes, MIN_OPERAND_MEMORY, OPERAND_MEMORY);
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

int cpu_is_outside(const gcor_state *state, const gcor_tile *part) {
    if (gcor_tile_pairs(part, state->sink->shape) == 0) return 1;
    return state->sink->pairs && gcor_pairs_of_tile(state->sink->pairs, part) == GCOR_NO_PAIR;
}

void cpu_deliver(gcor_state *state, int thread, gcor_segment segment) {
    (void)state->sink->type->take(state->sink, state->context, thread,
                                  &segment); /* an error is recorded in the context */
}
