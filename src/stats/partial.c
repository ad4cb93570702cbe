/* Columns are prepared in batches of fixed size. A thread multiplies the values of a batch, which its caches hold; the
 * products of the batches are added in the order of the variables. */
#include "partial.h"

#include "../base/alloc.h"
#include "../base/dots.h"
#include "../base/threads.h"
#include "../base/triangle.h"
#include "../measure/measure.h"
#include "../source/source.h"

#include <math.h>
#include <string.h>

/* BATCH: a multiple of LANES. STRIDE: between the values of two observations, not a multiple of the processor's pages,
 * which would share cache lines. BLOCK: observations whose products with those before them are a thread's task.
 * PRODUCTS: max number of products that wait to be added. */
enum { BATCH = 512, BATCHES = 32, LANES = 8, STRIDE = BATCH + LANES, BLOCK = 16, PRODUCTS = 1 << 23 };

typedef struct {
    const gcor_columns *columns;
    const gcor_measure *measure;
    gcor_partial_sums *sums;
    int64_t first;   /* variable of the first batch */
    int64_t n_batch; /* batches at a time */
    int64_t used;    /* batches that have variables */
    int divides_batches;
    double *values;   /* n_batch times n * STRIDE: a batch's values of each observation; zeros where a variable has no
                       * coefficients */
    double *products; /* n_batch times n * n: each batch's part of gcor_partial_sums, below the diagonal */
    double *fourth;   /* n_batch times n */
    double *column;   /* n for each thread */
    char *ranks;      /* rank_bytes for each thread */
    size_t rank_bytes;
    unsigned char *counts; /* n_batch * BATCH: 1 for variables that have coefficients */
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

/* Sets the products of a batch's values of observations row .. row+BLOCK-1, of n, with those of all before them. */
GCOR_BODY void multiply_body(const double *values, int64_t row, int64_t n, double *products) {
    const int64_t end = gcor_min(row + BLOCK, n);
    for (int64_t first = 0; first < end; first += GCOR_DOTS) {
        const double *other[GCOR_DOTS];
        double dots[GCOR_DOTS];
        for (int v = 0; v < GCOR_DOTS; v++) other[v] = values + gcor_min(first + v, end - 1) * STRIDE;
        for (int64_t own = gcor_max(row, first); own < end; own++) {
            gcor_dots(other, values + own * STRIDE, BATCH, dots);
            for (int v = 0; v < GCOR_DOTS && first + v <= own; v++) products[own * n + first + v] = dots[v];
        }
    }
}
GCOR_WIDE(multiply, (const double *values, int64_t row, int64_t n, double *products), (values, row, n, products))

static double fourth_powers(const double *x) {
    double lane[LANES] = {0}, sum = 0;
    for (int64_t j = 0; j < BATCH; j += LANES)
        for (int l = 0; l < LANES; l++) lane[l] += x[j + l] * x[j + l] * (x[j + l] * x[j + l]);
    for (int l = 0; l < LANES; l++) sum += lane[l];
    return sum;
}

static void multiply_block(const batches *b, int64_t batch, int64_t block) {
    const int64_t n = b->columns->n_obs;
    const double *values = b->values + batch * n * STRIDE;
    multiply(values, block * BLOCK, n, b->products + batch * n * n);
    for (int64_t own = block * BLOCK; own < gcor_min((block + 1) * BLOCK, n); own++)
        b->fourth[batch * n + own] = fourth_powers(values + own * STRIDE);
}

static void multiply_some_blocks(void *argument, int thread, int64_t k) {
    const batches *b = argument;
    const int64_t blocks = gcor_blocks(b->columns->n_obs, BLOCK), step = b->divides_batches ? 1 : blocks;
    for (int64_t at = k * step; at < (k + 1) * step; at++) multiply_block(b, at / blocks, at % blocks);
}

static void add_row(void *argument, int thread, int64_t own) {
    const batches *b = argument;
    const int64_t n = b->columns->n_obs;
    gcor_partial_sums *sums = b->sums;
    for (int64_t batch = 0; batch < b->used; batch++) {
        const double *products = b->products + (batch * n + own) * n;
        for (int64_t k = 0; k <= own; k++) sums->products[own * n + k] += products[k];
        sums->fourth[own] += b->fourth[batch * n + own];
    }
}

/* Threads multiply a batch each, or if there are fewer batches its blocks. */
static void multiply_batches(const gcor_context *context, batches *b) {
    const int64_t n = b->columns->n_obs, blocks = gcor_blocks(n, BLOCK);
    b->divides_batches = b->used < context->threads;
    gcor_for_each(context->threads, b->divides_batches ? b->used * blocks : b->used, multiply_some_blocks, b);
    gcor_for_each(context->threads, n, add_row, b);
    for (int64_t at = 0; at < b->used * BATCH; at++) b->sums->n_var += b->counts[at];
}

static gcor_status sum_batches(gcor_context *context, batches *b) {
    int64_t n = b->columns->n_obs, n_var = b->columns->source->n_var;
    gcor_status status = GCOR_OK;
    const int64_t many = b->n_batch * BATCH;
    for (b->first = 0; !status && b->first < n_var; b->first += many) {
        const int64_t count = gcor_min(many, n_var - b->first);
        b->used = gcor_blocks(count, BATCH);
        if (count < many) memset(b->values, 0, (size_t)(b->n_batch * n * STRIDE) * sizeof *b->values);
        memset(b->counts, 0, (size_t)many);
        status = gcor_for_columns(context, b->columns, b->first, count, prepare_column, b);
        if (!status) multiply_batches(context, b);
    }
    for (int64_t k = 0; k < n; k++)
        for (int64_t l = 0; l < k; l++) b->sums->products[l * n + k] = b->sums->products[k * n + l];
    return status;
}

gcor_status gcor_sum_products(gcor_context *context, const gcor_columns *columns, const gcor_measure *measure,
                              gcor_partial_sums *sums) {
    const char *what = "sums for partial correlations";
    int64_t n = columns->n_obs;
    batches b = {.columns = columns,
                 .measure = measure,
                 .sums = sums,
                 .n_batch = gcor_clamp(PRODUCTS / gcor_max(1, n * n), 1, BATCHES),
                 .rank_bytes = (gcor_ranks_bytes(n) + 63) / 64 * 64};
    gcor_status status = gcor_check_partial(context, measure);
    if (status) return status;
    int ok = 1;
    ok = ok && (b.values = gcor_alloc(context, b.n_batch * n * STRIDE, sizeof *b.values, what));
    ok = ok && (b.products = gcor_alloc(context, b.n_batch * n * n, sizeof *b.products, what));
    ok = ok && (b.fourth = gcor_alloc(context, b.n_batch * n, sizeof *b.fourth, what));
    ok = ok && (b.counts = gcor_alloc(context, b.n_batch, BATCH, what));
    ok = ok && (b.column = gcor_alloc(context, n * context->threads, sizeof *b.column, what));
    ok = ok && (b.ranks = gcor_alloc(context, context->threads, b.rank_bytes, what));
    status = ok ? sum_batches(context, &b) : GCOR_NO_MEMORY;
    gcor_free(b.values);
    gcor_free(b.products);
    gcor_free(b.fourth);
    gcor_free(b.counts);
    gcor_free(b.column);
    gcor_free(b.ranks);
    return status;
}
