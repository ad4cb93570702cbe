/* Every sink gives the same bytes with one worker or several, and from one shard after the other. */
#include "check.h"
#include "device.h"
#include "results.h"

#include "../../src/sink/neighbours.h"

#include <string.h>

/* ---- several workers ----------------------------------------------------------------------------- */

static void check_devices(unit_problem *p, const unit_kind *kind) {
    static unsigned char flags[UNIT_MAX_VAR];
    const int devices[] = {1, 2, 3, 5}, threads[] = {4, 1, 7, 5};
    unit_found alone = unit_find_alone(p, kind);
    memcpy(flags, p->x_flags, sizeof flags);
    for (int k = 0; k < 4; k++) {
        gcor_status status;
        p->devices = devices[k];
        p->threads = threads[k];
        p->memory = k % 2 ? 1 : 0; /* panels are evicted and prepared again */
        unit_found found = unit_find(p, kind, &status);
        CHECK_INT(status, GCOR_OK);
        CHECK_SAME(&alone, found);
        CHECK_INT(p->job.devices_lost, 0);
        CHECK(memcmp(flags, p->x_flags, sizeof flags) == 0);
    }
    free(alone.bytes);
}

static void any_number_of_devices(void) {
    unit_for_all_sinks(check_devices);
}

/* One sink gets one shard after the other, with more threads each time. */
static void check_sequence(unit_problem *p, const unit_kind *kind) {
    enum { OF = 4 };
    unit_found alone = unit_find_alone(p, kind);
    unit_sink sink;
    p->threads = OF;
    CHECK_INT(unit_sink_new(p, kind, &sink), GCOR_OK);
    for (int s = 0; s < OF; s++) {
        p->threads = s + 1;
        p->shard = (gcor_shard){s, OF};
        CHECK_INT(unit_run(p, sink.sink), GCOR_OK);
    }
    CHECK_SAME(&alone, unit_found_in(p, &sink));
    free(alone.bytes);
}

static void one_sink_for_several_runs(void) {
    unit_for_all_sinks(check_sequence);
}

/* ---- workers of the processor ------------------------------------------------------------------------ */

static void workers_of_the_processor(void) {
    const unit_kind *kind = unit_kind_named("triangle by rows");
    unit_problem *p = malloc(sizeof *p);
    gcor_status status;
    unit_seed(8);
    unit_data x = unit_data_new(5, 4100, UNIT_SPOILT);
    unit_problem_of(p, &x.matrix.source, NULL);
    unit_found alone = unit_find_alone(p, kind);
    p->devices = p->threads = 3;
    CHECK_SAME(&alone, unit_find(p, kind, &status));
    free(alone.bytes);
    unit_data_free(&x);
    free(p);
}

/* ---- neighbours that a device has found ------------------------------------------------------------- */

/* Returns the neighbours of all variables as a list, columns before rows, each variable's weakest first. */
static gcor_edge *list_neighbours(const gcor_neighbours *from, int64_t *n) {
    const gcor_heaps *sides[] = {&from->cols, &from->rows};
    gcor_edge *list = malloc((size_t)((from->cols.n_var + from->rows.n_var) * from->k) * sizeof *list);
    *n = 0;
    for (int s = 0; s < 2; s++)
        for (int64_t j = 0; j < sides[s]->n_var; j++)
            for (int64_t e = 0; e < sides[s]->count[j]; e++) {
                gcor_neighbour own = sides[s]->heap[j * from->k + e];
                list[(*n)++] = (gcor_edge){(int32_t)(s * from->cols.n_var + j), own.other, own.r};
            }
    return list;
}

static void check_lists(unit_problem *p, const unit_kind *kind) {
    unit_sink sink, other;
    unit_call call;
    int64_t n;
    p->shard = (gcor_shard){0, 1};
    p->devices = 1;
    p->threads = 3;
    unit_call_begin(&call, p->threads);
    CHECK_INT(unit_sink_new(p, kind, &sink), GCOR_OK);
    CHECK_INT(unit_run(p, sink.sink), GCOR_OK);
    gcor_edge *list = list_neighbours((const gcor_neighbours *)sink.sink, &n);
    CHECK_INT(unit_sink_new(p, kind, &other), GCOR_OK);
    gcor_neighbours_add((gcor_neighbours *)other.sink, &call.context, list, n / 3);
    gcor_neighbours_add((gcor_neighbours *)other.sink, &call.context, list + n / 3, n - n / 3);
    free(list);
    unit_found found = unit_found_in(p, &sink);
    CHECK_SAME(&found, unit_found_in(p, &other));
    free(found.bytes);
}

static void neighbours_from_lists(void) {
    unit_problem *p = malloc(sizeof *p);
    unit_seed(9);
    unit_data x = unit_data_new(60, 200, UNIT_SPOILT), y = unit_data_new(60, 130, UNIT_SPOILT);
    unit_devices_reset();
    unit_problem_of(p, &x.matrix.source, NULL);
    check_lists(p, unit_kind_named("neighbours in a triangle"));
    unit_problem_of(p, &x.matrix.source, &y.matrix.source);
    check_lists(p, unit_kind_named("neighbours in a rectangle"));
    unit_data_free(&x);
    unit_data_free(&y);
    free(p);
}

const unit_test sinks_tests[] = {
    {"any number of devices and threads gives the same bytes", any_number_of_devices},
    {"a sink that sees one share after the other gives the same bytes", one_sink_for_several_runs},
    {"several workers of the processor give the same bytes", workers_of_the_processor},
    {"neighbours come in lists, too", neighbours_from_lists},
    {NULL, NULL},
};
