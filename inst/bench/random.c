/* Normal numbers for benchmarks, by all threads, where R's own would take minutes. Called through .C():
 * columns of noise, half of which share a signal with the 19 around them, as genes and voxels do. */
#include <math.h>
#include <stdint.h>

static uint64_t mix(uint64_t x) { /* a hash: number k of a sequence without the ones before */
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

/* x: n_obs x n_var. steps: 0, or values are rounded to multiples of 1 / steps, so that there are ties. */
void random_columns(double *x, const double *n_obs, const double *n_var, const double *steps) {
    const int64_t n = (int64_t)*n_obs, columns = (int64_t)*n_var;
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < columns; j++) {
        uint64_t group = (uint64_t)(j / 20);
        double share = group % 2 ? 0 : uniform(group << 40);
        for (int64_t k = 0; k < n; k++) {
            double value = normal((uint64_t)(j * n + k)) + share * normal((group + 1) << 32 | (uint64_t)k);
            x[j * n + k] = *steps > 0 ? round(value * *steps) / *steps : value;
        }
    }
}
