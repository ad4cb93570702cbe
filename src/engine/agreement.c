/* A sink before another one that multiplies each correlation by how far both columns have the same spread and, for
 * concordance, the same mean: by at most 1. */
#include "work.h"

#include "../base/alloc.h"
#include "../measure/pearson.h"

/* ---- means and standard deviations ------------------------------------------------------------ */

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

/* ---- the sink ------------------------------------------------------------------------------------ */

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    enum { SOME = 256 };
    const gcor_agreement *s = (const gcor_agreement *)sink;
    const gcor_spread row = s->spreads[s->set].rows[segment->row], *col = s->spreads[s->set].cols + segment->col;
    double scratch[SOME], values[SOME];
    gcor_status status = GCOR_OK;
    for (int64_t from = 0; !status && from < segment->n; from += SOME, col += SOME) {
        const int64_t n = segment->n - from < SOME ? segment->n - from : SOME;
        const gcor_segment part = {.row = segment->row, .col = segment->col + from, .n = n, .doubles = values};
        const double *r = gcor_segment_values(segment, from, n, scratch);
        for (int64_t k = 0; k < n; k++) {
            const double apart = s->has_means ? row.mean - col[k].mean : 0;
            const double ratios = row.sd * col[k].inverse + col[k].sd * row.inverse;
            /* Rounding may make the sum of a ratio and its inverse smaller than 2. */
            const double part_of = 2 / ((ratios < 2 ? 2 : ratios) + apart * row.inverse * (apart * col[k].inverse));
            values[k] = r[k] <= 1 ? r[k] * part_of : r[k];
        }
        status = s->to->type->take(s->to, context, thread, &part);
    }
    return status;
}

static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    return gcor_begin_tile(((gcor_agreement *)sink)->to, context, tile);
}

static gcor_status end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_agreement *s = (gcor_agreement *)sink;
    s->set = (s->set + 1) % s->n_sets;
    return gcor_end_tile(s->to, context, tile);
}

/* It belongs to one worker and keeps no results, and so has neither merge() nor save(). */
static const gcor_sink_type TYPE = {
    .name = "agreement", .size = sizeof(gcor_agreement), .take = take, .begin_tile = begin_tile, .end_tile = end_tile};

gcor_status gcor_agreement_new(gcor_context *context, gcor_sink *to, int in_double, int has_means,
                               const gcor_spreads *spreads, int64_t n_sets, gcor_sink **agreement) {
    const gcor_agreement like = {.sink = {.type = &TYPE,
                                          .shape = to->shape,
                                          .n_row = to->n_row,
                                          .n_col = to->n_col,
                                          .form = in_double ? GCOR_AS_DOUBLES : GCOR_AS_FLOATS},
                                 .to = to,
                                 .spreads = spreads,
                                 .n_sets = n_sets,
                                 .has_means = has_means};
    *agreement = gcor_sink_new(context, &like);
    return *agreement ? GCOR_OK : context->error.status;
}
