/* The sink that keeps every coefficient: both orders of the triangle, the square, the rectangle. The sink of a shard
 * has memory for the shard's pairs only, in the order of its file: square by square, and row by row within a square. */
#include "dense.h"

#include "../base/alloc.h"
#include "../base/shard.h"
#include "../base/threads.h"
#include "../base/triangle.h"
#include "file.h"

struct gcor_dense_square {
    gcor_square square;
    gcor_tile tile; /* the part of the square that is in the grid */
    int64_t number; /* number of its first smallest square (shard.h); ascending */
    int64_t first;  /* position of its first pair */
};

static gcor_grid grid_of(const gcor_dense *dense) {
    return gcor_grid_of(dense->sink.shape, dense->sink.n_row, dense->sink.n_col);
}

/* Returns the shard's square that contains the pair: the last one that does not begin after the pair's smallest
 * square. */
static const gcor_dense_square *square_of(const gcor_dense *dense, int64_t row, int64_t col) {
    const gcor_grid grid = grid_of(dense);
    gcor_square at = {row, col, grid.side};
    int64_t number = gcor_square_number(&grid, &at), low = 0, high = dense->n_squares;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (dense->squares[middle].number <= number)
            low = middle;
        else
            high = middle;
    }
    return dense->squares + low;
}

/* Returns the address of the pair's value; *n: the number of consecutive values of the row there. */
static double *position_in_shard(const gcor_dense *dense, int64_t row, int64_t col, int64_t *n) {
    const gcor_dense_square *square = square_of(dense, row, col);
    int64_t first;
    gcor_tile_segment(&square->tile, dense->sink.shape, row, &first, n);
    *n -= col - first;
    return dense->out + square->first + gcor_tile_offset(&square->tile, dense->sink.shape, row) + col - first;
}

static double *position(const gcor_dense *dense, int64_t row, int64_t col, int64_t *n) {
    *n = INT64_MAX;
    if (dense->squares) return position_in_shard(dense, row, col, n);
    switch (dense->layout) {
    case GCOR_TRIANGLE_ROWS: return dense->out + gcor_row_position(row, col, dense->sink.n_col);
    case GCOR_TRIANGLE_COLUMNS: return dense->out + gcor_column_position(col, row);
    default: return dense->out + row * dense->sink.n_col + col;
    }
}

/* Copies coefficients to out, up to the first block with a value that is no coefficient; returns their number. */
static int64_t copy_coefficients(const gcor_segment *segment, double *out) {
    enum { BLOCK = 64 };
    int64_t k = 0;
    for (; k < segment->n; k += BLOCK) {
        int64_t n = segment->n - k < BLOCK ? segment->n - k : BLOCK;
        int others = 0;
        if (segment->floats) {
            for (int64_t l = k; l < k + n; l++) others |= segment->floats[l] > 1, out[l] = segment->floats[l];
        } else {
            for (int64_t l = k; l < k + n; l++) others |= segment->doubles[l] > 1, out[l] = segment->doubles[l];
        }
        if (others) break;
    }
    return k;
}

static void put(gcor_dense *dense, const gcor_segment *segment, double *out) {
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
    gcor_segment piece = *segment;
    int64_t end = segment->col + segment->n, n;
    for (; piece.col < end; piece.col += piece.n) {
        double *out = position(dense, piece.row, piece.col, &n);
        piece.n = n < end - piece.col ? n : end - piece.col;
        put(dense, &piece, out);
        if (piece.doubles) piece.doubles += piece.n;
        if (piece.floats) piece.floats += piece.n;
    }
    return GCOR_OK;
}

/* ---- forks and files ---------------------------------------------------------------- */

static gcor_status allocate(gcor_sink *sink, gcor_context *context) {
    ((gcor_dense *)sink)->zero_sd = 0;
    ((gcor_dense *)sink)->is_owner = 0;
    return GCOR_OK;
}

/* Forks write to the same memory, each to its own pairs, so there is nothing to move. */
static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
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

/* Calls work() for the coefficients of a shard, square by square in the order of the grid, and row by row. */
static gcor_status for_rows(gcor_dense *dense, gcor_context *context, const gcor_shard *shard, FILE *file,
                            row_work work) {
    gcor_grid grid = grid_of(dense);
    gcor_queue queue;
    gcor_square square;
    int found = 1;
    gcor_status status = gcor_queue_fill(&queue, context, &grid, shard);
    while (!status && !(status = gcor_queue_draw(&queue, context, 1, 1, &square, &found)) && found) {
        gcor_tile tile = gcor_square_tile(&grid, &square);
        for (int64_t row = tile.row; !status && row < tile.row + tile.n_row; row++) {
            int64_t col, n, follow;
            gcor_tile_segment(&tile, grid.shape, row, &col, &n);
            if (gcor_stop(context)) status = context->error.status;
            if (!status && n > 0) status = work(context, file, position(dense, row, col, &follow), n);
        }
    }
    gcor_queue_free(&queue);
    return status;
}

