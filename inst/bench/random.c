/* Columns of normal numbers (columns.h) as an R matrix, by all threads, where R's own would take minutes. Called
 * through .Call(), as .C() would copy the matrix. Built by R CMD SHLIB, with OpenMP if PKG_CFLAGS and PKG_LIBS
 * say so. */
#define _GNU_SOURCE
#include "columns.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include <Rinternals.h>

/* A matrix n_obs x n_var; steps: see columns.h. */
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
