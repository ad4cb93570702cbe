#include "test.h"

#include "../base/alloc.h"
#include "../measure/measure.h"
#include "../source/source.h"
#include "../measure/coefficient.h"

#include <math.h>
#include <string.h>

typedef struct {
    gcor_context *context;
    gcor_observed *observed;
    char *ranks; /* ranks_bytes per thread */
    size_t ranks_bytes;
} observer;

/* Allocates the list of runs of ties; NULL if there are none, or after an error. */
static int32_t *allocate_runs(gcor_context *context, const gcor_ranks *ranks, int64_t n) {
    int64_t capacity = 0;
    for (int64_t at = 0, end; at < n; at = end) {
        end = ranks->end[ranks->order[at]];
        if (end - at > 1) capacity += 1 + end - at;
    }
    return capacity ? gcor_alloc(context, capacity + 1, sizeof(int32_t), "observations that tie") : NULL;
}

static void list_runs(const gcor_ranks *ranks, int64_t n, int32_t *to) {
    for (int64_t at = 0, end; at < n; at = end) {
        end = ranks->end[ranks->order[at]];
        if (end - at == 1) continue;
        *to++ = (int32_t)(end - at);
        memcpy(to, ranks->order + at, (size_t)(end - at) * sizeof *to);
        to += end - at;
    }
    *to = 0;
}

static void observe_ties(const observer *o, int thread, int64_t j, const double *x) {
    gcor_observed *observed = o->observed;
    const gcor_ranks ranks = gcor_ranks_at(o->ranks + thread * o->ranks_bytes, observed->n_obs);
    int64_t tied, n = gcor_rank(x, observed->n_obs, &ranks, &tied);
    gcor_tie_sums sums = gcor_no_ties;
    for (int64_t at = 0, end; at < n; at = end) {
        end = ranks.end[ranks.order[at]];
        gcor_add_ties(&sums, end - at);
    }
    observed->quotient[j] = gcor_tie_quotient((double)n, sums);
    observed->orders[j] = sums.same_orders;
    if (!observed->tied) return;
    observed->tied[j] = allocate_runs(o->context, &ranks, n);
    if (observed->tied[j]) list_runs(&ranks, n, observed->tied[j]);
}

static void observe(void *user, int thread, int64_t j, double *x, int flags) {
    const observer *o = user;
    gcor_observed *observed = o->observed;
    int64_t n = observed->n_obs;
    observed->n_present[j] = n;
    if (flags & GCOR_MISSING)
        for (int64_t k = 0; k < n; k++) observed->n_present[j] -= x[k] != x[k];
    uint64_t *present = observed->present ? observed->present + j * observed->words : NULL;
    for (int64_t k = 0; present && k < n; k++) present[k / 64] |= (uint64_t)(x[k] == x[k]) << k % 64;
    if (observed->quotient) observe_ties(o, thread, j, x);
}

static void *allocate_cleared(gcor_context *context, int64_t count, size_t size, const char *what) {
    void *memory = gcor_alloc(context, count, size, what);
    if (memory) memset(memory, 0, (size_t)count * size);
    return memory;
}

static gcor_status allocate(gcor_context *context, gcor_observed *o, int common, int ties) {
    o->words = (o->n_obs + 63) / 64;
    o->n_present = allocate_cleared(context, o->n_var, sizeof *o->n_present, "numbers of observations");
    if (!o->n_present) return GCOR_NO_MEMORY;
    if (ties) {
        o->quotient = allocate_cleared(context, o->n_var, sizeof *o->quotient, "sums of ties");
        o->orders = allocate_cleared(context, o->n_var, sizeof *o->orders, "sums of ties");
        if (!o->quotient || !o->orders) return GCOR_NO_MEMORY;
    }
    if (common) {
        o->present = allocate_cleared(context, o->n_var * o->words, sizeof *o->present, "bits of observations");
        if (!o->present) return GCOR_NO_MEMORY;
    }
    if (common && ties) {
        o->tied = allocate_cleared(context, o->n_var, sizeof *o->tied, "runs of ties");
        if (!o->tied) return GCOR_NO_MEMORY;
    }
    return GCOR_OK;
}

static gcor_status look(gcor_context *context, const gcor_columns *columns, gcor_observed *observed) {
    observer o = {context, observed, NULL, (gcor_ranks_bytes(observed->n_obs) + 63) / 64 * 64};
    if (observed->quotient) {
        o.ranks = gcor_alloc(context, context->threads, o.ranks_bytes, "ranks");
        if (!o.ranks) return GCOR_NO_MEMORY;
    }
    gcor_status status = gcor_for_columns(context, columns, 0, observed->n_var, observe, &o);
    gcor_free(o.ranks);
    return status ? status : context->error.status;
}

gcor_observed *gcor_observed_new(gcor_context *context, const gcor_columns *columns, int common, int ties) {
    gcor_observed *observed = gcor_alloc(context, 1, sizeof *observed, "what is known of observations");
    if (!observed) return NULL;
    *observed = (gcor_observed){.n_var = columns->source->n_var, .n_obs = columns->n_obs};
    if (!allocate(context, observed, common, ties) && !look(context, columns, observed)) return observed;
    gcor_observed_free(observed);
    return NULL;
}

void gcor_observed_free(gcor_observed *observed) {
    if (!observed) return;
    for (int64_t j = 0; observed->tied && j < observed->n_var; j++) gcor_free(observed->tied[j]);
    gcor_free(observed->tied);
    gcor_free(observed->present);
    gcor_free(observed->quotient);
    gcor_free(observed->orders);
    gcor_free(observed->n_present);
    gcor_free(observed);
}

int64_t gcor_common_count(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j) {
    if (!a->present) return a->n_obs;
    const uint64_t *own = a->present + i * a->words, *other = b->present + j * b->words;
    int64_t count = 0;
    for (int64_t w = 0; w < a->words; w++) count += __builtin_popcountll(own[w] & other[w]);
    return count;
}

gcor_weight_sums gcor_common_weights(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j,
                                     const double *weight) {
    gcor_weight_sums sums = {0, 0};
    const uint64_t *own = a->present ? a->present + i * a->words : NULL;
    const uint64_t *other = a->present ? b->present + j * b->words : NULL;
    for (int64_t k = 0; k < a->n_obs; k++) {
        if (own && !((own[k / 64] & other[k / 64]) >> k % 64 & 1)) continue;
        sums.sum += weight ? weight[k] : 1;
        sums.squares += weight ? weight[k] * weight[k] : 1;
    }
    return sums;
}

/* Tie sums of variable i of a over its pairwise-complete observations with variable j of b. */
static gcor_tie_sums common_ties(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j) {
    const uint64_t *other = b->present + j * b->words;
    gcor_tie_sums sums = gcor_no_ties;
    const int32_t *run = a->tied[i];
    for (; run && *run > 0; run += 1 + *run) {
        int64_t both = 0;
        for (int32_t k = 1; k <= *run; k++) both += other[run[k] / 64] >> run[k] % 64 & 1;
        gcor_add_ties(&sums, both);
    }
    return sums;
}

double gcor_common_quotient(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j, int64_t n) {
    if (!a->tied || n == a->n_present[i]) return a->quotient[i];
    return gcor_tie_quotient((double)n, common_ties(a, i, b, j));
}

double gcor_common_orders(const gcor_observed *a, int64_t i, const gcor_observed *b, int64_t j, int64_t n) {
    return !a->tied || n == a->n_present[i] ? a->orders[i] : common_ties(a, i, b, j).same_orders;
}

/* ---- degrees of freedom of series --------------------------------------------------------------- */

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
