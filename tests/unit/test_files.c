/* Saved sinks that are truncated, damaged, or of another sink: loading fails, leaks nothing and adds nothing. */
#include "check.h"
#include "device.h"
#include "results.h"
#include "system.h"

#include "../../src/sink/edges/tile_edges.h"

#include <string.h>

enum { N_OBS = 7, N_X = 70, N_Y = 5 };

static void set_problem(unit_fixture *f, const unit_kind *kind) {
    unit_devices_reset();
    unit_fixture_set(f, &unit_device, kind->shape);
}

/* The bytes saved after a run. */
static unit_found save_run(unit_fixture *f, const unit_kind *kind) {
    unit_found file = {NULL, 0};
    unit_sink sink;
    unit_call call;
    const gcor_shard all = {0, 1};
    unit_call_begin(&call, 1);
    CHECK_INT(unit_sink_new(&f->problem, kind, &sink), GCOR_OK);
    CHECK_INT(unit_run(&f->problem, sink.sink), GCOR_OK);
    FILE *stream = unit_begin_writing(&file.bytes, &file.n);
    CHECK_INT(gcor_sink_save(sink.sink, &call.context, &all, stream), GCOR_OK);
    unit_end_writing(stream, &file.bytes, &file.n);
    unit_sink_free(&sink);
    return file;
}

static gcor_status load_bytes(gcor_sink *sink, const char *bytes, size_t n, gcor_error *error) {
    FILE *stream = unit_begin_reading(bytes, n);
    unit_call call;
    unit_call_begin(&call, 1);
    gcor_status status = gcor_sink_load(sink, &call.context, stream);
    CHECK_INT(call.context.error.status, status);
    *error = call.context.error;
    fclose(stream);
    return status;
}

/* Visits every one of the first bytes, which hold sizes, then a random selection. */
static size_t next_byte(size_t at, size_t n) {
    return at < 400 ? at + 1 : at + 1 + (size_t)unit_random((int64_t)n / 100 + 1);
}

/* ---- cut off ------------------------------------------------------------------------------ */

/* Loads all truncated files and then the complete one into one sink, which must hold only the latter. */
static void check_cut(unit_fixture *f, const unit_kind *kind) {
    gcor_error error;
    gcor_status status;
    unit_found file = save_run(f, kind), expected = unit_find(&f->problem, kind, &status);
    unit_sink sink;
    CHECK_INT(unit_sink_new(&f->problem, kind, &sink), GCOR_OK);
    for (size_t n = 0; n < file.n; n = next_byte(n, file.n)) {
        unit_about("%s, %lld of %lld bytes", kind->name, (long long)n, (long long)file.n);
        CHECK_INT(load_bytes(sink.sink, file.bytes, n, &error), GCOR_BAD_FILE);
        CHECK_TEXT(error.message, "cut off");
    }
    CHECK_INT(load_bytes(sink.sink, file.bytes, file.n, &error), GCOR_OK);
    CHECK_SAME(&expected, unit_found_in(&f->problem, &sink));
    free(expected.bytes);
    free(file.bytes);
}

static void files_cut_off(void) {
    unit_fixture *f = unit_fixture_new(9, N_OBS, N_X, N_Y);
    for (const unit_kind *kind = unit_kinds; kind->name; kind++) {
        set_problem(f, kind);
        check_cut(f, kind);
    }
    unit_fixture_free(f);
}

/* ---- damaged -------------------------------------------------------------------------------- */

/* A damaged file may load if only a value changed; sanitizers detect invalid accesses and overflows. */
static void check_damage(unit_fixture *f, const unit_kind *kind, const unit_found *file, size_t at, char bits) {
    gcor_error error;
    unit_sink sink;
    char *bytes = malloc(file->n);
    memcpy(bytes, file->bytes, file->n);
    bytes[at] ^= bits;
    unit_about("%s, byte %lld of %lld by %02x", kind->name, (long long)at, (long long)file->n, (unsigned char)bits);
    CHECK_INT(unit_sink_new(&f->problem, kind, &sink), GCOR_OK);
    gcor_status status = load_bytes(sink.sink, bytes, file->n, &error);
    CHECK(status == GCOR_OK || status == GCOR_BAD_FILE);
    if (!status) status = load_bytes(sink.sink, file->bytes, file->n, &error);
    CHECK(status == GCOR_OK || status == GCOR_BAD_FILE);
    unit_found found = unit_found_in(&f->problem, &sink);
    free(found.bytes);
    free(bytes);
}

