/* The sink that counts coefficients by size. */
#include "sinks.h"

#include "alloc.h"

#include <string.h>

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_histogram *histogram = (gcor_histogram *)sink;
    int64_t *counts = histogram->counts + (int64_t)thread * GCOR_BINS;
    (void)context;
    for (int64_t k = 0; k < segment->n; k++) {
        double r = gcor_value(segment, k);
        if (r <= 1 + segment->error) counts[gcor_bin(r)]++;
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
