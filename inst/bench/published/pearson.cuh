/* Shared by the programs of Pearson's coefficient: columns whose dot products are coefficients, the triangle of the
 * results, and how much of the device's memory they may use. */
#ifndef GPUCOR_PUBLISHED_PEARSON_CUH
#define GPUCOR_PUBLISHED_PEARSON_CUH

#include "harness.h"

/* The results: one float a pair, row by row unless a program says otherwise, in pageable memory that has been touched
 * before the clock starts. */
struct triangle {
    int64_t n;
    float *value;
};

static inline triangle touched_triangle(int64_t n) {
    return {n, touched_floats(pairs_of(n))};
}

/* Position of the pair i < j, row by row. */
static inline __host__ __device__ int64_t row_position(int64_t i, int64_t j, int64_t n) {
    return i * n - i * (i + 1) / 2 + j - i - 1;
}

static inline double row_order_value(const void *result, int64_t i, int64_t j) {
    const triangle *t = (const triangle *)result;
    return t->value[row_position(i, j, t->n)];
}

/* Writes one column as floats with mean 0 and length 1. */
static inline void unit_column(const double *x, int64_t n_obs, float *unit) {
    double mean = 0, squares = 0;
    for (int64_t k = 0; k < n_obs; k++) mean += x[k];
    mean /= (double)n_obs;
    for (int64_t k = 0; k < n_obs; k++) squares += (x[k] - mean) * (x[k] - mean);
    const double scale = 1 / sqrt(squares);
    for (int64_t k = 0; k < n_obs; k++) unit[k] = (float)((x[k] - mean) * scale);
}

/* Normalizes each column (equation 3 of both papers of Eslami and others), on the CPU as in the papers, but on all
 * of its cores, which the papers do not mention. Column j begins at j length; zeros follow its n_obs values. */
static inline float *unit_columns(const problem *p, int64_t length) {
    float *units = (float *)allocate(p->n_var * length, sizeof *units);
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < p->n_var; j++) {
        float *unit = units + j * length;
        unit_column(p->x + j * p->n_obs, p->n_obs, unit);
        for (int64_t k = p->n_obs; k < length; k++) unit[k] = 0;
    }
    return units;
}

/* Copies unit columns to the device's memory. */
static inline float *device_unit_columns(const problem *p, int64_t length) {
    float *units = unit_columns(p, length), *columns = device_allocate<float>(p->n_var * length);
    CHECK(cudaMemcpy(columns, units, (size_t)(p->n_var * length) * sizeof *units, cudaMemcpyHostToDevice));
    free(units);
    return columns;
}

/* Copies the next results to the host; returns when they have arrived. */
static inline void copy_to_host(float *to, const float *from, int64_t count) {
    CHECK(cudaMemcpy(to, from, (size_t)count * sizeof *to, cudaMemcpyDeviceToHost));
}

/* Number of floats that fit in the device's memory now. A fraction is left for rounding up of allocations and for
 * libraries. DEVICE_BYTES in the environment simulates less free memory, to test methods that work in rounds. */
static inline int64_t floats_that_fit() {
    const char *limit = getenv("DEVICE_BYTES");
    int64_t bytes = free_device_bytes();
    if (limit && atoll(limit) < bytes) bytes = atoll(limit);
    return bytes / 20 * 19 / (int64_t)sizeof(float);
}

/* Products of floats in a sum of n_obs: each rounding has an error of at most 2^-24 = 6e-8 of the values' magnitude,
 * whose sum is at most 1 for columns of length 1, and a term meets at most n_obs roundings, in any order of
 * summation. The rest is for the columns' own rounding, far below 1e-6. */
static inline double float_tolerance(const problem *p) {
    return (double)p->n_obs * 6e-8 + 1e-6;
}

#endif
