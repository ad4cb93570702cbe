#include "filter.h"

#include "../base/alloc.h"

#include <math.h>

static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_filter *filter = (gcor_filter *)sink;
    filter->extent = gcor_pairs_of_tile(sink->pairs, tile);
    return gcor_begin_tile(filter->of, context, tile);
}

static gcor_status end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    return gcor_end_tile(((gcor_filter *)sink)->of, context, tile);
}

/* Elements k .. k+n-1 of the segment. */
static gcor_segment part_of(const gcor_segment *segment, int64_t k, int64_t n) {
    gcor_segment part = *segment;
    part.col += k;
    part.n = n;
    if (part.doubles) part.doubles += k;
    if (part.floats) part.floats += k;
    return part;
}

enum { SOME = 256 };

/* Passes on a copy of the part with NaN for pairs outside of the mask. */
static gcor_status take_counted(gcor_sink *of, gcor_context *context, int thread, gcor_segment *part,
                                const unsigned char *counts) {
    double doubles[SOME];
    float floats[SOME];
    const double *from = part->doubles;
    const float *from_floats = part->floats, nan = NAN;
    if (from) {
        for (int64_t k = 0; k < part->n; k++) doubles[k] = counts[k] ? from[k] : NAN;
        part->doubles = doubles;
    } else {
        for (int64_t k = 0; k < part->n; k++) floats[k] = counts[k] ? from_floats[k] : nan;
        part->floats = floats;
    }
    return of->type->take(of, context, thread, part);
}

/* Passes on the runs of the part that are in the mask. Used if the segment has all subjects' values (stride), of
 * which a copy would be expensive. */
static gcor_status take_runs(gcor_sink *of, gcor_context *context, int thread, const gcor_segment *part,
                             const unsigned char *counts) {
    gcor_status status = GCOR_OK;
    for (int64_t k = 0, end; !status && k < part->n; k = end) {
        for (end = k + 1; end < part->n && counts[end] == counts[k];) end++;
        gcor_segment run = part_of(part, k, end - k);
        if (counts[k]) status = of->type->take(of, context, thread, &run);
    }
    return status;
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_sink *of = ((gcor_filter *)sink)->of;
    unsigned char counts[SOME];
    gcor_status status = GCOR_OK;
    if (((gcor_filter *)sink)->extent == GCOR_ALL_PAIRS) return of->type->take(of, context, thread, segment);
    for (int64_t from = 0; !status && from < segment->n; from += SOME) {
        gcor_segment part = part_of(segment, from, segment->n - from < SOME ? segment->n - from : SOME);
        int64_t found = gcor_pairs_of_row(sink->pairs, part.row, part.col, part.n, counts);
        if (found == part.n)
            status = of->type->take(of, context, thread, &part);
        else if (found > 0)
            status = part.stride > 0 ? take_runs(of, context, thread, &part, counts)
                                     : take_counted(of, context, thread, &part, counts);
    }
    return status;
}

/* The filter is a copy, which still has the sink of the other one. */
static gcor_status allocate(gcor_sink *sink, gcor_context *context) {
    gcor_filter *filter = (gcor_filter *)sink;
    gcor_status status = gcor_sink_fork(filter->of, context, &filter->of);
    if (!status) filter->of->pairs = sink->pairs;
    return status;
}

static void release(gcor_sink *sink) {
    gcor_sink_free(((gcor_filter *)sink)->of);
}

static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_sink *of = ((gcor_filter *)sink)->of;
    return of->type->merge(of, context, ((gcor_filter *)other)->of);
}

static const gcor_sink_type TYPE = {
    .name = "filter",
    .size = sizeof(gcor_filter),
    .take = take,
    .begin_tile = begin_tile,
    .end_tile = end_tile,
    .allocate = allocate,
    .merge = merge,
    .release = release,
};

/* For sinks that cannot be merged. */
static const gcor_sink_type ALONE = {
    .name = "filter",
    .size = sizeof(gcor_filter),
    .take = take,
    .begin_tile = begin_tile,
    .end_tile = end_tile,
    .release = release,
};

gcor_filter gcor_filter_of(gcor_sink *of, const gcor_pairs *pairs) {
    gcor_filter filter = {.sink = *of, .of = of};
    filter.sink.type = of->type->merge ? &TYPE : &ALONE;
    filter.sink.pairs = of->pairs = pairs;
    return filter;
}
