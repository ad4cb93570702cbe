/* The sink that keeps every coefficient as compactly as it comes. */
#ifndef GPUCOR_COMPACT_SINK_H
#define GPUCOR_COMPACT_SINK_H

#include "../measure/compact.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    gcor_sink sink; /* first */
    const gcor_compact *to;
    int is_touched; /* all of to->values */
} gcor_compact_sink;

extern const gcor_sink_type gcor_compact_type;

/* Into to->values, of all pairs of to->n_var variables; to->norm is the job's x_norm. `to` is the caller's, also in the
 * end; *sink, too, to end with gcor_sink_free(); NULL after an error. What it has cannot be saved. */
gcor_status gcor_compact_sink_new(gcor_context *context, const gcor_compact *to, gcor_sink **sink);

/* A whole tile's values in the form of the sink's, the pairs that count, row by row without gaps. Uses context->threads
 * threads. */
void gcor_compact_take_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile, const void *values);

#ifdef __cplusplus
}
#endif
#endif
