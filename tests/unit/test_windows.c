/* Windows: each has the results of a run over its observations, whoever computes it; moments cover all windows. */
#include "check.h"
#include "device.h"
#include "fixture.h"

#include "../../src/base/alloc.h"
#include "../../src/base/triangle.h"
#include "../../src/sink/dense.h"
#include "../../src/engine/windows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N_OBS = 40, N_VAR = 23, WIDTH = 12, STEP = 3, N = (N_OBS - WIDTH) / STEP + 1, PAIRS = N_VAR * (N_VAR - 1) / 2 };

typedef struct {
    unit_data data;
    gcor_windows windows;
    gcor_session *session;
    unit_call call;
    int32_t of_variable[2][N_VAR];
    unsigned char of_window[2][N];
    int64_t n_obs[N];
    double values[N][PAIRS]; /* -1: no coefficient */
    double moments[5][PAIRS];
} fixture;

static fixture *new_fixture_on_all(const gcor_backend *backend, int devices, int threads, const char *method) {
    fixture *f = calloc(1, sizeof *f);
    unit_problem *problem = calloc(1, sizeof *problem);
    unit_seed(5);
    f->data = unit_data_new(N_OBS, N_VAR, UNIT_SPOILT);
    unit_problem_of(problem, &f->data.matrix.source, NULL);
    problem->backend = backend;
    problem->devices = devices;
    unit_call_begin(&f->call, threads);
    CHECK_INT(unit_session_open(problem, &f->session), GCOR_OK);
    free(problem);
    f->windows = (gcor_windows){.series = &f->data.matrix,
                                .width = WIDTH,
                                .step = STEP,
                                .n = N,
                                .job = {.measure = unit_measure(method), .use = GCOR_EVERYTHING},
                                .constant = {f->of_variable[0], f->of_window[0]},
                                .fell_back = {f->of_variable[1], f->of_window[1]},
                                .n_obs = f->n_obs};
    return f;
}

static fixture *new_fixture_on(const gcor_backend *backend, int threads, const char *method) {
    return new_fixture_on_all(backend, 1, threads, method);
}

static fixture *new_fixture(int threads, const char *method) {
    return new_fixture_on(&gcor_cpu, threads, method);
}

static void free_fixture(fixture *f) {
    gcor_session_close(f->session);
    unit_data_free(&f->data);
    CHECK_INT(gcor_live(GCOR_HOST_MEMORY), 0);
    free(f);
}

static gcor_status run_dense(gcor_session *session, gcor_context *context, gcor_job *job, double *out) {
    gcor_dense *dense;
    gcor_status status = gcor_dense_new(context, GCOR_TRIANGLE_COLUMNS, N_VAR, N_VAR, out, PAIRS, -1, &dense);
    job->sink = &dense->sink;
    if (!status) status = gcor_run(session, context, job);
    gcor_sink_free(&dense->sink);
    return status;
}

static gcor_status keep_window(void *user, gcor_session *session, gcor_context *context, gcor_job *job,
                               int64_t window) {
    return run_dense(session, context, job, ((fixture *)user)->values[window]);
}

static gcor_status run_windows(fixture *f) {
    gcor_tile all = {0, N_VAR, 0, N_VAR};
    gcor_window_crew crew;
    gcor_status status = gcor_window_crew_open(&crew, f->session, &f->call.context, &f->windows, PAIRS, N);
    if (!status) status = gcor_for_windows(&f->windows, &crew, &all, 0, N, keep_window, f);
    gcor_window_crew_close(&crew);
    return status;
}

/* Compares with a matrix of the window's observations only. */
static void check_window(fixture *f, int64_t window) {
    gcor_matrix own = f->data.matrix;
    unsigned char flags[N_VAR] = {0};
    double values[PAIRS], columns[N_VAR * WIDTH];
    gcor_job job = f->windows.job;
    for (int64_t j = 0; j < N_VAR; j++)
        memcpy(columns + j * WIDTH, f->data.values + j * N_OBS + window * STEP, WIDTH * sizeof *columns);
    own.source.n_obs = WIDTH;
    own.values = columns;
    job.x = &own.source;
    job.shard = (gcor_shard){0, 1};
    job.x_flags = flags;
    CHECK_INT(run_dense(f->session, &f->call.context, &job, values), GCOR_OK);
    unit_about("%s, window %d", job.measure->name, (int)window);
    CHECK(memcmp(values, f->values[window], sizeof values) == 0);
    CHECK_INT(f->n_obs[window], WIDTH);
}

