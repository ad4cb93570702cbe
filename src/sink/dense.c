/* The sink that keeps every coefficient: both orders of the triangle, the square, the rectangle. */
#include "../core/gpucor.h"

#include "../core/alloc.h"
#include "../core/threads.h"
#include "../core/triangle.h"

static double *place(const gcor_dense *dense, int64_t row, int64_t col) {
    switch (dense->layout) {
    case GCOR_TRIANGLE_ROWS: return dense->out + gcor_row_position(row, col, dense->n_col);
    case GCOR_TRIANGLE_COLUMNS: return dense->out + gcor_column_position(col, row);
    default: return dense->out + row * dense->n_col + col;
    }
}

/* Coefficients from out[0] on, until something else comes; returns how many. */
static int64_t copy_coefficients(const gcor_segment *segment, double *out) {
    enum { SOME = 64 };
    int64_t k = 0;
    for (; k < segment->n; k += SOME) {
        int64_t n = segment->n - k < SOME ? segment->n - k : SOME;
        int others = 0;
        if (segment->floats) {
#pragma omp simd reduction(| : others)
            for (int64_t l = k; l < k + n; l++) others |= segment->floats[l] > 1, out[l] = segment->floats[l];
        } else {
#pragma omp simd reduction(| : others)
            for (int64_t l = k; l < k + n; l++) others |= segment->doubles[l] > 1, out[l] = segment->doubles[l];
        }
        if (others) break;
    }
    return k;
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_dense *dense = (gcor_dense *)sink;
    double *out = place(dense, segment->row, segment->col);
    int64_t zero_sd = 0;
    (void)context, (void)thread;
    for (int64_t k = copy_coefficients(segment, out); k < segment->n; k++) {
        double value = gcor_value(segment, k);
        zero_sd += value == GCOR_ZERO_SD;
        out[k] = value > 1 ? dense->missing : value;
    }
    if (zero_sd > 0) __atomic_fetch_add(&dense->zero_sd, zero_sd, __ATOMIC_RELAXED);
    return GCOR_OK;
}

gcor_dense gcor_dense_sink(gcor_layout layout, int64_t n_var_x, double *out, int64_t values, double missing) {
    gcor_shape shape = layout == GCOR_TRIANGLE_COLUMNS ? GCOR_LOWER : layout == GCOR_RECTANGLE ? GCOR_FULL : GCOR_UPPER;
    gcor_dense dense = {{.kind = GCOR_DENSE, .shape = shape, .take = take}, layout, out, n_var_x, missing, 0};
    gcor_huge_pages(out, (size_t)values * sizeof(double));
    return dense;
}

/* Square blocks, so that the strided side of the copy stays in the cache. */
gcor_status gcor_mirror(gcor_context *context, double *matrix, int64_t n) {
    enum { BLOCK = 64 };
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t bj = 0; bj < n; bj += BLOCK)
        for (int64_t bi = 0; bi <= bj && !gcor_stop(context, omp_get_thread_num()); bi += BLOCK)
            for (int64_t j = bj; j < n && j < bj + BLOCK; j++)
                for (int64_t i = bi; i < j && i < bi + BLOCK; i++) matrix[i + n * j] = matrix[j + n * i];
    return context->error.status;
}
