/* Every sink gives the same bytes by one worker or several, whole or in shares, merged or through files. */
#include "check.h"
#include "device.h"
#include "results.h"

#include "../../src/core/alloc.h"
#include "../../src/core/coefficient.h"
#include "../../src/core/measure.h"

#include <string.h>

/* ---- problems ----------------------------------------------------------------------------- */

/* Enough for a run to have more than one thread (core/run.c). */
enum { N_OBS = 60, N_X = 200, N_Y = 130 };

/* A measure, and whether missing values spoil a column or a pair. The first two have all that a sink can see: cheap
 * values and exact ones, of columns and of pairs without coefficients. */
typedef struct {
    const char *measure;
    gcor_use use;
} setting;
static const setting settings[] = {{"pearson", GCOR_EVERYTHING},  {"kendall", GCOR_PAIRWISE},
                                   {"kendall", GCOR_EVERYTHING},  {"pearson", GCOR_PAIRWISE},
                                   {"spearman", GCOR_EVERYTHING}, {"spearman", GCOR_PAIRWISE}};
enum { FOR_SINKS = 2, FOR_DEVICES = 3, ALL = 6 };

/* With every sink, in the first so many of the settings. */
static void for_all_sinks(int n_settings, void (*test)(unit_problem *problem, const unit_kind *kind)) {
    unit_problem *p = malloc(sizeof *p);
    unit_seed(7);
    unit_data x = unit_data_new(N_OBS, N_X, UNIT_SPOILT), y = unit_data_new(N_OBS, N_Y, UNIT_SPOILT);
    for (const setting *s = settings; s < settings + n_settings; s++)
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

/* By one worker. */
static unit_found found_alone(unit_problem *p, const unit_kind *kind) {
    gcor_status status;
    p->share = (gcor_share){0, 1};
    p->devices = p->threads = 1;
    unit_found found = unit_find(p, kind, &status);
    CHECK_INT(status, GCOR_OK);
    return found;
}

/* ---- one worker is right --------------------------------------------------------------------- */

/* The values that both columns have; those of either for all but pairwise use. Returns how many. */
static int64_t common_values(const unit_problem *p, int64_t i, int64_t j, double *x, double *y) {
    const double *values = ((const gcor_matrix *)p->x)->values, *a = values + i * p->x->n_obs,
                 *b = values + j * p->x->n_obs;
    int64_t n = 0;
    for (int64_t k = 0; k < p->x->n_obs; k++) {
        int missing = isnan(a[k]) || isnan(b[k]);
        if (missing && p->use == GCOR_EVERYTHING) return 0;
        if (missing) continue;
        x[n] = a[k];
        y[n++] = b[k];
    }
    return n;
}

static double mean_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += x[k];
    return sum / (double)n;
}

static double pearson(const double *x, const double *y, int64_t n) {
    double a = mean_of(x, n), b = mean_of(y, n), xy = 0, xx = 0, yy = 0;
    for (int64_t k = 0; k < n; k++) {
        xy += (x[k] - a) * (y[k] - b);
        xx += (x[k] - a) * (x[k] - a);
        yy += (y[k] - b) * (y[k] - b);
    }
    return xy / sqrt(xx * yy);
}

static int sign(double x, double y) {
    return (x > y) - (x < y);
}

static double kendall(const double *x, const double *y, int64_t n) {
    double xy = 0, xx = 0, yy = 0;
    for (int64_t k = 0; k < n; k++)
        for (int64_t q = 0; q < k; q++) {
            xy += sign(x[k], x[q]) * sign(y[k], y[q]);
            xx += sign(x[k], x[q]) != 0;
            yy += sign(y[k], y[q]) != 0;
        }
    return xy / sqrt(xx * yy);
}

static double spearman(const double *x, const double *y, int64_t n) {
    double a[N_OBS] = {0}, b[N_OBS] = {0};
    for (int64_t k = 0; k < n; k++)
        for (int64_t q = 0; q < n; q++) {
            a[k] += sign(x[k], x[q]);
            b[k] += sign(y[k], y[q]);
        }
    return pearson(a, b, n);
}

static int varies(const double *x, int64_t n) {
    int any = 0;
    for (int64_t k = 1; k < n; k++) any |= x[k] != x[0];
    return any;
}

/* As the dense sink is to have it: -7 where there is no coefficient (results.c). */
static double expected(const unit_problem *p, int64_t i, int64_t j) {
    double (*const definitions[])(const double *, const double *, int64_t) = {pearson, kendall, spearman};
    int m = 0;
    double x[N_OBS], y[N_OBS];
    int64_t n = common_values(p, i, j, x, y);
    if (n < 2 || !varies(x, n) || !varies(y, n)) return -7;
    while (gcor_measure_at(m) != p->measure) m++;
    return definitions[m](x, y, n);
}

static void check_definition(unit_problem *p, const unit_kind *kind) {
    unit_sink sink;
    if (strcmp(kind->name, "square") != 0) return;
    CHECK_INT(unit_sink_new(p, kind, &sink), GCOR_OK);
    CHECK_INT(unit_run(p, sink.sink), GCOR_OK);
    for (int64_t j = 0; j < N_X; j++)
        for (int64_t i = j % 4; i < j; i += 4) CHECK_NEAR(sink.out[j + i * N_X], expected(p, i, j), 1e-6);
    unit_sink_free(&sink);
}

