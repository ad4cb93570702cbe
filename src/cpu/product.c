/* A tile as a product of micro-panels. All threads pack the tile's variables; then each thread takes blocks of the
 * tile, computes a block and hands it to the sink while it is in the thread's cache. Variables that are too long to
 * be packed at once are packed slice by slice, and the sums of all blocks are kept in between. */
#include "cpu.h"

#include "../base/alloc.h"
#include "../base/os.h"
#include "../mask/pairs.h"
#include "../base/threads.h"
#include "../base/triangle.h"

/* ---- for all products: blocks of a tile, scratch memory, delivery to the sink -------------------------------------
 */

void *cpu_reserve(gcor_context *context, cpu_scratch *scratch, int64_t count, size_t size) {
    int64_t bytes = count * (int64_t)size;
    if (scratch->at && scratch->bytes >= bytes) return scratch->at;
    gcor_free(scratch->at);
    scratch->at = gcor_alloc(context, count, size, "a tile");
    scratch->bytes = scratch->at ? bytes : 0;
    if (scratch->at) gcor_huge_pages(scratch->at, (size_t)bytes);
    return scratch->at;
}

void cpu_trim(cpu_scratch *scratch, int64_t max) {
    if (scratch->bytes <= max && max > 0) return;
    gcor_free(scratch->at);
    *scratch = (cpu_scratch){0};
}

/* We promise 1 GB in total; operands take less if the result leaves less. */
static const int64_t OPERAND_MEMORY = (int64_t)512 << 20, MIN_OPERAND_MEMORY = (int64_t)64 << 20;

int64_t cpu_memory(const gcor_state *state) {
    if (!state || !state->context) return OPERAND_MEMORY;
    return gcor_clamp(gcor_available_memory() - state->context->result_bytes, MIN_OPERAND_MEMORY, OPERAND_MEMORY);
}

static int64_t block_columns(const gcor_tile *tile) {
    return (tile->n_col + CPU_BLOCK_COLS - 1) / CPU_BLOCK_COLS;
}

int64_t cpu_blocks(const gcor_tile *tile) {
    return (tile->n_row + CPU_BLOCK_ROWS - 1) / CPU_BLOCK_ROWS * block_columns(tile);
}

gcor_tile cpu_block(const gcor_tile *tile, int64_t b) {
    int64_t row = b / block_columns(tile) * CPU_BLOCK_ROWS, col = b % block_columns(tile) * CPU_BLOCK_COLS;
    gcor_tile block = {tile->row + row, tile->n_row - row, tile->col + col, tile->n_col - col};
    if (block.n_row > CPU_BLOCK_ROWS) block.n_row = CPU_BLOCK_ROWS;
    if (block.n_col > CPU_BLOCK_COLS) block.n_col = CPU_BLOCK_COLS;
    return block;
}

int cpu_is_outside(const gcor_state *state, const gcor_tile *part) {
    if (gcor_tile_pairs(part, state->sink->shape) == 0) return 1;
    return state->sink->pairs && gcor_pairs_of_tile(state->sink->pairs, part) == GCOR_NO_PAIR;
}

void cpu_deliver(gcor_state *state, int thread, gcor_segment segment) {
    (void)state->sink->type->take(state->sink, state->context, thread,
                                  &segment); /* an error is recorded in the context */
}

/* ---- a tile as a product -------------------------------------------------------------------------- */

/* Elements of a micro-panel that are multiplied with all rows of a block before the next elements: 16 KB, which stay in
 * the first-level cache. */
enum { CHUNK = 128 };

typedef struct {
    gcor_state *state;
    const cpu_product *product;
    const cpu_operand *rows, *cols;
    const gcor_tile *tile;
    cpu_packed *packed_rows, *packed_cols; /* equal on the diagonal */
    int keep; /* there are several slices: `sums` has those of all blocks, otherwise of one per thread */
    char *sums, *work;
    int64_t first, n; /* the current slice */
} tile_product;

static int64_t micro_panel_width(const cpu_product *p) {
    return CPU_MICRO_PANEL_BYTES / p->element;
}

static int64_t micro_panel_bytes(const cpu_product *p) {
    return p->planes * p->slice * CPU_MICRO_PANEL_BYTES;
}

static int64_t sum_bytes(const cpu_product *p) {
    return p->sum_bytes > 0 ? p->sum_bytes : p->element;
}

static int64_t block_bytes(const cpu_product *p) {
    return p->sums * sum_bytes(p) * CPU_BLOCK_PAIRS;
}

/* The number of micro-panels for n_var variables; the last one may be filled in part. */
static int64_t count_micro_panels(const cpu_product *p, int64_t n_var) {
    return (n_var + micro_panel_width(p) - 1) / micro_panel_width(p);
}

/* Returns where variable `var` of the tile begins in its micro-panel. */
static char *micro_panel_of(const cpu_product *p, const cpu_packed *micro_panels, int64_t var) {
    return (char *)micro_panels->memory.at + var / micro_panel_width(p) * micro_panel_bytes(p) +
           var % micro_panel_width(p) * p->element;
}

/* One side of a tile, for pack_micro_panel(). */
typedef struct {
    const tile_product *t;
    const cpu_operand *operand;
    const cpu_packed *micro_panels;
    int64_t var;
} packing;

static void pack_micro_panel(void *argument, int thread, int64_t micro_panel) {
    const packing *o = argument;
    const tile_product *t = o->t;
    const cpu_product *p = t->product;
    int64_t at = micro_panel * micro_panel_width(p);
    if (gcor_stop(t->state->context)) return;
    p->pack(t->state, p, o->operand, o->var + at, t->first, t->n, micro_panel_of(p, o->micro_panels, at),
            t->work + thread * p->work_bytes);
}

