/* Stores to files and back, into memory or left where they are. */
#include "run.h"

#include "../../base/os.h"
#include "../../base/alloc.h"
#include "../file.h"

#include <errno.h>
#include <string.h>

/* What is written of a run before its bytes. */
typedef struct {
    gcor_tile tile;
    int64_t row, n_row, n;
} run_head;

static gcor_status put_settings(const gcor_store *store, gcor_context *context, FILE *file,
                                gcor_status (*work)(gcor_context *, FILE *, const void *, size_t)) {
    gcor_status status = work(context, file, &store->edges.rule.side, sizeof store->edges.rule.side);
    if (!status) status = work(context, file, &store->min, sizeof store->min);
    return status ? status : work(context, file, &store->edges.rule.ceiling, sizeof store->edges.rule.ceiling);
}

static gcor_status put_one(gcor_context *context, FILE *file, const void *data, size_t size) {
    return gcor_put(context, file, data, 1, size);
}

/* A run's bytes from one file to another. */
static gcor_status copy_bytes(const gcor_edge_run *run, gcor_context *context, FILE *file) {
    enum { PIECE = 1 << 20 };
    char *piece = gcor_alloc(context, PIECE, 1, "edges of the network");
    gcor_status status = piece ? GCOR_OK : GCOR_NO_MEMORY;
    int64_t bytes = gcor_run_bytes(run);
    for (int64_t at = 0; !status && at < bytes; at += PIECE) {
        int64_t n = bytes - at < PIECE ? bytes - at : PIECE;
        status = gcor_run_file_read(run->file, context, run->offset + at, piece, n);
        if (!status) status = gcor_put(context, file, piece, n, 1);
    }
    gcor_free(piece);
    return status;
}

static gcor_status save_run(const gcor_edge_run *run, gcor_context *context, FILE *file) {
    run_head head;
    memset(&head, 0, sizeof head);
    head = (run_head){run->tile, run->row, run->n_row, run->n};
    gcor_status status = gcor_put(context, file, &head, 1, sizeof head);
    if (status) return status;
    return run->file ? copy_bytes(run, context, file) : gcor_put(context, file, run->r, gcor_run_bytes(run), 1);
}

gcor_status gcor_store_save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file) {
    gcor_store *store = (gcor_store *)sink;
    (void)shard;
    gcor_status status = store->wanted > 0 ? gcor_store_prune(store, context) : GCOR_OK;
    if (!status) status = gcor_store_land(store, context);
    if (!status) status = put_settings(store, context, file, put_one);
    if (!status) status = gcor_put(context, file, &store->edges.above, 1, sizeof store->edges.above);
    if (!status) status = gcor_put(context, file, &store->n_runs, 1, sizeof store->n_runs);
    for (const gcor_edge_run *run = store->runs; !status && run < store->runs + store->n_runs; run++)
        status = gcor_stop(context) ? context->error.status : save_run(run, context, file);
    return status;
}

/* ---- back ------------------------------------------------------------------------------------ */

/* Whether what was read can be a run: its counts decide how much is read next, and its tile which runs are looked
 * into. */
static int is_sound(const gcor_sink *sink, const gcor_edge_run *run) {
    const gcor_tile *tile = &run->tile;
    return run->row >= 0 && run->row < sink->n_row && run->n_row > 0 && run->n_row <= sink->n_row - run->row &&
           tile->col >= 0 && tile->col < sink->n_col && tile->n_col > 0 && tile->n_col <= sink->n_col - tile->col &&
           run->n > 0 && run->n <= INT32_MAX && run->n <= run->n_row * tile->n_col;
}

/* Whether a row of a run can be one: of pairs that count, by column, and with weights that are kept. */
static int is_sound_row(const gcor_store *store, const gcor_edge_run *run, int64_t row) {
    const gcor_tile tile = {row, 1, run->tile.col, run->tile.n_col};
    int32_t begin = run->start[row - run->row], end = run->start[row - run->row + 1];
    int64_t col, n;
    gcor_tile_segment(&tile, store->edges.sink.shape, row, &col, &n);
    if (begin < 0 || end < begin || end > run->n) return 0;
    for (int32_t e = begin; e < end; e++) {
        if (run->col[e] < col || run->col[e] >= col + n || (e > begin && run->col[e] <= run->col[e - 1])) return 0;
        if (gcor_judge(&store->edges.rule, row, run->col[e], run->r[e]) != GCOR_KEPT) return 0;
    }
    return 1;
}

