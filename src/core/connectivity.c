/* The sink that sums over each variable's pairs. A tile's values are put together first, then
 * summed along its rows and along its columns, each by one thread in the same order: the sums do
 * not depend on the number of threads. */
#include "sinks.h"

#include "alloc.h"
#include "threads.h"

static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    int64_t pairs = tile->n_row * tile->n_col;
    c->at = *tile;
    if (pairs > c->tile_pairs) {
        gcor_free(c->tile);
        c->tile = gcor_alloc(context, pairs, sizeof(double), "a tile's coefficients");
        c->tile_pairs = c->tile ? pairs : 0;
    }
    if (!c->tile) return GCOR_NO_MEMORY;
    for (int64_t k = 0; k < pairs; k++) c->tile[k] = GCOR_NO_VALUE; /* pairs that do not count */
    return GCOR_OK;
}

/* Where the weight is close to the threshold the exact coefficient decides. */
static double settle(const gcor_sums_rule *rule, const gcor_segment *segment, int64_t k) {
    double r = gcor_value(segment, k);
    if (!segment->exact || !(fabs(gcor_weight(rule->side, r) - rule->least) <= segment->error)) return r;
    return segment->exact(segment, k);
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    int64_t *counts = c->histogram.counts + (int64_t)thread * GCOR_BINS;
    double *out = c->tile + (segment->row - c->at.row) * c->at.n_col + (segment->col - c->at.col);
    (void)context;
    for (int64_t k = 0; k < segment->n; k++) {
        out[k] = settle(&c->rule, segment, k);
        if (out[k] <= 1) counts[gcor_bin(out[k])]++;
    }
    return GCOR_OK;
}

/* n values, `step` apart, are variable var's. */
static void add_variable(gcor_connectivity *c, int64_t var, const double *values, int64_t n, int64_t step) {
    gcor_sums sums = {0};
    for (int64_t k = 0; k < n; k++) gcor_sums_add(&c->rule, values[k * step], &sums);
    c->degree[var] += (double)sums.degree;
    c->strength[var] += sums.strength;
    for (int p = 0; p < c->rule.n_power; p++) c->soft[var + p * c->n_var] += sums.soft[p];
}

static gcor_status end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
#pragma omp parallel num_threads(context->threads)
    {
#pragma omp for schedule(dynamic, 8)
        for (int64_t i = 0; i < tile->n_row; i++)
            if (!gcor_stop(context, omp_get_thread_num()))
                add_variable(c, tile->row + i, c->tile + i * tile->n_col, tile->n_col, 1);
        /* The same variables may be among the columns: only now. */
#pragma omp for schedule(dynamic, 8)
        for (int64_t j = 0; j < tile->n_col; j++)
            if (!gcor_stop(context, omp_get_thread_num()))
                add_variable(c, tile->col + j, c->tile + j, tile->n_row, tile->n_col);
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
    gcor_free(connectivity->histogram.counts);
}
