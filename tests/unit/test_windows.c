/* Windows: each has the results of a run over its observations, whoever computes it; moments cover all windows. */
#include "check.h"
#include "fixture.h"

#include "../../src/base/alloc.h"
#include "../../src/base/triangle.h"
#include "../../src/sink/dense.h"
#include "../../src/engine/window_moments.h"

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
} fixture;

static fixture *new_fixture(int threads, const char *method) {
    fixture *f = calloc(1, sizeof *f);
    unit_problem *problem = calloc(1, sizeof *problem);
    unit_seed(5);
    f->data = unit_data_new(N_OBS, N_VAR, UNIT_SPOILT);
    unit_problem_of(problem, &f->data.matrix.source, NULL);
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
    double values[PAIRS];
    gcor_job job = f->windows.job;
    own.source.n_obs = WIDTH;
    own.values = f->data.values + window * STEP;
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

/* ---- moments ------------------------------------------------------------------------------------- */

static gcor_status check_moments(void *user, gcor_context *context, const gcor_tile *tile, const gcor_moments *moments,
                                 double *scratch) {
    const fixture *f = user;
    (void)context, (void)scratch;
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
        CHECK_INT(gcor_window_moments(&f->windows, f->session, &f->call.context, check_moments, f), GCOR_OK);
        free_fixture(f);
    }
}

/* ---- the end ------------------------------------------------------------------------------------- */

static int stop_now(void *user, double fraction) {
    (void)user, (void)fraction;
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
                                   {"moments of windows", moments_of_windows},
                                   {"an interrupt ends all", an_interrupt_ends_all},
                                   {"an error is told", an_error_is_told},
                                   {NULL, NULL}};
