/* Columns of normal numbers. Every number is computed independently, so that any thread can make any of them: noise,
 * where half of the columns share a signal with the 19 around them, as genes and voxels do. */
#ifndef GPUCOR_BENCH_COLUMNS_H
#define GPUCOR_BENCH_COLUMNS_H

#include <math.h>
#include <stdint.h>

static uint64_t mix(uint64_t x) { /* a hash: number k of a sequence, without the previous ones */
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static double uniform(uint64_t k) { /* in (0, 1) */
    return ((double)(mix(k) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t k) {
    return sqrt(-2 * log(uniform(2 * k))) * cos(6.283185307179586 * uniform(2 * k + 1));
}

/* Writes column j of n observations into x. steps: if not 0, values are rounded to multiples of 1 / steps, so that
 * there are ties. */
static void random_column(double *x, int64_t j, int64_t n, double steps) {
    uint64_t group = (uint64_t)(j / 20);
    double shard = group % 2 ? 0 : uniform(group << 40);
    for (int64_t k = 0; k < n; k++) {
        double value = normal((uint64_t)(j * n + k));
        if (shard > 0) value += shard * normal((group + 1) << 32 | (uint64_t)k);
        x[k] = steps > 0 ? round(value * steps) / steps : value;
    }
}

#endif
