/* Two passes over the values: the first counts them in bins, the second collects the values of bins that contain a
 * quantile. Bins of equal width suit coefficients. If a bin has many values, as with ties, gcor_select() finds the
 * quantile bit by bit. */
#include "summary.h"

#include "../base/alloc.h"
#include "../base/elementary.h"
#include "../base/threads.h"

#include <math.h>
#include <string.h>

enum { BLOCK = 1 << 15, BINS = 1 << 15, LANES = 8, MAX_SHARDS = 100, FEW = 1 << 18, FEW_OF = 512 };

/* A sum and its accumulated rounding error. */
typedef struct {
    double sum, rest;
} exact_sum;

/* A bin that contains a quantile. */
typedef struct {
    int bin;
    int64_t before, n;  /* values in the bins before it, and in it */
    uint64_t low, high; /* range of the values' keys */
    uint64_t *few;      /* the keys of its values; NULL: too many */
    int64_t n_gathered; /* keys that are there */
} crowd;

typedef struct {
    gcor_context *context;
    const gcor_values *values;
    int64_t n;
    double *scratch; /* a block per thread, if values are not in memory as doubles */
    int64_t *counts; /* threads x BINS; the first set gets the totals */
    int64_t missing;
    exact_sum *sums; /* one per block */
    gcor_strongest *strongest;
    int n_crowds;
    crowd crowds[2 * MAX_SHARDS];
    unsigned char crowd_of[BINS]; /* index + 1 of the bin's crowd; 0: it contains no quantile */
    const crowd *chosen;          /* the crowd that read_crowd() reads */
    uint64_t *work;               /* scratch for selecting in a crowd, as large as the largest */
    int64_t tallies[GCOR_SELECT_BINS];
} summary;

static int64_t block_size(const summary *s, int64_t from) {
    return s->n - from < BLOCK ? s->n - from : BLOCK;
}

/* Returns the values of the block that begins at `from`. */
static const double *block_at(const summary *s, int thread, int64_t from) {
    return gcor_read_values(s->values, from, block_size(s, from), s->scratch + thread * (int64_t)BLOCK);
}

/* ---- the first pass --------------------------------------------------------------------------- */

/* Monotonic in the value; NaN gets the first bin, too. */
static int bin_of(double value) {
    double at = (value + 1) * (BINS / 2);
    at = at > 0 ? at : 0;
    return (int)(at < BINS - 1 ? at : BINS - 1);
}

static void add(exact_sum *to, double term) {
    double sum = to->sum + term, seen = sum - to->sum;
    to->rest += (to->sum - (sum - seen)) + (term - seen);
    to->sum = sum;
}

/* Infinite sums have no usable rest. */
static exact_sum total_of(const exact_sum *sums, int64_t n) {
    exact_sum total = {0, 0};
    for (int64_t k = 0; k < n; k++) {
        add(&total, sums[k].sum);
        if (isfinite(sums[k].sum)) add(&total, sums[k].rest);
    }
    return total;
}

/* NaN counts as 0. Lanes allow vectorization. */
static exact_sum sum_block(const double *value, int64_t n) {
    exact_sum lanes[LANES] = {{0, 0}};
    double sum[LANES] = {0}, rest[LANES] = {0};
    int64_t k = 0;
    for (; k + LANES <= n; k += LANES)
        for (int l = 0; l < LANES; l++) {
            double term = value[k + l] == value[k + l] ? value[k + l] : 0;
            double next = sum[l] + term, seen = next - sum[l];
            rest[l] += (sum[l] - (next - seen)) + (term - seen);
            sum[l] = next;
        }
    for (int l = 0; l < LANES; l++) lanes[l] = (exact_sum){sum[l], rest[l]};
    for (; k < n; k++) add(&lanes[0], value[k] == value[k] ? value[k] : 0);
    return total_of(lanes, LANES);
}

static int64_t count_missing(const double *value, int64_t n) {
    int64_t missing = 0;
    for (int64_t k = 0; k < n; k++) missing += value[k] != value[k];
    return missing;
}

static void count_block(void *argument, int thread, int64_t b) {
    summary *s = argument;
    int64_t from = b * BLOCK, size = gcor_stop(s->context) ? 0 : block_size(s, from);
    int64_t *counts = s->counts + thread * (int64_t)BINS;
    const double *value = size > 0 ? block_at(s, thread, from) : NULL;
    s->sums[b] = sum_block(value, size);
    __atomic_fetch_add(&s->missing, count_missing(value, size), __ATOMIC_RELAXED);
    for (int64_t k = 0; k < size; k++) counts[bin_of(value[k])]++;
    gcor_strongest_look(&s->strongest[thread], s->context, value, size, from);
}

