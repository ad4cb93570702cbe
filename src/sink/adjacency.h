/* The sink that makes the matrix of adjacencies of coefficients, for topological overlap: both halves, zeros in the
 * diagonal. */
#ifndef GPUCOR_ADJACENCY_H
#define GPUCOR_ADJACENCY_H

#include "../core/overlap.h"
#include "../core/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Variables that lie side by side: element k of variable v is at [(v / WIDTH * n_var + k) * WIDTH + v % WIDTH], as
 * products have it (cpu/kernels.h). */
enum { GCOR_ADJACENCY_WIDTH = 32 };

struct gcor_adjacency {
    gcor_sink sink; /* first */
    gcor_overlap_rule rule;
    int64_t missing; /* pairs without a coefficient */
    float *values;   /* of forks the same; NULL: a device has them */
    gcor_block memory;
    /* What a device has made of them instead, and how it is given back. Of the run's one device. */
    void *device;
    void (*free_device)(void *device);
};

extern const gcor_sink_type gcor_adjacency_type;

/* Of all pairs of n_var variables, which come in that shape. in_memory: of the host; otherwise the device that the
 * coefficients come from keeps them. *adjacency is the caller's, to end with gcor_sink_free(); NULL after an error. */
gcor_status gcor_adjacency_new(gcor_context *context, const gcor_overlap_rule *rule, gcor_shape shape, int64_t n_var,
                               int in_memory, gcor_adjacency **adjacency);

/* After a run, in memory only: the other half of the matrix, and zeros where there is no pair. By context->threads
 * threads. */
void gcor_adjacency_complete(gcor_adjacency *adjacency, gcor_context *context);

/* Row i of the variables from 32 c on, as many of them. */
static inline const float *gcor_adjacency_row(const gcor_adjacency *adjacency, int64_t i, int64_t c) {
    return adjacency->values + (c * adjacency->sink.n_col + i) * GCOR_ADJACENCY_WIDTH;
}

#ifdef __cplusplus
}
#endif
#endif
