/* The product of columns of adjacencies, which are stored as micro-panels. A block's sums and a chunk of its columns
 * stay in the second-level cache, the columns of a column of blocks in the third-level cache. */
#include "cpu.h"

#include "../base/os.h"
#include "../measure/overlap.h"
#include "../base/shard.h"
#include "../base/threads.h"
#include "../base/triangle.h"
#include "../sink/adjacency.h"

#include <string.h>

enum { OPERANDS_DIVISOR = 8 }; /* fraction 1 / OPERANDS_DIVISOR of the memory is for operands */
enum { WIDTH = GCOR_ADJACENCY_WIDTH, TILE = 2048, ROWS = 64, COLS = CPU_BLOCK_COLS, CHUNK = CPU_OVERLAP_RUN };
_Static_assert(WIDTH * sizeof(float) == CPU_MICRO_PANEL_BYTES, "micro_panels as kernels have them");

/* The product of a tile. */
typedef struct {
    gcor_state *state;
    const gcor_adjacency *row_slab, *col_slab;
    const gcor_tile *tile;
    double *sums; /* ROWS x COLS for each thread */
    float *rows;  /* ROWS x CHUNK for each thread */
} overlaps;

/* Returns element k of the micro-panel that begins at variable `var`, a multiple of WIDTH. */
static const float *element(const gcor_adjacency *slab, int64_t k, int64_t var) {
    return gcor_adjacency_row(slab, k, (var - slab->head.first) / WIDTH);
}

/* ---- a block ------------------------------------------------------------------------------------- */

/* Prefetch part `at` of `of` of n elements of some variables into the second-level cache, while the elements before are
 * multiplied. */
static void fetch(const gcor_adjacency *slab, int64_t var, int64_t n_var, int64_t first, int64_t n, int64_t at,
                  int64_t of) {
    enum { LINE = 64 };
    const int64_t micro_panels = (n_var + WIDTH - 1) / WIDTH, lines = n * CPU_MICRO_PANEL_BYTES / LINE;
    for (int64_t l = micro_panels * lines * at / of; l < micro_panels * lines * (at + 1) / of; l++) {
        const float *from = element(slab, first, var / WIDTH * WIDTH + l / lines * WIDTH);
        __builtin_prefetch((const char *)from + l % lines * LINE, 0, 2);
    }
}

/* Pack n elements of a block's rows, CPU_KERNEL_ROWS variables side by side: they fit the first-level cache beside a
 * micro-panel of columns. */
static void pack(const overlaps *o, const gcor_tile *block, int64_t first, int64_t n, float *out) {
    for (int64_t r = 0; r < block->n_row; r += CPU_KERNEL_ROWS) {
        const float *from = element(o->row_slab, first, (block->row + r) / WIDTH * WIDTH) + (block->row + r) % WIDTH;
        for (int64_t k = 0; k < n; k++)
            memcpy(out + (r * CHUNK + k * CPU_KERNEL_ROWS), from + k * WIDTH, CPU_KERNEL_ROWS * sizeof *out);
    }
}

/* Multiply elements first .. first+n-1 of all pairs that count, and prefetch the `next` ones. */
static void multiply_chunk(const overlaps *o, const gcor_tile *block, int64_t first, int64_t n, int64_t next,
                           float *packed, double *sums) {
    int64_t parts = (block->n_col + WIDTH - 1) / WIDTH * ((block->n_row + CPU_KERNEL_ROWS - 1) / CPU_KERNEL_ROWS);
    int64_t at = 0;
    pack(o, block, first, n, packed);
    for (int64_t c = 0; c < block->n_col; c += WIDTH) {
        const float *cols = element(o->col_slab, first, block->col + c);
        for (int64_t r = 0; r < block->n_row; r += CPU_KERNEL_ROWS, at++) {
            gcor_tile part = {block->row + r, CPU_KERNEL_ROWS, block->col + c, WIDTH};
            fetch(o->row_slab, block->row, block->n_row, first + n, next, at, parts);
            fetch(o->col_slab, block->col, block->n_col, first + n, next, at, parts);
            if (gcor_tile_pairs(&part, o->state->sink->shape) == 0) continue;
            o->state->kernels->overlaps(packed + r * CHUNK, cols, n, first > 0, sums + r * COLS + c);
        }
    }
}

