/* The sink that sums over each variable's pairs. A tile's values are put together first. Then every thread takes
 * strips of columns, and each value counts for its column and, in a sum of the strip's own, for its row; at last
 * the rows' sums over all strips are added up. Every sum is made by one thread in the same order: it does not
 * depend on the number of threads. */
#include "sinks.h"

#include "../core/alloc.h"
#include "../core/threads.h"

#include <string.h>

enum { STRIP = 64 }; /* columns: their sums stay in the first-level cache */

/* What is summed: edges, their weights, and each power. */
enum { DEGREE, STRENGTH, SOFT, MOST_SUMS = SOFT + GCOR_MOST_POWERS };

static int64_t count_strips(const gcor_tile *tile) {
    return (tile->n_col + STRIP - 1) / STRIP;
}

static int count_sums(const gcor_connectivity *c) {
    return SOFT + c->rule.n_power;
}

static gcor_status make_room(gcor_connectivity *c, gcor_context *context, const gcor_tile *tile) {
    int64_t pairs = tile->n_row * tile->n_col, sums = count_strips(tile) * tile->n_row * count_sums(c);
    if (pairs <= c->tile_room && sums <= c->partial_room) return GCOR_OK;
    gcor_free(c->tile);
    gcor_free(c->partial);
    c->tile_room = pairs;
    c->partial_room = sums;
    c->tile = gcor_alloc(context, pairs, sizeof(double), "a tile's coefficients");
    c->partial = gcor_alloc(context, sums, sizeof(double), "sums of a tile's rows");
    if (c->tile && c->partial) return GCOR_OK;
    c->tile_room = 0;
    return GCOR_NO_MEMORY;
}

static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    int64_t pairs = tile->n_row * tile->n_col;
    gcor_status status = make_room(c, context, tile);
    if (status) return status;
    c->at = *tile;
    if (gcor_tile_pairs(tile, sink->shape) == pairs) return GCOR_OK;
    for (int64_t k = 0; k < pairs; k++) c->tile[k] = GCOR_NO_VALUE; /* pairs that do not count */
    return GCOR_OK;
}

/* Where the weight is close to the threshold the exact coefficient decides. */
static void settle(const gcor_sums_rule *rule, const gcor_segment *segment, double *values) {
    if (!segment->exact || rule->least > 1) return;
    for (int64_t k = 0; k < segment->n; k++)
        if (fabs(gcor_weight(rule->side, values[k]) - rule->least) <= segment->error)
            values[k] = segment->exact(segment, k);
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    double *out = c->tile + (segment->row - c->at.row) * c->at.n_col + (segment->col - c->at.col);
    (void)context;
    for (int64_t k = 0; k < segment->n; k++) out[k] = gcor_value(segment, k);
    settle(&c->rule, segment, out);
    gcor_count_bins(out, segment->n, 1, c->histogram.counts + (int64_t)thread * GCOR_BINS);
    return GCOR_OK;
}

/* ---- sums --------------------------------------------------------------------------------------- */

/* n terms, each to its column's sum; returns the sum of all. */
static double add_terms(const double *terms, int64_t n, double *sums) {
    double all = 0;
#pragma omp simd reduction(+ : all)
    for (int64_t k = 0; k < n; k++) {
        sums[k] += terms[k];
        all += terms[k];
    }
    return all;
}

/* What n values count for as edges: gcor_weight() is size |r| + sign r. */
static void edge_terms(const gcor_sums_rule *rule, const double *r, int64_t n, double *degree, double *strength) {
    const double size = rule->side == GCOR_ABSOLUTE, least = rule->least;
    const double sign = rule->side == GCOR_POSITIVE ? 1 : rule->side == GCOR_NEGATIVE ? -1 : 0;
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
        double weight = size * fabs(r[k]) + sign * r[k];
        int edge = (r[k] <= 1) & (weight >= least);
        degree[k] = edge ? 1 : 0;
        strength[k] = edge ? weight : 0;
    }
}

/* base[k]^0, and the base, of n values; 0 where there is no coefficient. */
static void start_powers(gcor_similarity similarity, const double *r, int64_t n, double *base, double *power) {
    for (int64_t k = 0; k < n; k++) {
        power[k] = r[k] <= 1 ? 1 : 0;
        base[k] = r[k] <= 1 ? gcor_base(similarity, r[k]) : 0;
    }
}

