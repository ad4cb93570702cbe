/* Saves stores to files. Loads them into memory, or attaches them and leaves the chunks in the file. */
#include "store.h"

#include "../../base/os.h"
#include "../../base/alloc.h"
#include "../file.h"

#include <errno.h>
#include <string.h>

/* The header of a chunk in a file. */
typedef struct {
    gcor_tile tile;
    int64_t n;
} chunk_head;

static gcor_status put_settings(const gcor_store *store, gcor_context *context, FILE *file,
                                gcor_status (*work)(gcor_context *, FILE *, const void *, size_t)) {
    gcor_status status = work(context, file, &store->edges.rule.side, sizeof store->edges.rule.side);
    if (!status) status = work(context, file, &store->min, sizeof store->min);
    return status ? status : work(context, file, &store->edges.rule.ceiling, sizeof store->edges.rule.ceiling);
}

static gcor_status put_one(gcor_context *context, FILE *file, const void *data, size_t size) {
    return gcor_put(context, file, data, 1, size);
}

static gcor_status save_chunk(const gcor_chunk *chunk, gcor_context *context, const gcor_chunk_buffers *buffers,
                              FILE *file) {
    const chunk_head head = {chunk->tile, chunk->n};
    gcor_chunk_view view;
    gcor_status status = gcor_chunk_open(chunk, context, buffers, 0, GCOR_VALUES | GCOR_POSITIONS, &view);
    if (!status) status = gcor_put(context, file, &head, 1, sizeof head);
    if (!status) status = gcor_put(context, file, view.r, chunk->n, sizeof *view.r);
    return status ? status : gcor_put(context, file, view.position, chunk->n, sizeof *view.position);
}

gcor_status gcor_store_save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file) {
    gcor_store *store = (gcor_store *)sink;
    gcor_chunk_buffers buffers = {NULL, 0};
    gcor_status status = store->wanted > 0 ? gcor_store_prune(store, context) : GCOR_OK;
    if (!status) status = gcor_store_to_host(store, context);
    if (!status) status = gcor_chunk_buffers_new(context, store->chunks, store->n_chunks, &buffers);
    if (!status) status = put_settings(store, context, file, put_one);
    if (!status) status = gcor_put(context, file, &store->edges.above, 1, sizeof store->edges.above);
    if (!status) status = gcor_put(context, file, &store->n_chunks, 1, sizeof store->n_chunks);
    for (int64_t k = 0; !status && k < store->n_chunks; k++)
        status = gcor_stop(context) ? context->error.status : save_chunk(&store->chunks[k], context, &buffers, file);
    gcor_chunk_buffers_free(&buffers);
    return status;
}

/* ---- load and attach ------------------------------------------------------------------------- */

/* True if the header is valid: its count determines how much is read next, and its tile which rows are written to. */
static int is_sound(const gcor_sink *sink, const gcor_chunk *chunk) {
    const gcor_tile *tile = &chunk->tile;
    return tile->row >= 0 && tile->row < sink->n_row && tile->n_row > 0 && tile->n_row <= sink->n_row - tile->row &&
           tile->col >= 0 && tile->col < sink->n_col && tile->n_col > 0 && tile->n_col <= sink->n_col - tile->col &&
           (tile->n_row - 1) >> (32 - gcor_position_bits(tile)) == 0 && chunk->n > 0 && chunk->n <= GCOR_CHUNK &&
           chunk->n <= tile->n_row * tile->n_col;
}

/* True if all edges of a chunk in memory are pairs of the shape, with weights that the rule keeps. */
static int has_sound_edges(const gcor_store *store, const gcor_chunk *chunk) {
    const gcor_chunk_view view = gcor_view_of(chunk);
    const gcor_tile *tile = &chunk->tile;
    gcor_shape shape = store->edges.sink.shape;
    for (int64_t e = 0; e < chunk->n; e++) {
        int64_t row = gcor_row_at(&view, e), col = gcor_col_at(&view, e);
        if (row >= tile->row + tile->n_row || col >= tile->col + tile->n_col) return 0;
        if (shape != GCOR_FULL && (shape == GCOR_UPPER ? col <= row : col >= row)) return 0;
        if (gcor_judge(&store->edges.rule, row, col, chunk->r[e]) != GCOR_KEPT) return 0;
    }
    return 1;
}

