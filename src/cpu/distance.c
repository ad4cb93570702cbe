/* The distance correlation of a pair (measure/distance_pair.h), with vectors. */
#include "cpu.h"

#include "../measure/distance_pair.h"

static double sum_few(const cpu_kernels *kernels, const gcor_quadrant *q) {
    double a[GCOR_FEW_MINIMA + CPU_MINIMA_LANES], b[GCOR_FEW_MINIMA + CPU_MINIMA_LANES];
    for (int64_t k = 0; k < q->n; k++) {
        a[k] = q->of[k][0];
        b[k] = q->of[k][1];
    }
    return kernels->minima(a, b, q->n);
}

typedef int64_t point_mask __attribute__((vector_size(2 * sizeof(double))));

/* Writes the observations with a's below `pivot`, and behind these the others, to `to`, in their order. Returns the
 * number of the others; *product: the sum over pairs of one of these and one of the others. There is no branch, which
 * would be mispredicted. */
static int64_t split(const gcor_quadrant *q, double pivot, gcor_point *to, double *product) {
    const gcor_point pivots = {pivot, pivot};
    double before = 0, sum = 0;
    int64_t large = 0, n = 0;
    for (int64_t k = 0; k < q->n; k++) large += q->of[k][0] >= pivot;
    const int64_t small = q->n - large;
    gcor_point passed = {0, (double)large}; /* the sum of a run's large b's up to here, and how many are to come */
    for (int64_t from = 0, k = 0; from < q->n; from = k) {
        gcor_point run = {0, 0};
        passed[0] = 0;
        for (int64_t end = gcor_end_of_run(from, q->n); k < end; k++) {
            const gcor_point own = q->of[k];
            const point_mask is_large = (gcor_point){own[0], own[0]} >= pivots;
            const gcor_point minima = {own[0] * ((before + passed[0]) + own[1] * passed[1]), 0};
            run += (gcor_point)((point_mask)minima & ~is_large);
            passed += (gcor_point)((point_mask)(gcor_point){own[1], -1} & is_large);
            to[k - n + (is_large[0] & (small - k + 2 * n))] = own;
            n -= is_large[0];
        }
        before += passed[0];
        sum += run[0];
    }
    *product = sum;
    return n;
}

/* A gcor_sum_minima; with: kernels. */
static double sum_quadrant(const void *with, const gcor_quadrant *q, gcor_point *spare) {
    double product;
    if (q->n <= GCOR_FEW_MINIMA) return sum_few((const cpu_kernels *)with, q);
    if (gcor_quadrant_value(q, 0) == gcor_quadrant_value(q, q->n_values - 1)) return gcor_sum_equal(q);
    int64_t half = q->n_values / 2, n = split(q, gcor_quadrant_value(q, half), spare, &product), rest = q->n - n;
    const gcor_quadrant large = {spare + rest, n, q->values + half * q->step, q->n_values - half, q->step};
    const gcor_quadrant small = {spare, rest, q->values, half, q->step};
    product += sum_quadrant(with, &large, q->of + rest);
    return product + sum_quadrant(with, &small, q->of);
}

double cpu_distance_pair(const cpu_kernels *kernels, const gcor_ordered *x, const gcor_ordered *y, int64_t n_obs,
                         void *work) {
    return gcor_distance_pair(sum_quadrant, kernels, x, y, n_obs, work, 0);
}
