/* The sink that keeps the largest weight. */
#include "maximum.h"

#include "../core/alloc.h"
#include "file.h"

enum { LINE = 8 };             /* doubles of a cache line */
static const double NONE = -2; /* gcor_weight()'s of what is no coefficient */

/* The largest of n weights, by the values at hand: without a branch. */
static double raw_maximum(gcor_side side, const gcor_segment *segment, int64_t from, int64_t n) {
    const gcor_weighing w = gcor_weigh(side);
    double best = NONE, most = 1 + segment->error;
    if (segment->floats) {
        const float *value = segment->floats + from;
#pragma omp simd reduction(max : best)
        for (int64_t k = 0; k < n; k++) {
            double weight = value[k] <= most ? w.size * fabs(value[k]) + w.sign * value[k] : NONE;
            best = weight > best ? weight : best;
        }
    } else {
        const double *value = segment->doubles + from;
#pragma omp simd reduction(max : best)
        for (int64_t k = 0; k < n; k++) {
            double weight = value[k] <= most ? w.size * fabs(value[k]) + w.sign * value[k] : NONE;
            best = weight > best ? weight : best;
        }
    }
    return best;
}

/* Only values that may be larger than the largest so far are wanted exactly: few, once it is large. */
static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    enum { RUN = 64 };
    gcor_maximum *maximum = (gcor_maximum *)sink;
    double *best = maximum->best + (int64_t)thread * LINE, most = 1 + segment->error;
    (void)context;
    for (int64_t from = 0; from < segment->n; from += RUN) {
        int64_t to = segment->n - from < RUN ? segment->n : from + RUN;
        if (raw_maximum(maximum->side, segment, from, to - from) + segment->error <= *best) continue;
        for (int64_t k = from; k < to; k++) {
            double value = gcor_value(segment, k);
            if (!(value <= most) || gcor_raw_weight(maximum->side, value) + segment->error <= *best) continue;
            double weight = gcor_weight(maximum->side, gcor_exact_value(segment, k));
            if (weight > *best) *best = weight;
        }
    }
    return GCOR_OK;
}

double gcor_maximum_of(const gcor_maximum *maximum) {
    double best = NONE;
    for (int64_t t = 0; t < maximum->threads; t++)
        if (maximum->best[t * LINE] > best) best = maximum->best[t * LINE];
    return best;
}

static void clear(gcor_maximum *maximum) {
    for (int64_t t = 0; t < maximum->threads; t++) maximum->best[t * LINE] = NONE;
}

static gcor_status fork_sink(gcor_sink *sink, gcor_context *context, gcor_sink **other) {
    gcor_maximum *fresh;
    gcor_status status = gcor_maximum_new(context, sink->shape, sink->n_row, sink->n_col, ((gcor_maximum *)sink)->side,
                                          &fresh);
    *other = fresh ? &fresh->sink : NULL;
    return status;
}

static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_maximum *maximum = (gcor_maximum *)sink, *from = (gcor_maximum *)other;
    double best = gcor_maximum_of(from);
    (void)context;
    if (best > maximum->best[0]) maximum->best[0] = best;
    clear(from);
    return GCOR_OK;
}

static gcor_status save(gcor_sink *sink, gcor_context *context, const gcor_share *share, FILE *file) {
    gcor_maximum *maximum = (gcor_maximum *)sink;
    int32_t side = (int32_t)maximum->side;
    double best = gcor_maximum_of(maximum);
    (void)share;
    gcor_status status = gcor_put(context, file, &side, 1, sizeof side);
    return status ? status : gcor_put(context, file, &best, 1, sizeof best);
}

static gcor_status load(gcor_sink *sink, gcor_context *context, FILE *file) {
    gcor_maximum *maximum = (gcor_maximum *)sink;
    int32_t side = (int32_t)maximum->side;
    double best = NONE;
    gcor_status status = gcor_expect(context, file, &side, sizeof side);
    if (!status) status = gcor_get(context, file, &best, 1, sizeof best);
    if (!status && !(best >= NONE && best <= 1)) status = gcor_damaged(context);
    if (!status && best > maximum->best[0]) maximum->best[0] = best;
    return status;
}

static void release(gcor_sink *sink) {
    gcor_free(((gcor_maximum *)sink)->best);
    gcor_free(sink);
}

static const gcor_sink_type maximum_type = {
    .name = "maximum",
    .take = take,
    .fork = fork_sink,
    .merge = merge,
    .save = save,
    .load = load,
    .free = release,
};

gcor_status gcor_maximum_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_side side,
                             gcor_maximum **maximum) {
    gcor_maximum *fresh = *maximum = gcor_alloc(context, 1, sizeof *fresh, "the largest coefficient");
    if (!fresh) return GCOR_NO_MEMORY;
    *fresh = (gcor_maximum){
        .sink = {.type = &maximum_type, .shape = shape, .n_row = n_row, .n_col = n_col, .approximate = 1},
        .side = side,
        .threads = context->threads,
        .best = gcor_alloc(context, context->threads, LINE * sizeof(double), "the largest coefficients")};
    if (fresh->best) {
        clear(fresh);
        return GCOR_OK;
    }
    release(&fresh->sink);
    *maximum = NULL;
    return GCOR_NO_MEMORY;
}
