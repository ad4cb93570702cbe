/* A measure that exists only here: the quadrant correlation, the mean product of the signs of differences from the
 * median (Mosteller 1946), as a row of gpucor's table. */
#include <R.h>
#include <Rinternals.h>
#include <R_ext/Rdynload.h>
#include <R_ext/Utils.h>
#include <gpucor/measure.h>
#include <stdlib.h>
#include <string.h>

static double (*unit)(const double *, double, int64_t, float *);

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Any thread: nothing of R. */
static double prepare(double *x, int64_t n, gcor_preparing *with, float *out) {
    (void)with;
    double *sorted = malloc((size_t)n * sizeof *sorted), squares = 0;
    if (!sorted) return 0;
    memcpy(sorted, x, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    double median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    free(sorted);
    for (int64_t k = 0; k < n; k++) {
        x[k] = (x[k] > median) - (x[k] < median);
        squares += x[k] * x[k];
    }
    return unit(x, squares, n, out);
}

static const gcor_measure quadrant = {
    .version = GCOR_MEASURE_VERSION,
    .name = "quadrant",
    .title = "Quadrant correlation",
    .kind = GCOR_REAL,
    .infinite = GCOR_INFINITE_IS_NAN,
    .df_taken = 2,
    .prepare = prepare,
};

SEXP add_quadrant(void) {
    int (*add)(const gcor_measure *) = (int (*)(const gcor_measure *))R_GetCCallable("gpucor", "gcor_add_measure");
    unit = (double (*)(const double *, double, int64_t, float *))R_GetCCallable("gpucor", "gcor_unit");
    return ScalarInteger(add(&quadrant));
}