static void check_windows(int threads, const char *method) {
    fixture *f = new_fixture(threads, method);
    CHECK_INT(run_windows(f), GCOR_OK);
    for (int64_t window = 0; window < N; window++) check_window(f, window);
    free_fixture(f);
}

static void windows_like_runs(void) {
    const char *methods[] = {"pearson", "kendall", "spearman", "cosine"};
    for (int m = 0; m < 4; m++)
        for (int threads = 1; threads <= 3; threads++) check_windows(threads, methods[m]);
}

/* Each device has windows of its own; those of a device that fails are done by another one. */
static void windows_on_devices(void) {
    enum { DEVICES = 3 };
    for (int failing = 0; failing <= DEVICES; failing++) {
        fixture *f = new_fixture_on_all(&unit_device, DEVICES, 4, "pearson");
        unit_devices_reset();
        unit_devices_now.together = DEVICES;
        unit_devices_now.at = UNIT_MULTIPLY; /* each worker's first device fails, not the next one in its place */
        unit_devices_now.pause = 1000;
        for (int d = 0; d < failing; d++)
            unit_devices_now.faults[d] = (unit_fault){UNIT_MULTIPLY, 1, GCOR_DEVICE_ERROR};
        unit_about("%d of %d devices fail", failing, DEVICES);
        CHECK_INT(run_windows(f), GCOR_OK);
        CHECK_INT(f->windows.job.devices_lost, failing);
        /* The session has them back. A failed one is open again if the worker before it has failed, too. */
        CHECK_INT(unit_devices_now.open, failing < 2 ? DEVICES - failing : failing);
        unit_devices_now.together = unit_devices_now.pause = 0;
        for (int64_t window = 0; window < N; window++) check_window(f, window);
        gcor_session_close(f->session);
        f->session = NULL;
        CHECK_INT(unit_devices_now.open, 0);
        unit_devices_reset();
        free_fixture(f);
    }
}

/* ---- moments ------------------------------------------------------------------------------------- */

static gcor_status check_moments(void *user, gcor_context *context, const gcor_tile *tile, const gcor_moments *moments,
                                 double *scratch) {
    const fixture *f = user;
    CHECK_INT(tile->n_row, N_VAR);
    CHECK_INT(moments->n, PAIRS);
    for (int64_t k = 0; k < PAIRS; k++) {
        double n = 0, sum = 0, squares = 0, min = INFINITY, max = -INFINITY;
        for (int w = 0; w < N; w++) {
            double r = f->values[w][k];
            if (!(r > -1) || r > 1) continue; /* no coefficient: -1 or NaN */
            n++, sum += r;
            min = fmin(min, r), max = fmax(max, r);
        }
        for (int w = 0; w < N; w++)
            if (f->values[w][k] > -1) squares += (f->values[w][k] - sum / n) * (f->values[w][k] - sum / n);
        unit_about("pair %d", (int)k);
        CHECK_INT(moments->count[k], n);
        CHECK_NEAR(gcor_moments_mean(moments, k, -9), n > 0 ? sum / n : -9, 1e-7);
        CHECK_NEAR(gcor_moments_sd(moments, k, -9), n > 1 ? sqrt(squares / (n - 1)) : -9, 1e-6);
        CHECK_NEAR(gcor_moments_min(moments, k, -9), n > 0 ? min : -9, 1e-6);
        CHECK_NEAR(gcor_moments_max(moments, k, -9), n > 0 ? max : -9, 1e-6);
    }
    return GCOR_OK;
}

static void moments_of_windows(void) {
    for (int threads = 1; threads <= 2; threads++) {
        fixture *f = new_fixture(threads, "pearson");
        CHECK_INT(run_windows(f), GCOR_OK);
        CHECK_INT(gcor_window_moments(&f->windows, f->session, &f->call.context, 0, check_moments, f), GCOR_OK);
        free_fixture(f);
    }
}