/* As gcor_raise(). */
static void raise_power(const double *base, double step, int64_t n, double *power) {
    double factor[STRIP];
    if (step > 32 || step != (double)(int)step) {
        for (int64_t k = 0; k < n; k++) power[k] *= gcor_raise(base[k], step);
        return;
    }
    for (int64_t k = 0; k < n; k++) factor[k] = 1;
    for (int p = (int)step; p > 0; p--) {
#pragma omp simd
        for (int64_t k = 0; k < n; k++) factor[k] *= base[k];
    }
#pragma omp simd
    for (int64_t k = 0; k < n; k++) power[k] *= factor[k];
}

/* n values of a row, to the sums of their columns and to the row's. */
static void add_values(const gcor_sums_rule *rule, const double *r, int64_t n, double cols[][STRIP], double *row) {
    double base[STRIP], terms[STRIP], weights[STRIP];
    row[DEGREE] = row[STRENGTH] = 0;
    if (rule->least <= 1) {
        edge_terms(rule, r, n, terms, weights);
        row[DEGREE] = add_terms(terms, n, cols[DEGREE]);
        row[STRENGTH] = add_terms(weights, n, cols[STRENGTH]);
    }
    start_powers(rule->similarity, r, n, base, terms);
    for (int p = 0; p < rule->n_power; p++) {
        raise_power(base, rule->steps[p], n, terms);
        row[SOFT + p] = add_terms(terms, n, cols[SOFT + p]);
    }
}

/* Sum s of variable var. */
static double *sum_of(gcor_connectivity *c, int64_t var, int s) {
    if (s == DEGREE) return &c->degree[var];
    return s == STRENGTH ? &c->strength[var] : &c->soft[var + (s - SOFT) * c->n_var];
}

static void add_strip(gcor_connectivity *c, const gcor_tile *tile, int64_t strip) {
    double cols[MOST_SUMS][STRIP];
    int64_t first = strip * STRIP, n = tile->n_col - first < STRIP ? tile->n_col - first : STRIP;
    double *row = c->partial + strip * tile->n_row * count_sums(c);
    memset(cols, 0, (size_t)count_sums(c) * sizeof *cols);
    for (int64_t i = 0; i < tile->n_row; i++, row += count_sums(c))
        add_values(&c->rule, c->tile + i * tile->n_col + first, n, cols, row);
    for (int s = 0; s < count_sums(c); s++)
        for (int64_t j = 0; j < n; j++) *sum_of(c, tile->col + first + j, s) += cols[s][j];
}

static void add_row(gcor_connectivity *c, const gcor_tile *tile, int64_t i) {
    for (int64_t strip = 0; strip < count_strips(tile); strip++)
        for (int s = 0; s < count_sums(c); s++)
            *sum_of(c, tile->row + i, s) += c->partial[(strip * tile->n_row + i) * count_sums(c) + s];
}

static gcor_status end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
#pragma omp parallel num_threads(context->threads)
    {
#pragma omp for schedule(dynamic)
        for (int64_t strip = 0; strip < count_strips(tile); strip++)
            if (!gcor_stop(context, omp_get_thread_num())) add_strip(c, tile, strip);
        /* The same variables may be among the columns: only now. */
#pragma omp for schedule(static)
        for (int64_t i = 0; i < tile->n_row; i++)
            if (!gcor_stop(context, omp_get_thread_num())) add_row(c, tile, i);
    }
    return context->error.status;
}

gcor_connectivity gcor_connectivity_sink(gcor_context *context, gcor_sums_rule rule, int64_t n_var, double *degree,
                                         double *strength, double *soft) {
    gcor_connectivity c = {.histogram = gcor_histogram_sink(context, GCOR_LOWER, 0), .rule = rule, .n_var = n_var,
                           .degree = degree, .strength = strength, .soft = soft};
    gcor_sink *sink = &c.histogram.sink;
    sink->kind = GCOR_CONNECTIVITY;
    sink->take = take;
    sink->begin_tile = begin_tile;
    sink->end_tile = end_tile;
    return c;
}

void gcor_connectivity_free(gcor_connectivity *connectivity) {
    gcor_free(connectivity->tile);
    gcor_free(connectivity->partial);
    gcor_free(connectivity->histogram.counts);
}
