/* Shared by the programs of this folder: the problem, the clock, the check, and the line that they print.
 *
 *   program N n_obs [steps]      steps: if not 0, values are rounded to multiples of 1 / steps, so that there are ties
 *
 * Each prints one line, and exits with 1 if a checked value is wrong:
 *   <program> <measure> <N> <n_obs> <seconds> <largest error> <pairs checked>
 * Seconds are from the matrix of doubles in host memory to the results there, as the method leaves them. The GPU has
 * been used before, and so has the memory of results whose number is known (touched_floats()), as in published
 * measurements: a GPU copies into fresh pages at a tenth of the speed. With PUBLISHED_FRESH=1 that memory is fresh. All
 * other memory of a program is allocated while the clock runs, on the host and on the GPU. */
#ifndef GPUCOR_PUBLISHED_HARNESS_H
#define GPUCOR_PUBLISHED_HARNESS_H

#include "../columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Column j begins at x + j * n_obs. */
typedef struct {
    int64_t n_var, n_obs;
    double *x;
} problem;

/* Returns the method's value of pair i < j from its result. */
typedef double (*pair_value)(const void *result, int64_t i, int64_t j);

typedef enum { PEARSON, SPEARMAN, KENDALL } measure;
static const char *const measure_names[] = {"pearson", "spearman", "kendall"};

static double seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Allocates memory, or exits. */
static void *allocate(int64_t count, size_t size) {
    void *memory = malloc((size_t)(count > 0 ? count : 1) * size);
    if (memory) return memory;
    fprintf(stderr, "no memory for %.1f GB\n", (double)count * (double)size / 1e9);
    exit(2);
}

/* Allocates memory for results before the clock starts: all threads have written to its pages. With PUBLISHED_FRESH
 * in the environment it is fresh from the system, in huge pages that are first touched while the clock runs. */
static inline float *touched_floats(int64_t count) {
    const size_t page = (size_t)2 << 20;
    const char *fresh = getenv("PUBLISHED_FRESH");
    if (fresh && *fresh) {
        size_t bytes = ((size_t)count * sizeof(float) / page + 1) * page;
        float *untouched = (float *)aligned_alloc(page, bytes);
        if (!untouched) return (float *)allocate(count, sizeof *untouched);
        (void)madvise(untouched, bytes, MADV_HUGEPAGE);
        return untouched;
    }
    float *memory = (float *)allocate(count, sizeof *memory);
#pragma omp parallel for schedule(static)
    for (int64_t k = 0; k < count; k++) memory[k] = 0;
    return memory;
}

static problem read_problem(int argc, char **argv) {
    problem p = {argc > 1 ? atoll(argv[1]) : 0, argc > 2 ? atoll(argv[2]) : 0, NULL};
    double steps = argc > 3 ? atof(argv[3]) : 0;
    if (p.n_var < 2 || p.n_obs < 2) {
        fprintf(stderr, "usage: %s N n_obs [steps], both at least 2\n", argv[0]);
        exit(2);
    }
    p.x = (double *)allocate(p.n_var * p.n_obs, sizeof *p.x);
#pragma omp parallel for schedule(static)
    for (int64_t j = 0; j < p.n_var; j++) random_column(p.x + j * p.n_obs, j, p.n_obs, steps);
    return p;
}

/* The measure named by the argument after steps; default: Pearson's. spearman: whether the program supports it. */
static inline measure read_measure(int argc, char **argv, int spearman) {
    if (argc < 5) return PEARSON;
    for (int what = PEARSON; what <= KENDALL; what++)
        if (!strcmp(argv[4], measure_names[what]) && (what != SPEARMAN || spearman)) return (measure)what;
    fprintf(stderr, "no such measure here: %s\n", argv[4]);
    exit(2);
}

static int64_t pairs_of(int64_t n) {
    return n % 2 ? (n - 1) / 2 * n : n / 2 * (n - 1);
}

/* ---- the reference, in double ------------------------------------------------------------------- */

static double reference_dot(const double *x, const double *y, int64_t n) {
    double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
    for (int64_t k = 0; k < n; k++) mx += x[k] / (double)n, my += y[k] / (double)n;
    for (int64_t k = 0; k < n; k++) {
        xx += (x[k] - mx) * (x[k] - mx);
        yy += (y[k] - my) * (y[k] - my);
        xy += (x[k] - mx) * (y[k] - my);
    }
    return xy / sqrt(xx * yy);
}

/* Computes twice the average ranks, centred. */
static void reference_ranks(const double *x, int64_t n, double *rank) {
    for (int64_t k = 0; k < n; k++) {
        rank[k] = 0;
        for (int64_t q = 0; q < n; q++) rank[k] += (x[q] < x[k]) - (x[q] > x[k]);
    }
}

