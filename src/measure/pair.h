/* A pair of columns whose common observations are its own: both are made ready anew from these, whatever their measure.
 */
#ifndef GPUCOR_CORE_PAIR_H
#define GPUCOR_CORE_PAIR_H

#include "measure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Room for one pair at a time of columns of n_obs values: n_obs of them and as many ranks, design and all. Each thread
 * has its own. */
typedef struct {
    const gcor_measure *measure;
    const gcor_design *design; /* NULL: none */
    int64_t n_obs;
    int32_t *rows; /* the common observations */
    double *x, *y, *own_x, *own_y;
    double *weight, *root, *basis; /* of the common observations */
    gcor_ranks ranks;
} gcor_pair;

/* Bytes of that, and how they are laid out at `memory`, which is aligned for doubles. */
size_t gcor_pair_bytes(const gcor_design *design, int64_t n_obs);
gcor_pair gcor_pair_at(void *memory, const gcor_measure *measure, const gcor_design *design, int64_t n_obs);

/* The coefficient of two columns, NaN where a value is missing, or a value above 1 that says why there is none, as
 * gcor_coefficient() has them. */
double gcor_pair_coefficient(const gcor_pair *pair, const double *x, const double *y);
/* The norm of a column by itself, 0 if it has no coefficients, NaN if infinite values keep it from any; *flags gets
 * GCOR_FELL_BACK. own_x, as far as the column has values, is what it is then made of, and rows says of which. */
double gcor_pair_norm(const gcor_pair *pair, const double *x, int *flags);

#ifdef __cplusplus
}
#endif
#endif
