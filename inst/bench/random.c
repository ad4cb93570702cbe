/* Normal numbers for benchmarks, by all threads, where R's own would take minutes: columns of noise, half of
 * which share a signal with the 19 around them, as genes and voxels do. Called through .Call(), as .C() would
 * copy the matrix. Built by R CMD SHLIB, with OpenMP if PKG_CFLAGS and PKG_LIBS say so. */
#define _GNU_SOURCE
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include <Rinternals.h>

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

static void random_column(double *x, int64_t j, int64_t n, double steps) {
    uint64_t group = (uint64_t)(j / 20);
    double share = group % 2 ? 0 : uniform(group << 40);
    for (int64_t k = 0; k < n; k++) {
        double value = normal((uint64_t)(j * n + k));
        if (share > 0) value += share * normal((group + 1) << 32 | (uint64_t)k);
        x[k] = steps > 0 ? round(value * steps) / steps : value;
    }
}

/* A matrix n_obs x n_var. steps: 0, or values are rounded to multiples of 1 / steps, so that there are ties. */
SEXP random_matrix(SEXP n_obs, SEXP n_var, SEXP steps) {
    const int n = Rf_asInteger(n_obs), columns = Rf_asInteger(n_var);
    const double per_unit = Rf_asReal(steps);
    SEXP matrix = PROTECT(Rf_allocMatrix(REALSXP, n, columns));
    double *x = REAL(matrix);
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < columns; j++) random_column(x + j * n, j, n, per_unit);
    UNPROTECT(1);
    return matrix;
}

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Seconds to write n doubles into memory that nobody has touched, as every result of R is; in huge pages, where
 * the system has them. -1: no such memory. */
static double seconds_to_fill(int64_t n, int threads) {
    double *fresh = aligned_alloc(2 << 20, (size_t)n * sizeof *fresh);
    if (!fresh) return -1;
#ifdef MADV_HUGEPAGE
    (void)madvise(fresh, (size_t)n * sizeof *fresh, MADV_HUGEPAGE);
#endif
    double start = seconds_now();
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int64_t k = 0; k < n; k++) fresh[k] = 1;
    __asm__ volatile("" : : "r"(fresh) : "memory");
    double seconds = seconds_now() - start;
    free(fresh);
    (void)threads;
    return seconds;
}

/* Bytes a second into fresh memory, the best of five gigabytes; NA: there was none. */
SEXP fill_rate(SEXP threads) {
    const int64_t n = (int64_t)1 << 27;
    double best = 0;
    for (int round = 0; round < 5; round++) {
        double seconds = seconds_to_fill(n, Rf_asInteger(threads));
        if (seconds > 0 && (double)(n * 8) / seconds > best) best = (double)(n * 8) / seconds;
    }
    return Rf_ScalarReal(best > 0 ? best : NA_REAL);
}
