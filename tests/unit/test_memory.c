/* The k-th allocation fails, for every k: the result is an error or correct, and nothing leaks. */
#include "check.h"
#include "device.h"
#include "results.h"

#include "../../src/base/alloc.h"

enum { ENOUGH = 3, MAX = 5000 };
/* Enough for a run to have more than one thread (engine/run.c). */
enum { N_OBS = 64, N_X = 140, N_Y = 70 };

static void set_problem(unit_fixture *f, const unit_kind *kind, int devices, int threads) {
    unit_devices_reset();
    unit_fixture_set(f, &unit_device, kind->shape);
    f->problem.measure = unit_measure("kendall");
    f->problem.use = GCOR_PAIRWISE;
    f->problem.devices = devices;
    f->problem.threads = threads;
}

static void check_out_of_memory(gcor_status status, const gcor_error *error) {
    CHECK_INT(status, GCOR_NO_MEMORY);
    CHECK_INT(error->status, GCOR_NO_MEMORY);
    CHECK_TEXT(error->message, "cannot allocate");
}

/* ---- runs -------------------------------------------------------------------------------------- */

/* Performs a run whose k-th allocation fails; returns 1 if it succeeds because there are fewer. */
static int run_short_of_memory(unit_fixture *f, const unit_kind *kind, const unit_found *expected, int k) {
    unit_sink sink;
    CHECK_INT(unit_sink_new(&f->problem, kind, &sink), GCOR_OK);
    gcor_set_fault(GCOR_HOST_MEMORY, k);
    gcor_status status = unit_run(&f->problem, sink.sink);
    gcor_set_fault(GCOR_HOST_MEMORY, 0);
    CHECK_INT(f->problem.job.devices_lost, 0);
    CHECK_INT(unit_devices_now.open, 0);
    if (!status) return CHECK_SAME(expected, unit_found_in(&f->problem, &sink));
    check_out_of_memory(status, &f->problem.error);
    unit_sink_free(&sink);
    CHECK_INT(gcor_live(GCOR_HOST_MEMORY), 0);
    return 0;
}

/* The number of allocations varies between runs with several workers. */
static void walk(unit_fixture *f, const unit_kind *kind, int devices, int threads) {
    gcor_status status;
    int k = 0;
    set_problem(f, kind, 1, 1);
    unit_found expected = unit_find(&f->problem, kind, &status);
    set_problem(f, kind, devices, threads);
    unit_devices_now.pause = 50; /* so that each worker gets some work */
    for (int succeeded = 0; succeeded < ENOUGH && k < MAX;) {
        unit_about("%s, %d workers, %d threads, allocation %d", kind->name, devices, threads, ++k);
        succeeded = run_short_of_memory(f, kind, &expected, k) ? succeeded + 1 : 0;
    }
    CHECK(k > 10 * devices && k < MAX);
    free(expected.bytes);
}

static void runs_without_memory(void) {
    const char *const kinds[] = {"rectangle", "store of a triangle", "neighbours in a rectangle",
                                 "histogram", "connectivity",        "store with a file"};
    unit_fixture *f = unit_fixture_new(12, N_OBS, N_X, N_Y);
    for (int k = 0; k < 6; k++) {
        walk(f, unit_kind_named(kinds[k]), 3, 3);
        walk(f, unit_kind_named(kinds[k]), 2, 5);
    }
    unit_fixture_free(f);
}

/* ---- what a sink does itself ------------------------------------------------------------------------ */

/* Saves one sink and loads the file into another, which must be unchanged after a failure. */
static int load_short_of_memory(unit_fixture *f, const unit_kind *kind, FILE *file, const unit_found *expected, int k) {
    unit_sink sink;
    unit_call call;
    unit_call_begin(&call, f->problem.threads);
    rewind(file);
    gcor_set_fault(GCOR_HOST_MEMORY, k);
    gcor_status status = unit_sink_new(&f->problem, kind, &sink), loaded = GCOR_OK;
    if (!status) loaded = gcor_sink_load(sink.sink, &call.context, file);
    gcor_set_fault(GCOR_HOST_MEMORY, 0);
    if (loaded) {
        check_out_of_memory(loaded, &call.context.error);
        unit_call_begin(&call, f->problem.threads);
        rewind(file);
        CHECK_INT(gcor_sink_load(sink.sink, &call.context, file), GCOR_OK);
    }
    if (status) return CHECK_INT(status, GCOR_NO_MEMORY) && CHECK_INT(gcor_live(GCOR_HOST_MEMORY), 0) && 0;
    CHECK_SAME(expected, unit_found_in(&f->problem, &sink));
    return !loaded;
}

static void files_without_memory(void) {
    unit_fixture *f = unit_fixture_new(12, N_OBS, N_X, N_Y);
    for (const unit_kind *kind = unit_kinds; kind->name; kind++) {
        const gcor_shard all = {0, 1};
        FILE *file = tmpfile();
        unit_sink sink;
        unit_call call;
        int k = 0;
        unit_call_begin(&call, 1);
        set_problem(f, kind, 1, 1);
        CHECK_INT(unit_sink_new(&f->problem, kind, &sink), GCOR_OK);
        CHECK_INT(unit_run(&f->problem, sink.sink), GCOR_OK);
        CHECK_INT(gcor_sink_save(sink.sink, &call.context, &all, file), GCOR_OK);
        unit_found expected = unit_found_in(&f->problem, &sink);
        do {
            unit_about("%s, allocation %d", kind->name, ++k);
        } while (!load_short_of_memory(f, kind, file, &expected, k) && k < MAX);
        CHECK(k > 2 && k < MAX);
        free(expected.bytes);
        fclose(file);
    }
    unit_fixture_free(f);
}

const unit_test memory_tests[] = {
    {"a run that has no memory fails cleanly, wherever that is", runs_without_memory},
    {"loading without memory fails cleanly", files_without_memory},
    {NULL, NULL},
};
