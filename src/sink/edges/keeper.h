/* Edges that stay where a back end has found them, on its device, until it is known which of them are wanted: a store's
 * (edge_store.h), in the place of runs. What the device can tell of them, it tells; for all else they land in the
 * host's memory as runs. */
#ifndef GPUCOR_EDGE_KEEPER_H
#define GPUCOR_EDGE_KEEPER_H

#include "edges.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gcor_keeper gcor_keeper;

/* Each may use context->threads threads and can be interrupted. Weights are at least the store's least. */
typedef struct {
    /* How many have a weight of at least `least`. */
    gcor_status (*count)(gcor_keeper *keeper, gcor_context *context, double min, int64_t *count);
    /* The k-th largest weight, k from 1 to their number; none is below `least`. */
    gcor_status (*rank)(gcor_keeper *keeper, gcor_context *context, double min, int64_t k, double *weight);
    /* Those of a smaller weight are gone; how many are left. */
    gcor_status (*drop)(gcor_keeper *keeper, gcor_context *context, double min, int64_t *left);
    /* How many of at least that weight each row has: n_row, the caller's. */
    gcor_status (*lengths)(gcor_keeper *keeper, gcor_context *context, double min, int64_t n_row, int32_t *length);
    /* As gcor_store_rows(), and nothing is freed. */
    gcor_status (*rows)(gcor_keeper *keeper, gcor_context *context, double min, int64_t n_row, const int32_t *start,
                        int32_t *col, double *r);
    /* As gcor_store_degrees(). */
    gcor_status (*degrees)(gcor_keeper *keeper, gcor_context *context, double min, int64_t n_var, int64_t *degree,
                           gcor_int128 *strength);
    /* All of them to edges->keep_tile(). */
    gcor_status (*land)(gcor_keeper *keeper, gcor_context *context, gcor_edges *edges);
    void (*free)(gcor_keeper *keeper);
} gcor_keeper_type;

/* A back end's own begins with this. */
struct gcor_keeper {
    const gcor_keeper_type *type;
    gcor_side side;
};

#ifdef __cplusplus
}
#endif
#endif
