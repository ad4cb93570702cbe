#include "results.h"

#include "check.h"
#include "device.h"
#include "system.h"

#include "../../src/base/alloc.h"
#include "../../src/sink/connectivity.h"
#include "../../src/sink/dense.h"
#include "../../src/sink/histogram.h"
#include "../../src/sink/maximum.h"
#include "../../src/sink/neighbours.h"

#include <string.h>

static void put(FILE *file, const void *data, int64_t n, size_t size) {
    if (n > 0) CHECK_INT(fwrite(data, size, (size_t)n, file), n);
}

/* ---- dense ------------------------------------------------------------------------------ */

static const double UNTOUCHED = -77;

static gcor_status make_dense(gcor_context *context, const unit_kind *kind, int64_t n_row, int64_t n_col,
                              unit_sink *sink) {
    gcor_layout layout = (gcor_layout)kind->setting;
    gcor_dense *dense;
    sink->n_out = layout == GCOR_SQUARE || layout == GCOR_RECTANGLE ? n_row * n_col : n_col * (n_col - 1) / 2;
    sink->out = malloc((size_t)(sink->n_out + 1) * sizeof *sink->out);
    for (int64_t k = 0; k < sink->n_out; k++) sink->out[k] = UNTOUCHED;
    gcor_status status = gcor_dense_new(context, layout, n_row, n_col, sink->out, sink->n_out, -7, &dense);
    sink->sink = status ? NULL : &dense->sink;
    return status;
}

static void write_dense(unit_sink *sink, gcor_context *context, FILE *file) {
    const gcor_dense *dense = (const gcor_dense *)sink->sink;
    put(file, &dense->zero_sd, 1, sizeof dense->zero_sd);
    put(file, sink->out, sink->n_out, sizeof *sink->out);
}

/* ---- edges ------------------------------------------------------------------------------- */

/* setting: a tenth of the min weight. */
static gcor_status make_store(gcor_context *context, const unit_kind *kind, int64_t n_row, int64_t n_col,
                              unit_sink *sink) {
    gcor_edge_rule rule = {.side = (gcor_side)kind->side, .min = kind->setting / 10.0, .ceiling = 0.8};
    gcor_store *store;
    gcor_status status = gcor_store_new(context, kind->shape, n_row, n_col, rule, INT32_MAX, &store);
    sink->sink = status ? NULL : &store->edges.sink;
    return status;
}

/* A store with few edges in memory. */
static gcor_status make_spool(gcor_context *context, const unit_kind *kind, int64_t n_row, int64_t n_col,
                              unit_sink *sink) {
    gcor_status status = make_store(context, kind, n_row, n_col, sink);
    return status ? status : gcor_store_spool((gcor_store *)sink->sink, context, unit_folder(), 3000);
}

/* Writes counts and ranks, then compressed rows, which empties the store. */
static void write_store(gcor_store *store, gcor_context *context, FILE *file) {
    int64_t n_row = store->edges.sink.n_row, count = store->count;
    const double min[] = {0, 0.4, 0.6};
    double weight = 0;
    put(file, &store->edges.above, 1, sizeof store->edges.above);
    put(file, &store->count, 1, sizeof store->count);
    for (int k = 0; k < 3 && !gcor_store_count(store, context, min[k], &count); k++) put(file, &count, 1, sizeof count);
    for (int64_t k = 1; k < 5000 && !gcor_store_rank(store, context, k, &weight); k *= 10)
        put(file, &weight, 1, sizeof weight);
    int32_t *start = calloc((size_t)n_row + 1, sizeof *start);
    if (CHECK_INT(gcor_store_starts(store, context, 0, n_row, start), GCOR_OK)) {
        int32_t *col = calloc((size_t)start[n_row] + 1, sizeof *col);
        double *r = calloc((size_t)start[n_row] + 1, sizeof *r);
        CHECK_INT(gcor_store_rows(store, context, 0, n_row, start, col, r), GCOR_OK);
        put(file, start, n_row + 1, sizeof *start);
        put(file, col, start[n_row], sizeof *col);
        put(file, r, start[n_row], sizeof *r);
        free(col);
        free(r);
    }
    free(start);
}