static gcor_status keep_moments(void *user, gcor_context *context, const gcor_tile *tile, const gcor_moments *moments,
                                double *scratch) {
    fixture *f = user;
    for (int64_t k = 0; k < PAIRS; k++) {
        f->moments[0][k] = moments->count[k];
        f->moments[1][k] = gcor_moments_mean(moments, k, -9);
        f->moments[2][k] = gcor_moments_sd(moments, k, -9);
        f->moments[3][k] = gcor_moments_min(moments, k, -9);
        f->moments[4][k] = gcor_moments_max(moments, k, -9);
    }
    return GCOR_OK;
}

/* A device's windows go one after the other into a sink of moments, with the same bytes. */
static void moments_on_a_device(void) {
    const int32_t none[1] = {0}; /* of complete observations, so that windows have pairwise-complete ones */
    const char *methods[] = {"pearson", "kendall"};
    for (int m = 0; m < 2; m++)
        for (int use = GCOR_PAIRWISE; use <= GCOR_EVERYTHING; use++) {
            fixture *f = new_fixture(2, methods[m]), *on_device = new_fixture_on(&unit_device, 2, methods[m]);
            f->windows.job.use = on_device->windows.job.use = (gcor_use)use;
            f->windows.complete = on_device->windows.complete = use == GCOR_PAIRWISE ? none : NULL;
            CHECK_INT(gcor_window_moments(&f->windows, f->session, &f->call.context, 0, keep_moments, f), GCOR_OK);
            CHECK_INT(gcor_window_moments(&on_device->windows, on_device->session, &on_device->call.context, 0,
                                          keep_moments, on_device),
                      GCOR_OK);
            CHECK(memcmp(f->moments, on_device->moments, sizeof f->moments) == 0);
            CHECK(memcmp(f->of_window, on_device->of_window, sizeof f->of_window) == 0);
            gcor_session_close(on_device->session);
            unit_data_free(&on_device->data);
            free(on_device);
            free_fixture(f);
        }
}

static gcor_status keep_deviations(void *user, gcor_context *context, const gcor_tile *tile,
                                   const gcor_moments *moments, double *scratch) {
    fixture *f = user;
    for (int64_t k = 0; k < PAIRS; k++) f->moments[2][k] = gcor_moments_sd(moments, k, -9);
    return GCOR_OK;
}

/* A device without a half for moments, or with values for the host, still gives standard deviations. */
static void deviations_on_a_device(void) {
    fixture *f = new_fixture(2, "pearson"), *on_device = new_fixture_on(&unit_device, 2, "pearson");
    CHECK_INT(gcor_window_moments(&f->windows, f->session, &f->call.context, 1, keep_deviations, f), GCOR_OK);
    CHECK_INT(gcor_window_moments(&on_device->windows, on_device->session, &on_device->call.context, 1, keep_deviations,
                                  on_device),
              GCOR_OK);
    CHECK(memcmp(f->moments[2], on_device->moments[2], sizeof f->moments[2]) == 0);
    gcor_session_close(on_device->session);
    unit_data_free(&on_device->data);
    free(on_device);
    free_fixture(f);
}

enum { ROWS = 3, COLS = 700, CELLS = ROWS * COLS, SPLIT = 101 };

/* Delivers a part of the columns to the sink. */
static void take_columns(gcor_sink *sink, gcor_context *context, const double *values, int64_t first, int64_t n) {
    static double part[CELLS];
    const gcor_tile tile = {0, ROWS, first, n};
    for (int64_t row = 0; row < ROWS; row++)
        memcpy(part + row * n, values + row * COLS + first, (size_t)n * sizeof *part);
    CHECK_INT(gcor_take_tile(sink, context, &tile, part, NULL), GCOR_OK);
}

