/* Stores: add edges to chunks in memory or to the spool, and merge the stores of several workers. */
#include "store.h"

#include "../../base/os.h"
#include "../../base/alloc.h"
#include "../../base/threads.h"

#include <string.h>

static const char *const WHAT = "edges of the network";

/* ---- add edges ------------------------------------------------------------------------------ */

enum { FILLED = 1 << 14 }; /* edges that a thread writes at a time */

typedef struct {
    const gcor_edge *list;
    const gcor_chunk *chunk;
} filling;

/* All threads fill a chunk, because most of the time is spent on page faults. */
static void fill_block(void *argument, int thread, int64_t from, int64_t end) {
    const gcor_edge *list = ((const filling *)argument)->list;
    const gcor_chunk *chunk = ((const filling *)argument)->chunk;
    const gcor_tile tile = chunk->tile;
    const int bits = gcor_position_bits(&tile);
    for (int64_t e = from; e < end; e++) {
        chunk->r[e] = list[e].r;
        chunk->position[e] = (uint32_t)((list[e].row - tile.row) << bits | (list[e].col - tile.col));
    }
}

/* Moves a new chunk to the spool, if the edges in memory would exceed the budget. */
static gcor_status spool_chunk(const gcor_store *store, gcor_context *context, gcor_chunk *chunk) {
    int64_t bytes = gcor_chunk_bytes(chunk);
    if (!store->spool || gcor_spool_file_held(store->spool, 0) + bytes <= store->budget) return GCOR_OK;
    gcor_status status = gcor_spool_file_append(store->spool, context, chunk->r, bytes, &chunk->offset);
    if (status) return status;
    gcor_free(chunk->r);
    chunk->r = NULL;
    chunk->file = gcor_spool_file_join(store->spool);
    return GCOR_OK;
}

/* Fails before the system kills the process for lack of memory. Asks the system every STEP bytes of edges. With a
 * spool, edges go to the disk instead. */
static gcor_status check_memory(const gcor_store *store, gcor_context *context, const gcor_chunk *chunk) {
    const int64_t STEP = 16 << 20, held = 12 * store->count, bytes = gcor_chunk_bytes(chunk);
    if (store->spool || held / STEP == (held + bytes) / STEP) return GCOR_OK;
    int64_t available = gcor_available_memory();
    if (available >= bytes + STEP) return GCOR_OK;
    return gcor_fail(
        context, GCOR_NO_MEMORY,
        "cannot allocate more memory for the edges of the network: %.0f take %.1f MB, and %.1f MB are free; "
        "ask for fewer edges, or write them to a file with file =",
        (double)store->count, (double)held / 1e6, (double)available / 1e6);
}

static gcor_status keep_chunk(gcor_store *store, gcor_context *context, const gcor_tile *tile, const gcor_edge *list,
                              int64_t n) {
    gcor_chunk *chunk = gcor_store_open_chunk(store, context);
    if (!chunk) return GCOR_NO_MEMORY;
    *chunk = (gcor_chunk){.tile = *tile, .n = n};
    gcor_status status = check_memory(store, context, chunk);
    if (!status) status = gcor_chunk_allocate(context, chunk);
    if (status) return status;
    filling all = {list, chunk};
    gcor_for_blocks(context->threads, n, FILLED, fill_block, &all);
    status = spool_chunk(store, context, chunk);
    if (status)
        gcor_free(chunk->r);
    else
        gcor_store_add_chunk(store);
    return status;
}

static gcor_status keep_block(gcor_store *store, gcor_context *context, const gcor_tile *tile, const gcor_edge *list,
                              int64_t n) {
    gcor_status status = GCOR_OK;
    for (int64_t from = 0; !status && from < n; from += GCOR_CHUNK)
        status = keep_chunk(store, context, tile, list + from, gcor_min(n - from, GCOR_CHUNK));
    return status;
}

/* ---- blocks of a tile ------------------------------------------------------------------------ */

