/* Cosine similarity: columns of unit length, not centred. */
#include "coefficient.h"
#include "measure.h"

double gcor_prepare_cosine(double *x, int64_t n, gcor_preparing *with, float *out);
double gcor_prepare_cosine_double(double *x, int64_t n, gcor_preparing *with, double *out);

/* Scales x so that squares stay in range. Returns the sum of squares; 0 for a column of zeros, which has no
 * direction. */
static double scale(double *x, int64_t n) {
    double factor = gcor_scale_of(x, n), squares = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] *= factor;
        squares += x[k] * x[k];
    }
    return squares;
}

double gcor_prepare_cosine(double *x, int64_t n, gcor_preparing *with, float *out) {
    (void)with;
    return gcor_unit(x, scale(x, n), n, out);
}

double gcor_prepare_cosine_double(double *x, int64_t n, gcor_preparing *with, double *out) {
    (void)with;
    return gcor_double_unit(x, scale(x, n), n, out);
}