/* Missing values are counted in the first bin, and subtracted at the end. */
static void count_values(summary *s) {
    const int threads = s->context->threads;
    memset(s->counts, 0, (size_t)threads * BINS * sizeof *s->counts);
    gcor_for_each(threads, gcor_blocks(s->n, BLOCK), count_block, s);
    for (int t = 1; t < threads; t++)
        for (int64_t b = 0; b < BINS; b++) s->counts[b] += s->counts[t * (int64_t)BINS + b];
    s->counts[0] -= s->missing;
}

/* The remainder of the division is divided, too. */
static double mean_of(const summary *s) {
    exact_sum total = total_of(s->sums, (s->n + BLOCK - 1) / BLOCK);
    double present = (double)(s->n - s->missing), mean = total.sum / present;
    if (!isfinite(mean)) return mean;
    return mean + (gcor_fma(-mean, present, total.sum) + total.rest) / present;
}

/* ---- the second pass -------------------------------------------------------------------------- */

/* Returns the crowd with the k-th smallest value, k from 1; creates it if necessary. */
static crowd *crowd_at(summary *s, int64_t k) {
    int64_t before = 0;
    int bin = 0;
    while (before + s->counts[bin] < k) before += s->counts[bin++];
    if (!s->crowd_of[bin]) {
        s->crowds[s->n_crowds++] = (crowd){.bin = bin, .before = before, .n = s->counts[bin], .low = UINT64_MAX};
        s->crowd_of[bin] = (unsigned char)s->n_crowds;
    }
    return &s->crowds[s->crowd_of[bin] - 1];
}

/* Allocates the lists of crowds that are small enough, and scratch for the largest of them. */
static gcor_status reserve(summary *s, gcor_context *context) {
    int64_t max = 0;
    for (crowd *c = s->crowds; c < s->crowds + s->n_crowds; c++) {
        if (c->n > FEW && c->n > s->n / FEW_OF) continue;
        c->few = gcor_alloc(context, c->n, sizeof *c->few, "values to choose among");
        if (!c->few) return GCOR_NO_MEMORY;
        if (c->n > max) max = c->n;
    }
    s->work = gcor_alloc(context, max, sizeof *s->work, "values to choose among");
    return s->work ? GCOR_OK : GCOR_NO_MEMORY;
}

