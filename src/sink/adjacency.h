/* The sink of a run of coefficients that makes a slab of the matrix of adjacencies: the columns of some variables, or
 * of all, with all variables in each and zeros on the diagonal. It is then an operand of the run of overlaps. */
#pragma once

#include "../measure/overlap.h"
#include "../base/alloc.h"

GCOR_BEGIN_C

/* Variables of a micro-panel (cpu/kernels.h): element k of the slab's variable v is at [(v / WIDTH * n_var + k) * WIDTH
 * + v % WIDTH]. */
enum { GCOR_ADJACENCY_WIDTH = 32 };

/* The sink's shape is that of a triangle for the whole matrix, which then gets every pair once; it is GCOR_FULL for a
 * slab, which gets every pair of its columns. */
struct gcor_adjacency {
    gcor_sink sink;    /* first; n_row and n_col: all variables */
    gcor_operand head; /* of kind GCOR_ADJACENCY; its first and n_var are the slab's variables */
    gcor_overlap_rule rule;
    int64_t missing;      /* number of pairs without a coefficient */
    float *values;        /* owned; NULL: they are on a device */
    double *connectivity; /* each variable's sum of absolute adjacencies; owned; NULL: they are on a device */
    gcor_buffer memory;
    /* A device's own form of the slab, and the function that frees it. NULL: none. */
    void *device;
    void (*free_device)(void *device);
};

/* A slab of variables first .. first+n-1 of n_var; first is a multiple of WIDTH. in_memory: values are in host memory;
 * otherwise the device that computes the coefficients keeps them. *adjacency: the caller's, to end with
 * gcor_sink_free() of its sink; NULL after an error. */
gcor_status gcor_adjacency_new(gcor_context *context, const gcor_overlap_rule *rule, gcor_shape shape, int64_t n_var,
                               int64_t first, int64_t n, int in_memory, gcor_adjacency **adjacency);

/* Returns the slab whose operand it is. */
static inline gcor_adjacency *gcor_adjacency_of_operand(const gcor_operand *operand) {
    return (gcor_adjacency *)((char *)operand - offsetof(struct gcor_adjacency, head));
}

/* Returns the bytes of a variable's adjacencies in host memory. */
int64_t gcor_adjacency_bytes(int64_t n_var);

/* After a run, for a slab in host memory: fill in the other half of the matrix, the zeros and the connectivities, by
 * context->threads threads. */
gcor_status gcor_adjacency_complete(gcor_adjacency *adjacency, gcor_context *context);

/* Returns element k of micro-panel c. */
static inline const float *gcor_adjacency_row(const gcor_adjacency *adjacency, int64_t k, int64_t c) {
    return adjacency->values + (c * adjacency->sink.n_col + k) * GCOR_ADJACENCY_WIDTH;
}

GCOR_END_C
