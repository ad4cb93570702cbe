/* The sink that makes the matrix of adjacencies of coefficients, for topological overlap, or a slab of it: the columns
 * of some variables, with all variables in each, and zeros in the diagonal. */
#ifndef GPUCOR_ADJACENCY_H
#define GPUCOR_ADJACENCY_H

#include "../engine/overlap.h"
#include "../base/pool.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Variables that lie side by side: element k of number v in the slab is at [(v / WIDTH * n_var + k) * WIDTH + v %
 * WIDTH], as products have it (cpu/kernels.h). */
enum { GCOR_ADJACENCY_WIDTH = 32 };

/* shape: of the whole matrix, of which every pair comes once, that of a triangle; of a slab GCOR_FULL, and every pair
 * of its columns comes. */
struct gcor_adjacency {
    gcor_sink sink; /* first; n_row and n_col: all variables */
    gcor_overlap_rule rule;
    int64_t first, n;     /* the slab's variables */
    int64_t missing;      /* pairs without a coefficient */
    float *values;        /* NULL: a device has them */
    double *connectivity; /* of each of its n variables the sum of sizes; NULL: a device has them */
    gcor_block memory;
    /* What a device has made of them instead, and how it is given back. Of the run's one device. */
    void *device;
    void (*free_device)(void *device);
};

extern const gcor_sink_type gcor_adjacency_type;

/* Of variables first .. first+n-1 with all n_var; first is a multiple of WIDTH, and where it is all of them the shape
 * is that in which pairs come. in_memory: of the host; otherwise the device that the coefficients come from keeps them.
 * *adjacency is the caller's, to end with gcor_sink_free(); NULL after an error. */
gcor_status gcor_adjacency_new(gcor_context *context, const gcor_overlap_rule *rule, gcor_shape shape, int64_t n_var,
                               int64_t first, int64_t n, int in_memory, gcor_adjacency **adjacency);

/* Bytes of a variable's adjacencies in the host's memory. */
int64_t gcor_adjacency_bytes(int64_t n_var);

/* After a run, in memory only: the other half of the matrix, zeros where there is no pair, and the connectivities. By
 * context->threads threads. */
gcor_status gcor_adjacency_complete(gcor_adjacency *adjacency, gcor_context *context);

/* Element k of the slab's variables from 32 c on, as many of them. */
static inline const float *gcor_adjacency_row(const gcor_adjacency *adjacency, int64_t k, int64_t c) {
    return adjacency->values + (c * adjacency->sink.n_col + k) * GCOR_ADJACENCY_WIDTH;
}

#ifdef __cplusplus
}
#endif
#endif