/* Frees the chunk's memory. From now on the chunk is read from the file. */
static gcor_status leave_in_file(gcor_chunk *chunk, gcor_context *context, gcor_spool_file *attached, FILE *file) {
    int64_t end = gcor_os_tell(file);
    if (end < 0) return gcor_fail(context, GCOR_BAD_FILE, "cannot read a saved result: %s", strerror(errno));
    gcor_free(chunk->r);
    chunk->r = NULL;
    chunk->file = gcor_spool_file_join(attached);
    chunk->offset = end - gcor_chunk_bytes(chunk);
    return GCOR_OK;
}

/* attached: the file, if the chunk is to stay in it; NULL: load it into memory. */
static gcor_status load_chunk(gcor_store *store, gcor_context *context, FILE *file, gcor_spool_file *attached) {
    chunk_head head;
    gcor_chunk *chunk = gcor_store_open_chunk(store, context);
    if (!chunk) return GCOR_NO_MEMORY;
    gcor_status status = gcor_get(context, file, &head, 1, sizeof head);
    if (status) return status;
    *chunk = (gcor_chunk){.tile = head.tile, .n = head.n};
    if (!is_sound(&store->edges.sink, chunk)) return gcor_damaged(context);
    status = gcor_store_check(store, context, chunk->n);
    if (!status) status = gcor_chunk_allocate(context, chunk);
    if (status) return status;
    status = gcor_get(context, file, chunk->r, gcor_chunk_bytes(chunk), 1);
    if (!status && !has_sound_edges(store, chunk)) status = gcor_damaged(context);
    if (!status && attached) status = leave_in_file(chunk, context, attached, file);
    if (status)
        gcor_free(chunk->r);
    else
        gcor_store_add_chunk(store);
    return status;
}

static gcor_status load_chunks(gcor_store *store, gcor_context *context, FILE *file, gcor_spool_file *attached) {
    const gcor_sink *sink = &store->edges.sink;
    int64_t *above = &store->edges.above, n_chunks = 0;
    gcor_status status = put_settings(store, context, file, gcor_expect);
    if (!status) status = gcor_get(context, file, above, 1, sizeof *above);
    if (!status) status = gcor_get(context, file, &n_chunks, 1, sizeof n_chunks);
    if (!status && (n_chunks < 0 || *above < 0 || *above > sink->n_row * sink->n_col)) status = gcor_damaged(context);
    for (int64_t k = 0; !status && k < n_chunks; k++)
        status = gcor_stop(context) ? context->error.status : load_chunk(store, context, file, attached);
    return status;
}

gcor_status gcor_store_load(gcor_sink *sink, gcor_context *context, FILE *file) {
    return load_chunks((gcor_store *)sink, context, file, NULL);
}

/* Loads into a fork of the store, so that nothing is added if the file is damaged. */
static gcor_status attach_stream(gcor_store *store, gcor_context *context, FILE *stream, gcor_spool_file *file,
                                 int64_t *end) {
    gcor_sink *sink = &store->edges.sink, *other = NULL;
    gcor_status status = gcor_expect_head(sink, context, stream);
    if (!status) status = gcor_sink_fork(sink, context, &other);
    if (!status) status = load_chunks((gcor_store *)other, context, stream, file);
    if (!status && end) *end = gcor_os_tell(stream);
    if (!status) status = sink->type->merge(sink, context, other);
    gcor_sink_free(other);
    return status;
}

gcor_status gcor_store_attach(gcor_store *store, gcor_context *context, const char *path, int64_t offset,
                              int64_t *end) {
    gcor_spool_file *file;
    FILE *stream;
    gcor_status status = gcor_spool_file_open(context, path, &file);
    if (status) return status;
    status = gcor_spool_file_stream(file, context, offset, &stream);
    if (!status) {
        status = attach_stream(store, context, stream, file, end);
        (void)fclose(stream);
    }
    gcor_spool_file_leave(file);
    return status;
}
