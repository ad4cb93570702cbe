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
    cpu_slivers kept[2];                    /* what these are where operands stay open */
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

/* What is wanted next, on its way to the second-level cache while products are summed: of each of two pieces of memory
 * some lines at a time. */
typedef struct {
    const char *at[2], *end[2];
    int64_t some; /* bytes */
} fetching;

static void fetch_some(fetching *f) {
    enum { LINE = 64 };
    for (int k = 0; k < 2; k++) {
        const char *end = f->end[k] - f->at[k] > f->some ? f->at[k] + f->some : f->end[k];
        for (; f->at[k] < end; f->at[k] += LINE) __builtin_prefetch(f->at[k], 0, 2);
    }
}

/* Multiplies n elements of all pairs of a block, in groups of rows by micro-panels. Sums of groups without a pair of
 * the shape, or outside of the pair mask, are not set. */
static void multiply_block(const tile_product *t, const gcor_tile *block, int64_t first, int64_t n, int add, char *sums,
                           fetching *next) {
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
            if (next) fetch_some(next);
            p->multiply(t->state, p, rows, cols, n, add, sums + (r * CPU_BLOCK_COLS + c) * sum_bytes(p));
        }
    }
}

/* A block and a slice of n elements from `first` on. next: what else to fetch meanwhile, or NULL. */
static void work_on_block(const tile_product *t, int thread, const gcor_tile *block, int64_t first, int64_t n,
                          char *sums, fetching *next) {
    const cpu_product *p = t->product;
    if (cpu_is_outside(t->state, block) || gcor_stop(t->state->context)) return;
    int64_t done = 0;
    do {
        int64_t some = gcor_min(p->chunk > 0 ? p->chunk : CHUNK, n - done);
        multiply_block(t, block, done, some, first + done > 0, sums, next);
        done += some;
    } while (done < n);
    if (first + n == p->length) p->deliver(t->state, p, thread, t->rows, t->cols, block, sums);
}

static void work_on_block_of_slice(void *argument, int thread, int64_t b) {
    const tile_product *t = argument;
    gcor_tile block = cpu_block(t->tile, b);
    work_on_block(t, thread, &block, t->first, t->n, t->sums + (t->keep ? b : thread) * block_bytes(t->product), NULL);
}

static void work_on_slice(tile_product *t, int64_t first, int64_t n) {
    const gcor_tile *tile = t->tile;
    t->first = first;
    t->n = n;
    open_slivers(t, t->rows, t->row_slivers, tile->row, tile->n_row);
    if (t->col_slivers != t->row_slivers) open_slivers(t, t->cols, t->col_slivers, tile->col, tile->n_col);
    gcor_for_each(t->state->context->threads, cpu_blocks(tile), work_on_block_of_slice, t);
}

static void open_kept_sliver(void *argument, int thread, int64_t s) {
    const packing *o = argument;
    const cpu_product *p = o->t->product;
    (void)thread;
    if (!gcor_stop(o->t->state->context))
        p->open(o->t->state, p, o->operand, o->operand->head.first + s * sliver_width(p), 0, p->length,
                o->operand->packed + s * sliver_bytes(p), NULL);
}

/* All variables of an operand, opened for once. */
static gcor_status open_operand(const tile_product *t, const cpu_operand *operand) {
    const cpu_product *p = t->product;
    cpu_operand *o = (cpu_operand *)operand; /* what is cached in it is no part of its value */
    gcor_context *context = t->state->context;
    int64_t slivers = count_slivers(p, o->head.n_var), bytes = sliver_bytes(p);
    if (o->packed_as == (const void *)p->open) return GCOR_OK;
    gcor_free(o->packed);
    o->packed_as = NULL;
    o->packed = gcor_alloc(context, slivers, (size_t)bytes, "the opened columns");
    if (!o->packed) return GCOR_NO_MEMORY;
    gcor_huge_pages(o->packed, (size_t)(slivers * bytes));
    packing all = {.t = t, .operand = o};
    gcor_for_each(context->threads, slivers, open_kept_sliver, &all);
    if (!context->error.status) o->packed_as = (const void *)p->open;
    return context->error.status;
}

/* A tile's variables in an operand that is open. They begin where a sliver does: tiles and panels begin at multiples of
 * 64. */
static cpu_slivers kept_slivers(const tile_product *t, const cpu_operand *operand, int64_t var, int64_t n_var) {
    int64_t sliver = (var - operand->head.first) / sliver_width(t->product);
    return (cpu_slivers){.of = operand,
                         .first = var,
                         .n_var = n_var,
                         .planes = t->product->planes,
                         .memory = {operand->packed + sliver * sliver_bytes(t->product), 0}};
}

static gcor_status keep_open(tile_product *t) {
    const gcor_tile *tile = t->tile;
    gcor_status status = open_operand(t, t->rows);
    if (!status) status = open_operand(t, t->cols);
    if (status) return status;
    t->kept[0] = kept_slivers(t, t->rows, tile->row, tile->n_row);
    t->kept[1] = kept_slivers(t, t->cols, tile->col, tile->n_col);
    t->row_slivers = &t->kept[0];
    t->col_slivers = &t->kept[1];
    t->sums = cpu_reserve(t->state->context, &t->state->sums, t->state->context->threads,
                          (size_t)block_bytes(t->product));
    return t->sums ? GCOR_OK : GCOR_NO_MEMORY;
}