/* Widens a crowd's range; other threads may do so at the same time. */
static void widen(crowd *c, uint64_t low, uint64_t high) {
    uint64_t known = __atomic_load_n(&c->low, __ATOMIC_RELAXED);
    while (low < known && !__atomic_compare_exchange_n(&c->low, &known, low, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
    known = __atomic_load_n(&c->high, __ATOMIC_RELAXED);
    while (high > known &&
           !__atomic_compare_exchange_n(&c->high, &known, high, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

/* Collects crowds' keys, or only their range if the crowd is too large. */
static void gather_block(void *argument, int thread, int64_t b) {
    summary *s = argument;
    uint64_t low[2 * MAX_SHARDS], high[2 * MAX_SHARDS];
    if (gcor_stop(s->context)) return;
    const double *value = block_at(s, thread, b * BLOCK);
    for (int c = 0; c < s->n_crowds; c++) low[c] = UINT64_MAX, high[c] = 0;
    for (int64_t k = 0, n = block_size(s, b * BLOCK); k < n; k++) {
        int c = s->crowd_of[bin_of(value[k])] - 1;
        if (c < 0 || value[k] != value[k]) continue;
        uint64_t key = gcor_key(value[k] + 0.0);
        crowd *of = &s->crowds[c];
        if (of->few) of->few[__atomic_fetch_add(&of->n_gathered, 1, __ATOMIC_RELAXED)] = key;
        if (key < low[c]) low[c] = key;
        if (key > high[c]) high[c] = key;
    }
    for (int c = 0; c < s->n_crowds; c++) widen(&s->crowds[c], low[c], high[c]);
}

/* ---- order statistics ------------------------------------------------------------------------- */

static int64_t read_crowd(void *user, gcor_context *context, int thread, int64_t p, uint64_t *out) {
    const summary *s = user;
    const double *value = block_at(s, thread, p * BLOCK);
    int64_t size = block_size(s, p * BLOCK), n = 0;
    for (int64_t k = 0; k < size; k++) {
        out[n] = gcor_key(value[k] + 0.0);
        n += bin_of(value[k]) == s->chosen->bin && value[k] == value[k];
    }
    return n;
}

/* The k-th smallest value, k from 1; its crowd must exist. */
static gcor_status value_at(summary *s, gcor_context *context, int64_t k, double *value) {
    crowd *c = crowd_at(s, k);
    uint64_t key = c->low;
    gcor_status status = GCOR_OK;
    k -= c->before;
    if (c->low < c->high && c->few) {
        key = gcor_select_few(c->few, c->n, c->low, c->high, k, s->work, s->tallies);
    } else if (c->low < c->high) {
        gcor_numbers numbers = {(s->n + BLOCK - 1) / BLOCK, BLOCK, read_crowd, s};
        s->chosen = c;
        status = gcor_select(context, &numbers, c->low, c->high, k, &key);
    }
    *value = gcor_key_value(key);
    return status;
}

/* ---- quantiles -------------------------------------------------------------------------------- */

/* Position of a quantile among the values, from 1; it is interpolated between the neighbouring integers. */
static double position_of(const summary *s, double fraction) {
    return 1 + (double)(s->n - s->missing - 1) * fraction;
}

static gcor_status find_quantile(summary *s, gcor_context *context, double fraction, double *quantile) {
    double position = position_of(s, fraction), part = position - floor(position), above;
    gcor_status status = value_at(s, context, (int64_t)floor(position), quantile);
    if (status || part == 0) return status;
    status = value_at(s, context, (int64_t)ceil(position), &above);
    if (!status && above != *quantile) *quantile = (1 - part) * *quantile + part * above;
    return status;
}

static gcor_status find_quantiles(summary *s, gcor_context *context, const double *fractions, int n_fractions,
                                  double *quantile) {
    for (int q = 0; q < n_fractions; q++) {
        quantile[q] = NAN;
        if (s->missing == s->n) continue;
        (void)crowd_at(s, (int64_t)floor(position_of(s, fractions[q])));
        (void)crowd_at(s, (int64_t)ceil(position_of(s, fractions[q])));
    }
    gcor_status status = reserve(s, context);
    if (!status && s->n_crowds > 0) gcor_for_each(context->threads, gcor_blocks(s->n, BLOCK), gather_block, s);
    for (int q = 0; !context->error.status && q < n_fractions && s->n_crowds > 0; q++)
        status = find_quantile(s, context, fractions[q], &quantile[q]);
    return status ? status : context->error.status;
}

/* ---- all -------------------------------------------------------------------------------------- */

static gcor_status summarise(summary *s, gcor_context *context, const double *fractions, int n_fractions,
                             double *quantile, gcor_summary *result) {
    count_values(s);
    if (context->error.status) return context->error.status;
    *result = (gcor_summary){.missing = s->missing, .mean = mean_of(s)};
    gcor_status status = find_quantiles(s, context, fractions, n_fractions, quantile);
    if (status) return status;
    return gcor_strongest_join(s->strongest, context, &result->strongest, &result->n_strongest);
}

static void free_summary(summary *s, int threads) {
    for (int c = 0; c < s->n_crowds; c++) gcor_free(s->crowds[c].few);
    gcor_free(s->work);
    gcor_free(s->scratch);
    gcor_free(s->counts);
    gcor_free(s->sums);
    gcor_strongest_free(s->strongest, threads);
    gcor_free(s);
}

gcor_status gcor_summarise(gcor_context *context, const gcor_values *values, int64_t n, const double *fractions,
                           int n_fractions, int64_t max, double *quantile, gcor_summary *result) {
    const char *what = "a summary";
    if (n_fractions > MAX_SHARDS) return gcor_fail(context, GCOR_BAD_INPUT, "at most %d quantiles", (int)MAX_SHARDS);
    summary *s = gcor_alloc(context, 1, sizeof *s, what);
    if (!s) return GCOR_NO_MEMORY;
    memset(s, 0, sizeof *s);
    s->context = context;
    s->values = values;
    s->n = n;
    s->scratch = gcor_alloc(context, values->plain ? 0 : (int64_t)context->threads * BLOCK, sizeof *s->scratch, what);
    s->counts = gcor_alloc(context, (int64_t)context->threads * BINS, sizeof *s->counts, what);
    s->sums = gcor_alloc(context, (n + BLOCK - 1) / BLOCK, sizeof *s->sums, what);
    s->strongest = gcor_strongest_new(context, max);
    gcor_status status = GCOR_NO_MEMORY;
    if (s->scratch && s->counts && s->sums && s->strongest)
        status = summarise(s, context, fractions, n_fractions, quantile, result);
    free_summary(s, context->threads);
    return status;
}
