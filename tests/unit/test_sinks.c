/* Every sink gives the same bytes with one worker or several, whole or in shards, merged or through files. */
#include "check.h"
#include "device.h"
#include "results.h"

#include "../../src/sink/neighbours.h"

#include <string.h>

/* ---- problems ----------------------------------------------------------------------------- */

/* Enough for a run to have more than one thread (engine/run.c). */
enum { N_OBS = 60, N_X = 200, N_Y = 130 };

/* All kinds of input to a sink: approximate and exact values, of columns and of pairs without coefficients. */
typedef struct {
    const char *measure;
    gcor_use use;
} setting;
static const setting settings[] = {{"pearson", GCOR_EVERYTHING}, {"kendall", GCOR_PAIRWISE}};

static void for_all_sinks(void (*test)(unit_problem *problem, const unit_kind *kind)) {
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

/* Computes with one worker. */
static unit_found found_alone(unit_problem *p, const unit_kind *kind) {
    gcor_status status;
    p->shard = (gcor_shard){0, 1};
    p->devices = p->threads = 1;
    unit_found found = unit_find(p, kind, &status);
    CHECK_INT(status, GCOR_OK);
    return found;
}

/* ---- several workers, shards, files -------------------------------------------------------------- */

static void check_devices(unit_problem *p, const unit_kind *kind) {
    static unsigned char flags[UNIT_MAX_VAR];
    const int devices[] = {1, 2, 3, 5}, threads[] = {4, 1, 7, 5};
    unit_found alone = found_alone(p, kind);
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
    for_all_sinks(check_devices);
}

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
    unit_found alone = found_alone(p, kind);
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
    for_all_sinks(check_files);
}

static void check_merges(unit_problem *p, const unit_kind *kind) {
    enum { OF = 6 };
    unit_found alone = found_alone(p, kind);
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
    for_all_sinks(check_merges);
}

/* One sink gets one shard after the other, with more threads each time. */
static void check_sequence(unit_problem *p, const unit_kind *kind) {
    enum { OF = 4 };
    unit_found alone = found_alone(p, kind);
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
    for_all_sinks(check_sequence);
}

/* ---- tiles of other sizes --------------------------------------------------------------------------- */

/* The CPU's own tiles are larger than all of these variables; sums of that many have to be cut. */
static void check_tiles(const unit_kind *kind, unit_data *x, unit_data *y) {
    unit_problem *p = malloc(sizeof *p);
    gcor_status status;
    unit_about("%s", kind->name);
    unit_problem_of(p, &x->matrix.source, kind->shape == GCOR_FULL ? &y->matrix.source : NULL);
    unit_found large = found_alone(p, kind);
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

static void workers_of_the_processor(void) {
    const unit_kind *kind = unit_kind_named("triangle by rows");
    unit_problem *p = malloc(sizeof *p);
    gcor_status status;
    unit_seed(8);
    unit_data x = unit_data_new(5, 4100, UNIT_SPOILT);
    unit_problem_of(p, &x.matrix.source, NULL);
    unit_found alone = found_alone(p, kind);
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
    unit_data x = unit_data_new(N_OBS, N_X, UNIT_SPOILT), y = unit_data_new(N_OBS, N_Y, UNIT_SPOILT);
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
    {"shares that are saved and loaded, in any order, give the same bytes", shards_through_files},
    {"forks that are merged, in any order, give the same bytes", forks_are_merged},
    {"a sink that sees one share after the other gives the same bytes", one_sink_for_several_runs},
    {"tiles of any size give the same bytes", tiles_of_any_size},
    {"several workers of the processor give the same bytes", workers_of_the_processor},
    {"neighbours come in lists, too", neighbours_from_lists},
    {NULL, NULL},
};
