/* Degrees of freedom of series: autocorrelations of columns, and Bartlett's formula. */
#include "test.h"

#include "../base/alloc.h"
#include "../measure/coefficient.h"
#include "../measure/measure.h"
#include "../source/source.h"

#include <math.h>
#include <string.h>

typedef struct {
    gcor_autocorrelation *of;
    const gcor_columns *columns;
    const gcor_measure *measure;
    char *scratch; /* scratch_bytes per thread: two columns and a pair */
    size_t column_bytes, scratch_bytes;
} estimation;

/* Places the prepared column at its positions in time, with zeros elsewhere; is_there is 1 at these positions, and
 * *n is their number. Returns the norm; 0 if there is none. */
static double lay_out(const estimation *e, char *scratch, const double *x, double *series, double *is_there,
                      int64_t *n) {
    const gcor_columns *columns = e->columns;
    const gcor_pair pair = gcor_pair_at(scratch + 2 * e->column_bytes, e->measure, columns->design, columns->n_obs);
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

/* Autocorrelation of a series of n values at n_rows positions. Gaps leave fewer products; the sum is scaled to
 * (n_rows - lag) / n_rows products per value, as without gaps. */
static double at_lag(const double *series, const double *is_there, int64_t lag, int64_t n, int64_t n_rows,
                     double norm) {
    double fraction = (double)(n_rows - lag) / (double)n_rows,
           sum = gcor_double_dot(series, series + lag, n_rows - lag);
    if (n == n_rows) return sum / norm * sqrt(fraction);
    double products = gcor_double_dot(is_there, is_there + lag, n_rows - lag);
    return products > 0 ? sum / norm * fraction * sqrt((double)n / products) : 0;
}

static void estimate_lags(void *user, int thread, int64_t j, double *x, int flags) {
    const estimation *e = user;
    const int64_t n = e->columns->source->n_obs, n_lags = e->of->n_lags;
    char *scratch = e->scratch + thread * e->scratch_bytes;
    double *series = (double *)(void *)scratch, *is_there = (double *)(void *)(scratch + e->column_bytes);
    double *values = e->of->values + j * n_lags;
    int64_t n_there;
    double norm = lay_out(e, scratch, x, series, is_there, &n_there);
    for (int64_t lag = 1; lag <= n_lags; lag++)
        values[lag - 1] = norm > 0 ? at_lag(series, is_there, lag, n_there, n, norm) : (double)NAN;
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
    estimation e = {.of = of,
                    .columns = columns,
                    .measure = measure,
                    .column_bytes = padded_bytes((size_t)source->n_obs * sizeof(double))};
    e.scratch_bytes = 2 * e.column_bytes + padded_bytes(gcor_pair_bytes(measure, columns->design, columns->n_obs));
    of->values = gcor_alloc(context, of->n_var * of->n_lags, sizeof(double), what);
    e.scratch = of->values ? gcor_alloc(context, context->threads, e.scratch_bytes, what) : NULL;
    gcor_status status = e.scratch ? gcor_for_columns(context, columns, 0, of->n_var, estimate_lags, &e)
                                   : GCOR_NO_MEMORY;
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
