/* Sources that only one thread may read, block by block: that thread reads for all workers. */
#include "check.h"
#include "device.h"
#include "results.h"

#include "../../src/source/source.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

/* Blocks are 4 MB: 58 columns of this many observations, so that a panel of the device needs two. */
#ifdef __SANITIZE_THREAD__
enum { N_OBS = 500, MIN_READS = 1 }; /* the sanitizer is slow */
#else
enum { N_OBS = 9000, MIN_READS = 3 };
#endif
enum { N_X = 150, N_Y = 70 };

typedef struct {
    gcor_source source; /* must be first */
    const double *values;
    pthread_t reader;
    int n_reads, fails_at; /* number of the read that fails, from 1; 0: none */
    gcor_status failure;
} picky_source;

static gcor_status read_picky(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out) {
    picky_source *p = (picky_source *)source;
    CHECK(pthread_equal(p->reader, pthread_self()));
    CHECK(first >= 0 && n > 0 && first + n <= source->n_var);
    if (gcor_stop(context)) return context->error.status; /* as a source that calls R does */
    if (++p->n_reads == p->fails_at)
        return gcor_fail(context, p->failure, "columns from %d on cannot be read", (int)first + 1);
    memcpy(out, p->values + first * source->n_obs, (size_t)(n * source->n_obs) * sizeof *out);
    return GCOR_OK;
}

static picky_source picky(const unit_data *data) {
    picky_source p = {.source = data->matrix.source, .values = data->values, .reader = pthread_self()};
    p.source.any_thread = 0;
    p.source.read = read_picky;
    return p;
}

/* ---- problems --------------------------------------------------------------------------------- */

typedef struct {
    unit_problem problem;
    unit_data x, y;
    picky_source picky_x, picky_y;
} fixture;

/* A few values are missing, each in another row. */
static fixture *new_fixture(void) {
    fixture *f = malloc(sizeof *f);
    unit_seed(10);
    f->x = unit_data_new(N_OBS, N_X, UNIT_COMPLETE);
    f->y = unit_data_new(N_OBS, N_Y, UNIT_COMPLETE);
    for (int k = 0; k < 10; k++) f->x.values[unit_random(N_X) * N_OBS + unit_random(N_OBS)] = NAN;
    for (int k = 0; k < 10; k++) f->y.values[unit_random(N_Y) * N_OBS + unit_random(N_OBS)] = NAN;
    f->picky_x = picky(&f->x);
    f->picky_y = picky(&f->y);
    unit_devices_reset();
    return f;
}

static void free_fixture(fixture *f) {
    unit_data_free(&f->x);
    unit_data_free(&f->y);
    free(f);
}

static void set_problem(fixture *f, const unit_kind *kind, gcor_use use, int devices, int threads) {
    unit_problem_of(&f->problem, &f->x.matrix.source, kind->shape == GCOR_FULL ? &f->y.matrix.source : NULL);
    f->problem.backend = &unit_device;
    f->problem.use = use;
    f->problem.devices = devices;
    f->problem.threads = threads;
}

static void set_picky(fixture *f, int fails_at) {
    f->problem.x = &f->picky_x.source;
    if (f->problem.y) f->problem.y = &f->picky_y.source;
    f->picky_x.n_reads = f->picky_y.n_reads = 0;
    f->picky_x.fails_at = f->picky_y.fails_at = fails_at;
}

/* ---- tests -------------------------------------------------------------------------------------- */

/* Computes from memory, without the rows with missing values. */
static unit_found find_complete(fixture *f, const unit_kind *kind, int64_t *n_obs) {
    unit_data *both[] = {&f->x, &f->y};
    gcor_status status;
    int64_t complete[N_OBS];
    *n_obs = 0;
    for (int64_t k = 0; k < N_OBS; k++) {
        int missing = 0;
        for (int64_t j = 0; j < N_X; j++) missing |= isnan(f->x.values[j * N_OBS + k]);
        for (int64_t j = 0; j < N_Y; j++) missing |= isnan(f->y.values[j * N_OBS + k]);
        if (!missing) complete[(*n_obs)++] = k;
    }
    for (int d = 0; d < 2; d++)
        for (int64_t j = 0; j < both[d]->matrix.source.n_var; j++)
            for (int64_t k = 0; k < *n_obs; k++)
                both[d]->values[j * *n_obs + k] = both[d]->values[j * N_OBS + complete[k]];
    f->x.matrix.source.n_obs = f->y.matrix.source.n_obs = *n_obs;
    set_problem(f, kind, GCOR_EVERYTHING, 1, 1);
    return unit_find(&f->problem, kind, &status);
}