static void write_edges(unit_sink *sink, gcor_context *context, FILE *file) {
    write_store((gcor_store *)sink->sink, context, file);
}

/* setting: number of neighbours. */
static gcor_status make_neighbours(gcor_context *context, const unit_kind *kind, int64_t n_row, int64_t n_col,
                                   unit_sink *sink) {
    gcor_neighbours *neighbours;
    gcor_status status = gcor_neighbours_new(context, kind->shape, n_row, n_col, (gcor_side)kind->side, kind->setting,
                                             &neighbours);
    sink->sink = status ? NULL : &neighbours->edges.sink;
    return status;
}

static void write_neighbours(unit_sink *sink, gcor_context *context, FILE *file) {
    const gcor_sink *own = sink->sink;
    gcor_edge_rule rule = {.side = (gcor_side)sink->kind->side, .min = 0, .ceiling = 2};
    for (int mutual = 0; mutual < 2; mutual++) {
        gcor_store *store;
        CHECK_INT(gcor_store_new(context, own->shape, own->n_row, own->n_col, rule, INT32_MAX, &store), GCOR_OK);
        CHECK_INT(gcor_neighbours_store((const gcor_neighbours *)own, context, mutual, store), GCOR_OK);
        write_store(store, context, file);
        gcor_sink_free(&store->edges.sink);
    }
}

/* ---- counts and sums ---------------------------------------------------------------------- */

/* setting: 1 if approximate values suffice. */
static gcor_status make_histogram(gcor_context *context, const unit_kind *kind, int64_t n_row, int64_t n_col,
                                  unit_sink *sink) {
    gcor_histogram *histogram;
    gcor_status status = gcor_histogram_new(context, kind->shape, n_row, n_col, !kind->setting, &histogram);
    sink->sink = status ? NULL : &histogram->sink;
    return status;
}

static void write_histogram(unit_sink *sink, gcor_context *context, FILE *file) {
    gcor_histogram *histogram = (gcor_histogram *)sink->sink;
    gcor_bins_sum(&histogram->bins);
    put(file, histogram->bins.counts, GCOR_BINS, sizeof *histogram->bins.counts);
    put(file, &histogram->error, 1, sizeof histogram->error);
}

/* A histogram that passes its coefficients on to a store. */
static gcor_status make_counted(gcor_context *context, const unit_kind *kind, int64_t n_row, int64_t n_col,
                                unit_sink *sink) {
    unit_sink store;
    gcor_status status = make_store(context, kind, n_row, n_col, &store);
    if (!status) status = make_histogram(context, kind, n_row, n_col, sink);
    if (status)
        gcor_sink_free(store.sink);
    else
        sink->sink->of = store.sink;
    return status;
}

static void write_counted(unit_sink *sink, gcor_context *context, FILE *file) {
    write_histogram(sink, context, file);
    write_store((gcor_store *)sink->sink->of, context, file);
}

/* setting: the side. */
static gcor_status make_maximum(gcor_context *context, const unit_kind *kind, int64_t n_row, int64_t n_col,
                                unit_sink *sink) {
    gcor_maximum *maximum;
    gcor_status status = gcor_maximum_new(context, kind->shape, n_row, n_col, (gcor_side)kind->setting, &maximum);
    sink->sink = status ? NULL : &maximum->sink;
    return status;
}

static void write_maximum(unit_sink *sink, gcor_context *context, FILE *file) {
    double weight = gcor_maximum_of((const gcor_maximum *)sink->sink);
    put(file, &weight, 1, sizeof weight);
}

static gcor_status make_sums(gcor_context *context, const unit_kind *kind, int64_t n_var, int n_power, int histogram,
                             unit_sink *sink) {
    gcor_sums_rule rule = {.side = (gcor_side)kind->side,
                           .min = kind->setting / 10.0,
                           .n_power = n_power,
                           .histogram = histogram,
                           .similarity = (gcor_similarity)kind->side,
                           .steps = {1, 5, 0.5}};
    gcor_connectivity *connectivity;
    gcor_status status = gcor_connectivity_new(context, rule, GCOR_LOWER, n_var, n_var, &connectivity);
    sink->sink = status ? NULL : &connectivity->edges.sink;
    return status;
}

