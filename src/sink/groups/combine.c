#include "combine.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"
#include "../../base/triangle.h"

enum { SOME = 256 }; /* values processed at a time */

static gcor_combine *combine_of(gcor_sink *sink) {
    return (gcor_combine *)sink;
}

/* True if the back end delivers approximate values. */
static int adds_approx(const gcor_combine *c) {
    return c->sink.approximate && c->backend->pairs;
}

/* True if every subject's values are kept until the tile is done, instead of their sum. */
static int keeps_each(const gcor_combination *rule) {
    switch (rule->how) {
    case GCOR_MEAN:
    case GCOR_FISHER:
    case GCOR_SQUARES:
    case GCOR_SIZE:
    case GCOR_MIN: return 0;
    default: return 1;
    }
}

/* Returns the number of values per pair that are kept until its tile is done. */
static int64_t values_of_pair(const gcor_combine *c) {
    return keeps_each(c->rule) ? c->rule->n : 1;
}

int64_t gcor_combine_side(const gcor_combine *c, int threads, int64_t bytes) {
    enum { CACHE = 1 << 19, APPROX_CACHE = 1 << 21, MIN = 256, MAX = 4096 };
    int64_t each = (int64_t)sizeof(double) * (values_of_pair(c) + c->rule->skips), side = MIN;
    if (adds_approx(c)) each = sizeof(float);
    /* Approximate values take so little time that starting the threads for each subject's tile would show. */
    bytes = gcor_max(bytes, (int64_t)(adds_approx(c) ? APPROX_CACHE : CACHE) * threads);
    while (side < MAX && 4 * side * side * each <= 2 * bytes) side *= 2;
    return side;
}

int gcor_combine_only_sums(const gcor_combine *c) {
    return !keeps_each(c->rule) && !c->rule->skips;
}

int gcor_combine_may_be_approx(const gcor_combine *c) {
    return c->to->approximate && gcor_combine_only_sums(c) && c->rule->how != GCOR_SQUARES && c->rule->how != GCOR_SIZE;
}

/* ---- tiles -------------------------------------------------------------------------------------------- */

static gcor_status reserve(gcor_combine *c, gcor_context *context, int64_t pairs) {
    const char *what = "a tile's coefficients of all subjects";
    if (pairs <= c->capacity) return GCOR_OK;
    gcor_free(c->values);
    gcor_free(c->taken);
    c->capacity = 0;
    c->taken = NULL;
    c->values = gcor_alloc(context, pairs * values_of_pair(c), adds_approx(c) ? sizeof(float) : sizeof(double), what);
    if (!c->values) return GCOR_NO_MEMORY;
    if (c->rule->skips && !keeps_each(c->rule)) {
        c->taken = gcor_alloc(context, pairs, sizeof *c->taken, what);
        if (!c->taken) return GCOR_NO_MEMORY;
    }
    c->capacity = pairs;
    return GCOR_OK;
}

static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_combine *c = combine_of(sink);
    c->tile = *tile;
    return c->subject > 0 ? GCOR_OK : reserve(c, context, tile->n_row * tile->n_col);
}

static int64_t position(const gcor_combine *c, int64_t row, int64_t col) {
    return (row - c->tile.row) * c->tile.n_col + (col - c->tile.col);
}

/* Adds n values of a row to the sums from index `at` on, or keeps the values. */
static void add_some(gcor_combine *c, const double *value, int64_t at, int64_t n) {
    const gcor_combination *rule = c->rule;
    double *sum = (double *)c->values + at, *taken = c->taken ? c->taken + at : NULL;
    if (keeps_each(rule)) {
        sum += c->subject * c->tile.n_row * c->tile.n_col;
        for (int64_t k = 0; k < n; k++) sum[k] = value[k];
        return;
    }
    if (c->subject == 0) gcor_sums_clear(rule, sum, taken, n);
    gcor_sums_add(c, sum, taken, value, rule->subjects[c->subject].weight, n);
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_combine *c = combine_of(sink);
    int64_t at = position(c, segment->row, segment->col);
    double scratch[SOME];
    if (adds_approx(c)) {
        gcor_approx_add(c, c->subject, segment, (float *)c->values + at);
        return GCOR_OK;
    }
    for (int64_t k = 0; k < segment->n; k += SOME) {
        int64_t n = gcor_min(SOME, segment->n - k);
        add_some(c, gcor_segment_values(segment, k, n, scratch), at + k, n);
    }
    return GCOR_OK;
}