static void check_one_reader(fixture *f, const unit_kind *kind, gcor_use use, const unit_found *expected) {
    const int devices[] = {1, 1, 3, 3}, threads[] = {1, 3, 3, 6};
    gcor_status status;
    for (int d = 0; d < 4; d++) {
        unit_about("%s, %d workers, %d threads", kind->name, devices[d], threads[d]);
        set_problem(f, kind, use, devices[d], threads[d]);
        set_picky(f, 0);
        CHECK_SAME(expected, unit_find(&f->problem, kind, &status));
        CHECK_INT(status, GCOR_OK);
        CHECK(f->picky_x.n_reads >= MIN_READS);
    }
}

static void one_thread_reads(void) {
    const unit_kind *kind = unit_kind_named("triangle by rows");
    fixture *f = new_fixture();
    gcor_status status;
    set_problem(f, kind, GCOR_EVERYTHING, 1, 1);
    unit_found expected = unit_find(&f->problem, kind, &status);
    check_one_reader(f, kind, GCOR_EVERYTHING, &expected);
    free(expected.bytes);
    free_fixture(f);
}

static void complete_rows_are_read(void) {
    const unit_kind *kind = unit_kind_named("rectangle");
    fixture *f = new_fixture(), *complete = new_fixture();
    int64_t n_obs;
    unit_found expected = find_complete(complete, kind, &n_obs);
    check_one_reader(f, kind, GCOR_COMPLETE_OBS, &expected);
    CHECK_INT(f->problem.job.n_obs_used, n_obs);
    CHECK(n_obs < N_OBS);
    free(expected.bytes);
    free_fixture(f);
    free_fixture(complete);
}

/* Makes every read of x and y fail once, until there are fewer reads. */
static void walk_failures(fixture *f, const unit_kind *kind, gcor_use use, gcor_status failure, int devices) {
    int k = 0;
    gcor_status status;
    f->picky_x.failure = f->picky_y.failure = failure;
    do {
        k++;
        unit_about("%s, read %d of %d workers", kind->name, k, devices);
        set_problem(f, kind, use, devices, devices);
        set_picky(f, k);
        unit_found found = unit_find(&f->problem, kind, &status);
        free(found.bytes);
        if (!status) break;
        CHECK_INT(status, failure);
        CHECK_TEXT(f->problem.error.message, "cannot be read");
        CHECK_INT(unit_devices_now.open, 0);
    } while (k < 100);
    CHECK(k > MIN_READS && k < 100);
    CHECK_INT(f->problem.job.devices_lost, 0);
}

static void reading_fails(void) {
    fixture *f = new_fixture();
    walk_failures(f, unit_kind_named("triangle by rows"), GCOR_EVERYTHING, GCOR_BAD_INPUT, 1);
    walk_failures(f, unit_kind_named("triangle by rows"), GCOR_EVERYTHING, GCOR_BAD_INPUT, 3);
    walk_failures(f, unit_kind_named("rectangle"), GCOR_COMPLETE_OBS, GCOR_NO_MEMORY, 3);
    free_fixture(f);
}

/* No worker may wait forever for a read that nobody performs any more. */
static int stop_soon(void *user, double fraction) {
    return 1;
}

static void reading_is_interrupted(void) {
    fixture *f = new_fixture();
    for (int devices = 1; devices < 4; devices++) {
        const unit_kind *kind = unit_kind_named("triangle by rows");
        gcor_status status;
        set_problem(f, kind, GCOR_EVERYTHING, devices, devices);
        set_picky(f, 0);
        f->problem.check = stop_soon;
        unit_devices_now.pause = 60000; /* longer than from one check to the next */
        unit_found found = unit_find(&f->problem, kind, &status);
        free(found.bytes);
        CHECK_INT(status, GCOR_INTERRUPTED);
    }
    free_fixture(f);
}

/* Values are permuted alike before and after they are prepared. */
static void floats_move_like_doubles(void) {
    enum { N_VALUES = 50 };
    for (int64_t j = 0; j < 20; j++) {
        const gcor_shuffle shuffle = {.series = 1, .seed = 7, .number = (uint64_t)j / 5, .jointly = j % 2 == 1};
        double x[N_VALUES];
        float y[N_VALUES];
        for (int k = 0; k < N_VALUES; k++) y[k] = (float)(x[k] = k);
        gcor_shuffle_values(&shuffle, j, x, NULL, N_VALUES, 1);
        gcor_shuffle_values(&shuffle, j, NULL, y, N_VALUES, 1);
        int moved = 0;
        for (int k = 0; k < N_VALUES; k++) {
            CHECK_INT(y[k], x[k]);
            moved += x[k] != k;
        }
        CHECK(moved > N_VALUES / 2);
    }
}

const unit_test source_tests[] = {
    {"floats move like doubles", floats_move_like_doubles},
    {"only the thread that called in reads, and all is as from memory", one_thread_reads},
    {"of complete rows, too", complete_rows_are_read},
    {"a read that fails ends the run with its message", reading_fails},
    {"a run that is interrupted leaves nobody waiting", reading_is_interrupted},
    {NULL, NULL},
};
