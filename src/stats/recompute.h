/* Recomputes the coefficients of some pairs in double precision. */
#ifndef GPUCOR_RECOMPUTE_H
#define GPUCOR_RECOMPUTE_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int64_t at;   /* the caller's: index of the pair in a list of its own */
    int64_t i, j; /* variables of x and of y */
    double r;
} gcor_pair_value;

/* Replaces r of the n pairs, sorted by j, by the coefficient in double precision over the pairwise-complete
 * observations. A pair without coefficient keeps its r. The measure must have a form in double precision
 * (gcor_has_double()). y may be x. Uses context->threads threads. */
gcor_status gcor_recompute(gcor_context *context, const gcor_measure *measure, const gcor_columns *x,
                           const gcor_columns *y, int64_t n, gcor_pair_value *pairs);

#ifdef __cplusplus
}
#endif
#endif
