/* The sink that counts coefficients by size. */
#include "sinks.h"

#include "../core/alloc.h"

#include <string.h>

enum { SOME = 64 };

/* Bins are found together, then counted. */
void gcor_count_bins(const double *values, int64_t n, double most, int64_t *counts) {
    int bins[SOME];
    for (int64_t k = 0; k < n; k += SOME) {
        int some = n - k < SOME ? (int)(n - k) : SOME;
#pragma omp simd
        for (int l = 0; l < some; l++) bins[l] = values[k + l] <= most ? gcor_bin(values[k + l]) : -1;
        for (int l = 0; l < some; l++)
            if (bins[l] >= 0) counts[bins[l]]++;
    }
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_histogram *histogram = (gcor_histogram *)sink;
    int64_t *counts = histogram->counts + (int64_t)thread * GCOR_BINS;
    double most = 1 + segment->error, values[SOME];
    (void)context;
    if (segment->doubles) gcor_count_bins(segment->doubles, segment->n, most, counts);
    for (int64_t k = 0; segment->floats && k < segment->n; k += SOME) {
        int64_t some = segment->n - k < SOME ? segment->n - k : SOME;
        for (int64_t l = 0; l < some; l++) values[l] = segment->floats[k + l];
        gcor_count_bins(values, some, most, counts);
    }
    /* The same number from every thread. */
    __atomic_store(&histogram->error, &segment->error, __ATOMIC_RELAXED);
    return GCOR_OK;
}

gcor_histogram gcor_histogram_sink(gcor_context *context, gcor_shape shape, int approximate) {
    int64_t bins = (int64_t)context->threads * GCOR_BINS;
    gcor_histogram histogram = {
        .sink = {.kind = GCOR_HISTOGRAM, .shape = shape, .approximate = approximate, .take = take},
        .counts = gcor_alloc(context, bins, sizeof(int64_t), "a histogram"),
    };
    if (histogram.counts) memset(histogram.counts, 0, (size_t)bins * sizeof(int64_t));
    return histogram;
}

void gcor_histogram_add(gcor_histogram *histogram, const int64_t *counts) {
    for (int b = 0; b < GCOR_BINS; b++) histogram->counts[b] += counts[b];
}

void gcor_histogram_end(gcor_histogram *histogram, int threads) {
    for (int t = 1; t < threads; t++) gcor_histogram_add(histogram, histogram->counts + (int64_t)t * GCOR_BINS);
}
