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

static double exact(const gcor_segment *segment, int64_t k) {
    const cpu_operand *rows = segment->rows, *cols = segment->cols;
    int64_t n = rows->head.n_obs, i = segment->row - rows->head.first, j = segment->col + k - cols->head.first;
    return gcor_coefficient(gcor_dot(rows->columns + i * n, cols->columns + j * n, n), rows->head.norm[i],
                            cols->head.norm[j]);
}

static void deliver(gcor_state *state, int thread, const cpu_operand *rows, const cpu_operand *cols, double error,
                    gcor_segment segment) {
    segment.error = error;
    segment.exact = exact;
    segment.rows = rows;
    segment.cols = cols;
    (void)state->sink->take(state->sink, state->context, thread, &segment); /* a failure is in the context */
}

/* Products of observations k .. k+n-1 for a whole block, padding included, so that the same pair is
 * always computed the same way. */
static void multiply_slice(const cpu_operand *rows, const cpu_operand *cols, const gcor_tile *block, int64_t k,
                           int64_t n, float *product) {
    int64_t ld = rows->head.n_obs;
    const float *a = cols->columns + (block->col - cols->head.first) * ld;
    const float *b = rows->columns + (block->row - rows->head.first) * ld;
    cpu_product(a + k, b + k, ld - k < n ? ld - k : n, ld, CPU_BLOCK_COLS, CPU_BLOCK_ROWS, product);
}

/* ---- within 1e-6: short sums in single precision, their sum in double ---------------- */

static void multiply_accurate(gcor_context *context, int thread, const cpu_operand *rows, const cpu_operand *cols,
                              const gcor_tile *block, block_sums *sums) {
    memset(sums->sum, 0, sizeof sums->sum);
    for (int64_t k = 0; k < rows->head.n_obs && !gcor_stop(context, thread); k += GCOR_OBS_SLICE) {
        multiply_slice(rows, cols, block, k, GCOR_OBS_SLICE, sums->product);
        for (int e = 0; e < BLOCK_PAIRS; e++) sums->sum[e] += sums->product[e];
    }
}

static void deliver_accurate(gcor_state *state, int thread, const cpu_operand *rows, const cpu_operand *cols,
                             const gcor_tile *block, const double *sum) {
    double values[CPU_BLOCK_COLS];
    for (int64_t r = 0; r < block->n_row; r++) {
        gcor_segment segment = {.row = block->row + r, .doubles = values};
        gcor_tile_segment(block, state->sink->shape, segment.row, &segment.col, &segment.n);
        if (segment.n == 0) continue;
        double norm = rows->head.norm[segment.row - rows->head.first];
        const double *dot = sum + r * CPU_BLOCK_COLS + (segment.col - block->col);
        const double *col_norm = cols->head.norm + (segment.col - cols->head.first);
        for (int64_t k = 0; k < segment.n; k++) values[k] = gcor_coefficient(dot[k], norm, col_norm[k]);
        deliver(state, thread, rows, cols, 1e-6, segment);
    }
}

/* ---- cheap: whole sums in single precision -------------------------------------------- */

/* Long columns are cut so that the question whether to stop is asked now and then. */
enum { LONG_SLICE = 2048 };

/* A float sum of n products is off by at most n 2^-24 of the sum of their sizes, which is at most
 * the product of the columns' lengths; the rest is for scaling to unit length. */
static double bound_error(int64_t n_obs) {
    double n = (double)n_obs * 0x1p-24;
    return n < 0.5 ? n / (1 - n) + 0x1p-20 : 1;
}

static void multiply_cheap(gcor_context *context, int thread, const cpu_operand *rows, const cpu_operand *cols,
                           const gcor_tile *block, block_sums *sums) {
    float *sum = (float *)sums->sum;
    memset(sum, 0, BLOCK_PAIRS * sizeof *sum);
    for (int64_t k = 0; k < rows->head.n_obs && !gcor_stop(context, thread); k += LONG_SLICE) {
        multiply_slice(rows, cols, block, k, LONG_SLICE, k == 0 ? sum : sums->product);
        for (int e = 0; k > 0 && e < BLOCK_PAIRS; e++) sum[e] += sums->product[e];
    }
}

static void deliver_cheap(gcor_state *state, int thread, const cpu_operand *rows, const cpu_operand *cols,
                          const gcor_tile *block, float *sum) {
    double error = bound_error(rows->head.n_obs);
    for (int64_t r = 0; r < block->n_row; r++) {
        gcor_segment segment = {.row = block->row + r};
        gcor_tile_segment(block, state->sink->shape, segment.row, &segment.col, &segment.n);
        if (segment.n == 0) continue;
        float *value = sum + r * CPU_BLOCK_COLS + (segment.col - block->col);
        float scale = rows->scale[segment.row - rows->head.first];
        const float *col_scale = cols->scale + (segment.col - cols->head.first);
        for (int64_t k = 0; k < segment.n; k++) value[k] *= scale * col_scale[k];
        segment.floats = value;
        deliver(state, thread, rows, cols, error, segment);
    }
}

/* ---------------------------------------------------------------------------------------- */

gcor_status cpu_multiply_real(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                              const gcor_tile *tile) {
    gcor_context *context = state->context;
    block_sums *sums = cpu_work(state, context->threads, sizeof *sums);
    if (!sums) return GCOR_NO_MEMORY;
#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
    for (int64_t b = 0; b < cpu_blocks(tile); b++) {
        int thread = omp_get_thread_num();
        block_sums *own = &sums[thread];
        gcor_tile block = cpu_block(tile, b);
        if (gcor_tile_pairs(&block, state->sink->shape) == 0 || gcor_stop(context, thread)) continue;
        if (state->sink->approximate) {
            multiply_cheap(context, thread, rows, cols, &block, own);
            deliver_cheap(state, thread, rows, cols, &block, (float *)own->sum);
        } else {
            multiply_accurate(context, thread, rows, cols, &block, own);
            deliver_accurate(state, thread, rows, cols, &block, own->sum);
        }
    }
    return context->error.status;
}