/* setting: a tenth of the min weight. */
static gcor_status make_connectivity(gcor_context *context, const unit_kind *kind, int64_t n_row, int64_t n_col,
                                     unit_sink *sink) {
    return make_sums(context, kind, n_col, 3, 1, sink);
}

static gcor_status make_soft(gcor_context *context, const unit_kind *kind, int64_t n_row, int64_t n_col,
                             unit_sink *sink) {
    return make_sums(context, kind, n_col, 3, 0, sink);
}

static gcor_status make_degrees(gcor_context *context, const unit_kind *kind, int64_t n_row, int64_t n_col,
                                unit_sink *sink) {
    return make_sums(context, kind, n_col, 0, 0, sink);
}

static void write_connectivity(unit_sink *sink, gcor_context *context, FILE *file) {
    gcor_connectivity *c = (gcor_connectivity *)sink->sink;
    put(file, c->degree, c->n_var, sizeof *c->degree);
    put(file, c->sums, (1 + c->rule.n_power) * c->n_var, sizeof *c->sums);
    if (!c->rule.histogram) return;
    gcor_bins_sum(&c->bins);
    put(file, c->bins.counts, GCOR_BINS, sizeof *c->bins.counts);
}

/* ---- all of them ---------------------------------------------------------------------------- */

const unit_kind unit_kinds[] = {
    {"triangle by rows", make_dense, write_dense, GCOR_TRIANGLE_ROWS, 0, GCOR_UPPER},
    {"triangle by columns", make_dense, write_dense, GCOR_TRIANGLE_COLUMNS, 0, GCOR_LOWER},
    {"square", make_dense, write_dense, GCOR_SQUARE, 0, GCOR_UPPER},
    {"rectangle", make_dense, write_dense, GCOR_RECTANGLE, 0, GCOR_FULL},
    {"store of a triangle", make_store, write_edges, 3, GCOR_ABSOLUTE, GCOR_LOWER},
    {"store of negative edges", make_store, write_edges, 2, GCOR_NEGATIVE, GCOR_LOWER},
    {"store of a rectangle", make_store, write_edges, 4, GCOR_POSITIVE, GCOR_FULL},
    {"store with a file", make_spool, write_edges, 1, GCOR_ABSOLUTE, GCOR_LOWER},
    {"neighbours in a triangle", make_neighbours, write_neighbours, 3, GCOR_ABSOLUTE, GCOR_LOWER},
    {"neighbours in a rectangle", make_neighbours, write_neighbours, 5, GCOR_POSITIVE, GCOR_FULL},
    {"histogram", make_histogram, write_histogram, 0, 0, GCOR_LOWER},
    {"cheap histogram of a rectangle", make_histogram, write_histogram, 1, 0, GCOR_FULL},
    {"histogram with a store", make_counted, write_counted, 3, GCOR_ABSOLUTE, GCOR_LOWER},
    {"maximum", make_maximum, write_maximum, GCOR_ABSOLUTE, 0, GCOR_LOWER},
    {"largest negative one of a rectangle", make_maximum, write_maximum, GCOR_NEGATIVE, 0, GCOR_FULL},
    {"connectivity", make_connectivity, write_connectivity, 3, GCOR_POSITIVE, GCOR_LOWER},
    {"soft connectivity", make_soft, write_connectivity, 20, GCOR_ABSOLUTE, GCOR_LOWER},
    {"degrees", make_degrees, write_connectivity, 3, GCOR_NEGATIVE, GCOR_LOWER},
    {NULL, NULL, NULL, 0, 0, GCOR_FULL},
};

const unit_kind *unit_kind_named(const char *name) {
    const unit_kind *kind = unit_kinds;
    while (strcmp(kind->name, name) != 0) kind++;
    return kind;
}

