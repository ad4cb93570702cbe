/* A sink before another one: pairs of too few pairwise-complete observations have no coefficient. */
#include "work.h"

#include "../base/triangle.h"

gcor_status gcor_presence_of(gcor_context *context, const gcor_columns *rows, const gcor_columns *cols, int common,
                             gcor_presence *presence) {
    presence->cols = gcor_observed_new(context, cols, common, 0);
    presence->rows = presence->cols;
    if (presence->cols && rows->source != cols->source) presence->rows = gcor_observed_new(context, rows, common, 0);
    return presence->cols && presence->rows ? GCOR_OK : context->error.status;
}

void gcor_presence_free(gcor_presence *presence) {
    if (presence->rows != presence->cols) gcor_observed_free(presence->rows);
    gcor_observed_free(presence->cols);
}

/* Returns 1 if a pair has the observations. Most pairs need no count, as both columns miss few values. */
static int has_enough(const gcor_enough *s, int64_t row, int64_t col) {
    const gcor_observed *rows = s->presence[s->set].rows, *cols = s->presence[s->set].cols;
    return rows->n_present[row] + cols->n_present[col] - cols->n_obs >= s->min_obs ||
           gcor_common_count(rows, row, cols, col) >= s->min_obs;
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    enum { SOME = 256 };
    const gcor_enough *s = (const gcor_enough *)sink;
    double doubles[SOME];
    float floats[SOME];
    gcor_status status = GCOR_OK;
    for (int64_t from = 0; !status && from < segment->n; from += SOME) {
        const int64_t row = segment->row, col = segment->col + from, n = gcor_min(SOME, segment->n - from);
        gcor_segment part = {.row = row, .col = col, .n = n, .error = segment->error};
        if (segment->doubles) {
            part.doubles = doubles;
            for (int64_t k = 0; k < n; k++)
                doubles[k] = has_enough(s, row, col + k) ? segment->doubles[from + k] : GCOR_NO_VALUE;
        } else {
            part.floats = floats;
            for (int64_t k = 0; k < n; k++)
                floats[k] = has_enough(s, row, col + k) ? segment->floats[from + k] : (float)GCOR_NO_VALUE;
        }
        status = s->to->type->take(s->to, context, thread, &part);
    }
    return status;
}

static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    return gcor_begin_tile(((gcor_enough *)sink)->to, context, tile);
}

static gcor_status end_set(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_enough *s = (gcor_enough *)sink;
    s->set = (s->set + 1) % s->n_sets;
    return gcor_end_tile(s->to, context, tile);
}

/* It belongs to one worker and keeps no results, and so has neither merge() nor save(). */
static const gcor_sink_type TYPE = {
    .name = "enough", .size = sizeof(gcor_enough), .take = take, .begin_tile = begin_tile, .end_tile = end_set};

gcor_status gcor_enough_new(gcor_context *context, gcor_sink *to, int in_double, int64_t min_obs,
                            const gcor_presence *presence, int64_t n_sets, gcor_sink **enough) {
    const gcor_enough like = {.sink = {.type = &TYPE,
                                       .shape = to->shape,
                                       .n_row = to->n_row,
                                       .n_col = to->n_col,
                                       .form = in_double ? GCOR_AS_DOUBLES : GCOR_AS_FLOATS},
                              .to = to,
                              .presence = presence,
                              .min_obs = min_obs,
                              .n_sets = n_sets};
    *enough = gcor_sink_new(context, &like);
    return *enough ? GCOR_OK : context->error.status;
}
