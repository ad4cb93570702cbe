/* The sink that builds the adjacency matrix for topological overlap, or a slab of it: the columns of some variables,
 * with all variables in each, and zeros on the diagonal. */
#ifndef GPUCOR_ADJACENCY_H
#define GPUCOR_ADJACENCY_H

#include "../measure/overlap.h"
#include "../base/buffer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Micro-panel width: element k of the slab's variable v is at [(v / WIDTH * n_var + k) * WIDTH + v % WIDTH], as
 * kernels expect (cpu/kernels.h). */
enum { GCOR_ADJACENCY_WIDTH = 32 };

/* shape: for the whole matrix the triangle whose pairs are delivered, each once; for a slab GCOR_FULL, and every
 * pair of its columns is delivered. */
struct gcor_adjacency {
    gcor_operand head; /* first: as an operand, of kind GCOR_ADJACENCY; first, n_var: the slab's variables */
    gcor_sink sink;    /* n_row and n_col: all variables */
    gcor_overlap_rule rule;
    int64_t missing;      /* pairs without a coefficient */
    float *values;        /* NULL: a device has them */
    double *connectivity; /* of each of its variables the sum of sizes; NULL: a device has them */
    gcor_buffer memory;
    /* The matrix on the run's device, if it is not in host memory, and the function that frees it. */
    void *device;
    void (*free_device)(void *device);
};

extern const gcor_sink_type gcor_adjacency_type;

/* Creates the matrix of variables first .. first+n-1 with all n_var; first is a multiple of WIDTH. shape: see
 * gcor_adjacency. in_memory: in host memory, otherwise on the device that computes the coefficients. *adjacency is
 * the caller's, to free with gcor_sink_free(); NULL after an error. */
gcor_status gcor_adjacency_new(gcor_context *context, const gcor_overlap_rule *rule, gcor_shape shape, int64_t n_var,
                               int64_t first, int64_t n, int in_memory, gcor_adjacency **adjacency);

static inline gcor_adjacency *gcor_adjacency_of_sink(gcor_sink *sink) {
    return (gcor_adjacency *)((char *)sink - offsetof(struct gcor_adjacency, sink));
}

/* Bytes of a variable's adjacencies in the host's memory. */
int64_t gcor_adjacency_bytes(int64_t n_var);

/* Completes a matrix in host memory after a run: fills the other triangle, writes zeros where there is no pair, and
 * computes connectivities. Uses context->threads threads. */
gcor_status gcor_adjacency_complete(gcor_adjacency *adjacency, gcor_context *context);

/* Element k of the WIDTH variables of micro-panel c. */
static inline const float *gcor_adjacency_row(const gcor_adjacency *adjacency, int64_t k, int64_t c) {
    return adjacency->values + (c * adjacency->sink.n_col + k) * GCOR_ADJACENCY_WIDTH;
}

#ifdef __cplusplus
}
#endif
#endif
