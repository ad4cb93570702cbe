/* Degrees of freedom of series: autocorrelations of columns, and Bartlett's formula. */
#include "test.h"

#include "../base/alloc.h"
#include "../base/isa.h"
#include "../measure/coefficient.h"
#include "../measure/measure.h"
#include "../source/source.h"

#include <math.h>
#include <string.h>

/* ---- sums of products at all lags, by Fourier transforms --------------------------------------------------------- */

/* Lengths are powers of two, at least 2. */
typedef struct {
    double *re, *im;
} complex_values;

/* Sets the roots exp(-i pi k / half) at half + k, for each power of two half < length and all k < half, from square
 * roots, which have the same bits everywhere; the system's cos() differs. */
static void find_roots(int64_t length, complex_values root) {
    double c = -1, s = 0;
    root.re[1] = 1, root.im[1] = 0;
    for (int64_t half = 2; half < length; half *= 2) {
        c = sqrt((1 + c) / 2);
        s = half == 2 ? -1 : s / (2 * c);
        for (int64_t k = half; k < 2 * half; k += 2) {
            double x = root.re[k / 2], y = root.im[k / 2];
            root.re[k] = x, root.im[k] = y;
            root.re[k + 1] = x * c - y * s, root.im[k + 1] = x * s + y * c;
        }
    }
}

/* A step of a transform with decimation in frequency, whose result is in bit-reversed order: each part of 2 half values
 * becomes the sums of both halves, and their differences times the roots. */
GCOR_BODY void split_body(complex_values at, int64_t length, int64_t half, complex_values root) {
    const double *c = root.re + half, *s = root.im + half;
    for (int64_t from = 0; from < length; from += 2 * half) {
        double *restrict a = at.re + from, *restrict b = at.im + from, *restrict x = a + half, *restrict y = b + half;
        for (int64_t k = 0; k < half; k++) {
            double dx = a[k] - x[k], dy = b[k] - y[k];
            a[k] += x[k], b[k] += y[k];
            x[k] = dx * c[k] - dy * s[k], y[k] = dx * s[k] + dy * c[k];
        }
    }
}

/* A step of a transform with decimation in time, which takes that order. */
GCOR_BODY void join_body(complex_values at, int64_t length, int64_t half, complex_values root) {
    const double *c = root.re + half, *s = root.im + half;
    for (int64_t from = 0; from < length; from += 2 * half) {
        double *restrict a = at.re + from, *restrict b = at.im + from, *restrict x = a + half, *restrict y = b + half;
        for (int64_t k = 0; k < half; k++) {
            double px = x[k] * c[k] - y[k] * s[k], py = x[k] * s[k] + y[k] * c[k];
            x[k] = a[k] - px, y[k] = b[k] - py;
            a[k] += px, b[k] += py;
        }
    }
}

GCOR_WIDE(split, (complex_values at, int64_t length, int64_t half, complex_values root), (at, length, half, root))
GCOR_WIDE(join, (complex_values at, int64_t length, int64_t half, complex_values root), (at, length, half, root))

/* Replaces real values by the sums of their products at each lag, which is circular. The squares of magnitudes are real
 * and symmetric, so that the transform back is the same one. */
static void sum_products(double *values, double *scratch, int64_t length, complex_values root) {
    complex_values at = {values, scratch};
    memset(at.im, 0, (size_t)length * sizeof *at.im);
    for (int64_t half = length / 2; half > 0; half /= 2) split(at, length, half, root);
    for (int64_t k = 0; k < length; k++) {
        at.re[k] = (at.re[k] * at.re[k] + at.im[k] * at.im[k]) / (double)length;
        at.im[k] = 0;
    }
    for (int64_t half = 1; half < length; half *= 2) join(at, length, half, root);
}

/* ---- autocorrelations -------------------------------------------------------------------------------------------- */

typedef struct {
    gcor_autocorrelation *of;
    const gcor_columns *columns;
    const gcor_measure *measure;
    int64_t length; /* of the transforms: lags do not wrap around */
    complex_values root;
    char *scratch; /* scratch_bytes per thread: three columns and a pair */
    size_t column_bytes, scratch_bytes;
} estimation;

/* Places the prepared column at its positions in time, with zeros elsewhere; is_there is 1 at these positions, and
 * *n is their number. Returns the norm; 0 if there is none. */
