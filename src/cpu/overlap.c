/* The second product: columns of adjacencies by columns. They lie in slivers, as kernels have them, from the beginning;
 * a block's sums and some observations of its columns stay in the second-level cache, and the columns of a whole tile's
 * blocks, one column of blocks after the other, in the third. */
#include "cpu.h"

#include "../core/overlap.h"
#include "../core/threads.h"
#include "../core/triangle.h"
#include "../sink/adjacency.h"

#include <string.h>

enum { WIDTH = GCOR_ADJACENCY_WIDTH, TILE = 2048, ROWS = 64, COLS = CPU_BLOCK_COLS, CHUNK = CPU_OVERLAP_RUN };
_Static_assert(WIDTH * sizeof(float) == CPU_SLIVER_BYTES, "slivers as kernels have them");

/* What is made of a tile. */
typedef struct {
    gcor_state *state;
    const gcor_adjacency *of;
    const double *connectivity;
    double *sums; /* ROWS x COLS of each thread */
    float *rows;  /* ROWS x CHUNK of each thread */
} overlaps;

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* Sums of sizes, one after the other. */
static void connect(const gcor_adjacency *of, int64_t sliver, double *connectivity) {
    const int64_t n = of->sink.n_col, first = sliver * WIDTH, some = smaller(WIDTH, n - first);
    double sum[WIDTH] = {0};
    for (int64_t k = 0; k < n; k++) {
        const float *row = gcor_adjacency_row(of, k, sliver);
        for (int v = 0; v < WIDTH; v++) sum[v] += fabsf(row[v]);
    }
    for (int64_t v = 0; v < some; v++) connectivity[first + v] = sum[v];
}

/* ---- a block ------------------------------------------------------------------------------------- */

/* Blocks that have the same columns follow one another. */
static gcor_tile block_of(const gcor_tile *tile, int64_t b) {
    int64_t high = (tile->n_row + ROWS - 1) / ROWS, row = b % high * ROWS, col = b / high * COLS;
    return (gcor_tile){tile->row + row, smaller(ROWS, tile->n_row - row), tile->col + col,
                       smaller(COLS, tile->n_col - col)};
}

static int64_t count_blocks(const gcor_tile *tile) {
    return (tile->n_row + ROWS - 1) / ROWS * ((tile->n_col + COLS - 1) / COLS);
}

/* Part `at` of `of` of n adjacencies of some variables: they are on their way to the second-level cache, while those
 * before are multiplied. */
static void fetch(const overlaps *o, int64_t var, int64_t n_var, int64_t first, int64_t n, int64_t at, int64_t of) {
    enum { LINE = 64 };
    const int64_t slivers = (n_var + WIDTH - 1) / WIDTH, lines = n * CPU_SLIVER_BYTES / LINE;
    for (int64_t l = slivers * lines * at / of; l < slivers * lines * (at + 1) / of; l++) {
        const float *from = gcor_adjacency_row(o->of, first, var / WIDTH + l / lines);
        __builtin_prefetch((const char *)from + l % lines * LINE, 0, 2);
    }
}

/* n adjacencies of a block's rows, those of CPU_KERNEL_ROWS variables side by side: as many of them fit the first-level
 * cache beside a sliver of columns. */
static void pack(const overlaps *o, const gcor_tile *block, int64_t first, int64_t n, float *out) {
    for (int64_t r = 0; r < block->n_row; r += CPU_KERNEL_ROWS) {
        const float *from = gcor_adjacency_row(o->of, first, (block->row + r) / WIDTH) + (block->row + r) % WIDTH;
        for (int64_t k = 0; k < n; k++)
            memcpy(out + (r * CHUNK + k * CPU_KERNEL_ROWS), from + k * WIDTH, CPU_KERNEL_ROWS * sizeof *out);
    }
}

/* Adjacencies first .. first+n-1 of all pairs that count, `next` more of which are then wanted. */
static void multiply_chunk(const overlaps *o, const gcor_tile *block, int64_t first, int64_t n, int64_t next,
                           float *packed, double *sums) {
    int64_t parts = (block->n_col + WIDTH - 1) / WIDTH * ((block->n_row + CPU_KERNEL_ROWS - 1) / CPU_KERNEL_ROWS);
    int64_t at = 0;
    pack(o, block, first, n, packed);
    for (int64_t c = 0; c < block->n_col; c += WIDTH) {
        const float *cols = gcor_adjacency_row(o->of, first, (block->col + c) / WIDTH);
        for (int64_t r = 0; r < block->n_row; r += CPU_KERNEL_ROWS, at++) {
            gcor_tile part = {block->row + r, CPU_KERNEL_ROWS, block->col + c, WIDTH};
            fetch(o, block->row, block->n_row, first + n, next, at, parts);
            fetch(o, block->col, block->n_col, first + n, next, at, parts);
            if (gcor_tile_pairs(&part, o->state->sink->shape) == 0) continue;
            o->state->kernels->overlaps(packed + r * CHUNK, cols, n, first > 0, sums + r * COLS + c);
        }
    }
}

