/* The k strongest neighbours of every variable; of equal weights the earlier variable is the stronger. */
#ifndef GPUCOR_NEIGHBOURS_H
#define GPUCOR_NEIGHBOURS_H

#include "edges/store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int32_t other;
    double r;
} gcor_neighbour;

/* Variables of one side: the neighbours of variable j are a heap at heap[j * stride], the weakest on
 * top; least[j]: that one's weight once there are k, before 0. */
typedef struct {
    int64_t n_var;
    gcor_neighbour *heap;
    int64_t *count;
    double *min;
} gcor_heaps;

typedef struct {
    gcor_edges edges;      /* first: this is its sink */
    int64_t k, stride;     /* the same until k is cut */
    gcor_heaps cols, rows; /* rows: of y */
} gcor_neighbours;

extern const gcor_sink_type gcor_neighbours_type;

/* Of each variable of x (n_col) and, with GCOR_FULL, of y (n_row). *neighbours is the caller's, to end with
 * gcor_sink_free(); NULL after an error. */
gcor_status gcor_neighbours_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_side side,
                                int64_t k, gcor_neighbours **neighbours);

/* Keep of each variable only its k strongest; after the run, and no other may be merged into it any more. */
void gcor_neighbours_cut(gcor_neighbours *neighbours, int64_t k);

/* Put into an empty store the edges that either variable, or with `mutual` both, has among its neighbours. */
gcor_status gcor_neighbours_store(const gcor_neighbours *neighbours, gcor_context *context, int mutual,
                                  gcor_store *store);

#ifdef __cplusplus
}
#endif
#endif
