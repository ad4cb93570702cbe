/* Coefficients of some pairs, computed anew in double precision. */
#ifndef GPUCOR_RECOMPUTE_H
#define GPUCOR_RECOMPUTE_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    int64_t at;   /* the caller's: where the pair is in a list of its own */
    int64_t i, j; /* variables of x and of y */
    double r;
} gcor_pair_value;

/* Replace r of the n pairs, which ascend by j, by the coefficients in double precision of the observations that both
 * variables have. A pair without a coefficient keeps its r. The measure has a form in double precision
 * (gcor_has_double()). y may be x. Uses context->threads threads. */
gcor_status gcor_recompute(gcor_context *context, const gcor_measure *measure, const gcor_columns *x,
                           const gcor_columns *y, int64_t n, gcor_pair_value *pairs);

#ifdef __cplusplus
}
#endif
#endif