/* Blocks of 2^row_bits x 2^col_bits pairs, numbered row by row from the tile's first pair. */
typedef struct {
    const gcor_tile *tile;
    int row_bits, col_bits;
    int64_t across, n; /* number of blocks in a row of blocks; number of all blocks */
} grid;

static int64_t count_blocks(int64_t n, int bits) {
    return (n + ((int64_t)1 << bits) - 1) >> bits;
}

static grid grid_of(const gcor_tile *tile, int row_bits, int col_bits) {
    int64_t across = count_blocks(tile->n_col, col_bits);
    return (grid){tile, row_bits, col_bits, across, across * count_blocks(tile->n_row, row_bits)};
}

/* Positions within a block fit 32 bits. A store that spools uses small blocks, if they have enough edges. */
static grid cut_tile(const gcor_store *store, const gcor_tile *tile, int64_t n) {
    enum { BLOCK_EDGES = 1 << 12, MAX_BITS = 16 };
    int bits = GCOR_BLOCK_BITS, positions = gcor_position_bits(tile);
    grid whole = grid_of(tile, 32 - positions, positions), small = grid_of(tile, bits, bits);
    if (!store->spool) return whole;
    while (small.n > 1 && bits < MAX_BITS && n / small.n < BLOCK_EDGES) {
        bits++;
        small = grid_of(tile, bits, bits);
    }
    return bits < MAX_BITS ? small : whole;
}

static int64_t block_of(const grid *g, const gcor_edge *edge) {
    return ((edge->row - g->tile->row) >> g->row_bits) * g->across + ((edge->col - g->tile->col) >> g->col_bits);
}

/* Sorts edges by block. Threads go through each part of the list twice: to count edges, and to move them. */
typedef struct {
    const grid *g;
    const gcor_edge *list;
    int64_t n;
    int parts;
    int64_t *next; /* parts x blocks: a part's number of edges of a block, then where the next one goes */
    gcor_edge *sorted;
} block_sort;

static int64_t part_begin(const block_sort *s, int64_t part) {
    return s->n * part / s->parts;
}

static void count_part(void *argument, int thread, int64_t k) {
    const block_sort *s = argument;
    const int64_t end = part_begin(s, k + 1);
    for (int64_t e = part_begin(s, k); e < end; e++) s->next[k * s->g->n + block_of(s->g, &s->list[e])]++;
}

static void move_part(void *argument, int thread, int64_t k) {
    const block_sort *s = argument;
    const int64_t end = part_begin(s, k + 1);
    for (int64_t e = part_begin(s, k); e < end; e++)
        s->sorted[s->next[k * s->g->n + block_of(s->g, &s->list[e])]++] = s->list[e];
}

static gcor_status keep_blocks(gcor_store *store, gcor_context *context, const grid *g, const gcor_edge *list,
                               int64_t n) {
    int parts = context->threads;
    int64_t *next = gcor_alloc(context, (parts + 1) * g->n + 1, sizeof *next, WHAT), *begin = next + parts * g->n;
    gcor_edge *sorted = next ? gcor_alloc(context, n, sizeof *sorted, WHAT) : NULL;
    gcor_status status = sorted ? GCOR_OK : GCOR_NO_MEMORY;
    if (!status) {
        block_sort s = {g, list, n, parts, next, sorted};
        gcor_huge_pages(sorted, (size_t)n * sizeof *sorted);
        memset(next, 0, (size_t)(parts * g->n) * sizeof *next);
        gcor_for_each(parts, parts, count_part, &s);
        gcor_begin_buckets(next, parts, g->n, begin);
        gcor_for_each(parts, parts, move_part, &s);
    }
    for (int64_t b = 0; !status && b < g->n; b++) {
        const int64_t row = b / g->across << g->row_bits, col = b % g->across << g->col_bits;
        gcor_tile block = {g->tile->row + row, gcor_min(g->tile->n_row - row, (int64_t)1 << g->row_bits),
                           g->tile->col + col, gcor_min(g->tile->n_col - col, (int64_t)1 << g->col_bits)};
        status = keep_block(store, context, &block, sorted + begin[b], begin[b + 1] - begin[b]);
    }
    gcor_free(sorted);
    gcor_free(next);
    return status;
}