/* Those of n columns of one sliver, from number `col` on. */
static void find_overlaps(const overlaps *o, int64_t row, int64_t col, int64_t n, const double *shared, float *out) {
    const gcor_overlap_rule rule = o->of->rule;
    const float *a = gcor_adjacency_row(o->of, row, col / WIDTH) + col % WIDTH;
    const double own = o->connectivity[row], *others = o->connectivity + col;
#pragma omp simd
    for (int64_t k = 0; k < n; k++) out[k] = (float)gcor_overlap_of(&rule, shared[k], a[k], own, others[k]);
}

static void deliver(const overlaps *o, int thread, const gcor_tile *block, const double *sums) {
    float values[COLS];
    gcor_segment segment = {.floats = values};
    for (int64_t r = 0; r < block->n_row; r++) {
        segment.row = block->row + r;
        gcor_tile_segment(block, o->state->sink->shape, segment.row, &segment.col, &segment.n);
        const double *shared = sums + r * COLS + (segment.col - block->col);
        for (int64_t k = 0; k < segment.n;) {
            int64_t some = smaller(WIDTH - (segment.col + k) % WIDTH, segment.n - k);
            find_overlaps(o, segment.row, segment.col + k, some, shared + k, values + k);
            k += some;
        }
        if (segment.n > 0) cpu_deliver(o->state, thread, segment);
    }
}

static void work_on_block(const overlaps *o, const gcor_tile *block) {
    const int64_t n = o->of->sink.n_col;
    int thread = omp_get_thread_num();
    double *sums = o->sums + (int64_t)thread * ROWS * COLS;
    float *packed = o->rows + (int64_t)thread * ROWS * CHUNK;
    if (gcor_tile_pairs(block, o->state->sink->shape) == 0) return;
    for (int64_t first = 0; first < n && !gcor_stop(o->state->context); first += CHUNK)
        multiply_chunk(o, block, first, smaller(CHUNK, n - first), smaller(CHUNK, larger(0, n - first - CHUNK)), packed,
                       sums);
    if (!gcor_stop(o->state->context)) deliver(o, thread, block, sums);
}

/* ---- tiles ----------------------------------------------------------------------------------------- */

static gcor_status work_on_tile(overlaps *o, const gcor_tile *tile) {
    gcor_context *context = o->state->context;
    gcor_sink *sink = o->state->sink;
    int64_t pairs = gcor_tile_pairs(tile, sink->shape);
    if (pairs == 0) return GCOR_OK;
    gcor_status status = gcor_begin_tile(sink, context, tile);
    if (status) return status;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t b = 0; b < count_blocks(tile); b++) {
        gcor_tile block = block_of(tile, b);
        work_on_block(o, &block);
        __atomic_fetch_add(&context->monitor->pairs_done, gcor_tile_pairs(&block, sink->shape), __ATOMIC_RELAXED);
    }
    return context->error.status ? context->error.status : gcor_end_tile(sink, context, tile);
}

static gcor_status work_on_tiles(overlaps *o) {
    const int64_t n = o->of->sink.n_col;
    gcor_status status = GCOR_OK;
    for (int64_t row = 0; !status && row < n; row += TILE)
        for (int64_t col = 0; !status && col < n; col += TILE) {
            gcor_tile tile = {row, smaller(TILE, n - row), col, smaller(TILE, n - col)};
            status = work_on_tile(o, &tile);
        }
    return status;
}

static gcor_status work(overlaps *o, double *connectivity) {
    gcor_context *context = o->state->context;
    int64_t slivers = (o->of->sink.n_col + WIDTH - 1) / WIDTH;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t s = 0; s < slivers; s++)
        if (!gcor_stop(context)) connect(o->of, s, connectivity);
    o->connectivity = connectivity;
    return context->error.status ? context->error.status : work_on_tiles(o);
}

gcor_status cpu_overlap(gcor_state *state, gcor_context *context, gcor_adjacency *adjacency, gcor_sink *sink) {
    gcor_status status = gcor_cpu.begin(state, context, sink);
    if (status) return status;
    overlaps o = {.state = state, .of = adjacency};
    gcor_adjacency_complete(adjacency, context);
    o.sums = cpu_room(context, &state->sums, context->threads, ROWS * COLS * sizeof(double));
    o.rows = cpu_room(context, &state->rows.memory, context->threads, ROWS * CHUNK * sizeof(float));
    double *connectivity = cpu_room(context, &state->work, adjacency->sink.n_col, sizeof(double));
    status = o.sums && o.rows && connectivity ? work(&o, connectivity) : GCOR_NO_MEMORY;
    gcor_cpu.end(state);
    return status;
}