/* The overlaps of n columns of one micro-panel, from variable `col` on. */
static void find_overlaps(const overlaps *o, int64_t row, int64_t col, int64_t n, const double *shared, float *out) {
    const gcor_overlap_rule rule = o->row_slab->rule;
    const float *a = element(o->col_slab, row, col / WIDTH * WIDTH) + col % WIDTH;
    const double own = o->row_slab->connectivity[row - o->row_slab->head.first];
    const double *others = o->col_slab->connectivity + (col - o->col_slab->head.first);
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
            int64_t some = gcor_min(WIDTH - (segment.col + k) % WIDTH, segment.n - k);
            find_overlaps(o, segment.row, segment.col + k, some, shared + k, values + k);
            k += some;
        }
        if (segment.n > 0) cpu_deliver(o->state, thread, segment);
    }
}

static void work_on_block(const overlaps *o, int thread, const gcor_tile *block) {
    const int64_t n = o->row_slab->sink.n_col;
    double *sums = o->sums + (int64_t)thread * ROWS * COLS;
    float *packed = o->rows + (int64_t)thread * ROWS * CHUNK;
    if (gcor_tile_pairs(block, o->state->sink->shape) == 0) return;
    for (int64_t first = 0; first < n && !gcor_stop(o->state->context); first += CHUNK)
        multiply_chunk(o, block, first, gcor_min(CHUNK, n - first), gcor_min(CHUNK, gcor_max(0, n - first - CHUNK)),
                       packed, sums);
    if (!gcor_stop(o->state->context)) deliver(o, thread, block, sums);
}

/* ---- tiles ----------------------------------------------------------------------------------------- */

/* Blocks with the same columns follow one another. */
static void work_on_block_number(void *argument, int thread, int64_t b) {
    const overlaps *o = argument;
    const gcor_tile *tile = o->tile;
    int64_t high = gcor_blocks(tile->n_row, ROWS), row = b % high * ROWS, col = b / high * COLS;
    gcor_tile block = {tile->row + row, gcor_min(ROWS, tile->n_row - row), tile->col + col,
                       gcor_min(COLS, tile->n_col - col)};
    work_on_block(o, thread, &block);
}

gcor_status cpu_overlap_tile(gcor_state *state, const gcor_adjacency *rows, const gcor_adjacency *cols,
                             const gcor_tile *tile) {
    gcor_context *context = state->context;
    overlaps o = {.state = state, .row_slab = rows, .col_slab = cols, .tile = tile};
    o.sums = cpu_reserve(context, &state->sums, context->threads, ROWS * COLS * sizeof(double));
    o.rows = cpu_reserve(context, &state->rows.memory, context->threads, ROWS * CHUNK * sizeof(float));
    if (!o.sums || !o.rows) return GCOR_NO_MEMORY;
    gcor_for_each(context->threads, gcor_blocks(tile->n_row, ROWS) * gcor_blocks(tile->n_col, COLS),
                  work_on_block_number, &o);
    return context->error.status;
}

/* The same squares as for coefficients. */
int64_t cpu_overlap_side(int64_t n_var) {
    return gcor_grid_of(GCOR_UPPER, n_var, n_var).side;
}

/* Divides the memory that the result leaves: an eighth is for prepared columns, the remainder for slabs. If the size of
 * the result is unknown, two slabs get half of it, as the result is written at the same time. */
gcor_status cpu_plan_overlap(gcor_state *state, gcor_context *context, int64_t n_var, gcor_overlap_plan *plan) {
    const int64_t bytes = gcor_adjacency_bytes(n_var);
    const int64_t left = gcor_max(0, gcor_available_memory() - context->result_bytes);
    const int64_t operands = gcor_min(cpu_memory(state), left / OPERANDS_DIVISOR);
    *plan = (gcor_overlap_plan){.n_row = TILE, .n_col = TILE, .bytes = bytes, .operands = operands};
    plan->memory = left - operands;
    if (context->result_bytes == 0 && plan->memory / gcor_max(1, n_var) < bytes) plan->memory /= 2;
    if (context->memory > 0) plan->memory = gcor_min(context->memory, plan->memory);
    return GCOR_OK;
}

/* Two minimum-width slabs, and prepared columns. */
int64_t cpu_overlap_memory(int64_t n_var) {
    const int64_t bytes = gcor_adjacency_bytes(n_var), max = cpu_memory(NULL);
    int64_t slabs = bytes * gcor_min(n_var, 2 * cpu_overlap_side(n_var));
    return slabs + gcor_min(max, slabs / (OPERANDS_DIVISOR - 1) + 1);
}