static gcor_status work_on_kept(tile_product *t) {
    gcor_status status = keep_open(t);
    if (status) return status;
    work_on_slice(t, 0, t->product->length);
    return t->state->context->error.status;
}

static gcor_status evict(tile_product *t) {
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
    if (state->sink->in_turns && product->keeps && !t.keep) return work_on_kept(&t);
    gcor_status status = evict(&t);
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

/* ---- operands in turns ---------------------------------------------------------------------------------- */

/* How long the sides of parts are: so that each thread has some of them, as far as blocks are no smaller. */
static int64_t part_side(const gcor_tile *tile, int threads) {
    enum { PARTS = 4 };
    int64_t side = GCOR_PART;
    while (side > CPU_BLOCK_ROWS && tile->n_row * tile->n_col < PARTS * threads * side * side) side /= 2;
    return side;
}

/* While block b of a part is multiplied, the rows of the next one are fetched, and of the next operand's columns as
 * large a part as this block is one of the blocks: when it is their turn they are there. */
static fetching fetch_after(const tile_product *t, int64_t n, int64_t s, const gcor_tile *part, int64_t b) {
    enum { AT_ONCE = 1024 }; /* a kernel takes the time of some more */
    int64_t blocks = cpu_blocks(part), slivers = count_slivers(t->product, part->n_col);
    fetching next = {0};
    gcor_tile block = cpu_block(part, b + 1 < blocks ? b + 1 : 0);
    const tile_product *of = t + (b + 1 < blocks ? s : s + 1);
    if (of < t + n) {
        next.at[0] = sliver_of(of->product, of->row_slivers, block.row - t->tile->row);
        next.end[0] = next.at[0] + count_slivers(of->product, block.n_row) * sliver_bytes(of->product);
    }
    if (s + 1 < n) {
        const cpu_product *p = t[s + 1].product;
        const char *cols = sliver_of(p, t[s + 1].col_slivers, part->col - t->tile->col);
        next.at[1] = cols + slivers * b / blocks * sliver_bytes(p);
        next.end[1] = cols + slivers * (b + 1) / blocks * sliver_bytes(p);
    }
    next.some = AT_ONCE;
    return next;
}

/* A part of a tile, of all operands: what is summed over them stays in the thread's cache. */
static void work_on_part(const tile_product *t, int thread, int64_t n, const gcor_tile *part) {
    gcor_sink *sink = t->state->sink;
    gcor_context *context = t->state->context;
    if (cpu_is_outside(t->state, part) || gcor_stop(context)) return;
    sink->type->begin_part(sink, context, thread, part);
    for (int64_t s = 0; s < n; s++)
        for (int64_t b = 0; b < cpu_blocks(part); b++) {
            gcor_tile block = cpu_block(part, b);
            fetching next = fetch_after(t, n, s, part, b);
            work_on_block(t + s, thread, &block, 0, t[s].product->length,
                          t[s].sums + thread * block_bytes(t[s].product), &next);
        }
    if (!gcor_stop(context)) sink->type->end_part(sink, context, thread);
}

typedef struct {
    const tile_product *t;        /* of each operand */
    int64_t n, side, parts_a_row; /* operands; sides of parts, and how many of them a row of parts has */
} parts_of_tile;

static void work_on_part_number(void *argument, int thread, int64_t p) {
    const parts_of_tile *parts = argument;
    const gcor_tile *tile = parts->t->tile;
    int64_t side = parts->side, row = p / parts->parts_a_row * side, col = p % parts->parts_a_row * side;
    gcor_tile part = {tile->row + row, gcor_min(side, tile->n_row - row), tile->col + col,
                      gcor_min(side, tile->n_col - col)};
    work_on_part(parts->t, thread, parts->n, &part);
}

static gcor_status work_in_turns(const tile_product *t, int64_t n) {
    gcor_context *context = t->state->context;
    const gcor_tile *tile = t->tile;
    int64_t side = part_side(tile, context->threads), n_col = (tile->n_col + side - 1) / side;
    parts_of_tile parts = {t, n, side, n_col};
    gcor_for_each(context->threads, (tile->n_row + side - 1) / side * n_col, work_on_part_number, &parts);
    return context->error.status;
}

gcor_status cpu_multiply_slivers_in_turns(gcor_state *state, const cpu_product *products,
                                          const cpu_operand *const *rows, const cpu_operand *const *cols, int64_t n,
                                          const gcor_tile *tile) {
    tile_product *t = gcor_alloc(state->context, n, sizeof *t, "a tile of many subjects");
    gcor_status status = t ? GCOR_OK : GCOR_NO_MEMORY;
    for (int64_t s = 0; !status && s < n; s++) {
        t[s] = (tile_product){.state = state, .product = products + s, .rows = rows[s], .cols = cols[s], .tile = tile};
        status = keep_open(t + s);
    }
    if (!status) status = work_in_turns(t, n);
    gcor_free(t);
    return status;
}
