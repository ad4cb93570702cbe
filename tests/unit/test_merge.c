/* Every sink gives the same bytes through files, merged, and from tiles of any size: one worker. */
#include "check.h"
#include "device.h"
#include "results.h"

/* ---- shards, files, forks ------------------------------------------------------------------------------ */

/* Computes a shard into a sink of its own and saves it. */
static FILE *save_shard(unit_problem *p, const unit_kind *kind, gcor_shard shard) {
    FILE *file = tmpfile();
    unit_sink sink;
    unit_call call;
    unit_call_begin(&call, p->threads);
    p->shard = shard;
    CHECK_INT(unit_sink_new(p, kind, &sink), GCOR_OK);
    CHECK_INT(unit_run(p, sink.sink), GCOR_OK);
    CHECK_INT(gcor_sink_save(sink.sink, &call.context, &shard, file), GCOR_OK);
    unit_sink_free(&sink);
    rewind(file);
    return file;
}

static void check_files(unit_problem *p, const unit_kind *kind) {
    const int ofs[] = {2, 7};
    unit_found alone = unit_find_alone(p, kind);
    for (int k = 0; k < 2; k++) {
        int *order = unit_permutation(ofs[k]);
        unit_sink sink;
        p->devices = 1 + k;
        CHECK_INT(unit_sink_new(p, kind, &sink), GCOR_OK);
        for (int s = 0; s < ofs[k]; s++) {
            FILE *file = save_shard(p, kind, (gcor_shard){order[s], ofs[k]});
            unit_call call;
            unit_call_begin(&call, p->threads);
            if (!CHECK_INT(gcor_sink_load(sink.sink, &call.context, file), GCOR_OK)) puts(call.context.error.message);
            CHECK_INT(fgetc(file), EOF);
            fclose(file);
        }
        CHECK_SAME(&alone, unit_found_in(p, &sink));
        free(order);
    }
    free(alone.bytes);
}

static void shards_through_files(void) {
    unit_for_all_sinks(check_files);
}

static void check_merges(unit_problem *p, const unit_kind *kind) {
    enum { OF = 6 };
    unit_found alone = unit_find_alone(p, kind);
    unit_sink sink, forks[OF];
    int *order = unit_permutation(OF);
    unit_call call;
    unit_call_begin(&call, p->threads);
    CHECK_INT(unit_sink_new(p, kind, &sink), GCOR_OK);
    for (int s = 0; s < OF; s++) {
        CHECK_INT(unit_sink_fork(p, &sink, &forks[s]), GCOR_OK);
        p->shard = (gcor_shard){s, OF};
        CHECK_INT(unit_run(p, forks[s].sink), GCOR_OK);
    }
    for (int s = 0; s < OF; s++) /* first in pairs, then all */
        if (s % 2) CHECK_INT(gcor_sink_merge(forks[s].sink, &call.context, forks[s - 1].sink), GCOR_OK);
    for (int s = 0; s < OF; s++) {
        CHECK_INT(gcor_sink_merge(sink.sink, &call.context, forks[order[s]].sink), GCOR_OK);
        unit_sink_free(&forks[order[s]]);
    }
    CHECK_SAME(&alone, unit_found_in(p, &sink));
    free(order);
    free(alone.bytes);
}

static void forks_are_merged(void) {
    unit_for_all_sinks(check_merges);
}

/* ---- tiles of other sizes --------------------------------------------------------------------------- */

/* The CPU's own tiles are larger than all of these variables; sums of that many have to be cut. */
static void check_tiles(const unit_kind *kind, unit_data *x, unit_data *y) {
    unit_problem *p = malloc(sizeof *p);
    gcor_status status;
    unit_about("%s", kind->name);
    unit_problem_of(p, &x->matrix.source, kind->shape == GCOR_FULL ? &y->matrix.source : NULL);
    unit_found large = unit_find_alone(p, kind);
    p->backend = &unit_device;
    CHECK_SAME(&large, unit_find(p, kind, &status));
    free(large.bytes);
    free(p);
}

static void tiles_of_any_size(void) {
    unit_seed(15);
    unit_data x = unit_data_new(10, 800, UNIT_COMPLETE), y = unit_data_new(10, 300, UNIT_SPOILT);
    unit_devices_reset();
    for (const unit_kind *kind = unit_kinds; kind->name; kind++) check_tiles(kind, &x, &y);
    unit_data_free(&x);
    unit_data_free(&y);
}

const unit_test merge_tests[] = {
    {"shares that are saved and loaded, in any order, give the same bytes", shards_through_files},
    {"forks that are merged, in any order, give the same bytes", forks_are_merged},
    {"tiles of any size give the same bytes", tiles_of_any_size},
    {NULL, NULL},
};
