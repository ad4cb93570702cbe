/* Multiplies a tile in micro-panels. All threads pack its variables; then each thread takes blocks, multiplies them
 * and hands them to the sink while they are in its cache. If the variables are too long to be packed at once, this
 * is done slice by slice, and the sums of all blocks are kept meanwhile. */
#include "cpu.h"

#include "../base/alloc.h"
#include "../mask/pairs.h"
#include "../base/threads.h"
#include "../base/triangle.h"

/* Elements of a micro-panel that are multiplied with all rows of a block before the next ones: 16 KB, which stay in
 * the L1 cache. */
enum { CHUNK = 128 };

/* A tile in progress. */
typedef struct {
    gcor_state *state;
    const cpu_product *product;
    const cpu_operand *rows, *cols;
    const gcor_tile *tile;
    cpu_slivers *row_slivers, *col_slivers; /* the same on the diagonal */
    int keep; /* slices are more than one: sums of all blocks, otherwise of the threads' */
    char *sums, *work;
    int64_t first, n; /* the current slice */
} tile_product;

static int64_t sliver_width(const cpu_product *p) {
    return CPU_SLIVER_BYTES / p->element;
}

static int64_t sliver_bytes(const cpu_product *p) {
    return p->planes * p->slice * CPU_SLIVER_BYTES;
}

static int64_t sum_bytes(const cpu_product *p) {
    return p->sum_bytes > 0 ? p->sum_bytes : p->element;
}

static int64_t block_bytes(const cpu_product *p) {
    return p->sums * sum_bytes(p) * CPU_BLOCK_PAIRS;
}

/* Number of micro-panels for n_var variables. */
static int64_t count_slivers(const cpu_product *p, int64_t n_var) {
    return (n_var + sliver_width(p) - 1) / sliver_width(p);
}

/* Address of variable `var`, counted from the tile's first. */
static char *sliver_of(const cpu_product *p, const cpu_slivers *slivers, int64_t var) {
    return (char *)slivers->memory.at + var / sliver_width(p) * sliver_bytes(p) + var % sliver_width(p) * p->element;
}

/* True if the micro-panels still hold these variables from the previous tile, in one slice. The sizes are compared,
 * too: squares of the grid differ, and the next tile is larger if a shard begins in the middle of a square. */
static int are_open(const tile_product *t, const cpu_operand *operand, const cpu_slivers *slivers, int64_t var,
                    int64_t n_var) {
    return !t->keep && slivers->of == operand && slivers->first == var && slivers->n_var == n_var &&
           slivers->planes == t->product->planes;
}

/* One side of a tile to pack. */
typedef struct {
    const tile_product *t;
    const cpu_operand *operand;
    const cpu_slivers *slivers;
    int64_t var;
} packing;

static void open_sliver(void *argument, int thread, int64_t sliver) {
    const packing *o = argument;
    const tile_product *t = o->t;
    const cpu_product *p = t->product;
    int64_t at = sliver * sliver_width(p);
    if (gcor_stop(t->state->context)) return;
    p->open(t->state, p, o->operand, o->var + at, t->first, t->n, sliver_of(p, o->slivers, at),
            t->work + thread * p->work_bytes);
}

static void open_slivers(const tile_product *t, const cpu_operand *operand, const cpu_slivers *slivers, int64_t var,
                         int64_t n_var) {
    packing o = {t, operand, slivers, var};
    if (are_open(t, operand, slivers, var, n_var)) return;
    gcor_for_each(t->state->context->threads, count_slivers(t->product, n_var), open_sliver, &o);
}

/* True if no pair of a block's columns from c on is in the pair mask (one block of the mask). */
static int is_outside(const tile_product *t, const gcor_tile *block, int64_t c) {
    gcor_tile part = {block->row, block->n_row, block->col + c, gcor_min(GCOR_PAIR_BLOCK, block->n_col - c)};
    return t->state->sink->pairs && cpu_is_outside(t->state, &part);
}

