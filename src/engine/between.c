#include "between.h"

#include "../base/alloc.h"
#include "../base/triangle.h"
#include "../measure/pearson.h"

static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    return gcor_begin_tile(((gcor_between *)sink)->to, context, tile);
}

static gcor_status end_set(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_between *s = (gcor_between *)sink;
    s->set = (s->set + 1) % s->n_sets;
    return gcor_end_tile(s->to, context, tile);
}

/* settings: all but the first two members. */
static gcor_status new_between(gcor_context *context, const gcor_sink_type *type, gcor_sink *to, int in_double,
                               gcor_between settings, gcor_sink **sink) {
    settings.to = to;
    settings.sink = (gcor_sink){.type = type,
                                .shape = to->shape,
                                .n_row = to->n_row,
                                .n_col = to->n_col,
                                .form = in_double ? GCOR_AS_DOUBLES : GCOR_AS_FLOATS};
    *sink = gcor_sink_new(context, &settings);
    return *sink ? GCOR_OK : context->error.status;
}

/* ---- pairs of too few pairwise-complete observations have no coefficient --------------------------------------- */

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
static int has_enough(const gcor_between *s, int64_t row, int64_t col) {
    const gcor_observed *rows = s->presence[s->set].rows, *cols = s->presence[s->set].cols;
    return rows->n_present[row] + cols->n_present[col] - cols->n_obs >= s->min_obs ||
           gcor_common_count(rows, row, cols, col) >= s->min_obs;
}

static gcor_status take_enough(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    enum { SOME = 256 };
    const gcor_between *s = (const gcor_between *)sink;
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

static const gcor_sink_type ENOUGH = {
    .name = "enough", .size = sizeof(gcor_between), .take = take_enough, .begin_tile = begin_tile, .end_tile = end_set};

gcor_status gcor_enough_new(gcor_context *context, gcor_sink *to, int in_double, int64_t min_obs,
                            const gcor_presence *presence, int64_t n_sets, gcor_sink **enough) {
    const gcor_between settings = {.presence = presence, .min_obs = min_obs, .n_sets = n_sets};
    return new_between(context, &ENOUGH, to, in_double, settings, enough);
}

/* ---- correlations are multiplied by the agreement of the columns, at most 1 ------------------------------------ */

typedef struct {
    gcor_spread *spreads;
    int64_t n_obs;
} spreading;

static void spread_column(void *user, int thread, int64_t j, double *x, int flags) {
    const spreading *s = user;
    if (flags & (GCOR_MISSING | GCOR_INFINITE)) return;
    const gcor_centring c = gcor_centring_of(x, s->n_obs);
    double squares = 0;
    for (int64_t k = 0; k < s->n_obs; k++) squares += gcor_centred(&c, x[k]) * gcor_centred(&c, x[k]);
    const double sd = sqrt(squares / (double)s->n_obs) / c.scale;
    s->spreads[j] = (gcor_spread){c.first + c.mean / c.scale, sd, 1 / sd};
}

static gcor_status spread(gcor_context *context, const gcor_columns *columns, gcor_spread **spreads) {
    const int64_t n = columns->source->n_var;
    *spreads = gcor_alloc(context, n, sizeof **spreads, "means of columns");
    if (!*spreads) return GCOR_NO_MEMORY;
    spreading s = {*spreads, columns->n_obs};
    return n > 0 && s.n_obs > 0 ? gcor_for_columns(context, columns, 0, n, spread_column, &s) : GCOR_OK;
}

gcor_status gcor_spreads_of(gcor_context *context, const gcor_columns *rows, const gcor_columns *cols,
                            gcor_spreads *spreads) {
    gcor_status status = spread(context, cols, &spreads->cols);
    if (status || rows->source != cols->source) return status ? status : spread(context, rows, &spreads->rows);
    spreads->rows = spreads->cols;
    return GCOR_OK;
}

void gcor_spreads_free(gcor_spreads *spreads) {
    if (spreads->rows != spreads->cols) gcor_free(spreads->rows);
    gcor_free(spreads->cols);
}

static gcor_status take_agreement(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    enum { SOME = 256 };
    const gcor_between *s = (const gcor_between *)sink;
    const gcor_spread row = s->spreads[s->set].rows[segment->row], *col = s->spreads[s->set].cols + segment->col;
    double scratch[SOME], values[SOME];
    gcor_status status = GCOR_OK;
    for (int64_t from = 0; !status && from < segment->n; from += SOME, col += SOME) {
        const int64_t n = gcor_min(SOME, segment->n - from);
        const gcor_segment part = {.row = segment->row, .col = segment->col + from, .n = n, .doubles = values};
        const double *r = gcor_segment_values(segment, from, n, scratch);
        for (int64_t k = 0; k < n; k++)
            values[k] = r[k] <= 1 ? r[k] * gcor_agreement_of(row, col[k], s->has_means) : r[k];
        status = s->to->type->take(s->to, context, thread, &part);
    }
    return status;
}

static const gcor_sink_type AGREEMENT = {.name = "agreement",
                                         .size = sizeof(gcor_between),
                                         .role = GCOR_AGREEMENT,
                                         .take = take_agreement,
                                         .begin_tile = begin_tile,
                                         .end_tile = end_set};

gcor_status gcor_agreement_new(gcor_context *context, gcor_sink *to, int in_double, int has_means,
                               const gcor_spreads *spreads, int64_t n_sets, gcor_sink **agreement) {
    const gcor_between settings = {.spreads = spreads, .has_means = has_means, .n_sets = n_sets};
    return new_between(context, &AGREEMENT, to, in_double, settings, agreement);
}
