#include "pairs.h"

#include <math.h>

static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    ((gcor_filter *)sink)->extent = gcor_pairs_of_tile(sink->pairs, tile);
    return GCOR_OK;
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
    gcor_sink *of = sink->of;
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

static const gcor_sink_type TYPE = {
    .name = "filter",
    .size = sizeof(gcor_filter),
    .take = take,
    .begin_tile = begin_tile,
};

gcor_filter gcor_filter_of(gcor_sink *of, const gcor_pairs *pairs) {
    gcor_filter filter = {.sink = *of};
    filter.sink.type = &TYPE;
    filter.sink.of = of;
    filter.sink.pairs = of->pairs = pairs;
    return filter;
}
