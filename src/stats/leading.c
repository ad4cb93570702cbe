/* Lanczos iteration with full orthogonalization, restarted from the best vector. LAPACK is not called because its last
 * bits depend on the library, and threads may not call it everywhere. */
#include "leading.h"

#include "../base/triangle.h"

#include <math.h>
#include <string.h>

enum { STEPS = 48, CHECK_EVERY = 8, ROUNDS = 40, HALVINGS = 52 };

static const double TOLERANCE = 1e-10;

int64_t gcor_leading_scratch(int64_t n) {
    return (STEPS + 1) * n;
}

/* Several sums at a time, in a fixed order, so that the processor does not wait for each addition. */
static double dot(const double *x, const double *y, int64_t n) {
    typedef double four __attribute__((vector_size(32), aligned(8), may_alias));
    four sum[2] = {{0}, {0}};
    int64_t k = 0;
    for (; k + 8 <= n; k += 8) {
        sum[0] += *(const four *)(x + k) * *(const four *)(y + k);
        sum[1] += *(const four *)(x + k + 4) * *(const four *)(y + k + 4);
    }
    four both = sum[0] + sum[1];
    double total = (both[0] + both[2]) + (both[1] + both[3]);
    for (; k < n; k++) total += x[k] * y[k];
    return total;
}

static void add(double *sum, double factor, const double *x, int64_t n) {
#pragma omp simd
    for (int64_t k = 0; k < n; k++) sum[k] += factor * x[k];
}

static void scale(double *x, double factor, int64_t n) {
#pragma omp simd
    for (int64_t k = 0; k < n; k++) x[k] *= factor;
}

/* ---- a tridiagonal matrix --------------------------------------------------------------------------------------- */

/* `beside` has the element between rows k and k + 1 at k. */
typedef struct {
    int n;
    double diagonal[STEPS], beside[STEPS];
} tridiagonal;

/* Sets the pivots of `shift` I - T; returns 1 if all are positive, so that the shift is above all eigenvalues. */
static int find_pivots(const tridiagonal *t, double shift, double *pivot) {
    for (int k = 0; k < t->n; k++) {
        double step = k > 0 ? t->beside[k - 1] * t->beside[k - 1] / pivot[k - 1] : 0;
        pivot[k] = shift - t->diagonal[k] - step;
        if (!(pivot[k] > 0)) return 0;
    }
    return 1;
}

/* Returns a bound just above the largest eigenvalue. */
static double bound_of(const tridiagonal *t) {
    double low = t->diagonal[0], high = 0, pivot[STEPS];
    for (int k = 0; k < t->n; k++) {
        double reach = t->diagonal[k] + (k > 0 ? t->beside[k - 1] : 0) + (k + 1 < t->n ? t->beside[k] : 0);
        low = fmax(low, t->diagonal[k]);
        high = fmax(high, reach);
    }
    high *= 1 + 0x1p-50;
    for (int step = 0; step < HALVINGS && low < high; step++) {
        double middle = low + (high - low) / 2;
        if (find_pivots(t, middle, pivot))
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* Sets the leading eigenvector by inverse iteration, and returns the eigenvalue. */
static double solve(const tridiagonal *t, double *vector) {
    double value = bound_of(t), pivot[STEPS];
    for (int k = 0; k < t->n; k++) vector[k] = 1;
    if (!find_pivots(t, value, pivot)) return value; /* one row */
    for (int round = 0; round < 3; round++) {
        for (int k = 1; k < t->n; k++) vector[k] += t->beside[k - 1] / pivot[k - 1] * vector[k - 1];
        for (int k = t->n - 1; k >= 0; k--) {
            if (k + 1 < t->n) vector[k] += t->beside[k] * vector[k + 1];
            vector[k] /= pivot[k];
        }
        scale(vector, 1 / sqrt(dot(vector, vector, t->n)), t->n);
    }
    return value;
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

/* Orthogonalizes x to the first k vectors of the basis, twice, as once leaves rounding errors. */
static void orthogonalize(double *x, const double *basis, int k, int64_t n) {
    for (int twice = 0; twice < 2; twice++)
        for (int j = 0; j < k; j++) add(x, -dot(x, basis + j * n, n), basis + j * n, n);
}

/* Replaces a vector by the best one of up to STEPS steps from it; *error is that of its eigenvalue, which is
 * returned. */
static double improve(const double *matrix, int64_t n, int64_t stride, double *vector, double *basis, double *error) {
    tridiagonal t;
    double best[STEPS], value = 0, *next = basis + STEPS * n;
    int steps = (int)gcor_min(STEPS, n);
    memcpy(basis, vector, (size_t)n * sizeof *vector);
    for (int k = 0; k < steps; k++) {
        double *own = basis + k * n;
        for (int64_t i = 0; i < n; i++) next[i] = dot(matrix + i * stride, own, n);
        t.n = k + 1;
        t.diagonal[k] = dot(next, own, n);
        orthogonalize(next, basis, k + 1, n);
        t.beside[k] = sqrt(dot(next, next, n));
        int is_last = k + 1 == steps || t.beside[k] <= 1e-14 * t.diagonal[0];
        if (is_last || (k + 1) % CHECK_EVERY == 0) {
            value = solve(&t, best);
            *error = k + 1 == n ? 0 : fabs(t.beside[k] * best[k]);
            if (is_last || *error <= TOLERANCE * value) break;
        }
        memcpy(own + n, next, (size_t)n * sizeof *next);
        scale(own + n, 1 / t.beside[k], n);
    }
    memset(vector, 0, (size_t)n * sizeof *vector);
    for (int k = 0; k < t.n; k++) add(vector, best[k], basis + k * n, n);
    scale(vector, 1 / sqrt(dot(vector, vector, n)), n);
    return value;
}

double gcor_leading(const double *matrix, int64_t n, int64_t stride, double *vector, double *scratch) {
    const double golden = 0.6180339887498949; /* an irregular start is orthogonal to no eigenvector */
    double value = 0, error = 0;
    for (int64_t k = 0; k < n; k++) {
        double turn = golden * (double)(k + 1);
        vector[k] = turn - floor(turn) - 0.25;
    }
    scale(vector, 1 / sqrt(dot(vector, vector, n)), n);
    for (int round = 0; round < ROUNDS; round++) {
        value = improve(matrix, n, stride, vector, scratch, &error);
        if (error <= TOLERANCE * value) break;
    }
    return value;
}
