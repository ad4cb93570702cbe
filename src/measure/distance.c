/* Distance correlation, squared and bias-corrected (Szekely and Rizzo 2014): the cosine of the U-centred distances
 * between all pairs of observations. */
#include "coefficient.h"
#include "measure.h"
#include "../base/isa.h"

int64_t gcor_distance_length(int64_t n_obs) {
    int64_t pairs = gcor_obs_pairs(n_obs);
    return pairs > n_obs ? pairs : n_obs;
}

/* If all values but the smallest and the largest are equal, U-centred distances are zero, and rounding leaves less
 * than this fraction of the sum of squared distances. */
static const double NOTHING_LEFT = 0x1p-80;

enum { LANES = 8 }; /* sums of squares run in lanes, which compilers vectorize */

/* A column's distances: |x[i] - x[j]| - row[i] - row[j] + all is U-centred. */
typedef struct {
    const double *x, *row;
    double all;
    int64_t n;
} distances;

/* Scales x so that squares stay in range, and sums the distances of each observation. row: n doubles. */
GCOR_BODY distances measure_distances(double *x, int64_t n, double *row) {
    double scale = gcor_scale_of(x, n), all = 0;
    for (int64_t k = 0; k < n; k++) x[k] *= scale, row[k] = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) row[j] += fabs(x[i] - x[j]);
    for (int64_t k = 0; k < n; k++) all += row[k], row[k] /= (double)(n - 2);
    return (distances){x, row, all / (double)((n - 1) * (n - 2)), n};
}

GCOR_BODY double centred(const distances *d, int64_t i, int64_t j) {
    return fabs(d->x[i] - d->x[j]) - d->row[i] - d->row[j] + d->all;
}

/* Returns the sum of squares of the U-centred distances, or 0 if these are all zero but for rounding. */
GCOR_BODY double sum_squares(const distances *d) {
    double squares[LANES] = {0}, all[LANES] = {0};
    for (int64_t i = 0; i < d->n; i++) {
        int64_t j = i + 1;
        for (; j + LANES <= d->n; j += LANES)
            for (int l = 0; l < LANES; l++) {
                double own = centred(d, i, j + l), distance = d->x[i] - d->x[j + l];
                squares[l] += own * own;
                all[l] += distance * distance;
            }
        for (int l = 0; j < d->n; j++, l++) {
            double own = centred(d, i, j), distance = d->x[i] - d->x[j];
            squares[l] += own * own;
            all[l] += distance * distance;
        }
    }
    for (int l = 1; l < LANES; l++) squares[0] += squares[l], all[0] += all[l];
    return squares[0] > NOTHING_LEFT * all[0] ? squares[0] : 0;
}

GCOR_BODY void prepare_body(double *x, int64_t n, double *scratch, float *out, double *norm) {
    const distances d = measure_distances(x, n, scratch);
    const double squares = sum_squares(&d), unit = squares > 0 ? 1 / sqrt(squares) : 0;
    for (int64_t i = 0, at = 0; i < n; at += n - 1 - i, i++)
        for (int64_t j = i + 1; j < n; j++) out[at + j - i - 1] = (float)(centred(&d, i, j) * unit);
    *norm = gcor_dot(out, out, gcor_obs_pairs(n));
}
GCOR_WIDE(prepare, (double *x, int64_t n, double *scratch, float *out, double *norm), (x, n, scratch, out, norm))

double gcor_prepare_distance(double *x, int64_t n, gcor_preparing *with, float *out) {
    double norm;
    prepare(x, n, with->scratch, out, &norm);
    return norm;
}

double gcor_prepare_distance_double(double *x, int64_t n, gcor_preparing *with, double *out) {
    const distances d = measure_distances(x, n, with->scratch);
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = i + 1; j < n; j++) out[at++] = centred(&d, i, j);
    return gcor_double_unit(out, sum_squares(&d), at, out);
}
