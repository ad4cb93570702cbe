/* REAL operands: a tile as blocks of single-precision products. */
#include "cpu.h"

#include "../core/coefficient.h"

#include <omp.h>

/* A float sum of very many terms drifts; slices of this many observations are summed first. */
enum { OBS_SLICE = 2048 };

/* The block is computed whole, padding included, so that the same pair is always computed the
 * same way. */
static void multiply_block(gcor_context *context, int thread, const cpu_operand *rows, const cpu_operand *cols,
                           const gcor_tile *block, float *product) {
    int64_t n = rows->head.n_obs;
    const float *a = cols->columns + (block->col - cols->head.first) * n;
    const float *b = rows->columns + (block->row - rows->head.first) * n;
    for (int64_t k = 0; k < n && !gcor_stop(context, thread); k += OBS_SLICE)
        cpu_product(a + k, b + k, n - k < OBS_SLICE ? n - k : OBS_SLICE, n, CPU_BLOCK_COLS, CPU_BLOCK_ROWS,
                    k > 0, product);
    for (int64_t k = 0; n == 0 && k < CPU_BLOCK_ROWS * CPU_BLOCK_COLS; k++) product[k] = 0;
}

static void deliver_block(gcor_state *state, int thread, const cpu_operand *rows, const cpu_operand *cols,
                          const gcor_tile *block, const float *product, gcor_sink *sink) {
    double values[CPU_BLOCK_COLS], inverse[CPU_BLOCK_COLS];
    const double *col_norm = cols->head.norm + (block->col - cols->head.first);
    for (int64_t c = 0; c < block->n_col; c++) inverse[c] = 1 / sqrt(col_norm[c]);

    for (int64_t r = 0; r < block->n_row; r++) {
        int64_t row = block->row + r, col, n;
        gcor_tile_segment(block, sink->shape, row, &col, &n);
        if (n == 0) continue;
        double row_inverse = 1 / sqrt(rows->head.norm[row - rows->head.first]);
        const float *dot = product + r * CPU_BLOCK_COLS + (col - block->col);
        const double *scale = inverse + (col - block->col);
        for (int64_t k = 0; k < n; k++) values[k] = gcor_limit(dot[k] * row_inverse * scale[k]);
        cpu_deliver(state, sink, thread, row, col, n, values);
    }
}

gcor_status cpu_multiply_real(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                              const gcor_tile *tile, gcor_sink *sink) {
    gcor_context *context = state->context;
    int64_t block_size = CPU_BLOCK_ROWS * CPU_BLOCK_COLS;
    float *products = cpu_work(state, block_size * context->threads, sizeof(float));
    if (!products) return GCOR_NO_MEMORY;
#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
    for (int64_t b = 0; b < cpu_blocks(tile); b++) {
        int thread = omp_get_thread_num();
        gcor_tile block = cpu_block(tile, b);
        if (gcor_tile_pairs(&block, sink->shape) == 0 || gcor_stop(context, thread)) continue;
        float *product = products + thread * block_size;
        multiply_block(context, thread, rows, cols, &block, product);
        deliver_block(state, thread, rows, cols, &block, product, sink);
    }
    return context->error.status;
}