/* A sink that gets its tiles in parts has the moments of whole rows. */
static void moments_by_tiles(void) {
    static double values[CELLS];
    const unsigned char not_full = 0;
    unit_call call;
    gcor_moments whole, parts;
    unit_call_begin(&call, 2);
    CHECK_INT(gcor_moments_new(&call.context, CELLS, 0, &whole), GCOR_OK);
    CHECK_INT(gcor_moments_new(&call.context, CELLS, 0, &parts), GCOR_OK);
    gcor_moments_begin(&whole, &call.context, CELLS);
    gcor_moments_begin(&parts, &call.context, CELLS);
    gcor_moments_sink sink = {.sink = {.type = &gcor_moments_type, .shape = GCOR_FULL, .n_row = ROWS, .n_col = COLS},
                              .moments = &parts};
    for (int64_t k = 0; k < CELLS; k++) values[k] = k % 7 == 0 ? GCOR_NO_VALUE : k % 11 == 0 ? NAN : sin((double)k);
    for (int window = 0; window < 3; window++) {
        values[CELLS - 1] = window == 2 ? GCOR_ZERO_SD : 0.25;
        gcor_moments_add(&whole, &call.context, values, 1, &not_full);
        take_columns(&sink.sink, &call.context, values, SPLIT, COLS - SPLIT);
        take_columns(&sink.sink, &call.context, values, 0, SPLIT);
        CHECK_INT(sink.has_zero_sd, window == 2);
        for (int64_t k = 0; k < CELLS; k++) values[k] = k % 5 == 0 ? values[k] : values[k] * 0.5;
    }
    const double *a[] = {whole.count, whole.first, whole.sum, whole.squares, whole.min, whole.max};
    const double *b[] = {parts.count, parts.first, parts.sum, parts.squares, parts.min, parts.max};
    for (int m = 0; m < 6; m++) CHECK(memcmp(a[m], b[m], CELLS * sizeof(double)) == 0);
    gcor_moments_free(&whole);
    gcor_moments_free(&parts);
}

/* What a device keeps of a tile between windows is gone. */
static void a_failed_device_is_closed(void) {
    fixture *f = new_fixture_on(&unit_device, 1, "pearson");
    unit_devices_reset();
    unit_devices_now.faults[0] = (unit_fault){UNIT_PREPARE, 3, GCOR_BAD_INPUT};
    CHECK_INT(gcor_window_moments(&f->windows, f->session, &f->call.context, 0, keep_moments, f), GCOR_BAD_INPUT);
    CHECK_INT(unit_devices_now.open, 0);
    unit_devices_reset();
    free_fixture(f);
}

/* ---- the end ------------------------------------------------------------------------------------- */

static int stop_now(void *user, double fraction) {
    return 1;
}

static void an_interrupt_ends_all(void) {
    for (int threads = 1; threads <= 3; threads++) {
        fixture *f = new_fixture(threads, "pearson");
        f->call.monitor = gcor_watch(stop_now, NULL);
        f->call.monitor.last_check = -1;
        CHECK_INT(run_windows(f), GCOR_INTERRUPTED);
        free_fixture(f);
    }
}

static gcor_status fail_some(void *user, gcor_session *session, gcor_context *context, gcor_job *job, int64_t window) {
    if (window == N / 2) return gcor_fail(context, GCOR_BAD_INPUT, "window %d is not wanted", (int)window);
    return keep_window(user, session, context, job, window);
}

static void an_error_is_told(void) {
    for (int threads = 1; threads <= 3; threads++) {
        gcor_tile all = {0, N_VAR, 0, N_VAR};
        gcor_window_crew crew;
        fixture *f = new_fixture(threads, "pearson");
        CHECK_INT(gcor_window_crew_open(&crew, f->session, &f->call.context, &f->windows, PAIRS, N), GCOR_OK);
        CHECK_INT(gcor_for_windows(&f->windows, &crew, &all, 0, N, fail_some, f), GCOR_BAD_INPUT);
        CHECK_TEXT(f->call.context.error.message, "window 5 is not wanted");
        gcor_window_crew_close(&crew);
        free_fixture(f);
    }
}

const unit_test windows_tests[] = {{"windows like runs", windows_like_runs},
                                   {"windows on several devices", windows_on_devices},
                                   {"moments of windows", moments_of_windows},
                                   {"moments on a device", moments_on_a_device},
                                   {"standard deviations on a device", deviations_on_a_device},
                                   {"moments by tiles", moments_by_tiles},
                                   {"a failed device is closed", a_failed_device_is_closed},
                                   {"an interrupt ends all", an_interrupt_ends_all},
                                   {"an error is told", an_error_is_told},
                                   {NULL, NULL}};