static gcor_status save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file) {
    gcor_dense *dense = (gcor_dense *)sink;
    gcor_status status = gcor_put(context, file, &dense->layout, 1, sizeof dense->layout);
    if (!status) status = gcor_put(context, file, &dense->zero_sd, 1, sizeof dense->zero_sd);
    if (!status) status = gcor_put(context, file, shard, 1, sizeof *shard);
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
    gcor_dense *dense = (gcor_dense *)sink;
    if (!dense->is_owner) return;
    gcor_free(dense->out);
    gcor_free(dense->squares);
}

static const gcor_sink_type type = {
    .name = "dense",
    .size = sizeof(gcor_dense),
    .keeps_all = 1,
    .take = take,
    .allocate = allocate,
    .merge = merge,
    .save = save,
    .load = load,
    .release = release,
};

static gcor_dense *new_dense(gcor_context *context, gcor_layout layout, int64_t n_row, int64_t n_col, double missing) {
    gcor_shape shape = layout == GCOR_TRIANGLE_COLUMNS ? GCOR_LOWER : layout == GCOR_RECTANGLE ? GCOR_FULL : GCOR_UPPER;
    const gcor_dense like = {
        .sink = {.type = &type, .shape = shape, .n_row = n_row, .n_col = n_col}, .layout = layout, .missing = missing};
    return gcor_sink_new(context, &like);
}

gcor_status gcor_dense_new(gcor_context *context, gcor_layout layout, int64_t n_row, int64_t n_col, double *out,
                           int64_t values, double missing, gcor_dense **dense) {
    *dense = new_dense(context, layout, n_row, n_col, missing);
    if (!*dense) return GCOR_NO_MEMORY;
    (*dense)->out = out;
    gcor_huge_pages(out, (size_t)values * sizeof(double));
    return GCOR_OK;
}

/* Lists the shard's squares, as large as a single worker draws them, and counts their pairs. */
static gcor_status list_squares(gcor_dense *dense, gcor_context *context, const gcor_shard *shard, int64_t *n_pairs) {
    const gcor_grid grid = grid_of(dense);
    gcor_queue queue;
    gcor_square square;
    int64_t capacity = 0;
    int found = 1;
    gcor_status status = gcor_queue_fill(&queue, context, &grid, shard);
    *n_pairs = 0;
    while (!status && !(status = gcor_queue_draw(&queue, context, 1, 1, &square, &found)) && found) {
        void *squares = dense->squares;
        status = gcor_grow(context, &squares, dense->n_squares, &capacity, dense->n_squares + 1, sizeof *dense->squares,
                           "the squares of a shard");
        dense->squares = squares;
        if (status) break;
        dense->squares[dense->n_squares++] = (gcor_dense_square){square, gcor_square_tile(&grid, &square),
                                                                 gcor_square_number(&grid, &square), *n_pairs};
        *n_pairs += gcor_square_pairs(&grid, &square);
    }
    gcor_queue_free(&queue);
    return status;
}

gcor_status gcor_dense_shard_new(gcor_context *context, gcor_layout layout, int64_t n_row, int64_t n_col,
                                 const gcor_shard *shard, double missing, gcor_dense **dense) {
    int64_t n_pairs;
    gcor_dense *fresh = *dense = new_dense(context, layout, n_row, n_col, missing);
    if (!fresh) return GCOR_NO_MEMORY;
    fresh->is_owner = 1;
    gcor_status status = list_squares(fresh, context, shard, &n_pairs);
    if (!status) fresh->out = gcor_alloc(context, n_pairs, sizeof(double), "the results of a shard");
    if (fresh->out) {
        gcor_huge_pages(fresh->out, (size_t)n_pairs * sizeof(double));
        return GCOR_OK;
    }
    gcor_sink_free(&fresh->sink);
    *dense = NULL;
    return context->error.status;
}

enum { MIRRORED = 64 }; /* side of a square block */

typedef struct {
    gcor_context *context;
    double *matrix;
    int64_t n;
} mirroring;

/* Copies square blocks, so that the strided side of the copy stays in the cache. */
static void mirror_blocks(void *argument, int thread, int64_t from, int64_t end) {
    const mirroring *m = argument;
    for (int64_t row = 0; row < end && !gcor_stop(m->context); row += MIRRORED)
        for (int64_t j = from; j < end; j++)
            for (int64_t i = row; i < j && i < row + MIRRORED; i++) m->matrix[i + m->n * j] = m->matrix[j + m->n * i];
}

gcor_status gcor_mirror(gcor_context *context, double *matrix, int64_t n) {
    mirroring m = {context, matrix, n};
    gcor_for_blocks(context->threads, n, MIRRORED, mirror_blocks, &m);
    return context->error.status;
}
