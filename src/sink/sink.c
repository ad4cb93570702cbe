/* What all sinks have in common. */
#include "file.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../base/triangle.h"

#include <errno.h>
#include <string.h>

void *gcor_sink_new(gcor_context *context, const void *like) {
    const gcor_sink_type *type = ((const gcor_sink *)like)->type;
    gcor_sink *sink = gcor_alloc(context, 1, type->size, "a result");
    if (!sink) return NULL;
    memcpy(sink, like, type->size);
    gcor_status forked = sink->of ? gcor_sink_fork(sink->of, context, &sink->of) : GCOR_OK;
    if ((!type->allocate || !type->allocate(sink, context)) && !forked) return sink;
    gcor_sink_free(sink);
    return NULL;
}

gcor_status gcor_sink_fork(const gcor_sink *sink, gcor_context *context, gcor_sink **other) {
    *other = gcor_sink_new(context, sink);
    return *other ? GCOR_OK : context->error.status;
}

void gcor_sink_free(gcor_sink *sink) {
    if (!sink) return;
    if (sink->type->release) sink->type->release(sink);
    gcor_sink_free(sink->of);
    gcor_free(sink);
}

gcor_status gcor_begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_status status = sink->type->begin_tile ? sink->type->begin_tile(sink, context, tile) : GCOR_OK;
    return status || !sink->of ? status : gcor_begin_tile(sink->of, context, tile);
}

gcor_status gcor_end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_status status = sink->type->end_tile ? sink->type->end_tile(sink, context, tile) : GCOR_OK;
    return status || !sink->of ? status : gcor_end_tile(sink->of, context, tile);
}

gcor_status gcor_sink_merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_status status = sink->type->merge ? sink->type->merge(sink, context, other) : GCOR_OK;
    return status || !sink->of ? status : gcor_sink_merge(sink->of, context, other->of);
}

gcor_status gcor_sink_unpermute(gcor_sink *sink, gcor_context *context, const int32_t *rows, const int32_t *cols) {
    gcor_status status = sink->type->unpermute ? sink->type->unpermute(sink, context, rows, cols) : GCOR_OK;
    return status || !sink->of ? status : gcor_sink_unpermute(sink->of, context, rows, cols);
}

int gcor_sink_merges(const gcor_sink *sink) {
    return sink->of ? gcor_sink_merges(sink->of) : sink->type->merge != NULL;
}

typedef struct {
    gcor_sink *sink;
    gcor_context *context;
    const gcor_tile *tile;
    const double *doubles;
    const float *floats;
} whole_tile;

static void take_row(void *argument, int thread, int64_t k) {
    const whole_tile *t = argument;
    gcor_segment segment = {.row = t->tile->row + k};
    int64_t offset = gcor_tile_offset(t->tile, t->sink->shape, segment.row);
    gcor_tile_segment(t->tile, t->sink->shape, segment.row, &segment.col, &segment.n);
    if (segment.n == 0) return;
    if (t->doubles) segment.doubles = t->doubles + offset;
    if (t->floats) segment.floats = t->floats + offset;
    /* A failure is in the context; the remaining rows are cheap. */
    (void)t->sink->type->take(t->sink, t->context, thread, &segment);
}

gcor_status gcor_take_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile, const double *doubles,
                           const float *floats) {
    whole_tile t = {sink, context, tile, doubles, floats};
    gcor_status status = gcor_begin_tile(sink, context, tile);
    if (status) return status;
    gcor_for_each(context->threads, tile->n_row, take_row, &t);
    return context->error.status ? context->error.status : gcor_end_tile(sink, context, tile);
}

/* ---- files: a header that identifies the sink, followed by the data of its type's save() ------------------ */

/* The header of a saved sink: its kind, its size, and the byte order of the machine that wrote it. */
typedef struct {
    char mark[8], name[24];
    int32_t order, version, shape, approximate;
    int64_t n_row, n_col;
} file_head;

static file_head head_of(const gcor_sink *sink) {
    file_head head = {.mark = "gpucor",
                      .order = 0x01020304,
                      .version = 2,
                      .shape = (int32_t)sink->shape,
                      .approximate = sink->approximate,
                      .n_row = sink->n_row,
                      .n_col = sink->n_col};
    strncpy(head.name, sink->type->name, sizeof head.name - 1);
    return head;
}

gcor_status gcor_put(gcor_context *context, FILE *file, const void *data, int64_t count, size_t size) {
    if (count == 0 || fwrite(data, size, (size_t)count, file) == (size_t)count) return GCOR_OK;
    return gcor_fail(context, GCOR_BAD_FILE, "cannot write a result of %.1f MB: %s", (double)count * (double)size / 1e6,
                     strerror(errno));
}

gcor_status gcor_get(gcor_context *context, FILE *file, void *data, int64_t count, size_t size) {
    if (count == 0 || fread(data, size, (size_t)count, file) == (size_t)count) return GCOR_OK;
    return gcor_fail(context, GCOR_BAD_FILE, "cannot read a saved result: %s",
                     feof(file) ? "it is cut off" : strerror(errno));
}

gcor_status gcor_damaged(gcor_context *context) {
    return gcor_fail(context, GCOR_BAD_FILE, "a saved result is damaged");
}

gcor_status gcor_expect(gcor_context *context, FILE *file, const void *data, size_t size) {
    char found[1024];
    gcor_status status = size <= sizeof found ? gcor_get(context, file, found, 1, size) : GCOR_BAD_FILE;
    if (!status && memcmp(found, data, size) == 0) return GCOR_OK;
    return gcor_fail(context, GCOR_BAD_FILE, "a saved result is of another kind, or of other settings");
}

gcor_status gcor_sink_save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file) {
    file_head head = head_of(sink);
    gcor_status status = gcor_put(context, file, &head, 1, sizeof head);
    if (!status) status = sink->type->save(sink, context, shard, file);
    if (!status && sink->of) status = gcor_sink_save(sink->of, context, shard, file);
    if (!status && fflush(file) != 0) /* buffered data may not fit on the disk */
        status = gcor_fail(context, GCOR_BAD_FILE, "cannot write a result: %s", strerror(errno));
    return status;
}

gcor_status gcor_expect_head(const gcor_sink *sink, gcor_context *context, FILE *file) {
    file_head head = head_of(sink);
    return gcor_expect(context, file, &head, sizeof head);
}

gcor_status gcor_sink_load(gcor_sink *sink, gcor_context *context, FILE *file) {
    gcor_sink *other = NULL;
    gcor_status status = gcor_expect_head(sink, context, file);
    if (!status) status = gcor_sink_fork(sink, context, &other);
    if (!status) status = sink->type->load(other, context, file);
    if (!status && sink->of) status = gcor_sink_load(sink->of, context, file);
    if (!status) status = sink->type->merge(sink, context, other);
    gcor_sink_free(other);
    return status;
}
