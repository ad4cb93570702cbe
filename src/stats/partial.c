/* Columns are prepared in batches of fixed size, whose products are added in the order of the variables. Threads wait
 * for each other only after BATCHES of them. */
#include "partial.h"

#include "../base/alloc.h"
#include "../base/dots.h"
#include "../base/triangle.h"
#include "../measure/measure.h"
#include "../source/source.h"

#include <math.h>
#include <string.h>

/* BATCH: a multiple of LANES. STRIDE: between the values of two observations, not a multiple of the processor's pages,
 * which would share cache lines. OWN: observations that are multiplied with the others while these are in the cache. */
enum { BATCH = 512, BATCHES = 8, LANES = 8, STRIDE = BATCH + LANES, OWN = 4 };
enum { MANY = BATCH * BATCHES }; /* variables prepared at a time */

typedef struct {
    const gcor_columns *columns;
    const gcor_measure *measure;
    gcor_partial_sums *sums;
    int64_t first;  /* variable of the first batch */
    double *values; /* BATCHES times n * STRIDE: a batch's values of each observation; zeros where a variable has no
                     * coefficients */
    double *column; /* n for each thread */
    char *ranks;    /* rank_bytes for each thread */
    size_t rank_bytes;
    unsigned char *counts; /* MANY: 1 for variables that have coefficients */
} batches;

static void prepare_column(void *user, int thread, int64_t j, double *x, int flags) {
    batches *b = user;
    int64_t n = b->columns->n_obs, at = j - b->first;
    gcor_ranks ranks = gcor_ranks_at(b->ranks + (size_t)thread * b->rank_bytes, n);
    double *column = b->column + thread * n;
    double norm = gcor_prepare_double(b->measure, b->columns->design, x, n, &flags, &ranks, column);
    double unit = norm > 0 ? 1 / sqrt(norm) : 0; /* ranks without a design are not scaled */
    b->counts[at] = norm > 0;
    double *values = b->values + at / BATCH * n * STRIDE + at % BATCH;
    for (int64_t k = 0; k < n; k++) values[k * STRIDE] = column[k] * unit;
}

/* Adds the products of a batch's values of observations k .. k+OWN-1, of n, with those of all before them. */
GCOR_BODY void add_products_body(const double *values, int64_t k, int64_t n, double *products) {
    const int64_t end = gcor_min(k + OWN, n);
    for (int64_t first = 0; first < end; first += GCOR_DOTS) {
        const double *other[GCOR_DOTS];
        double dots[GCOR_DOTS];
        for (int v = 0; v < GCOR_DOTS; v++) other[v] = values + gcor_min(first + v, end - 1) * STRIDE;
        for (int64_t own = gcor_max(k, first); own < end; own++) {
            gcor_dots(other, values + own * STRIDE, BATCH, dots);
            for (int v = 0; v < GCOR_DOTS && first + v <= own; v++) products[own * n + first + v] += dots[v];
        }
    }
}
GCOR_WIDE(add_products, (const double *values, int64_t k, int64_t n, double *products), (values, k, n, products))

static double fourth_powers(const double *x) {
    double lane[LANES] = {0}, sum = 0;
    for (int64_t j = 0; j < BATCH; j += LANES)
        for (int l = 0; l < LANES; l++) lane[l] += x[j + l] * x[j + l] * (x[j + l] * x[j + l]);
    for (int l = 0; l < LANES; l++) sum += lane[l];
    return sum;
}

static void add_batches(const gcor_context *context, const batches *b, int64_t used) {
    const int64_t n = b->columns->n_obs;
    gcor_partial_sums *sums = b->sums;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t k = (n - 1) / OWN * OWN; k >= 0; k -= OWN) {
        for (int64_t batch = 0; batch < used; batch++) {
            const double *values = b->values + batch * n * STRIDE;
            add_products(values, k, n, sums->products);
            for (int64_t own = k; own < gcor_min(k + OWN, n); own++)
                sums->fourth[own] += fourth_powers(values + own * STRIDE);
        }
    }
    for (int64_t at = 0; at < MANY; at++) sums->n_var += b->counts[at];
}

static gcor_status sum_batches(gcor_context *context, batches *b) {
    int64_t n = b->columns->n_obs, n_var = b->columns->source->n_var;
    gcor_status status = GCOR_OK;
    for (b->first = 0; !status && b->first < n_var; b->first += MANY) {
        int64_t count = gcor_min(MANY, n_var - b->first);
        if (count < MANY) memset(b->values, 0, (size_t)(n * BATCHES * STRIDE) * sizeof *b->values);
        memset(b->counts, 0, MANY);
        status = gcor_for_columns(context, b->columns, b->first, count, prepare_column, b);
        if (!status) add_batches(context, b, (count + BATCH - 1) / BATCH);
    }
    for (int64_t k = 0; k < n; k++)
        for (int64_t l = 0; l < k; l++) b->sums->products[l * n + k] = b->sums->products[k * n + l];
    return status;
}

gcor_status gcor_sum_products(gcor_context *context, const gcor_columns *columns, const gcor_measure *measure,
                              gcor_partial_sums *sums) {
    const char *what = "sums for partial correlations";
    int64_t n = columns->n_obs;
    unsigned char counts[MANY];
    batches b = {.columns = columns,
                 .measure = measure,
                 .sums = sums,
                 .rank_bytes = (gcor_ranks_bytes(n) + 63) / 64 * 64,
                 .counts = counts};
    gcor_status status = gcor_check_partial(context, measure);
    if (status) return status;
    int ok = 1;
    ok = ok && (b.values = gcor_alloc(context, n * BATCHES * STRIDE, sizeof *b.values, what));
    ok = ok && (b.column = gcor_alloc(context, n * context->threads, sizeof *b.column, what));
    ok = ok && (b.ranks = gcor_alloc(context, context->threads, b.rank_bytes, what));
    status = ok ? sum_batches(context, &b) : GCOR_NO_MEMORY;
    gcor_free(b.values);
    gcor_free(b.column);
    gcor_free(b.ranks);
    return status;
}
