#include "information.h"

#include "../base/elementary.h"

#include <math.h>

static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    return gcor_begin_tile(((gcor_information *)sink)->of, context, tile);
}

static gcor_status end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    return gcor_end_tile(((gcor_information *)sink)->of, context, tile);
}

static double information(double r) {
    double nats = r * r < 1 ? -gcor_log1p(-r * r) / 2 : GCOR_MAX_INFORMATION;
    return nats < GCOR_MAX_INFORMATION ? nats / GCOR_MAX_INFORMATION : 1;
}

static double above(const gcor_information *s, int64_t variable, double value) {
    double z = (value - s->mean[variable]) * s->unit[variable];
    return z > 0 ? z : 0;
}

static double likelihood(const gcor_information *s, int64_t row, int64_t col, double value) {
    double a = above(s, row, value), b = above(s, col, value), z = sqrt(a * a + b * b);
    return z / (1 + z);
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    enum { SOME = 256 };
    const gcor_information *s = (const gcor_information *)sink;
    double values[SOME];
    gcor_status status = GCOR_OK;
    for (int64_t from = 0; !status && from < segment->n; from += SOME) {
        int64_t n = segment->n - from < SOME ? segment->n - from : SOME;
        gcor_segment part = {.row = segment->row, .col = segment->col + from, .n = n, .doubles = values};
        for (int64_t k = 0; k < n; k++) {
            double r = gcor_value(segment, from + k);
            values[k] = r <= 1 ? information(r) : r;
            if (r <= 1 && s->mean) values[k] = likelihood(s, part.row, part.col + k, values[k]);
        }
        status = s->of->type->take(s->of, context, thread, &part);
    }
    return status;
}

/* The sink is a copy, which still has the sink of the other one. */
static gcor_status allocate(gcor_sink *sink, gcor_context *context) {
    gcor_information *s = (gcor_information *)sink;
    return gcor_sink_fork(s->of, context, &s->of);
}

static void release(gcor_sink *sink) {
    gcor_sink_free(((gcor_information *)sink)->of);
}

static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_sink *of = ((gcor_information *)sink)->of;
    return of->type->merge(of, context, ((gcor_information *)other)->of);
}

static const gcor_sink_type TYPE = {
    .name = "information",
    .size = sizeof(gcor_information),
    .take = take,
    .begin_tile = begin_tile,
    .end_tile = end_tile,
    .allocate = allocate,
    .merge = merge,
    .release = release,
};

gcor_information gcor_information_of(gcor_sink *of, int in_double, const double *mean, const double *unit) {
    gcor_information s = {.sink = *of, .of = of, .mean = mean, .unit = unit};
    s.sink.type = &TYPE;
    s.sink.approximate = 0;
    s.sink.form = in_double ? GCOR_AS_DOUBLES : GCOR_AS_FLOATS;
    return s;
}
