/* Lanczos iteration with full orthogonalization, restarted from the best vector. LAPACK is not called because its last
 * bits depend on the library, and threads may not call it everywhere. Each chunk of rows has sums of its own, which are
 * added in order: results do not depend on the number of threads. */
#include "leading.h"

#include "../base/threads.h"
#include "../base/triangle.h"

#include <math.h>
#include <string.h>

enum { STEPS = 48, ROUNDS = 125, HALVINGS = 52, CHUNK = 2048, MANY_CHUNKS = 16 };

static int64_t count_chunks(int64_t n) {
    return (n + CHUNK - 1) / CHUNK;
}

int64_t gcor_leading_scratch(int64_t n) {
    return (STEPS + 1) * (n + count_chunks(n));
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
    for (int64_t k = 0; k < n; k++) sum[k] += factor * x[k];
}

static void scale(double *x, double factor, int64_t n) {
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

typedef struct {
    const gcor_symmetric *a;
    double *basis; /* STEPS + 1 vectors */
    int k;         /* number of vectors in the basis */
    /* For subtract(): */
    double *x;            /* the vector that changes */
    double factor[STEPS]; /* by which the basis is multiplied before it is subtracted */
    int wanted;           /* first vector of the basis whose product with the new x is computed */
    double *parts;        /* chunks x (STEPS + 1): these products, and the square of x's length */
} iteration;

static void subtract_chunk(void *argument, int thread, int64_t chunk) {
    const iteration *it = argument;
    int64_t first = chunk * CHUNK, n = gcor_min(CHUNK, it->a->n - first);
    const double *basis = it->basis + first;
    double *x = it->x + first, *part = it->parts + chunk * (STEPS + 1);
    for (int j = 0; j < it->k; j++)
        if (it->factor[j] != 0) add(x, -it->factor[j], basis + j * it->a->n, n);
    for (int j = it->wanted; j < it->k; j++) part[j] = dot(x, basis + j * it->a->n, n);
    part[it->k] = dot(x, x, n);
}

/* Subtracts the basis times it->factor from x. Sets it->factor to the products of the new x with the basis from vector
 * `wanted` on, and to 0 before. Returns the square of x's length. */
static double subtract(iteration *it, double *x, int wanted) {
    int64_t chunks = count_chunks(it->a->n);
    double square = 0;
    it->x = x;
    it->wanted = wanted;
    if (it->a->threads > 1 && chunks >= MANY_CHUNKS)
        gcor_for_each(it->a->threads, chunks, subtract_chunk, it);
    else
        for (int64_t chunk = 0; chunk < chunks; chunk++) subtract_chunk(it, 0, chunk);
    memset(it->factor, 0, sizeof it->factor);
    for (int64_t chunk = 0; chunk < chunks; chunk++) {
        const double *part = it->parts + chunk * (STEPS + 1);
        for (int j = wanted; j < it->k; j++) it->factor[j] += part[j];
        square += part[it->k];
    }
    return square;
}

/* Orthogonalizes x, the product of the matrix with the last vector of the basis, and sets the last row of T. In exact
 * arithmetic x has components along the last two vectors only. Once these are subtracted, the components that rounding
 * has left are small, and one pass over the whole basis removes them. */
static void orthogonalize(iteration *it, double *x, tridiagonal *t) {
    int k = t->n - 1;
    it->k = t->n;
    memset(it->factor, 0, sizeof it->factor);
    if (k > 0) it->factor[k - 1] = t->beside[k - 1];
    (void)subtract(it, x, k);
    t->diagonal[k] = it->factor[k];
    (void)subtract(it, x, 0);
    t->beside[k] = sqrt(subtract(it, x, t->n));
}

/* Replaces a vector of length 1 by the best one of up to STEPS steps from it. */
static gcor_status improve(iteration *it, gcor_context *context, double *vector, double *value, double *error) {
    const gcor_symmetric *a = it->a;
    tridiagonal t = {.n = 0};
    double best[STEPS], largest = 0;
    int steps = (int)gcor_min(STEPS, a->n), is_last = 0;
    memcpy(it->basis, vector, (size_t)a->n * sizeof *vector);
    while (!is_last) {
        int k = t.n++;
        double *own = it->basis + k * a->n, *next = own + a->n;
        if (gcor_stop(context)) return context->error.status;
        a->times(a->matrix, a->threads, own, next);
        orthogonalize(it, next, &t);
        largest = fmax(largest, t.diagonal[k]);
        is_last = t.n == steps || t.beside[k] <= a->tolerance * largest;
        if (is_last || t.n % a->check_every == 0) {
            *value = solve(&t, best);
            *error = t.n == a->n ? 0 : fabs(t.beside[k] * best[k]);
            is_last = is_last || *error <= a->tolerance * *value;
        }
        if (!is_last) scale(next, 1 / t.beside[k], a->n);
    }
    memset(vector, 0, (size_t)a->n * sizeof *vector);
    for (int k = 0; k < t.n; k++) it->factor[k] = -best[k];
    scale(vector, 1 / sqrt(subtract(it, vector, t.n)), a->n);
    return GCOR_OK;
}

gcor_status gcor_leading(gcor_context *context, const gcor_symmetric *a, double *vector, double *scratch, double *value,
                         double *error) {
    iteration it = {.a = a, .basis = scratch, .parts = scratch + (STEPS + 1) * a->n};
    scale(vector, 1 / sqrt(dot(vector, vector, a->n)), a->n);
    for (int round = 0; round < ROUNDS; round++) {
        gcor_status status = improve(&it, context, vector, value, error);
        if (status || *error <= a->tolerance * *value) return status;
    }
    return GCOR_OK;
}

/* ---- a matrix in memory ----------------------------------------------------------------------------------------- */

typedef struct {
    const double *rows;
    int64_t n, stride;
} dense;

static void times_dense(const void *matrix, int threads, const double *v, double *product) {
    const dense *d = matrix;
    for (int64_t i = 0; i < d->n; i++) product[i] = dot(d->rows + i * d->stride, v, d->n);
}

double gcor_leading_dense(gcor_context *context, const double *matrix, int64_t n, int64_t stride, double *vector,
                          double *scratch) {
    const double golden = 0.6180339887498949; /* an irregular start is orthogonal to no eigenvector */
    const dense d = {matrix, n, stride};
    const gcor_symmetric a = {n, times_dense, &d, .threads = 1, .tolerance = 1e-10, .check_every = 8};
    double value = 0, error;
    for (int64_t k = 0; k < n; k++) {
        double turn = golden * (double)(k + 1);
        vector[k] = turn - floor(turn) - 0.25;
    }
    (void)gcor_leading(context, &a, vector, scratch, &value, &error);
    return value;
}
