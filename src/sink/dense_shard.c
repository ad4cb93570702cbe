/* Every coefficient of a share: square by square, and row by row in each, which is the order of the file. */
#include "dense_shard.h"

#include "../base/alloc.h"
#include "../base/shard.h"
#include "../base/threads.h"
#include "../base/triangle.h"
#include "file.h"

typedef struct {
    gcor_square square;
    gcor_tile tile; /* of it what is in the grid */
    int64_t number; /* of its first smallest square, by which they ascend */
    int64_t first;  /* where its pairs begin */
} part;

typedef struct {
    gcor_dense dense; /* first; `out` has the share's pairs only */
    gcor_grid grid;
    gcor_shard shard;
    int64_t n_pairs, n_parts, capacity;
    part *parts; /* of forks the same */
    int is_fork;
} dense_shard;

/* The last one that does not begin behind the pair's smallest square. */
static const part *part_of(const dense_shard *own, int64_t row, int64_t col) {
    gcor_square at = {row, col, own->grid.side};
    int64_t number = gcor_square_number(&own->grid, &at), low = 0, high = own->n_parts;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (own->parts[middle].number <= number)
            low = middle;
        else
            high = middle;
    }
    return own->parts + low;
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    dense_shard *own = (dense_shard *)sink;
    gcor_segment piece = *segment;
    int64_t end = segment->col + segment->n;
    (void)context, (void)thread;
    while (piece.col < end) {
        const part *p = part_of(own, piece.row, piece.col);
        int64_t col, n, stop;
        gcor_tile_segment(&p->tile, sink->shape, piece.row, &col, &n);
        stop = col + n < end ? col + n : end;
        piece.n = stop - piece.col;
        gcor_dense_put(&own->dense, &piece,
                       own->dense.out + p->first + gcor_tile_offset(&p->tile, sink->shape, piece.row) + piece.col -
                           col);
        if (piece.doubles) piece.doubles += piece.n;
        if (piece.floats) piece.floats += piece.n;
        piece.col = stop;
    }
    return GCOR_OK;
}

static gcor_status fork_sink(gcor_sink *sink, gcor_context *context, gcor_sink **other) {
    dense_shard *fresh = gcor_alloc(context, 1, sizeof *fresh, "a worker's results");
    *other = NULL;
    if (!fresh) return GCOR_NO_MEMORY;
    *fresh = *(const dense_shard *)sink;
    fresh->dense.zero_sd = 0;
    fresh->is_fork = 1;
    *other = &fresh->dense.sink;
    return GCOR_OK;
}

static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    (void)context;
    ((dense_shard *)sink)->dense.zero_sd += ((dense_shard *)other)->dense.zero_sd;
    ((dense_shard *)other)->dense.zero_sd = 0;
    return GCOR_OK;
}

static gcor_status save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file) {
    enum { PIECE = 1 << 20 };
    const dense_shard *own = (const dense_shard *)sink;
    (void)shard;
    gcor_status status = gcor_dense_put_head(&own->dense, context, &own->shard, file);
    for (int64_t k = 0; !status && k < own->n_pairs; k += PIECE) {
        int64_t n = own->n_pairs - k < PIECE ? own->n_pairs - k : PIECE;
        status = gcor_put(context, file, own->dense.out + k, n, sizeof(double));
        if (!status && gcor_stop(context)) status = context->error.status;
    }
    return status;
}

static void release(gcor_sink *sink) {
    dense_shard *own = (dense_shard *)sink;
    if (!own->is_fork) gcor_free(own->dense.out);
    if (!own->is_fork) gcor_free(own->parts);
    gcor_free(own);
}

/* The name is that of the sink that loads it. */
static const gcor_sink_type type = {
    .name = "dense",
    .keeps_all = 1,
    .take = take,
    .fork = fork_sink,
    .merge = merge,
    .save = save,
    .free = release,
};

/* The share's squares, as large as they are drawn where one worker draws them all. */
static gcor_status list_parts(dense_shard *own, gcor_context *context) {
    gcor_queue queue;
    gcor_square square;
    int found = 1;
    gcor_status status = gcor_queue_fill(&queue, context, &own->grid, &own->shard);
    while (!status && !(status = gcor_queue_draw(&queue, context, 1, 1, &square, &found)) && found) {
        void *parts = own->parts;
        status = gcor_grow(context, &parts, own->n_parts, &own->capacity, own->n_parts + 1, sizeof *own->parts,
                           "the squares of a share");
        own->parts = parts;
        if (status) break;
        own->parts[own->n_parts++] = (part){square, gcor_square_tile(&own->grid, &square),
                                            gcor_square_number(&own->grid, &square), own->n_pairs};
        own->n_pairs += gcor_square_pairs(&own->grid, &square);
    }
    gcor_queue_free(&queue);
    return status;
}

gcor_status gcor_dense_shard_new(gcor_context *context, gcor_layout layout, int64_t n_row, int64_t n_col,
                                 const gcor_shard *shard, double missing, gcor_sink **sink) {
    *sink = NULL;
    dense_shard *own = gcor_alloc(context, 1, sizeof *own, "the results of a share");
    if (!own) return GCOR_NO_MEMORY;
    *own = (dense_shard){.dense = gcor_dense_of(layout, n_row, n_col, missing), .shard = *shard};
    own->dense.sink.type = &type;
    own->grid = gcor_grid_of(own->dense.sink.shape, n_row, n_col);
    gcor_status status = list_parts(own, context);
    if (!status) own->dense.out = gcor_alloc(context, own->n_pairs, sizeof(double), "the results of a share");
    if (!own->dense.out) {
        release(&own->dense.sink);
        return context->error.status;
    }
    gcor_huge_pages(own->dense.out, (size_t)own->n_pairs * sizeof(double));
    *sink = &own->dense.sink;
    return GCOR_OK;
}
