/* What all sinks have in common, except files (sink/file.c). */
#include "../gpucor.h"
#include "../base/alloc.h"
#include "../base/threads.h"
#include "../base/triangle.h"

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
