/* The sink that keeps every coefficient in 4 bytes (measure/compact.h). */
#ifndef GPUCOR_SINK_COMPACT_H
#define GPUCOR_SINK_COMPACT_H

#include "../measure/compact.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    gcor_sink sink; /* first */
    const gcor_compact *to;
    int is_prefaulted; /* to->values has been prefaulted */
} gcor_compact_sink;

/* Creates a sink that writes to to->values all pairs of to->n_var variables; to->norm is the job's x_norm. `to` stays
 * the caller's. *sink is the caller's, to free with gcor_sink_free(); NULL after an error. The sink cannot be saved. */
gcor_status gcor_compact_sink_new(gcor_context *context, const gcor_compact *to, gcor_sink **sink);

/* Takes all values of a tile, in the sink's form, row by row without gaps. Uses context->threads threads. */
void gcor_compact_take_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile, const void *values);

#ifdef __cplusplus
}
#endif
#endif
