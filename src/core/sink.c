/* What all sinks have in common, but for the way to a file and back (sink/file.c). */
#include "gpucor.h"
#include "threads.h"
#include "triangle.h"

gcor_status gcor_begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    return sink->type->begin_tile ? sink->type->begin_tile(sink, context, tile) : GCOR_OK;
}

gcor_status gcor_end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    return sink->type->end_tile ? sink->type->end_tile(sink, context, tile) : GCOR_OK;
}

void gcor_sink_free(gcor_sink *sink) {
    if (sink) sink->type->free(sink);
}

gcor_status gcor_take_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile, const double *doubles,
                           const float *floats) {
    gcor_status status = gcor_begin_tile(sink, context, tile);
    if (status) return status;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic, 8)
    for (int64_t row = tile->row; row < tile->row + tile->n_row; row++) {
        gcor_segment segment = {.row = row};
        int64_t offset = gcor_tile_offset(tile, sink->shape, row);
        gcor_tile_segment(tile, sink->shape, row, &segment.col, &segment.n);
        if (segment.n == 0) continue;
        if (doubles) segment.doubles = doubles + offset;
        if (floats) segment.floats = floats + offset;
        /* A failure is in the context; the remaining rows are cheap. */
        (void)sink->type->take(sink, context, omp_get_thread_num(), &segment);
    }
    return context->error.status ? context->error.status : gcor_end_tile(sink, context, tile);
}