static void coefficients_are_as_defined(void) {
    for_all_sinks(ALL, check_definition);
}

/* ---- several workers, shares, files -------------------------------------------------------------- */

static void check_devices(unit_problem *p, const unit_kind *kind) {
    static unsigned char flags[UNIT_MOST_VAR];
    const int devices[] = {1, 2, 3, 5}, threads[] = {4, 1, 7, 5};
    unit_found alone = found_alone(p, kind);
    memcpy(flags, p->x_flags, sizeof flags);
    for (int k = 0; k < 4; k++) {
        gcor_status status;
        p->devices = devices[k];
        p->threads = threads[k];
        p->memory = k % 2 ? 1 : 0; /* panels come and go */
        unit_found found = unit_find(p, kind, &status);
        CHECK_INT(status, GCOR_OK);
        CHECK_SAME(&alone, found);
        CHECK_INT(p->job.devices_lost, 0);
        CHECK(memcmp(flags, p->x_flags, sizeof flags) == 0);
    }
    free(alone.bytes);
}

static void any_number_of_devices(void) {
    for_all_sinks(FOR_DEVICES, check_devices);
}

/* A share of the pairs, into a sink of its own, and to a file. */
static FILE *save_share(unit_problem *p, const unit_kind *kind, gcor_share share) {
    FILE *file = tmpfile();
    unit_sink sink;
    unit_call call;
    unit_call_begin(&call, p->threads);
    p->share = share;
    CHECK_INT(unit_sink_new(p, kind, &sink), GCOR_OK);
    CHECK_INT(unit_run(p, sink.sink), GCOR_OK);
    CHECK_INT(gcor_sink_save(sink.sink, &call.context, &share, file), GCOR_OK);
    unit_sink_free(&sink);
    rewind(file);
    return file;
}

static void check_files(unit_problem *p, const unit_kind *kind) {
    const int ofs[] = {2, 17};
    unit_found alone = found_alone(p, kind);
    for (int k = 0; k < 2; k++) {
        int *order = unit_permutation(ofs[k]);
        unit_sink sink;
        p->devices = 1 + k;
        CHECK_INT(unit_sink_new(p, kind, &sink), GCOR_OK);
        for (int s = 0; s < ofs[k]; s++) {
            FILE *file = save_share(p, kind, (gcor_share){order[s], ofs[k]});
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

static void shares_through_files(void) {
    for_all_sinks(FOR_SINKS, check_files);
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
        p->share = (gcor_share){s, OF};
        CHECK_INT(unit_run(p, forks[s].sink), GCOR_OK);
    }
    for (int s = 0; s < OF; s++) /* in twos, and then all */
        if (s % 2) CHECK_INT(sink.sink->type->merge(forks[s].sink, &call.context, forks[s - 1].sink), GCOR_OK);
    for (int s = 0; s < OF; s++) {
        CHECK_INT(sink.sink->type->merge(sink.sink, &call.context, forks[order[s]].sink), GCOR_OK);
        unit_sink_free(&forks[order[s]]);
    }
    CHECK_SAME(&alone, unit_found_in(p, &sink));
    free(order);
    free(alone.bytes);
}

static void forks_are_merged(void) {
    for_all_sinks(FOR_SINKS, check_merges);
}

/* One sink sees one share after the other, by more threads from one to the next. */
static void check_sequence(unit_problem *p, const unit_kind *kind) {
    enum { OF = 4 };
    unit_found alone = found_alone(p, kind);
    unit_sink sink;
    p->threads = OF;
    CHECK_INT(unit_sink_new(p, kind, &sink), GCOR_OK);
    for (int s = 0; s < OF; s++) {
        p->threads = s + 1;
        p->share = (gcor_share){s, OF};
        CHECK_INT(unit_run(p, sink.sink), GCOR_OK);
    }
    CHECK_SAME(&alone, unit_found_in(p, &sink));
    free(alone.bytes);
}

static void one_sink_for_several_runs(void) {
    for_all_sinks(FOR_SINKS, check_sequence);
}

/* ---- the processor itself, with tiles of its own size -------------------------------------------- */

static void tiles_of_the_processor(void) {
    const char *const kinds[] = {"triangle by rows", "store of a triangle"};
    unit_problem *p = malloc(sizeof *p);
    unit_seed(8);
    unit_data x = unit_data_new(5, 4100, UNIT_SPOILT);
    unit_problem_of(p, &x.matrix.source, NULL);
    for (int k = 0; k < 2; k++) {
        const unit_kind *kind = unit_kind_named(kinds[k]);
        unit_found alone = found_alone(p, kind);
        gcor_status status;
        p->devices = p->threads = 3;
        unit_about("%s", kinds[k]);
        CHECK_SAME(&alone, unit_find(p, kind, &status));
        free(alone.bytes);
    }
    unit_data_free(&x);
    free(p);
}

const unit_test sinks_tests[] = {
    {"one worker's coefficients are those of the definitions", coefficients_are_as_defined},
    {"any number of devices and threads gives the same bytes", any_number_of_devices},
    {"shares that are saved and loaded, in any order, give the same bytes", shares_through_files},
    {"forks that are merged, in any order, give the same bytes", forks_are_merged},
    {"a sink that sees one share after the other gives the same bytes", one_sink_for_several_runs},
    {"several workers on tiles of the processor's size give the same bytes", tiles_of_the_processor},
    {NULL, NULL},
};
