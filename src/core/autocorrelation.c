#include "autocorrelation.h"

#include "alloc.h"
#include "coefficient.h"
#include "pair.h"
#include "source.h"

#include <math.h>
#include <string.h>

typedef struct {
    gcor_autocorrelation *of;
    const gcor_columns *columns;
    const gcor_measure *measure;
    char *room; /* room_bytes of each thread: for a column, and for a pair */
    size_t column_bytes, room_bytes;
} estimation;

/* The column as it is compared, at its places in time, and zero elsewhere. Returns its norm, 0: there is none. */
static double lay_out(const estimation *e, char *room, const double *x, double *series) {
    const gcor_columns *columns = e->columns;
    const gcor_pair pair = gcor_pair_at(room + e->column_bytes, e->measure, columns->design, columns->n_obs);
    int flags = 0;
    int64_t n = 0;
    double norm = gcor_pair_norm(&pair, x, &flags);
    memset(series, 0, e->column_bytes);
    if (!(norm > 0)) return 0;
    for (int64_t k = 0; k < columns->n_obs; k++) n += x[k] == x[k];
    for (int64_t k = 0; k < n; k++) {
        int32_t row = pair.rows[k];
        series[columns->observed ? columns->observed[row] : row] = pair.own_x[k];
    }
    return norm;
}

static void estimate(void *user, int thread, int64_t j, double *x, int flags) {
    const estimation *e = user;
    const int64_t n = e->columns->source->n_obs, n_lags = e->of->n_lags;
    char *room = e->room + thread * e->room_bytes;
    double *series = (double *)(void *)room, *values = e->of->values + j * n_lags;
    double norm = lay_out(e, room, x, series);
    (void)flags;
    for (int64_t lag = 1; lag <= n_lags; lag++)
        values[lag - 1] = norm > 0 ? gcor_double_dot(series, series + lag, n - lag) / norm *
                                         sqrt((double)(n - lag) / (double)n)
                                   : (double)NAN;
}

static size_t padded(size_t bytes) {
    return (bytes + 63) / 64 * 64;
}

gcor_autocorrelation *gcor_autocorrelation_new(gcor_context *context, const gcor_columns *columns,
                                               const gcor_measure *measure) {
    const char *what = "autocorrelations";
    const gcor_source *source = columns->source;
    gcor_autocorrelation *of = gcor_alloc(context, 1, sizeof *of, what);
    if (!of) return NULL;
    *of = (gcor_autocorrelation){.n_var = source->n_var, .n_lags = gcor_most_lags(source->n_obs)};
    estimation e = {.of = of,
                    .columns = columns,
                    .measure = measure,
                    .column_bytes = padded((size_t)source->n_obs * sizeof(double))};
    e.room_bytes = e.column_bytes + padded(gcor_pair_bytes(columns->design, columns->n_obs));
    of->values = gcor_alloc(context, of->n_var * of->n_lags, sizeof(double), what);
    e.room = of->values ? gcor_alloc(context, context->threads, e.room_bytes, what) : NULL;
    gcor_status status = e.room ? gcor_for_columns(context, columns, 0, of->n_var, estimate, &e) : GCOR_NO_MEMORY;
    gcor_free(e.room);
    if (!status) return of;
    gcor_autocorrelation_free(of);
    return NULL;
}

void gcor_autocorrelation_free(gcor_autocorrelation *of) {
    if (of) gcor_free(of->values);
    gcor_free(of);
}

double gcor_effective_count(const gcor_autocorrelation *a, int64_t i, const gcor_autocorrelation *b, int64_t j,
                            int64_t n) {
    double sum = gcor_double_dot(a->values + i * a->n_lags, b->values + j * b->n_lags, a->n_lags);
    return sum > 0 ? (double)n / (1 + 2 * sum) : sum == sum ? (double)n : sum;
}
