/* The sink that keeps every coefficient, in memory that the caller owns. */
#ifndef GPUCOR_DENSE_H
#define GPUCOR_DENSE_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    GCOR_TRIANGLE_ROWS,    /* n(n-1)/2 values, pairs 1-2, 1-3, ..., 2-3, ... */
    GCOR_TRIANGLE_COLUMNS, /* n(n-1)/2 values, pairs 1-2, 1-3, 2-3, 1-4, ... */
    GCOR_SQUARE,           /* n x n column by column, both halves; the diagonal is not written */
    GCOR_RECTANGLE         /* n_var(x) x n_var(y), column by column */
} gcor_layout;

typedef struct {
    gcor_sink sink; /* first */
    gcor_layout layout;
    double *out;     /* the caller's; of forks the same */
    double missing;  /* written where there is no coefficient, but for NaN, which stays */
    int64_t zero_sd; /* pairs of which one is constant */
} gcor_dense;

/* n_row: variables of y, or again of x. values: how many doubles `out` has room for; told to the system so that the
 * first touch of fresh memory is cheap. *dense is the caller's, to end with gcor_sink_free(), which leaves `out`;
 * NULL after an error. */
gcor_status gcor_dense_new(gcor_context *context, gcor_layout layout, int64_t n_row, int64_t n_col, double *out,
                           int64_t values, double missing, gcor_dense **dense);

/* What dense_shard.c has in common with it: the sink without memory, a segment's values to where they belong, and how
 * what is saved of a share begins. */
gcor_dense gcor_dense_of(gcor_layout layout, int64_t n_row, int64_t n_col, double missing);
void gcor_dense_put(gcor_dense *dense, const gcor_segment *segment, double *out);
gcor_status gcor_dense_put_head(const gcor_dense *dense, gcor_context *context, const gcor_shard *shard, FILE *file);

/* Copy the half of an n x n matrix below the diagonal onto the half above it. Can be interrupted. */
gcor_status gcor_mirror(gcor_context *context, double *matrix, int64_t n);

#ifdef __cplusplus
}
#endif
#endif
