#include "fixture.h"

#include "check.h"

#include "../../src/measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- random numbers ---------------------------------------------------------------- */

static uint64_t state = 1;

void unit_seed(uint64_t seed) {
    state = seed;
}

/* splitmix64 */
static uint64_t next(void) {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

int64_t unit_random(int64_t below) {
    return (int64_t)(next() % (uint64_t)below);
}

double unit_uniform(void) {
    return (double)(next() >> 11) * 0x1p-53;
}

int *unit_permutation(int n) {
    int *order = malloc((size_t)n * sizeof *order);
    for (int k = 0; k < n; k++) {
        int other = (int)unit_random(k + 1);
        order[k] = order[other];
        order[other] = k;
    }
    return order;
}

/* ---- data --------------------------------------------------------------------------- */

/* Columns are mixtures of a few common columns and noise; every third one is rounded, and thus has ties. */
static void fill_column(double *x, int64_t n_obs, int64_t j, const double *common, int n_common) {
    const double *of = common + unit_random(n_common) * n_obs;
    double part = unit_uniform(), sign = unit_random(2) ? 1 : -1;
    for (int64_t k = 0; k < n_obs; k++) {
        x[k] = sign * part * of[k] + (1 - part) * (unit_uniform() - 0.5);
        if (j % 3 == 0) x[k] = round(6 * x[k]);
    }
    if (j % 41 == 7)
        for (int64_t k = 0; k < n_obs; k++) x[k] = 0.1;
}

static void spoil_column(double *x, int64_t n_obs, int64_t j) {
    for (int64_t k = 0; j % 4 == 1 && k < n_obs; k++)
        if (unit_random(8) == 0) x[k] = NAN;
    if (j % 29 == 3) x[unit_random(n_obs)] = INFINITY;
    for (int64_t k = 0; j % 53 == 11 && k < n_obs; k++) x[k] = NAN;
}

unit_data unit_data_new(int64_t n_obs, int64_t n_var, int spoilt) {
    enum { COMMON = 4 };
    double *values = malloc((size_t)(n_obs * n_var + 1) * sizeof *values);
    double *common = malloc((size_t)(n_obs * COMMON + 1) * sizeof *common);
    for (int64_t k = 0; k < n_obs * COMMON; k++) common[k] = unit_uniform() - 0.5;
    for (int64_t j = 0; j < n_var; j++) {
        fill_column(values + j * n_obs, n_obs, j, common, COMMON);
        if (spoilt && n_obs > 0) spoil_column(values + j * n_obs, n_obs, j);
    }
    free(common);
    gcor_matrix matrix = {.source = gcor_matrix_source(n_obs, n_var), .storage = GCOR_DOUBLES, .values = values};
    return (unit_data){matrix, values};
}

void unit_data_free(unit_data *data) {
    free(data->values);
}

/* ---- runs ----------------------------------------------------------------------------- */

void unit_call_begin(unit_call *call, int threads) {
    call->monitor = gcor_watch(NULL, NULL);
    call->context = (gcor_context){.threads = threads, .monitor = &call->monitor};
}

const gcor_measure *unit_measure(const char *name) {
    int k = 0;
    while (strcmp(gcor_measure_at(k)->name, name) != 0) k++;
    return gcor_measure_at(k);
}

void unit_problem_of(unit_problem *p, gcor_source *x, gcor_source *y) {
    memset(p, 0, sizeof *p);
    p->backend = &gcor_cpu;
    p->devices = p->threads = 1;
    p->x = x;
    p->y = y;
    p->measure = unit_measure("pearson");
    p->use = GCOR_EVERYTHING;
    p->shard = (gcor_shard){0, 1};
    p->shared_steps = 1e-9;
}

unit_fixture *unit_fixture_new(uint64_t seed, int64_t n_obs, int64_t n_x, int64_t n_y) {
    unit_fixture *f = malloc(sizeof *f);
    unit_seed(seed);
    f->x = unit_data_new(n_obs, n_x, UNIT_SPOILT);
    f->y = unit_data_new(n_obs, n_y, UNIT_SPOILT);
    return f;
}

void unit_fixture_free(unit_fixture *f) {
    unit_data_free(&f->x);
    unit_data_free(&f->y);
    free(f);
}

void unit_fixture_set(unit_fixture *f, const gcor_backend *backend, gcor_shape shape) {
    unit_problem_of(&f->problem, &f->x.matrix.source, shape == GCOR_FULL ? &f->y.matrix.source : NULL);
    f->problem.backend = backend;
}

gcor_status unit_session_open(unit_problem *p, gcor_session **session) {
    int numbers[GCOR_MAX_DEVICES];
    unit_call call;
    unit_call_begin(&call, p->threads);
    for (int d = 0; d < p->devices; d++) numbers[d] = d;
    gcor_status status = gcor_session_open(&call.context, p->backend, numbers, p->devices, session);
    p->error = call.context.error;
    if (!status) (*session)->shared_steps = p->shared_steps;
    return status;
}

gcor_status unit_run_in(gcor_session *session, unit_problem *p, gcor_sink *sink) {
    unit_call call;
    unit_call_begin(&call, p->threads);
    call.monitor = gcor_watch(p->check, NULL);
    call.context.memory = p->memory;
    memset(p->x_flags, 0, sizeof p->x_flags);
    memset(p->y_flags, 0, sizeof p->y_flags);
    p->job = (gcor_job){.x = p->x,
                        .y = p->y,
                        .measure = p->measure,
                        .design = p->design,
                        .in_double = p->in_double,
                        .use = p->use,
                        .sink = sink,
                        .shard = p->shard,
                        .x_flags = p->x_flags,
                        .y_flags = p->y_flags,
                        .x_norm = p->x_norm};
    gcor_status status = gcor_run(session, &call.context, &p->job);
    CHECK_INT(call.context.threads, p->threads);
    p->error = call.context.error;
    p->pairs = call.monitor.pairs;
    p->pairs_done = call.monitor.pairs_done;
    return status;
}

gcor_status unit_run(unit_problem *p, gcor_sink *sink) {
    gcor_session *session;
    gcor_status status = unit_session_open(p, &session);
    if (!status) status = unit_run_in(session, p, sink);
    gcor_session_close(session);
    return status;
}