static int has_sound_rows(const gcor_store *store, const gcor_edge_run *run) {
    int sound = run->start[0] == 0 && run->start[run->n_row] == run->n;
    for (int64_t row = run->row; sound && row < run->row + run->n_row; row++) sound = is_sound_row(store, run, row);
    return sound;
}

/* What is in memory of a run is in the file, too, and is read from there from now on. */
static gcor_status leave_in_file(gcor_edge_run *run, gcor_context *context, gcor_run_file *attached, FILE *file) {
    int64_t end = gcor_os_tell(file);
    if (end < 0) return gcor_fail(context, GCOR_BAD_FILE, "cannot read a saved result: %s", strerror(errno));
    gcor_free(run->r);
    run->r = NULL;
    run->file = gcor_run_file_join(attached);
    run->offset = end - gcor_run_bytes(run);
    return GCOR_OK;
}

/* attached: the file itself, where the run is to stay; NULL: in memory. */
static gcor_status load_run(gcor_store *store, gcor_context *context, FILE *file, gcor_run_file *attached) {
    run_head head;
    gcor_edge_run *run = gcor_store_open_run(store, context);
    if (!run) return GCOR_NO_MEMORY;
    gcor_status status = gcor_get(context, file, &head, 1, sizeof head);
    if (status) return status;
    *run = (gcor_edge_run){.tile = head.tile, .row = head.row, .n_row = head.n_row, .n = head.n};
    if (!is_sound(&store->edges.sink, run)) return gcor_damaged(context);
    status = gcor_store_check(store, context, run->n);
    if (!status) status = gcor_run_allocate(context, run);
    if (status) return status;
    status = gcor_get(context, file, run->r, gcor_run_bytes(run), 1);
    if (!status && !has_sound_rows(store, run)) status = gcor_damaged(context);
    if (!status && attached) status = leave_in_file(run, context, attached, file);
    if (status)
        gcor_free(run->r);
    else
        gcor_store_add_run(store);
    return status;
}

static gcor_status load_runs(gcor_store *store, gcor_context *context, FILE *file, gcor_run_file *attached) {
    const gcor_sink *sink = &store->edges.sink;
    int64_t *above = &store->edges.above, n_runs = 0;
    gcor_status status = put_settings(store, context, file, gcor_expect);
    if (!status) status = gcor_get(context, file, above, 1, sizeof *above);
    if (!status) status = gcor_get(context, file, &n_runs, 1, sizeof n_runs);
    if (!status && (n_runs < 0 || *above < 0 || *above > sink->n_row * sink->n_col)) status = gcor_damaged(context);
    for (int64_t k = 0; !status && k < n_runs; k++)
        status = gcor_stop(context) ? context->error.status : load_run(store, context, file, attached);
    return status;
}

gcor_status gcor_store_load(gcor_sink *sink, gcor_context *context, FILE *file) {
    return load_runs((gcor_store *)sink, context, file, NULL);
}

/* Into a store of its own, so that nothing is added where something is wrong. */
static gcor_status attach_stream(gcor_store *store, gcor_context *context, FILE *stream, gcor_run_file *file,
                                 int64_t *end) {
    gcor_sink *sink = &store->edges.sink, *other = NULL;
    gcor_status status = gcor_expect_head(sink, context, stream);
    if (!status) status = sink->type->fork(sink, context, &other);
    if (!status) status = load_runs((gcor_store *)other, context, stream, file);
    if (!status && end) *end = gcor_os_tell(stream);
    if (!status) status = sink->type->merge(sink, context, other);
    gcor_sink_free(other);
    return status;
}

gcor_status gcor_store_attach(gcor_store *store, gcor_context *context, const char *path, int64_t offset,
                              int64_t *end) {
    gcor_run_file *file;
    FILE *stream;
    gcor_status status = gcor_run_file_open(context, path, 0, &file);
    if (status) return status;
    status = gcor_run_file_stream(file, context, offset, &stream);
    if (!status) {
        status = attach_stream(store, context, stream, file, end);
        (void)fclose(stream);
    }
    gcor_run_file_leave(file);
    return status;
}
