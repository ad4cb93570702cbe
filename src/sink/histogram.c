/* The sink that counts coefficients in bins. */
/* Allows the compiler to vectorize loops with a conditional; before the functions that are parts of them. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-trapping-math")
#endif

#include "histogram.h"

#include "../base/alloc.h"
#include "../base/triangle.h"
#include "../base/isa.h"
#include "file.h"

#include <string.h>

/* ---- bins ---------------------------------------------------------------------------- */

gcor_status gcor_bins_new(gcor_context *context, gcor_bins *bins) {
    int64_t n = (int64_t)context->threads * GCOR_BINS;
    *bins = (gcor_bins){gcor_alloc(context, n, sizeof(int64_t), "a histogram"), context->threads};
    if (!bins->counts) return GCOR_NO_MEMORY;
    memset(bins->counts, 0, (size_t)n * sizeof(int64_t));
    return GCOR_OK;
}

void gcor_bins_free(gcor_bins *bins) {
    gcor_free(bins->counts);
    bins->counts = NULL;
}

void gcor_bins_add(gcor_bins *bins, const int64_t *counts) {
    for (int b = 0; b < GCOR_BINS; b++) bins->counts[b] += counts[b];
}

void gcor_bins_sum(gcor_bins *bins) {
    for (int t = 1; t < bins->threads; t++) {
        int64_t *own = bins->counts + (int64_t)t * GCOR_BINS;
        gcor_bins_add(bins, own);
        memset(own, 0, GCOR_BINS * sizeof *own);
    }
}

void gcor_bins_move(gcor_bins *bins, gcor_bins *from) {
    gcor_bins_sum(from);
    gcor_bins_add(bins, from->counts);
    memset(from->counts, 0, GCOR_BINS * sizeof *from->counts);
}

/* Finds the bins of a run of values, which is vectorized, then counts them. doubles or floats is NULL. The comparisons
 * make gcor_bin()'s integers, or -1; values below `min` in size are counted as 0, and the others gathered: they are
 * mostly few. */
GCOR_BODY void count_body(int64_t *counts, const double *doubles, const float *floats, int64_t n, double min,
                          double max) {
    enum { RUN = 64 };
    const float single = (float)min;
    int found[RUN];
    double value[RUN];
    for (int64_t k = 0; k < n; k += RUN) {
        int run = n - k < RUN ? (int)(n - k) : RUN, weak = 0;
        if (floats)
            for (int l = 0; l < run; l++) weak += fabsf(floats[k + l]) < single ? 1 : 0;
        else
            for (int l = 0; l < run; l++) weak += fabs(doubles[k + l]) < single ? 1 : 0;
        counts[GCOR_BINS / 2] += weak;
        if (weak == run) continue;
        if (floats)
            for (int l = 0; l < run; l++) value[l] = floats[k + l];
        else
            memcpy(value, doubles + k, (size_t)run * sizeof *value);
        int strong = weak > 0 ? 0 : run;
        for (int l = 0; weak > 0 && l < run; l++) {
            value[strong] = value[l];
            strong += !(fabs(value[l]) < single);
        }
        for (int l = 0; l < strong; l++) {
            double bin = (value[l] + 1) * (GCOR_BINS / 2);
            bin = bin > 0 ? bin : 0;
            bin = bin < GCOR_BINS - 1 ? bin : GCOR_BINS - 1;
            found[l] = (int)(value[l] <= max ? bin : -1);
        }
        for (int l = 0; l < strong; l++)
            if (found[l] >= 0) counts[found[l]]++;
    }
}
GCOR_WIDE(count, (int64_t * counts, const double *doubles, const float *floats, int64_t n, double min, double max),
          (counts, doubles, floats, n, min, max))

void gcor_bins_count(gcor_bins *bins, int thread, const double *values, int64_t n, double max) {
    count(bins->counts + (int64_t)thread * GCOR_BINS, values, NULL, n, 0, max);
}

gcor_status gcor_bins_save(gcor_bins *bins, gcor_context *context, FILE *file) {
    gcor_bins_sum(bins);
    return gcor_put(context, file, bins->counts, GCOR_BINS, sizeof *bins->counts);
}

gcor_status gcor_bins_load(gcor_bins *bins, gcor_context *context, int64_t max, FILE *file) {
    gcor_status status = gcor_get(context, file, bins->counts, GCOR_BINS, sizeof *bins->counts);
    for (int b = 0; !status && b < GCOR_BINS; b++) {
        if (bins->counts[b] < 0 || bins->counts[b] > max) return gcor_damaged(context);
        max -= bins->counts[b];
    }
    return status;
}