static gcor_status keep_tile(gcor_edges *edges, gcor_context *context, const gcor_tile *tile, const gcor_edge *list,
                             int64_t n) {
    gcor_store *store = (gcor_store *)edges;
    const grid g = cut_tile(store, tile, n);
    gcor_status status = gcor_store_check(store, context, n);
    if (!status && n > 0)
        status = g.n > 1 ? keep_blocks(store, context, &g, list, n) : keep_block(store, context, tile, list, n);
    if (!status && store->wanted > 0 && store->count >= store->limit) status = gcor_store_prune(store, context);
    return status;
}

/* ---- forks ----------------------------------------------------------------------------------- */

static gcor_status allocate(gcor_sink *sink, gcor_context *context) {
    gcor_store *store = (gcor_store *)sink;
    gcor_edges_clear(&store->edges);
    store->edges.rule.min = store->min;
    store->chunks = NULL;
    store->count = store->n_chunks = store->capacity = 0;
    store->spool = gcor_spool_file_join(store->spool);
    store->buffer = NULL;
    store->prefaulted = NULL;
    store->announced = 0;
    gcor_store_want(store, store->wanted);
    return GCOR_OK;
}

/* Moves the chunks, or the edges of the buffers to one buffer. */
static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_store *store = (gcor_store *)sink, *from = (gcor_store *)other;
    gcor_status status = gcor_store_check(store, context, from->count);
    if (!status) status = gcor_store_join(store, context, from);
    for (; !status && from->n_chunks > 0; from->n_chunks--) {
        gcor_chunk *chunk = gcor_store_open_chunk(store, context);
        if (!chunk) return GCOR_NO_MEMORY;
        *chunk = from->chunks[from->n_chunks - 1];
        from->count -= chunk->n;
        gcor_store_note_held(from, chunk, -1);
        gcor_store_add_chunk(store);
    }
    store->edges.above += from->edges.above;
    from->edges.above = 0;
    return status;
}

static void release(gcor_sink *sink) {
    gcor_store *store = (gcor_store *)sink;
    for (int64_t k = 0; k < store->n_chunks; k++) gcor_store_drop_chunk(store, &store->chunks[k]);
    gcor_free(store->chunks);
    if (store->buffer) store->buffer->type->free(store->buffer);
    gcor_prefaulted_free(store->prefaulted);
    gcor_spool_file_leave(store->spool);
    gcor_edges_free(&store->edges);
}

static const gcor_sink_type TYPE = {
    .name = "store",
    .size = sizeof(gcor_store),
    .role = GCOR_STORE,
    .take = gcor_edges_take,
    .begin_tile = gcor_edges_begin,
    .end_tile = gcor_edges_end,
    .min = gcor_edges_min,
    .allocate = allocate,
    .merge = merge,
    .save = gcor_store_save,
    .load = gcor_store_load,
    .unpermute = gcor_store_unpermute,
    .release = release,
};

gcor_status gcor_store_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_edge_rule rule,
                           int64_t max, gcor_store **store) {
    gcor_sink sink = {.type = &TYPE, .shape = shape, .n_row = n_row, .n_col = n_col, .approximate = 1, .coarse = 1};
    const gcor_store like = {
        .edges = {.sink = sink, .rule = rule, .keep_tile = keep_tile}, .max = max, .min = rule.min};
    *store = gcor_sink_new(context, &like);
    return *store ? GCOR_OK : context->error.status;
}

gcor_status gcor_store_spool(gcor_store *store, gcor_context *context, const char *folder, int64_t budget) {
    gcor_spool_file *file;
    gcor_status status = gcor_spool_file_new(context, folder, &file);
    if (status) return status;
    for (int64_t k = 0; k < store->n_chunks; k++) gcor_store_note_held(store, &store->chunks[k], -1);
    gcor_spool_file_leave(store->spool);
    store->spool = file;
    store->budget = budget;
    for (int64_t k = 0; k < store->n_chunks; k++) gcor_store_note_held(store, &store->chunks[k], 1);
    return GCOR_OK;
}