/* Delivers a row of the finished tile to the other sink. */
static void deliver_row(gcor_combine *c, gcor_context *context, int thread, int64_t row, double *scratch) {
    gcor_segment segment = {.row = row};
    gcor_tile one = {row, 1, c->tile.col, c->tile.n_col};
    if (adds_approx(c)) {
        gcor_approx_deliver(c, context, thread, &one, (float *)c->values + position(c, row, one.col));
        return;
    }
    gcor_tile_segment(&c->tile, c->to->shape, row, &segment.col, &segment.n);
    if (segment.n == 0) return;
    int64_t at = position(c, row, segment.col);
    double *sum = (double *)c->values + at;
    int64_t stride = c->tile.n_row * c->tile.n_col;
    if (c->rule->how == GCOR_EACH)
        segment.stride = stride;
    else if (gcor_combines_by_tests(c->rule))
        gcor_t_end(c, sum, stride, segment.n, scratch);
    else if (keeps_each(c->rule))
        gcor_each_end(c->rule, sum, stride, segment.n, scratch);
    else
        gcor_sums_end(c, sum, c->taken ? c->taken + at : NULL, segment.n);
    segment.doubles = sum;
    /* A failure is in the context; the remaining rows take little time. */
    (void)c->to->type->take(c->to, context, thread, &segment);
}

typedef struct {
    gcor_combine *c;
    gcor_context *context;
    double *scratch; /* `each` doubles for each thread */
    int64_t each;
} delivery;

static void deliver_row_number(void *argument, int thread, int64_t k) {
    const delivery *d = argument;
    if (!gcor_stop(d->context))
        deliver_row(d->c, d->context, thread, d->c->tile.row + k, d->scratch + thread * d->each);
}

static gcor_status deliver(gcor_combine *c, gcor_context *context) {
    const gcor_tile *tile = &c->tile;
    delivery d = {.c = c, .context = context, .each = gcor_combine_scratch(c->rule)};
    gcor_status status = gcor_begin_tile(c->to, context, tile);
    if (status) return status;
    d.scratch = gcor_alloc(context, context->threads, (size_t)d.each * sizeof(double), "a pair's coefficients");
    if (!d.scratch) return GCOR_NO_MEMORY;
    gcor_for_each(context->threads, tile->n_row, deliver_row_number, &d);
    gcor_free(d.scratch);
    return context->error.status ? context->error.status : gcor_end_tile(c->to, context, tile);
}

static gcor_status end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_combine *c = combine_of(sink);
    if (++c->subject < c->rule->n) return GCOR_OK;
    c->subject = 0;
    return deliver(c, context);
}

static gcor_status allocate(gcor_sink *sink, gcor_context *context) {
    const char *what = "the sums of all subjects";
    gcor_combine *c = combine_of(sink);
    c->rows = gcor_alloc(context, c->rule->n, sizeof *c->rows, what);
    c->cols = gcor_alloc(context, c->rule->n, sizeof *c->cols, what);
    c->errors = gcor_alloc(context, c->rule->n, sizeof *c->errors, what);
    return c->rows && c->cols && c->errors ? GCOR_OK : GCOR_NO_MEMORY;
}

static void release(gcor_sink *sink) {
    gcor_combine *c = combine_of(sink);
    gcor_free(c->values);
    gcor_free(c->taken);
    gcor_free(c->rows);
    gcor_free(c->cols);
    gcor_free(c->errors);
}

/* It has neither merge() nor save(), because it belongs to one worker and keeps no results of its own. */
static const gcor_sink_type TYPE = {
    .name = "combine",
    .size = sizeof(gcor_combine),
    .role = GCOR_COMBINE,
    .take = take,
    .begin_tile = begin_tile,
    .end_tile = end_tile,
    .allocate = allocate,
    .release = release,
};

gcor_status gcor_combine_new(gcor_context *context, const gcor_combination *rule, const gcor_backend *backend,
                             gcor_sink *to, int in_double, gcor_combine **combine) {
    const gcor_combine like = {.sink = {.type = &TYPE,
                                        .shape = to->shape,
                                        .n_row = to->n_row,
                                        .n_col = to->n_col,
                                        .form = in_double ? GCOR_AS_DOUBLES : GCOR_AS_FLOATS},
                               .to = to,
                               .rule = rule,
                               .backend = backend,
                               .loops = gcor_combine_best_loops()};
    *combine = gcor_sink_new(context, &like);
    return *combine ? GCOR_OK : context->error.status;
}