/* All of these variables may still be packed, for the previous tile, which may have had fewer: where a shard begins
 * inside a large square of the grid, its next square is larger than its first. */
static void pack_micro_panels(const tile_product *t, const cpu_operand *operand, const cpu_packed *micro_panels,
                              int64_t var, int64_t n_var) {
    packing o = {t, operand, micro_panels, var};
    if (!t->keep && micro_panels->of == operand && micro_panels->first == var && micro_panels->n_var == n_var &&
        micro_panels->planes == t->product->planes && micro_panels->is_bytes == t->product->is_bytes)
        return;
    gcor_for_each(t->state->context->threads, count_micro_panels(t->product, n_var), pack_micro_panel, &o);
}

/* True if the pair mask excludes the block's columns from c on, up to the next multiple of GCOR_PAIR_BLOCK. */
static int is_outside(const tile_product *t, const gcor_tile *block, int64_t c) {
    gcor_tile part = {block->row, block->n_row, block->col + c, gcor_min(GCOR_PAIR_BLOCK, block->n_col - c)};
    return t->state->sink->pairs && cpu_is_outside(t->state, &part);
}

/* Sums block b over the current slice, one chunk after the other, CPU_KERNEL_ROWS rows by one micro-panel at a time.
 * Sums of pairs outside of the mask are not set. After the last slice, delivers the coefficients to the sink. */
static void compute_block(void *argument, int thread, int64_t b) {
    const tile_product *t = argument;
    const cpu_product *p = t->product;
    gcor_tile block = cpu_block(t->tile, b);
    char *sums = t->sums + (t->keep ? b : thread) * block_bytes(p);
    int64_t width = micro_panel_width(p), n, done = 0;
    int outside = 0;
    if (cpu_is_outside(t->state, &block) || gcor_stop(t->state->context)) return;
    do {
        n = gcor_min(p->chunk > 0 ? p->chunk : CHUNK, t->n - done);
        for (int64_t c = 0; c < block.n_col; c += width) {
            if (c % GCOR_PAIR_BLOCK == 0) outside = is_outside(t, &block, c);
            for (int64_t r = 0; !outside && r < block.n_row; r += CPU_KERNEL_ROWS) {
                gcor_tile part = {block.row + r, CPU_KERNEL_ROWS, block.col + c, width};
                if (gcor_tile_pairs(&part, t->state->sink->shape) == 0) continue;
                char *rows = micro_panel_of(p, t->packed_rows, part.row - t->tile->row) + done * CPU_MICRO_PANEL_BYTES;
                char *cols = micro_panel_of(p, t->packed_cols, part.col - t->tile->col) + done * CPU_MICRO_PANEL_BYTES;
                p->dot(t->state, p, rows, cols, n, t->first + done > 0, sums + (r * CPU_BLOCK_COLS + c) * sum_bytes(p));
            }
        }
        done += n;
    } while (done < t->n);
    if (t->first + t->n == p->length) p->deliver(t->state, p, thread, t->rows, t->cols, &block, sums);
}

static gcor_status reserve(tile_product *t) {
    gcor_state *state = t->state;
    const cpu_product *p = t->product;
    int64_t threads = state->context->threads, blocks = t->keep ? cpu_blocks(t->tile) : threads;
    size_t micro_panel = (size_t)micro_panel_bytes(p);
    t->sums = cpu_reserve(state->context, &state->sums, blocks, (size_t)block_bytes(p));
    t->work = cpu_reserve(state->context, &state->work, threads, (size_t)p->work_bytes);
    int ok = t->sums && t->work &&
             cpu_reserve(state->context, &t->packed_rows->memory, count_micro_panels(p, t->tile->n_row), micro_panel) &&
             cpu_reserve(state->context, &t->packed_cols->memory, count_micro_panels(p, t->tile->n_col), micro_panel);
    return ok ? GCOR_OK : GCOR_NO_MEMORY;
}

gcor_status cpu_sum_slices(gcor_state *state, const cpu_product *product, const cpu_operand *rows,
                           const cpu_operand *cols, const gcor_tile *tile) {
    gcor_context *context = state->context;
    int diagonal = rows == cols && tile->row == tile->col && tile->n_row == tile->n_col;
    tile_product t = {.state = state,
                      .product = product,
                      .rows = rows,
                      .cols = cols,
                      .tile = tile,
                      .packed_rows = &state->rows,
                      .packed_cols = diagonal ? &state->rows : &state->cols,
                      .keep = product->length > product->slice};
    gcor_status status = reserve(&t);
    if (status) return status;
    do {
        t.n = gcor_min(product->slice, product->length - t.first);
        context->tile_fraction = product->length > 0 ? (double)t.first / (double)product->length : 0;
        pack_micro_panels(&t, rows, t.packed_rows, tile->row, tile->n_row);
        if (!diagonal) pack_micro_panels(&t, cols, t.packed_cols, tile->col, tile->n_col);
        gcor_for_each(context->threads, cpu_blocks(tile), compute_block, &t);
        t.first += t.n;
    } while (t.first < product->length && !gcor_stop(context));
    state->rows.of = context->error.status ? NULL : rows;
    state->rows.first = tile->row;
    state->rows.n_var = tile->n_row;
    state->rows.planes = product->planes;
    state->rows.is_bytes = product->is_bytes;
    return context->error.status;
}
