/* Pearson's correlation: centred columns of unit length. Columns with weights or covariates never come here: column.c
 * has centred and scaled them. */
#include "pearson.h"

#include "coefficient.h"

double gcor_centre(double *x, int64_t n) {
    const gcor_centring c = gcor_centring_of(x, n);
    double squares = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] = gcor_centred(&c, x[k]);
        squares += x[k] * x[k];
    }
    return squares;
}

double gcor_prepare_pearson(double *x, int64_t n, gcor_preparing *with, float *out) {
    return gcor_unit(x, gcor_centre(x, n), n, out);
}

double gcor_prepare_pearson_double(double *x, int64_t n, gcor_preparing *with, double *out) {
    return gcor_double_unit(x, gcor_centre(x, n), n, out);
}

double gcor_double_unit(const double *x, double squares, int64_t n, double *out) {
    double unit = squares > 0 ? 1 / sqrt(squares) : 0;
    for (int64_t k = 0; k < n; k++) out[k] = x[k] * unit;
    return gcor_double_dot(out, out, n);
}

double gcor_double_dot(const double *x, const double *y, int64_t n) {
    double all = 0;
    for (int64_t from = 0; from < n; from += GCOR_OBS_RUN) {
        int64_t to = n - from < GCOR_OBS_RUN ? n : from + GCOR_OBS_RUN;
        double sum = 0;
        for (int64_t k = from; k < to; k++) sum = gcor_fma(x[k], y[k], sum);
        all += sum;
    }
    return all;
}

double gcor_unit(const double *x, double squares, int64_t n, float *out) {
    double unit = squares > 0 ? 1 / sqrt(squares) : 0;
    for (int64_t k = 0; k < n; k++) out[k] = (float)(x[k] * unit);
    return gcor_dot(out, out, n);
}

/* ---- the cosine --------------------------------------------------------------------------------- */

/* Columns of unit length, not centred. */

/* Scales x so that squares stay in range. Returns the sum of squares; 0 for a column of zeros, which has no
 * direction. */
static double square_scaled(double *x, int64_t n) {
    double factor = gcor_scale_of(x, n), squares = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] *= factor;
        squares += x[k] * x[k];
    }
    return squares;
}

double gcor_prepare_cosine(double *x, int64_t n, gcor_preparing *with, float *out) {
    return gcor_unit(x, square_scaled(x, n), n, out);
}

double gcor_prepare_cosine_double(double *x, int64_t n, gcor_preparing *with, double *out) {
    return gcor_double_unit(x, square_scaled(x, n), n, out);
}