/* ---- the sink -------------------------------------------------------------------------- */

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_histogram *histogram = (gcor_histogram *)sink;
    double error = segment->error, min = fmax(0, histogram->min - error - 2.0 / GCOR_BINS);
    count(histogram->bins.counts + (int64_t)thread * GCOR_BINS, segment->doubles, segment->floats, segment->n, min,
          1 + error);
    /* Every thread stores the same number. */
    __atomic_store(&histogram->error, &error, __ATOMIC_RELAXED);
    return sink->of ? sink->of->type->take(sink->of, context, thread, segment) : GCOR_OK;
}

/* Finds values of at least `min` in size whose exact ones may be in another bin. Returns how many of n. */
static int64_t find_unsettled(const gcor_segment *segment, int64_t from, int64_t n, double min, int32_t *which) {
    const double margin = segment->error * (GCOR_BINS / 2) + 1e-6, max = 1 + segment->error;
    int64_t found = 0;
    for (int64_t k = from; k < from + n; k++) {
        double value = gcor_value(segment, k), place = (value + 2) * (GCOR_BINS / 2);
        double part = place - (double)(int)(value <= max ? place : 0);
        which[found] = (int32_t)k;
        found += (fabs(value) >= min) & (value <= max) & ((part < margin) | (part > 1 - margin));
    }
    return found;
}

/* Computes exact values only for values near the bounds of bins, so that the counts are the same on every back end. */
static gcor_status take_exactly(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    enum { RUN = 256 };
    gcor_histogram *histogram = (gcor_histogram *)sink;
    int64_t *counts = histogram->bins.counts + (int64_t)thread * GCOR_BINS;
    double error = segment->error, min = fmax(0, histogram->min - error - 2.0 / GCOR_BINS);
    for (int64_t from = 0; from < segment->n; from += RUN) {
        int64_t n = segment->n - from < RUN ? segment->n - from : RUN;
        int32_t which[RUN];
        double values[RUN], exact[RUN];
        if (min > 0 && gcor_largest_weight(GCOR_ABSOLUTE, segment, from, n) < min) continue;
        int64_t found = segment->refine ? find_unsettled(segment, from, n, min, which) : 0;
        for (int64_t k = 0; k < n; k++) values[k] = gcor_value(segment, from + k);
        if (found > 0) segment->refine(segment, which, found, exact);
        for (int64_t l = 0; l < found; l++) values[which[l] - from] = exact[l];
        count(counts, values, NULL, n, min, 1 + error);
    }
    return GCOR_OK;
}

static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_histogram *histogram = (gcor_histogram *)sink, *from = (gcor_histogram *)other;
    gcor_bins_move(&histogram->bins, &from->bins);
    if (from->error > histogram->error) histogram->error = from->error;
    return GCOR_OK;
}

static gcor_status save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file) {
    gcor_histogram *histogram = (gcor_histogram *)sink;
    gcor_status status = gcor_put(context, file, &histogram->error, 1, sizeof histogram->error);
    return status ? status : gcor_bins_save(&histogram->bins, context, file);
}

static gcor_status load(gcor_sink *sink, gcor_context *context, FILE *file) {
    gcor_histogram *histogram = (gcor_histogram *)sink;
    gcor_status status = gcor_get(context, file, &histogram->error, 1, sizeof histogram->error);
    if (!status && !(histogram->error >= 0 && histogram->error <= 1)) status = gcor_damaged(context);
    return status ? status : gcor_bins_load(&histogram->bins, context, sink->n_row * sink->n_col, file);
}

static gcor_status allocate(gcor_sink *sink, gcor_context *context) {
    ((gcor_histogram *)sink)->error = 0;
    return gcor_bins_new(context, &((gcor_histogram *)sink)->bins);
}

static void release(gcor_sink *sink) {
    gcor_bins_free(&((gcor_histogram *)sink)->bins);
}

static const gcor_sink_type TYPE = {
    .name = "histogram",
    .size = sizeof(gcor_histogram),
    .role = GCOR_HISTOGRAM,
    .take = take,
    .allocate = allocate,
    .merge = merge,
    .save = save,
    .load = load,
    .release = release,
};

static double min_size(const gcor_sink *sink) {
    return fmax(0, ((const gcor_histogram *)sink)->min - 2.0 / GCOR_BINS);
}

static const gcor_sink_type EXACT = {.name = "exact histogram",
                                     .size = sizeof(gcor_histogram),
                                     .role = GCOR_HISTOGRAM,
                                     .take = take_exactly,
                                     .min = min_size,
                                     .allocate = allocate,
                                     .merge = merge,
                                     .save = save,
                                     .load = load,
                                     .release = release};

gcor_status gcor_histogram_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, int exact,
                               gcor_histogram **histogram) {
    const gcor_histogram like = {.sink = {.type = exact ? &EXACT : &TYPE,
                                          .shape = shape,
                                          .n_row = n_row,
                                          .n_col = n_col,
                                          .approximate = 1,
                                          .coarse = exact},
                                 .exact = exact};
    *histogram = gcor_sink_new(context, &like);
    return *histogram ? GCOR_OK : context->error.status;
}