/* tau-b. */
static double reference_tau(const double *x, const double *y, int64_t n) {
    double s = 0, sx = 0, sy = 0;
    for (int64_t k = 0; k < n; k++)
        for (int64_t q = 0; q < k; q++) {
            int a = (x[k] > x[q]) - (x[k] < x[q]), b = (y[k] > y[q]) - (y[k] < y[q]);
            s += a * b;
            sx += a * a;
            sy += b * b;
        }
    return s / sqrt(sx * sy);
}

static double reference(const problem *p, measure what, int64_t i, int64_t j) {
    const double *x = p->x + i * p->n_obs, *y = p->x + j * p->n_obs;
    if (what == PEARSON) return reference_dot(x, y, p->n_obs);
    if (what == KENDALL) return reference_tau(x, y, p->n_obs);
    double *ranks = (double *)allocate(2 * p->n_obs, sizeof *ranks);
    reference_ranks(x, p->n_obs, ranks);
    reference_ranks(y, p->n_obs, ranks + p->n_obs);
    double r = reference_dot(ranks, ranks + p->n_obs, p->n_obs);
    free(ranks);
    return r;
}

/* ---- the check and the line ------------------------------------------------------------------------ */

/* Pair (i, j), i < j, at a position of the triangle row by row. */
static void pair_at(int64_t position, int64_t n, int64_t *i, int64_t *j) {
    int64_t row =
        (int64_t)(((double)(2 * n - 1) - sqrt((double)(2 * n - 1) * (double)(2 * n - 1) - 8.0 * (double)position)) / 2);
    while (row > 0 && pairs_of(n) - pairs_of(n - row) > position) row--;
    while (pairs_of(n) - pairs_of(n - row - 1) <= position) row++;
    *i = row;
    *j = row + 1 + position - (pairs_of(n) - pairs_of(n - row));
}

/* Position s of the checked positions: the first, the last, those around 2^31 and 2^32, then random ones. */
static int64_t checked_position(int64_t s, int64_t pairs) {
    const int64_t special[] = {
        0, pairs - 1, ((int64_t)1 << 31) - 1, (int64_t)1 << 31, ((int64_t)1 << 32) - 1, (int64_t)1 << 32};
    int64_t at = s < 6 ? special[s] : (int64_t)(uniform((uint64_t)s) * (double)pairs);
    return at < pairs ? at : pairs - 1;
}

/* Checks, prints, and returns main()'s exit status. A pair whose reference is NaN is skipped. */
static int report(const char *program, const problem *p, measure what, double seconds, pair_value value,
                  const void *result, double tolerance) {
    int64_t checked = 0, pairs = pairs_of(p->n_var), samples = what == KENDALL ? 200 : 1000;
    double off = 0;
    for (int64_t s = 0; s < samples; s++) {
        int64_t i, j;
        pair_at(checked_position(s, pairs), p->n_var, &i, &j);
        double truth = reference(p, what, i, j), own = value(result, i, j);
        if (truth != truth) continue;
        double error = own == own ? fabs(own - truth) : INFINITY;
        if (error > off) off = error;
        checked++;
    }
    printf("%s %s %lld %lld %.6f %.3g %lld\n", program, measure_names[what], (long long)p->n_var, (long long)p->n_obs,
           seconds, off, (long long)checked);
    if (off <= tolerance && checked > 0) return 0;
    fprintf(stderr, "%s: off by %g, more than %g\n", program, off, tolerance);
    return 1;
}

/* ---- CUDA --------------------------------------------------------------------------------------------- */

#ifdef __CUDACC__

#include <cuda_runtime.h>

/* Every CUDA call is checked here. */
#define CHECK(call) check_call((call), #call, __LINE__)
static inline void check_call(cudaError_t error, const char *what, int line) {
    if (error == cudaSuccess) return;
    fprintf(stderr, "line %d: %s: %s\n", line, what, cudaGetErrorString(error));
    exit(2);
}

/* Allocates device memory, or exits. */
template <class T>
static T *device_allocate(int64_t count) {
    T *memory = nullptr;
    CHECK(cudaMalloc(&memory, (size_t)(count > 0 ? count : 1) * sizeof(T)));
    return memory;
}

/* Starts the driver outside of the timed part. */
static inline void start_gpu() {
    CHECK(cudaFree(nullptr));
}

static inline int64_t free_device_bytes() {
    size_t free_bytes = 0, total = 0;
    CHECK(cudaMemGetInfo(&free_bytes, &total));
    return (int64_t)free_bytes;
}

#endif
#endif
