/* Squared distance correlations of pairs, bias-corrected (measure/distance.c), without the distances of all pairs of
 * observations. */
#ifndef GPUCOR_CPU_DISTANCE_H
#define GPUCOR_CPU_DISTANCE_H

#include "kernels.h"

/* A column: its values (NaN: missing), and the rows of those present, ascending by value. sums: of a column that misses
 * no value in any pair, cpu_distance_sums() doubles that all its pairs need; NULL: each pair has its own. */
typedef struct {
    const double *values;
    const int32_t *order;
    int64_t n_present;
    double *sums;
} cpu_ordered;

static inline int64_t cpu_distance_sums(int64_t n_obs) {
    return 2 * n_obs + 2;
}

/* Bytes of scratch for columns of n_obs values, aligned for vectors of two doubles. */
int64_t cpu_distance_bytes(int64_t n_obs);

/* Squared length of a column's U-centred distances: 0 if they are all zero but for rounding, or if there are too few
 * values; NaN if some are infinite. Writes the column's sums, unless they are NULL. Any thread. */
double cpu_distance_norm(const cpu_ordered *x, void *work);

/* Coefficient of the pairwise-complete observations, or a value above 1 that says why there is none, as
 * gcor_coefficient(). Any thread. */
double cpu_distance_pair(const cpu_kernels *kernels, const cpu_ordered *x, const cpu_ordered *y, int64_t n_obs,
                         void *work);

#endif
