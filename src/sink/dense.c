/* The sink that keeps every coefficient: both orders of the triangle, the square, the rectangle. */
#include "dense.h"

#include "../base/alloc.h"
#include "../base/shard.h"
#include "../base/threads.h"
#include "../base/triangle.h"
#include "file.h"

static double *position(const gcor_dense *dense, int64_t row, int64_t col) {
    switch (dense->layout) {
    case GCOR_TRIANGLE_ROWS: return dense->out + gcor_row_position(row, col, dense->sink.n_col);
    case GCOR_TRIANGLE_COLUMNS: return dense->out + gcor_column_position(col, row);
    default: return dense->out + row * dense->sink.n_col + col;
    }
}

/* Coefficients from out[0] on, until something else comes; returns how many. */
static int64_t copy_coefficients(const gcor_segment *segment, double *out) {
    enum { RUN = 64 };
    int64_t k = 0;
    for (; k < segment->n; k += RUN) {
        int64_t n = segment->n - k < RUN ? segment->n - k : RUN;
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

void gcor_dense_put(gcor_dense *dense, const gcor_segment *segment, double *out) {
    int64_t zero_sd = 0;
    for (int64_t k = copy_coefficients(segment, out); k < segment->n; k++) {
        double value = gcor_value(segment, k);
        zero_sd += value == GCOR_ZERO_SD;
        out[k] = value > 1 ? dense->missing : value;
    }
    if (zero_sd > 0) __atomic_fetch_add(&dense->zero_sd, zero_sd, __ATOMIC_RELAXED);
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_dense *dense = (gcor_dense *)sink;
    (void)context, (void)thread;
    gcor_dense_put(dense, segment, position(dense, segment->row, segment->col));
    return GCOR_OK;
}

/* ---- forks and files ---------------------------------------------------------------- */

static gcor_status fork_sink(gcor_sink *sink, gcor_context *context, gcor_sink **other) {
    gcor_dense *fresh = gcor_alloc(context, 1, sizeof *fresh, "a worker's results");
    *other = NULL;
    if (!fresh) return GCOR_NO_MEMORY;
    *fresh = *(const gcor_dense *)sink;
    fresh->zero_sd = 0;
    *other = &fresh->sink;
    return GCOR_OK;
}

/* The coefficients are where they belong: forks write to the same memory, each its own pairs. */
static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    (void)context;
    ((gcor_dense *)sink)->zero_sd += ((gcor_dense *)other)->zero_sd;
    ((gcor_dense *)other)->zero_sd = 0;
    return GCOR_OK;
}

typedef gcor_status (*row_work)(gcor_context *context, FILE *file, double *values, int64_t n);

static gcor_status put_row(gcor_context *context, FILE *file, double *values, int64_t n) {
    return gcor_put(context, file, values, n, sizeof *values);
}

static gcor_status get_row(gcor_context *context, FILE *file, double *values, int64_t n) {
    return gcor_get(context, file, values, n, sizeof *values);
}

/* All coefficients of a share, square by square in the order of the grid, and row by row. */
static gcor_status for_rows(gcor_dense *dense, gcor_context *context, const gcor_shard *shard, FILE *file,
                            row_work work) {
    gcor_grid grid = gcor_grid_of(dense->sink.shape, dense->sink.n_row, dense->sink.n_col);
    gcor_queue queue;
    gcor_square square;
    int found = 1;
    gcor_status status = gcor_queue_fill(&queue, context, &grid, shard);
    while (!status && !(status = gcor_queue_draw(&queue, context, 1, 1, &square, &found)) && found) {
        gcor_tile tile = gcor_square_tile(&grid, &square);
        for (int64_t row = tile.row; !status && row < tile.row + tile.n_row; row++) {
            int64_t col, n;
            gcor_tile_segment(&tile, grid.shape, row, &col, &n);
            if (gcor_stop(context)) status = context->error.status;
            if (!status && n > 0) status = work(context, file, position(dense, row, col), n);
        }
    }
    gcor_queue_free(&queue);
    return status;
}

gcor_status gcor_dense_put_head(const gcor_dense *dense, gcor_context *context, const gcor_shard *shard, FILE *file) {
    gcor_status status = gcor_put(context, file, &dense->layout, 1, sizeof dense->layout);
    if (!status) status = gcor_put(context, file, &dense->zero_sd, 1, sizeof dense->zero_sd);
    return status ? status : gcor_put(context, file, shard, 1, sizeof *shard);
}

static gcor_status save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file) {
    gcor_dense *dense = (gcor_dense *)sink;
    gcor_status status = gcor_dense_put_head(dense, context, shard, file);
    return status ? status : for_rows(dense, context, shard, file, put_row);
}

static gcor_status load(gcor_sink *sink, gcor_context *context, FILE *file) {
    gcor_dense *dense = (gcor_dense *)sink;
    gcor_shard shard = {0, 1};
    int64_t *zero_sd = &dense->zero_sd;
    gcor_status status = gcor_expect(context, file, &dense->layout, sizeof dense->layout);
    if (!status) status = gcor_get(context, file, zero_sd, 1, sizeof *zero_sd);
    if (!status) status = gcor_get(context, file, &shard, 1, sizeof shard);
    if (status) return status;
    if (*zero_sd < 0 || *zero_sd > sink->n_row * sink->n_col || shard.index < 0 || shard.index >= shard.of)
        return gcor_damaged(context);
    return for_rows(dense, context, &shard, file, get_row);
}

static void release(gcor_sink *sink) {
    gcor_free(sink);
}

static const gcor_sink_type type = {
    .name = "dense",
    .keeps_all = 1,
    .take = take,
    .fork = fork_sink,
    .merge = merge,
    .save = save,
    .load = load,
    .free = release,
};

gcor_dense gcor_dense_of(gcor_layout layout, int64_t n_row, int64_t n_col, double missing) {
    gcor_shape shape = layout == GCOR_TRIANGLE_COLUMNS ? GCOR_LOWER : layout == GCOR_RECTANGLE ? GCOR_FULL : GCOR_UPPER;
    return (gcor_dense){
        .sink = {.type = &type, .shape = shape, .n_row = n_row, .n_col = n_col}, .layout = layout, .missing = missing};
}

gcor_status gcor_dense_new(gcor_context *context, gcor_layout layout, int64_t n_row, int64_t n_col, double *out,
                           int64_t values, double missing, gcor_dense **dense) {
    *dense = gcor_alloc(context, 1, sizeof **dense, "the results");
    if (!*dense) return GCOR_NO_MEMORY;
    **dense = gcor_dense_of(layout, n_row, n_col, missing);
    (*dense)->out = out;
    gcor_huge_pages(out, (size_t)values * sizeof(double));
    return GCOR_OK;
}

/* Square blocks, so that the strided side of the copy stays in the cache. */
gcor_status gcor_mirror(gcor_context *context, double *matrix, int64_t n) {
    enum { BLOCK = 64 };
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t bj = 0; bj < n; bj += BLOCK)
        for (int64_t bi = 0; bi <= bj && !gcor_stop(context); bi += BLOCK)
            for (int64_t j = bj; j < n && j < bj + BLOCK; j++)
                for (int64_t i = bi; i < j && i < bi + BLOCK; i++) matrix[i + n * j] = matrix[j + n * i];
    return context->error.status;
}
