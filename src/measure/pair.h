/* Coefficients of pairwise-complete pairs: both columns are prepared again on their pairwise-complete observations,
 * by any measure. */
#ifndef GPUCOR_PAIR_H
#define GPUCOR_PAIR_H

#include "measure.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scratch for one pair at a time of columns of n_obs values, including ranks and design. Each thread has its own. */
typedef struct {
    const gcor_measure *measure;
    const gcor_design *design; /* NULL: none */
    int64_t n_obs;
    int32_t *rows;                 /* the pairwise-complete observations */
    double *x, *y, *own_x, *own_y; /* own_x, own_y: prepared columns */
    double *weight, *root, *basis; /* of the pairwise-complete observations */
    gcor_ranks ranks;
} gcor_pair;

/* gcor_pair_bytes(): bytes of that scratch. gcor_pair_at(): lays it out at `memory`, which is aligned for doubles
 * and stays the caller's. */
size_t gcor_pair_bytes(const gcor_measure *measure, const gcor_design *design, int64_t n_obs);
gcor_pair gcor_pair_at(void *memory, const gcor_measure *measure, const gcor_design *design, int64_t n_obs);

/* Coefficient of two columns of n_obs values (NaN: missing), or a value above 1 that says why there is none, as
 * gcor_coefficient(). */
double gcor_pair_coefficient(const gcor_pair *pair, const double *x, const double *y);
/* Norm of a column prepared alone: 0 if it has no coefficients, NaN if because of infinite values. May add
 * GCOR_FELL_BACK to *flags. Afterwards own_x holds the prepared values, of the observations in rows. */
double gcor_pair_norm(const gcor_pair *pair, const double *x, int *flags);

#ifdef __cplusplus
}
#endif
#endif