static void files_damaged(void) {
    unit_fixture *f = unit_fixture_new(9, N_OBS, N_X, N_Y);
    for (const unit_kind *kind = unit_kinds; kind->name; kind++) {
        set_problem(f, kind);
        unit_found file = save_run(f, kind);
        for (size_t at = 0; at < file.n; at = next_byte(at, file.n)) {
            check_damage(f, kind, &file, at, (char)(1 + unit_random(255)));
            check_damage(f, kind, &file, at, (char)0x80);
        }
        free(file.bytes);
    }
    unit_fixture_free(f);
}

/* ---- another's --------------------------------------------------------------------------------- */

/* Loads a sink of other variables, and one of other settings. */
static void check_relatives(unit_fixture *f, const unit_kind *kind, const unit_found *file) {
    gcor_error error;
    unit_sink sink;
    unit_kind other = *kind;
    gcor_source narrow = f->x.matrix.source, *x = f->problem.x;
    narrow.n_var--;
    f->problem.x = &narrow;
    CHECK_INT(unit_sink_new(&f->problem, kind, &sink), GCOR_OK);
    CHECK_INT(load_bytes(sink.sink, file->bytes, file->n, &error), GCOR_BAD_FILE);
    CHECK_TEXT(error.message, "another kind, or of other settings");
    unit_sink_free(&sink);
    f->problem.x = x;
    other.setting = other.setting == 1 ? 0 : 1;
    CHECK_INT(unit_sink_new(&f->problem, &other, &sink), GCOR_OK);
    CHECK_INT(load_bytes(sink.sink, file->bytes, file->n, &error), GCOR_BAD_FILE);
    CHECK_TEXT(error.message, "another kind, or of other settings");
    unit_sink_free(&sink);
}

static void files_of_others(void) {
    unit_fixture *f = unit_fixture_new(9, N_OBS, N_X, N_Y);
    for (const unit_kind *kind = unit_kinds; kind->name; kind++) {
        set_problem(f, kind);
        unit_found file = save_run(f, kind);
        unit_about("a file of %s", kind->name);
        check_relatives(f, kind, &file);
        for (const unit_kind *other = unit_kinds; other->name; other++) {
            gcor_error error;
            unit_sink sink;
            if (other == kind) continue;
            unit_about("a file of %s into %s", kind->name, other->name);
            set_problem(f, other);
            CHECK_INT(unit_sink_new(&f->problem, other, &sink), GCOR_OK);
            CHECK_INT(load_bytes(sink.sink, file.bytes, file.n, &error), GCOR_BAD_FILE);
            unit_sink_free(&sink);
        }
        free(file.bytes);
    }
    unit_fixture_free(f);
}

/* ---- writing ------------------------------------------------------------------------------------ */

static void disks_that_are_full(void) {
    if (!UNIT_HAS_FORK) {
        unit_skip("Windows has no /dev/full");
        return;
    }
    unit_fixture *f = unit_fixture_new(9, N_OBS, N_X, N_Y);
    for (const unit_kind *kind = unit_kinds; kind->name; kind++) {
        const gcor_shard all = {0, 1};
        unit_sink sink;
        unit_call call;
        unit_call_begin(&call, 1);
        set_problem(f, kind);
        unit_about("%s", kind->name);
        CHECK_INT(unit_sink_new(&f->problem, kind, &sink), GCOR_OK);
        CHECK_INT(unit_run(&f->problem, sink.sink), GCOR_OK);
        FILE *full = fopen("/dev/full", "w");
        if (CHECK(full)) {
            CHECK_INT(gcor_sink_save(sink.sink, &call.context, &all, full), GCOR_BAD_FILE);
            CHECK_TEXT(call.context.error.message, "No space left");
            fclose(full);
        }
        unit_sink_free(&sink);
    }
    unit_fixture_free(f);
}

const unit_test files_tests[] = {
    {"what is cut off adds nothing", files_cut_off},
    {"what is damaged does no harm", files_damaged},
    {"what another sink has written is refused", files_of_others},
    {"a disk that is full is an error", disks_that_are_full},
    {NULL, NULL},
};
