/* The predicted reads and memory of a shard are the actual ones. */
#include "check.h"
#include "device.h"
#include "results.h"

#include "../../src/base/alloc.h"
#include "../../src/engine/session.h"

#include <stdio.h>
#include <string.h>

enum { N_OBS = 12, N_X = 700, N_Y = 300, N_LONG = 640 };

typedef struct {
    gcor_source source; /* must be first */
    gcor_source *from;
    int64_t *columns; /* number of columns read, from all sources */
} counted_source;

static gcor_status read_counted(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out) {
    counted_source *s = (counted_source *)source;
    *s->columns += n;
    return s->from->read(s->from, context, first, n, out);
}

static counted_source counted(unit_data *data, int64_t *columns) {
    counted_source s = {.source = data->matrix.source, .from = &data->matrix.source, .columns = columns};
    s.source.any_thread = 0; /* one thread reads and counts */
    s.source.read = read_counted;
    return s;
}

static gcor_needs needs_of(unit_problem *problem) {
    unit_call call;
    gcor_session *session;
    gcor_needs needs = {0};
    gcor_job job = {.x = problem->x, .y = problem->y, .measure = problem->measure, .shard = problem->shard};
    unit_call_begin(&call, 1);
    call.context.memory = problem->memory;
    CHECK_INT(unit_session_open(problem, &session), GCOR_OK);
    CHECK_INT(gcor_needs_of(session, &call.context, &job, &needs), GCOR_OK);
    gcor_session_close(session);
    return needs;
}

/* Returns the number of columns that a shard read. */
static int64_t check_shard(unit_problem *problem, const unit_kind *kind, const int64_t *columns, gcor_shard shard) {
    gcor_status status;
    problem->shard = shard;
    gcor_needs needs = needs_of(problem);
    int64_t before = *columns;
    unit_found found = unit_find(problem, kind, &status);
    free(found.bytes);
    CHECK_INT(status, GCOR_OK);
    CHECK_INT(needs.columns, *columns - before);
    CHECK(needs.bytes > 0);
    if (problem->memory > 0) CHECK(needs.bytes <= problem->memory);
    return needs.columns;
}

static void check_kind(const char *name, int with_y) {
    const unit_kind *kind = unit_kind_named(name);
    const int64_t column = gcor_cpu.column_bytes(NULL, GCOR_REAL, N_OBS);
    const int64_t memories[] = {0, 500 * column, 166 * column};
    int64_t columns = 0, last = 0;
    unit_data x = unit_data_new(N_OBS, N_X, UNIT_COMPLETE), y = unit_data_new(N_OBS, N_Y, UNIT_COMPLETE);
    counted_source from_x = counted(&x, &columns), from_y = counted(&y, &columns);
    unit_problem *problem = malloc(sizeof *problem);
    unit_devices_reset();
    unit_problem_of(problem, &from_x.source, with_y ? &from_y.source : NULL);
    problem->backend = &unit_device;
    for (int m = 0; m < 3; m++) {
        int64_t all = 0;
        problem->memory = memories[m];
        for (int64_t k = 0; k < 5; k++) all += check_shard(problem, kind, &columns, (gcor_shard){k, 5});
        CHECK(all > (with_y ? N_X + N_Y : N_X));
        int64_t whole = check_shard(problem, kind, &columns, (gcor_shard){0, 1});
        if (m == 0) CHECK_INT(whole, with_y ? N_X + N_Y : N_X);
        if (m > 0) CHECK(whole > last);
        last = whole;
    }
    free(problem);
    unit_data_free(&x);
    unit_data_free(&y);
}

static void of_a_triangle(void) {
    unit_seed(21);
    check_kind("triangle by columns", 0);
}

static void of_a_rectangle(void) {
    unit_seed(22);
    check_kind("rectangle", 1);
}

/* ---- bytes of operands -------------------------------------------------------------------------- */

/* Returns the bytes that prepare() allocates: each allocation fails once, and its message says how large it is. */
static double allocated_bytes(gcor_state *state, gcor_context *context, const gcor_columns *columns, gcor_kind kind) {
    double all = 0, megabytes;
    for (int k = 2;; k++) { /* the first is the operand itself */
        gcor_operand *operand;
        context->error = (gcor_error){0};
        gcor_set_fault(GCOR_HOST_MEMORY, k);
        gcor_status status = gcor_cpu.prepare(state, columns, unit_measure("pearson"), kind, 0, N_LONG, &operand);
        gcor_set_fault(GCOR_HOST_MEMORY, 0);
        CHECK_INT(status, GCOR_NO_MEMORY);
        if (status != GCOR_NO_MEMORY || !strstr(context->error.message, "the prepared columns")) return all;
        CHECK_INT(sscanf(context->error.message, "cannot allocate %lf MB", &megabytes), 1);
        all += 1e6 * megabytes;
    }
}

static void as_allocated(void) {
    static const gcor_kind kinds[] = {GCOR_REAL,        GCOR_DOUBLE,      GCOR_SIGN,     GCOR_SIGN_COMMON,
                                      GCOR_RANK_COMMON, GCOR_PAIR_COMMON, GCOR_DISTANCE, GCOR_DISTANCE_COMMON};
    gcor_source source = {.n_obs = 5000, .n_var = N_LONG}; /* never read */
    const gcor_columns columns = {.source = &source, .n_obs = source.n_obs};
    const double rounding = 1e6; /* of the messages */
    unit_call call;
    gcor_state *state;
    unit_call_begin(&call, 1);
    CHECK_INT(gcor_cpu.open(&call.context, 0, &state), GCOR_OK);
    for (int coarse = 0; coarse < 2; coarse++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            gcor_sink sink = {.approximate = 1, .coarse = coarse};
            unit_about("kind %d, coarse %d", (int)kinds[k], coarse);
            CHECK_INT(gcor_cpu.begin(state, &call.context, &sink, kinds[k]), GCOR_OK);
            const double bytes = N_LONG * (double)gcor_cpu.column_bytes(state, kinds[k], source.n_obs);
            CHECK_NEAR(allocated_bytes(state, &call.context, &columns, kinds[k]), bytes, rounding);
            gcor_cpu.end(state);
        }
    gcor_cpu.close(state);
}

const unit_test needs_tests[] = {
    {"an operand's bytes are those that are allocated", as_allocated},
    {"columns read of a triangle's shares, with much memory and little", of_a_triangle},
    {"columns read of a rectangle's shares", of_a_rectangle},
    {NULL, NULL},
};
