/* REAL operands: a tile as blocks of single-precision products. */
#include "cpu.h"

#include "../core/coefficient.h"
#include "../core/threads.h"

#include <string.h>

enum { BLOCK_PAIRS = CPU_BLOCK_ROWS * CPU_BLOCK_COLS };

/* One thread's scratch. */
typedef struct {
    float product[BLOCK_PAIRS];
    double sum[BLOCK_PAIRS];
} block_sums;

/* The block is computed whole, padding included, so that the same pair is always computed the
 * same way. */
static void multiply_block(gcor_context *context, int thread, const cpu_operand *rows, const cpu_operand *cols,
                           const gcor_tile *block, block_sums *sums) {
    int64_t n = rows->head.n_obs;
    const float *a = cols->columns + (block->col - cols->head.first) * n;
    const float *b = rows->columns + (block->row - rows->head.first) * n;
    memset(sums->sum, 0, sizeof sums->sum);
    for (int64_t k = 0; k < n && !gcor_stop(context, thread); k += GCOR_OBS_SLICE) {
        cpu_product(a + k, b + k, n - k < GCOR_OBS_SLICE ? n - k : GCOR_OBS_SLICE, n, CPU_BLOCK_COLS, CPU_BLOCK_ROWS,
                    sums->product);
        for (int e = 0; e < BLOCK_PAIRS; e++) sums->sum[e] += sums->product[e];
    }
}

static void deliver_block(gcor_state *state, int thread, const cpu_operand *rows, const cpu_operand *cols,
                          const gcor_tile *block, const double *sum, gcor_sink *sink) {
    double values[CPU_BLOCK_COLS];
    for (int64_t r = 0; r < block->n_row; r++) {
        int64_t row = block->row + r, col, n;
        gcor_tile_segment(block, sink->shape, row, &col, &n);
        if (n == 0) continue;
        double norm = rows->head.norm[row - rows->head.first];
        const double *dot = sum + r * CPU_BLOCK_COLS + (col - block->col);
        const double *col_norm = cols->head.norm + (col - cols->head.first);
        for (int64_t k = 0; k < n; k++) values[k] = gcor_coefficient(dot[k], norm, col_norm[k]);
        cpu_deliver(state, sink, thread, row, col, n, values);
    }
}

gcor_status cpu_multiply_real(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                              const gcor_tile *tile, gcor_sink *sink) {
    gcor_context *context = state->context;
    block_sums *sums = cpu_work(state, context->threads, sizeof *sums);
    if (!sums) return GCOR_NO_MEMORY;
#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
    for (int64_t b = 0; b < cpu_blocks(tile); b++) {
        int thread = omp_get_thread_num();
        gcor_tile block = cpu_block(tile, b);
        if (gcor_tile_pairs(&block, sink->shape) == 0 || gcor_stop(context, thread)) continue;
        multiply_block(context, thread, rows, cols, &block, &sums[thread]);
        deliver_block(state, thread, rows, cols, &block, sums[thread].sum, sink);
    }
    return context->error.status;
}