static double lay_out(const estimation *e, char *scratch, const double *x, double *series, double *is_there,
                      int64_t *n) {
    const gcor_columns *columns = e->columns;
    const gcor_pair pair = gcor_pair_at(scratch + 3 * e->column_bytes, e->measure, columns->design, columns->n_obs);
    int flags = 0;
    double norm = gcor_pair_norm(&pair, x, &flags);
    *n = 0;
    memset(series, 0, e->column_bytes);
    memset(is_there, 0, e->column_bytes);
    if (!(norm > 0)) return 0;
    for (int64_t k = 0; k < columns->n_obs; k++) *n += x[k] == x[k];
    for (int64_t k = 0; k < *n; k++) {
        int32_t row = pair.rows[k], position = columns->observed ? columns->observed[row] : row;
        series[position] = pair.own_x[k];
        is_there[position] = 1;
    }
    return norm;
}

/* Gaps leave fewer products; a sum is scaled to (n - lag) / n products per value, as without gaps. */
static void estimate_lags(void *user, int thread, int64_t j, double *x, int flags) {
    const estimation *e = user;
    const int64_t n = e->columns->source->n_obs, n_lags = e->of->n_lags;
    char *scratch = e->scratch + thread * e->scratch_bytes;
    double *series = (double *)(void *)scratch, *is_there = (double *)(void *)(scratch + e->column_bytes);
    double *imaginary = (double *)(void *)(scratch + 2 * e->column_bytes), *values = e->of->values + j * n_lags;
    int64_t n_there;
    double norm = lay_out(e, scratch, x, series, is_there, &n_there);
    if (norm > 0) sum_products(series, imaginary, e->length, e->root);
    if (norm > 0 && n_there < n) sum_products(is_there, imaginary, e->length, e->root);
    for (int64_t lag = 1; lag <= n_lags; lag++) {
        double fraction = (double)(n - lag) / (double)n, products = n_there < n ? rint(is_there[lag]) : 0;
        double scale = n_there == n ? sqrt(fraction) : products > 0 ? fraction * sqrt((double)n_there / products) : 0;
        values[lag - 1] = norm > 0 ? series[lag] / norm * scale : (double)NAN;
    }
}

static size_t padded_bytes(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

gcor_autocorrelation *gcor_autocorrelation_new(gcor_context *context, const gcor_columns *columns,
                                               const gcor_measure *measure) {
    const char *what = "autocorrelations";
    const gcor_source *source = columns->source;
    gcor_autocorrelation *of = gcor_alloc(context, 1, sizeof *of, what);
    if (!of) return NULL;
    *of = (gcor_autocorrelation){.n_var = source->n_var, .n_lags = source->n_obs / 4};
    estimation e = {.of = of, .columns = columns, .measure = measure, .length = 2};
    while (e.length < source->n_obs + of->n_lags) e.length *= 2;
    e.column_bytes = padded_bytes((size_t)e.length * sizeof(double));
    e.scratch_bytes = 3 * e.column_bytes + padded_bytes(gcor_pair_bytes(measure, columns->design, columns->n_obs));
    of->values = gcor_alloc(context, of->n_var * of->n_lags, sizeof(double), what);
    e.root.re = of->values ? gcor_alloc(context, 2 * e.length, sizeof(double), what) : NULL;
    e.scratch = e.root.re ? gcor_alloc(context, context->threads, e.scratch_bytes, what) : NULL;
    gcor_status status = GCOR_NO_MEMORY;
    if (e.scratch) {
        e.root.im = e.root.re + e.length;
        find_roots(e.length, e.root);
        status = gcor_for_columns(context, columns, 0, of->n_var, estimate_lags, &e);
    }
    gcor_free(e.root.re);
    gcor_free(e.scratch);
    if (!status) return of;
    gcor_autocorrelation_free(of);
    return NULL;
}

void gcor_autocorrelation_free(gcor_autocorrelation *of) {
    if (of) gcor_free(of->values);
    gcor_free(of);
}

/* The effective number of observations for a sum that is not NaN. */
static double calibrated(const gcor_calibration *c, double sum) {
    int64_t k = 0;
    while (k < c->n_points && c->sums[k] <= sum) k++;
    if (k == 0 || k == c->n_points) return c->counts[k == 0 ? 0 : k - 1];
    double fraction = (sum - c->sums[k - 1]) / (c->sums[k] - c->sums[k - 1]);
    return c->counts[k - 1] + fraction * (c->counts[k] - c->counts[k - 1]);
}

double gcor_effective_count(const gcor_autocorrelation *a, int64_t i, const gcor_autocorrelation *b, int64_t j,
                            int64_t n, const gcor_calibration *calibration) {
    double sum = gcor_double_dot(a->values + i * a->n_lags, b->values + j * b->n_lags, a->n_lags);
    if (sum != sum) return sum;
    if (calibration) return calibrated(calibration, sum) * (double)n / (double)calibration->n_obs;
    return sum > 0 ? (double)n / (1 + 2 * sum) : (double)n;
}
