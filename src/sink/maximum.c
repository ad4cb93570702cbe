/* The sink that keeps the largest weight. */
#include "maximum.h"

#include "../base/alloc.h"
#include "file.h"

enum { LINE = 8 }; /* doubles of a cache line */

/* Computes exact values only for values that may exceed the maximum so far, which soon are few. */
static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    enum { RUN = 64 };
    gcor_maximum *maximum = (gcor_maximum *)sink;
    double *best = maximum->best + (int64_t)thread * LINE, max = 1 + segment->error;
    for (int64_t from = 0; from < segment->n; from += RUN) {
        int64_t to = segment->n - from < RUN ? segment->n : from + RUN;
        if (gcor_largest_weight(maximum->side, segment, from, to - from) + segment->error <= *best) continue;
        for (int64_t k = from; k < to; k++) {
            double value = gcor_value(segment, k);
            if (!(value <= max) || gcor_raw_weight(maximum->side, value) + segment->error <= *best) continue;
            double weight = gcor_weight(maximum->side, gcor_exact_value(segment, k));
            if (weight > *best) *best = weight;
        }
    }
    return GCOR_OK;
}

double gcor_maximum_of(const gcor_maximum *maximum) {
    double best = GCOR_NO_WEIGHT;
    for (int64_t t = 0; t < maximum->threads; t++)
        if (maximum->best[t * LINE] > best) best = maximum->best[t * LINE];
    return best;
}

void gcor_maximum_add(gcor_maximum *maximum, double weight) {
    if (weight > maximum->best[0]) maximum->best[0] = weight;
}

/* Threads change their maxima only during a tile. */
static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_maximum *maximum = (gcor_maximum *)sink;
    maximum->min = fmax(0, gcor_maximum_of(maximum));
    return GCOR_OK;
}

static double min_size(const gcor_sink *sink) {
    return ((const gcor_maximum *)sink)->min;
}

static void clear(gcor_maximum *maximum) {
    maximum->min = 0;
    for (int64_t t = 0; t < maximum->threads; t++) maximum->best[t * LINE] = GCOR_NO_WEIGHT;
}

static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_maximum *maximum = (gcor_maximum *)sink, *from = (gcor_maximum *)other;
    gcor_maximum_add(maximum, gcor_maximum_of(from));
    clear(from);
    return GCOR_OK;
}

static gcor_status save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file) {
    gcor_maximum *maximum = (gcor_maximum *)sink;
    int32_t side = (int32_t)maximum->side;
    double best = gcor_maximum_of(maximum);
    gcor_status status = gcor_put(context, file, &side, 1, sizeof side);
    return status ? status : gcor_put(context, file, &best, 1, sizeof best);
}

static gcor_status load(gcor_sink *sink, gcor_context *context, FILE *file) {
    gcor_maximum *maximum = (gcor_maximum *)sink;
    int32_t side = (int32_t)maximum->side;
    double best = GCOR_NO_WEIGHT;
    gcor_status status = gcor_expect(context, file, &side, sizeof side);
    if (!status) status = gcor_get(context, file, &best, 1, sizeof best);
    if (!status && !(best >= GCOR_NO_WEIGHT && best <= 1)) status = gcor_damaged(context);
    if (!status) gcor_maximum_add(maximum, best);
    return status;
}

static gcor_status allocate(gcor_sink *sink, gcor_context *context) {
    gcor_maximum *maximum = (gcor_maximum *)sink;
    maximum->threads = context->threads;
    maximum->best = gcor_alloc(context, maximum->threads, LINE * sizeof(double), "the largest coefficients");
    if (!maximum->best) return GCOR_NO_MEMORY;
    clear(maximum);
    return GCOR_OK;
}

static void release(gcor_sink *sink) {
    gcor_free(((gcor_maximum *)sink)->best);
}

static const gcor_sink_type TYPE = {
    .name = "maximum",
    .size = sizeof(gcor_maximum),
    .role = GCOR_MAXIMUM,
    .take = take,
    .begin_tile = begin_tile,
    .min = min_size,
    .allocate = allocate,
    .merge = merge,
    .save = save,
    .load = load,
    .release = release,
};

gcor_status gcor_maximum_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_side side,
                             gcor_maximum **maximum) {
    const gcor_maximum like = {
        .sink = {.type = &TYPE, .shape = shape, .n_row = n_row, .n_col = n_col, .approximate = 1, .coarse = 1},
        .side = side};
    *maximum = gcor_sink_new(context, &like);
    return *maximum ? GCOR_OK : context->error.status;
}