gcor_status unit_sink_new(const unit_problem *p, const unit_kind *kind, unit_sink *sink) {
    unit_call call;
    unit_call_begin(&call, p->threads);
    *sink = (unit_sink){.kind = kind};
    gcor_status status = kind->make(&call.context, kind, p->y ? p->y->n_var : p->x->n_var, p->x->n_var, sink);
    if (status) unit_sink_free(sink);
    return status;
}

gcor_status unit_sink_fork(const unit_problem *p, const unit_sink *sink, unit_sink *fork) {
    unit_call call;
    unit_call_begin(&call, p->threads);
    *fork = *sink;
    fork->is_fork = 1;
    return gcor_sink_fork(sink->sink, &call.context, &fork->sink);
}

void unit_sink_free(unit_sink *sink) {
    gcor_sink_free(sink->sink);
    sink->sink = NULL;
    if (!sink->is_fork) free(sink->out);
    sink->out = NULL;
}

unit_found unit_found_in(const unit_problem *p, unit_sink *sink) {
    unit_found found = {NULL, 0};
    unit_call call;
    unit_call_begin(&call, p->threads);
    FILE *file = unit_begin_writing(&found.bytes, &found.n);
    sink->kind->write(sink, &call.context, file);
    unit_end_writing(file, &found.bytes, &found.n);
    unit_sink_free(sink);
    return found;
}

unit_found unit_find(unit_problem *p, const unit_kind *kind, gcor_status *status) {
    unit_sink sink;
    *status = unit_sink_new(p, kind, &sink);
    if (!*status) *status = unit_run(p, sink.sink);
    if (!*status) return unit_found_in(p, &sink);
    unit_sink_free(&sink);
    return (unit_found){NULL, 0};
}

int unit_check_same(const char *file, int line, const unit_found *expected, unit_found actual) {
    size_t at = 0;
    while (at < expected->n && at < actual.n && expected->bytes[at] == actual.bytes[at]) at++;
    int same = at == expected->n && at == actual.n && at > 0;
    if (!same)
        unit_fail(file, line, "byte %lld of %lld (%lld) differs", (long long)at, (long long)actual.n,
                  (long long)expected->n);
    free(actual.bytes);
    return same;
}

/* ---- problems ------------------------------------------------------------------------------- */

/* Enough for a run to have more than one thread (engine/run.c). */
enum { N_OBS = 60, N_X = 200, N_Y = 130 };

/* All kinds of input to a sink: approximate and exact values, of columns and of pairs without coefficients. */
typedef struct {
    const char *measure;
    gcor_use use;
} setting;
static const setting settings[] = {{"pearson", GCOR_EVERYTHING}, {"kendall", GCOR_PAIRWISE}};

void unit_for_all_sinks(void (*test)(unit_problem *problem, const unit_kind *kind)) {
    unit_problem *p = malloc(sizeof *p);
    unit_seed(7);
    unit_data x = unit_data_new(N_OBS, N_X, UNIT_SPOILT), y = unit_data_new(N_OBS, N_Y, UNIT_SPOILT);
    for (const setting *s = settings; s < settings + 2; s++)
        for (const unit_kind *kind = unit_kinds; kind->name; kind++) {
            unit_devices_reset();
            unit_problem_of(p, &x.matrix.source, kind->shape == GCOR_FULL ? &y.matrix.source : NULL);
            p->backend = &unit_device;
            p->measure = unit_measure(s->measure);
            p->use = s->use;
            unit_about("%s, %s, use %d", s->measure, kind->name, (int)s->use);
            test(p, kind);
        }
    unit_data_free(&x);
    unit_data_free(&y);
    free(p);
}

unit_found unit_find_alone(unit_problem *p, const unit_kind *kind) {
    gcor_status status;
    p->shard = (gcor_shard){0, 1};
    p->devices = p->threads = 1;
    unit_found found = unit_find(p, kind, &status);
    CHECK_INT(status, GCOR_OK);
    return found;
}
