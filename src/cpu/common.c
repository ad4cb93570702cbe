/* Pairwise-complete Pearson and Spearman: every pair by itself, over its common rows. */
#include "cpu.h"

#include "../core/coefficient.h"
#include "../core/threads.h"

/* Moments in two passes. They are taken about the first common value: the differences are
 * exactly zero for a column that is constant in these rows. */
static double pearson_pair(const double *x, const double *y, int64_t n) {
    double n_common = 0, x0 = 0, y0 = 0, sum_x = 0, sum_y = 0;
    for (int64_t k = 0; k < n; k++) {
        if (x[k] != x[k] || y[k] != y[k]) continue;
        if (n_common++ == 0) x0 = x[k], y0 = y[k];
        sum_x += x[k] - x0;
        sum_y += y[k] - y0;
    }
    if (n_common < 2) return GCOR_NO_VALUE;
    double mean_x = sum_x / n_common, mean_y = sum_y / n_common, xx = 0, yy = 0, xy = 0;
    for (int64_t k = 0; k < n; k++) {
        if (x[k] != x[k] || y[k] != y[k]) continue;
        double dx = x[k] - x0 - mean_x, dy = y[k] - y0 - mean_y;
        xx += dx * dx;
        yy += dy * dy;
        xy += dx * dy;
    }
    return gcor_coefficient(xy, xx, yy);
}

/* before[p]: how many of the first p values of x in ascending order are in rows that y has. */
static int64_t count_common(const int32_t *order, int64_t n_present, const int32_t *other, int32_t *before) {
    int32_t count = 0;
    for (int64_t p = 0; p < n_present; p++) {
        before[p] = count;
        count += other[order[p]] >= 0;
    }
    before[n_present] = count;
    return count;
}

/* Twice a value's centred rank among the common rows is the number of common values below it
 * less the number above: before[begin] - (n_common - before[end]). */
static double spearman_pair(const cpu_operand *rows, int64_t i, const cpu_operand *cols, int64_t j, int32_t *work) {
    int64_t n = rows->head.n_obs;
    const int32_t *begin_x = rows->begin + i * n, *end_x = rows->end + i * n;
    const int32_t *begin_y = cols->begin + j * n, *end_y = cols->end + j * n;
    int32_t *before_x = work, *before_y = work + n + 1;
    int64_t common = count_common(rows->order + i * n, rows->n_present[i], begin_y, before_x);
    count_common(cols->order + j * n, cols->n_present[j], begin_x, before_y);
    if (common < 2) return GCOR_NO_VALUE;

    double xx = 0, yy = 0, xy = 0;
    for (int64_t k = 0; k < n; k++) {
        if (begin_x[k] < 0 || begin_y[k] < 0) continue;
        double x = (double)(before_x[begin_x[k]] + (int64_t)before_x[end_x[k]] - common);
        double y = (double)(before_y[begin_y[k]] + (int64_t)before_y[end_y[k]] - common);
        xx += x * x;
        yy += y * y;
        xy += x * y;
    }
    return gcor_coefficient(xy, xx, yy);
}

static double pair(const cpu_operand *rows, int64_t i, const cpu_operand *cols, int64_t j, int32_t *work) {
    int64_t n = rows->head.n_obs;
    if (rows->head.kind == GCOR_RANK_COMMON) return spearman_pair(rows, i, cols, j, work);
    return pearson_pair(rows->values + i * n, cols->values + j * n, n);
}

gcor_status cpu_multiply_common(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                                const gcor_tile *tile, gcor_sink *sink) {
    gcor_context *context = state->context;
    int64_t per_thread = rows->head.kind == GCOR_RANK_COMMON ? 2 * (rows->head.n_obs + 1) : 1;
    int32_t *work = cpu_work(state, per_thread * context->threads, sizeof(int32_t));
    if (!work) return GCOR_NO_MEMORY;
#pragma omp parallel for schedule(dynamic) num_threads(context->threads)
    for (int64_t b = 0; b < cpu_blocks(tile); b++) {
        int thread = omp_get_thread_num();
        gcor_tile block = cpu_block(tile, b);
        double values[CPU_BLOCK_COLS];
        for (int64_t row = block.row; row < block.row + block.n_row; row++) {
            int64_t col, n;
            gcor_tile_segment(&block, sink->shape, row, &col, &n);
            if (n == 0) continue;
            for (int64_t k = 0; k < n && !gcor_stop(context, thread); k++)
                values[k] = pair(rows, row - rows->head.first, cols, col + k - cols->head.first,
                                 work + thread * per_thread);
            if (gcor_stop(context, thread)) break; /* the segment may be unfinished */
            cpu_deliver(state, sink, thread, row, col, n, values);
        }
    }
    return context->error.status;
}
