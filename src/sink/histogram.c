/* The sink that counts coefficients in bins. */
#include "histogram.h"

#include "../base/alloc.h"
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

/* Finds the bins of a run of values, which is vectorized, then counts them. */
void gcor_bins_count(gcor_bins *bins, int thread, const double *values, int64_t n, double max) {
    enum { RUN = 64 };
    int64_t *counts = bins->counts + (int64_t)thread * GCOR_BINS;
    int found[RUN];
    for (int64_t k = 0; k < n; k += RUN) {
        int run = n - k < RUN ? (int)(n - k) : RUN;
#pragma omp simd
        for (int l = 0; l < run; l++) found[l] = values[k + l] <= max ? gcor_bin(values[k + l]) : -1;
        for (int l = 0; l < run; l++)
            if (found[l] >= 0) counts[found[l]]++;
    }
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
    enum { RUN = 64 };
    gcor_histogram *histogram = (gcor_histogram *)sink;
    double error = segment->error, max = 1 + error, values[RUN];
    (void)context;
    if (segment->doubles) gcor_bins_count(&histogram->bins, thread, segment->doubles, segment->n, max);
    for (int64_t k = 0; segment->floats && k < segment->n; k += RUN) {
        int64_t run = segment->n - k < RUN ? segment->n - k : RUN;
        for (int64_t l = 0; l < run; l++) values[l] = segment->floats[k + l];
        gcor_bins_count(&histogram->bins, thread, values, run, max);
    }
    /* Every thread stores the same number. */
    __atomic_store(&histogram->error, &error, __ATOMIC_RELAXED);
    return GCOR_OK;
}

static gcor_status fork_sink(gcor_sink *sink, gcor_context *context, gcor_sink **other) {
    gcor_histogram *fresh;
    gcor_status status = gcor_histogram_new(context, sink->shape, sink->n_row, sink->n_col, sink->approximate, &fresh);
    *other = fresh ? &fresh->sink : NULL;
    return status;
}

static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_histogram *histogram = (gcor_histogram *)sink, *from = (gcor_histogram *)other;
    (void)context;
    gcor_bins_sum(&from->bins);
    gcor_bins_add(&histogram->bins, from->bins.counts);
    memset(from->bins.counts, 0, GCOR_BINS * sizeof *from->bins.counts);
    if (from->error > histogram->error) histogram->error = from->error;
    return GCOR_OK;
}

static gcor_status save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file) {
    gcor_histogram *histogram = (gcor_histogram *)sink;
    (void)shard;
    gcor_status status = gcor_put(context, file, &histogram->error, 1, sizeof histogram->error);
    return status ? status : gcor_bins_save(&histogram->bins, context, file);
}

static gcor_status load(gcor_sink *sink, gcor_context *context, FILE *file) {
    gcor_histogram *histogram = (gcor_histogram *)sink;
    gcor_status status = gcor_get(context, file, &histogram->error, 1, sizeof histogram->error);
    if (!status && !(histogram->error >= 0 && histogram->error <= 1)) status = gcor_damaged(context);
    return status ? status : gcor_bins_load(&histogram->bins, context, sink->n_row * sink->n_col, file);
}

static void release(gcor_sink *sink) {
    gcor_bins_free(&((gcor_histogram *)sink)->bins);
    gcor_free(sink);
}

const gcor_sink_type gcor_histogram_type = {
    .name = "histogram",
    .take = take,
    .fork = fork_sink,
    .merge = merge,
    .save = save,
    .load = load,
    .free = release,
};

gcor_status gcor_histogram_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, int approximate,
                               gcor_histogram **histogram) {
    gcor_histogram *fresh = *histogram = gcor_alloc(context, 1, sizeof *fresh, "a histogram");
    if (!fresh) return GCOR_NO_MEMORY;
    *fresh = (gcor_histogram){
        .sink = {
            .type = &gcor_histogram_type, .shape = shape, .n_row = n_row, .n_col = n_col, .approximate = approximate}};
    gcor_status status = gcor_bins_new(context, &fresh->bins);
    if (!status) return GCOR_OK;
    release(&fresh->sink);
    *histogram = NULL;
    return status;
}
