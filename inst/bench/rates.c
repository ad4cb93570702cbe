/* What this machine allows: the rates that bound the work of cpu-peers.R. Built and called by
 * it through .C(). Each function runs `threads` threads and returns the best of some rounds. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <omp.h>
#include <sys/mman.h>

void sgemm_(const char *, const char *, const int *, const int *, const int *, const float *, const float *,
            const int *, const float *, const int *, const float *, float *, const int *, size_t, size_t);

enum { ROUNDS = 5, SIDE = 2048, WORDS = 1024 };

/* Float32 multiply-adds a second, in products of n_obs terms (BLAS with its own threads). */
void rate_sgemm(const int *n_obs, double *rate) {
    const int n = SIDE, k = *n_obs;
    const float one = 1, zero = 0;
    float *a = calloc((size_t)n * k, sizeof *a), *c = calloc((size_t)n * n, sizeof *c);
    *rate = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = omp_get_wtime();
        sgemm_("T", "N", &n, &n, &k, &one, a, &k, a, &k, &zero, c, &n, 1, 1);
        double now = (double)n * n * k / (omp_get_wtime() - start);
        if (now > *rate) *rate = now;
    }
    free(a);
    free(c);
}

static uint64_t bits[2][WORDS];

static int64_t count_common(int times) {
    int64_t sum = 0;
    for (int t = 0; t < times; t++) {
        __asm__ volatile("" : "+m"(bits)); /* the compiler cannot take the last sum again */
#pragma omp simd reduction(+ : sum)
        for (int w = 0; w < WORDS; w++) sum += __builtin_popcountll(bits[0][w] & bits[1][w]);
    }
    return sum;
}

/* Words of 64 bits a second, AND and popcount, operands in the nearest cache. */
void rate_popcount(const int *threads, double *rate, double *sink) {
    enum { TIMES = 200000 };
    double start = omp_get_wtime();
    int64_t sum = 0;
#pragma omp parallel num_threads(*threads) reduction(+ : sum)
    sum += count_common(TIMES);
    *rate = (double)*threads * TIMES * WORDS / (omp_get_wtime() - start);
    *sink = (double)sum;
}

/* Doubles a second into memory that nobody has touched, as every result of R is; in huge pages,
 * where the system has them. */
void rate_fill(const int *threads, double *rate) {
    const int64_t n = (int64_t)32 << 20;
    *rate = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double *fresh = aligned_alloc(2 << 20, (size_t)n * sizeof *fresh);
#ifdef MADV_HUGEPAGE
        (void)madvise(fresh, (size_t)n * sizeof *fresh, MADV_HUGEPAGE);
#endif
        double start = omp_get_wtime();
#pragma omp parallel for num_threads(*threads)
        for (int64_t k = 0; k < n; k++) fresh[k] = 1;
        __asm__ volatile("" : : "r"(fresh) : "memory");
        double now = (double)n / (omp_get_wtime() - start);
        if (now > *rate) *rate = now;
        free(fresh);
    }
}