/* n elements of all pairs of a block that count, in groups of rows by slivers. The sums of others are not set. */
static void multiply_block(const tile_product *t, const gcor_tile *block, int64_t first, int64_t n, int add,
                           char *sums) {
    const cpu_product *p = t->product;
    int64_t width = sliver_width(p);
    int outside = 0;
    for (int64_t c = 0; c < block->n_col; c += width) {
        if (c % GCOR_PAIR_BLOCK == 0) outside = is_outside(t, block, c);
        for (int64_t r = 0; !outside && r < block->n_row; r += CPU_KERNEL_ROWS) {
            gcor_tile part = {block->row + r, CPU_KERNEL_ROWS, block->col + c, width};
            if (gcor_tile_pairs(&part, t->state->sink->shape) == 0) continue;
            char *rows = sliver_of(p, t->row_slivers, part.row - t->tile->row) + first * CPU_SLIVER_BYTES;
            char *cols = sliver_of(p, t->col_slivers, part.col - t->tile->col) + first * CPU_SLIVER_BYTES;
            p->multiply(t->state, p, rows, cols, n, add, sums + (r * CPU_BLOCK_COLS + c) * sum_bytes(p));
        }
    }
}

/* A block and a slice of n elements from `first` on. */
static void work_on_block(const tile_product *t, int thread, const gcor_tile *block, int64_t first, int64_t n,
                          char *sums) {
    const cpu_product *p = t->product;
    if (cpu_is_outside(t->state, block) || gcor_stop(t->state->context)) return;
    int64_t done = 0;
    do {
        int64_t some = gcor_min(p->chunk > 0 ? p->chunk : CHUNK, n - done);
        multiply_block(t, block, done, some, first + done > 0, sums);
        done += some;
    } while (done < n);
    if (first + n == p->length) p->deliver(t->state, p, thread, t->rows, t->cols, block, sums);
}

static void work_on_block_of_slice(void *argument, int thread, int64_t b) {
    const tile_product *t = argument;
    gcor_tile block = cpu_block(t->tile, b);
    work_on_block(t, thread, &block, t->first, t->n, t->sums + (t->keep ? b : thread) * block_bytes(t->product));
}

static void work_on_slice(tile_product *t, int64_t first, int64_t n) {
    const gcor_tile *tile = t->tile;
    t->first = first;
    t->n = n;
    open_slivers(t, t->rows, t->row_slivers, tile->row, tile->n_row);
    if (t->col_slivers != t->row_slivers) open_slivers(t, t->cols, t->col_slivers, tile->col, tile->n_col);
    gcor_for_each(t->state->context->threads, cpu_blocks(tile), work_on_block_of_slice, t);
}

static gcor_status reserve(tile_product *t) {
    gcor_state *state = t->state;
    const cpu_product *p = t->product;
    int64_t threads = state->context->threads, blocks = t->keep ? cpu_blocks(t->tile) : threads;
    size_t sliver = (size_t)sliver_bytes(p);
    t->sums = cpu_reserve(state->context, &state->sums, blocks, (size_t)block_bytes(p));
    t->work = cpu_reserve(state->context, &state->work, threads, (size_t)p->work_bytes);
    int ok = t->sums && t->work &&
             cpu_reserve(state->context, &t->row_slivers->memory, count_slivers(p, t->tile->n_row), sliver) &&
             cpu_reserve(state->context, &t->col_slivers->memory, count_slivers(p, t->tile->n_col), sliver);
    return ok ? GCOR_OK : GCOR_NO_MEMORY;
}

gcor_status cpu_multiply_slivers(gcor_state *state, const cpu_product *product, const cpu_operand *rows,
                                 const cpu_operand *cols, const gcor_tile *tile) {
    gcor_context *context = state->context;
    int diagonal = rows == cols && tile->row == tile->col && tile->n_row == tile->n_col;
    tile_product t = {.state = state,
                      .product = product,
                      .rows = rows,
                      .cols = cols,
                      .tile = tile,
                      .row_slivers = &state->rows,
                      .col_slivers = diagonal ? &state->rows : &state->cols,
                      .keep = product->length > product->slice};
    gcor_status status = reserve(&t);
    if (status) return status;
    int64_t first = 0;
    do {
        int64_t n = gcor_min(product->slice, product->length - first);
        context->tile_fraction = product->length > 0 ? (double)first / (double)product->length : 0;
        work_on_slice(&t, first, n);
        first += n;
    } while (first < product->length && !gcor_stop(context));
    state->rows.of = context->error.status ? NULL : rows;
    state->rows.first = tile->row;
    state->rows.n_var = tile->n_row;
    state->rows.planes = product->planes;
    return context->error.status;
}
