/* The dense sink of a share: what gcor_dense saves of it, and memory for no more. */
#ifndef GPUCOR_DENSE_SHARD_H
#define GPUCOR_DENSE_SHARD_H

#include "dense.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A sink for a run of that share and no other. n_row: variables of y, or again of x. What gcor_sink_save() writes of
 * it, a gcor_dense of the same layout can load. *sink is the caller's, to end with gcor_sink_free(); NULL after an
 * error. */
gcor_status gcor_dense_shard_new(gcor_context *context, gcor_layout layout, int64_t n_row, int64_t n_col,
                                 const gcor_shard *shard, double missing, gcor_sink **sink);

#ifdef __cplusplus
}
#endif
#endif
