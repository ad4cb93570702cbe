#include "windows.h"

#include "../base/alloc.h"
#include "../measure/design.h"
#include "session.h"
#include "../base/threads.h"
#include "../base/triangle.h"
#include "work.h"

#include <pthread.h>
#include <string.h>

/* Windows with more than MAX_PAIRS pairs keep all threads busy, and their operands only fit in memory one at a
 * time; windows with fewer than FEW_PAIRS are too small for two threads. */
enum { MAX_PAIRS = 1 << 22, FEW_PAIRS = 1 << 14 };

/* Min number of multiplications for several devices, as opening one takes a second. */
static const double STEPS_OF_DEVICES = 0x1p38;

/* ---- workers --------------------------------------------------------------------------------- */

/* Each device has windows of its own, if there is enough work and a window for each. */
static int count_devices(const gcor_session *session, const gcor_windows *windows, int64_t pairs, int64_t at_a_time) {
    const int n = session->n_devices;
    const double steps = (double)pairs * (double)at_a_time * (double)windows->width;
    if (n < 2 || at_a_time < n) return 1;
    return steps < (session->shared_steps > 0 ? session->shared_steps : STEPS_OF_DEVICES) ? 1 : n;
}

static int count_workers(const gcor_session *session, const gcor_context *context, const gcor_windows *windows,
                         int64_t pairs, int64_t at_a_time) {
    int64_t threads = context->threads;
    if (!session->backend->is_host) return count_devices(session, windows, pairs, at_a_time);
    if (pairs > MAX_PAIRS || (at_a_time < threads && pairs >= FEW_PAIRS)) return 1;
    return (int)gcor_min(threads, at_a_time);
}

/* Threads of each worker. */
static int threads_of_worker(const gcor_window_crew *crew) {
    if (crew->n_workers > 1 && crew->session->backend->is_host) return 1;
    return (int)gcor_max(1, crew->context->threads / crew->n_workers);
}

/* The device of the worker's session, as the crew's session numbers it. */
static int device_of(const gcor_window_crew *crew, const gcor_window_worker *worker) {
    return crew->session->backend->is_host ? 0 : (int)(worker - crew->workers);
}

/* An open device goes to its worker, and back when the crew is closed. */
static void lend_device(const gcor_window_crew *crew, gcor_window_worker *worker) {
    if (!worker->session || crew->session->backend->is_host) return;
    gcor_state **all = &crew->session->states[device_of(crew, worker)], *own = worker->session->states[0];
    worker->session->states[0] = *all;
    *all = own;
}

static gcor_status open_worker(const gcor_window_crew *crew, gcor_window_worker *worker, const gcor_windows *windows) {
    const gcor_session *all = crew->session;
    gcor_context *context = crew->context;
    if (crew->n_workers > 1 &&
        gcor_session_open(context, all->backend, &all->devices[device_of(crew, worker)], 1, &worker->session))
        return context->error.status;
    lend_device(crew, worker);
    worker->flags = gcor_alloc(context, 2 * windows->series->source.n_var, 1, "the windows");
    worker->weight = gcor_alloc(context, windows->width, sizeof *worker->weight, "the windows");
    return worker->flags && worker->weight ? GCOR_OK : GCOR_NO_MEMORY;
}

static gcor_status check_taper(const gcor_windows *windows, gcor_context *context) {
    const gcor_measure *measure = windows->job.measure;
    if (!windows->taper || measure->takes & GCOR_TAKES_WEIGHTS) return GCOR_OK;
    return gcor_fail(context, GCOR_BAD_INPUT, "method = \"%s\" takes no 'taper', which weighs observations: %s",
                     measure->name, measure->refusal ? measure->refusal : "another method may");
}

gcor_status gcor_window_crew_open(gcor_window_crew *crew, gcor_session *session, gcor_context *context,
                                  const gcor_windows *windows, int64_t pairs, int64_t at_a_time) {
    int n = count_workers(session, context, windows, pairs, at_a_time);
    *crew = (gcor_window_crew){.session = session, .context = context};
    gcor_status status = check_taper(windows, context);
    if (status) return status;
    crew->workers = gcor_alloc(context, n, sizeof *crew->workers, "the windows");
    if (!crew->workers) return GCOR_NO_MEMORY;
    memset(crew->workers, 0, (size_t)n * sizeof *crew->workers);
    crew->n_workers = n;
    for (int t = 0; t < n; t++) pthread_mutex_init(&crew->workers[t].is_in_use, NULL);
    for (int t = 0; t < n && !status; t++) status = open_worker(crew, &crew->workers[t], windows);
    return status;
}

void gcor_window_crew_close(gcor_window_crew *crew) {
    for (int t = 0; t < crew->n_workers; t++) {
        lend_device(crew, &crew->workers[t]);
        gcor_session_close(crew->workers[t].session);
        pthread_mutex_destroy(&crew->workers[t].is_in_use);
        gcor_free(crew->workers[t].flags);
        gcor_free(crew->workers[t].weight);
    }
    gcor_free(crew->workers);
    *crew = (gcor_window_crew){0};
}

/* ---- a window -------------------------------------------------------------------------------- */

/* The observations of a window: all, or the complete ones. */
typedef struct {
    int64_t first, n;
    const int32_t *observed;
    int has_missing;
} window_rows;

/* Number of complete observations before observation `obs`. */
static int64_t count_complete(const gcor_windows *windows, int64_t obs) {
    int64_t low = 0, n = windows->n_complete;
    while (n > 0) {
        int64_t half = n / 2;
        if (windows->complete[low + half] < obs) {
            low += half + 1;
            n -= half + 1;
        } else {
            n = half;
        }
    }
    return low;
}

/* Applies `use` to one window, as gcor_observations_of() does. That function searches again if values are missing
 * and not excluded here. */
static gcor_status find_rows(const gcor_windows *windows, gcor_context *context, int64_t window, window_rows *rows) {
    gcor_use use = windows->job.use;
    *rows = (window_rows){window * windows->step, windows->width, NULL, 0};
    if (use == GCOR_EVERYTHING || !windows->complete) return GCOR_OK;
    int64_t from = count_complete(windows, rows->first), to = count_complete(windows, rows->first + rows->n);
    rows->has_missing = to - from < rows->n;
    if (!rows->has_missing || use == GCOR_PAIRWISE || use == GCOR_ALL_OBS) return GCOR_OK;
    rows->observed = windows->complete + from;
    rows->n = to - from;
    if (rows->n > 0 || use == GCOR_NA_OR_COMPLETE) return GCOR_OK;
    return gcor_fail(context, GCOR_BAD_INPUT,
                     "no complete element pairs: window %.0f, which begins at observation %.0f", (double)window + 1,
                     (double)rows->first + 1);
}

/* The weights of the window's observations: the series' times the taper's. */
static gcor_design design_of(const gcor_windows *windows, const window_rows *rows, double *weight) {
    const gcor_design *series = windows->job.design;
    gcor_design design = {.n_rows = rows->n, .option = series ? series->option : NULL};
    const double *own = series ? series->weight : NULL, *taper = windows->taper;
    if (!own && !taper) return design;
    for (int64_t k = 0; k < rows->n; k++) {
        int64_t obs = rows->observed ? rows->observed[k] : rows->first + k;
        weight[k] = (own ? own[obs] : 1) * (taper ? taper[obs - rows->first] : 1);
    }
    design.weight = weight;
    return design;
}

/* Records a flag of the window's variables. Called for tiles on the diagonal, so that each variable counts once. */
static void note_flag(gcor_window_notes *notes, int64_t window, const gcor_tile *tile, const unsigned char *flags,
                      int flag) {
    int any = 0;
    if (!notes->of_window) return;
    for (int64_t j = 0; j < tile->n_col; j++) {
        if (!(flags[j] & flag)) continue;
        __atomic_fetch_add(&notes->of_variable[tile->col + j], 1, __ATOMIC_RELAXED);
        any = 1;
    }
    if (any) notes->of_window[window] = 1;
}

static void note_flags(gcor_windows *windows, int64_t window, const gcor_tile *tile, const unsigned char *flags) {
    note_flag(&windows->missing, window, tile, flags, GCOR_MISSING);
    note_flag(&windows->infinite, window, tile, flags, GCOR_INFINITE);
    note_flag(&windows->constant, window, tile, flags, GCOR_CONSTANT);
    note_flag(&windows->few, window, tile, flags, GCOR_FEW);
    note_flag(&windows->fell_back, window, tile, flags, GCOR_FELL_BACK);
}

static int is_diagonal(const gcor_tile *tile) {
    return tile->row == tile->col;
}

/* The crew keeps the first device's error. */
static void note_lost(gcor_window_crew *crew, int n, const gcor_error *error) {
    if (n > 0 && __atomic_fetch_add(&crew->devices_lost, n, __ATOMIC_RELAXED) == 0) crew->lost = *error;
}

static gcor_status do_window(gcor_windows *windows, gcor_window_crew *crew, const gcor_window_worker *worker,
                             gcor_context *context, const gcor_tile *tile, int64_t window, gcor_window_work work,
                             void *user) {
    window_rows rows;
    unsigned char *flags = worker->flags;
    gcor_status status = find_rows(windows, context, window, &rows);
    if (status) return status;
    gcor_slice x = gcor_slice_source(windows->series, tile->col, tile->n_col, rows.first, rows.n, rows.observed);
    gcor_slice y = gcor_slice_source(windows->series, tile->row, tile->n_row, rows.first, rows.n, rows.observed);
    gcor_design design = design_of(windows, &rows, worker->weight);
    gcor_job job = windows->job;
    job.x = &x.source;
    job.y = is_diagonal(tile) ? NULL : &y.source;
    job.design = design.weight || design.option ? &design : NULL;
    if (!rows.has_missing || (job.use != GCOR_PAIRWISE && job.use != GCOR_ALL_OBS)) job.use = GCOR_EVERYTHING;
    job.shard = (gcor_shard){0, 1};
    job.x_flags = flags;
    job.y_flags = flags + tile->n_col;
    job.devices_lost = 0;
    memset(flags, 0, (size_t)(tile->n_col + tile->n_row));
    gcor_window_worker *owner = &crew->workers[(worker - crew->workers + worker->n_lost) % crew->n_workers];
    pthread_mutex_lock(&owner->is_in_use);
    status = work(user, owner->session ? owner->session : crew->session, context, &job, window);
    pthread_mutex_unlock(&owner->is_in_use);
    note_lost(crew, job.devices_lost, &job.lost);
    if (status) return status;
    windows->n_obs[window] = job.n_obs_used;
    if (is_diagonal(tile)) note_flags(windows, window, tile, flags);
    return GCOR_OK;
}

/* ---- all windows ------------------------------------------------------------------------------ */

/* The monitor of a window's run forwards the question whether to stop to the whole call's monitor. */
static int ask_outside(void *user, double fraction) {
    gcor_context *outside = user;
    if (outside->monitor->owner == (uintptr_t)pthread_self()) outside->tile_fraction = fraction;
    return gcor_stop(outside);
}

/* A worker whose device has failed takes the next worker's in turns with it, unless it has lost them all. */
static int replace_device(gcor_window_crew *crew, gcor_window_worker *worker, gcor_context *context) {
    if (worker->n_lost + 1 >= crew->n_workers || crew->session->backend->is_host) return 0;
    note_lost(crew, 1, &context->error);
    context->error = (gcor_error){0};
    worker->n_lost++;
    return 1;
}

/* Takes windows from *next until none is left. The thread's own monitor counts a window's pairs. */
static void take_windows(gcor_windows *windows, gcor_window_crew *crew, int thread, const gcor_tile *tile,
                         int64_t *next, int64_t end, gcor_window_work work, void *user) {
    gcor_context *outside = crew->context;
    gcor_window_worker *worker = &crew->workers[thread];
    gcor_monitor monitor = gcor_watch(ask_outside, outside);
    int is_host = crew->session->backend->is_host;
    gcor_context context = {.threads = threads_of_worker(crew), .memory = outside->memory, .monitor = &monitor};
    if (is_host && context.memory > 0) context.memory = (context.memory - 1) / crew->n_workers + 1;
    while (!gcor_stop(outside)) {
        int64_t window = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
        if (window >= end) break;
        gcor_status status;
        do status = do_window(windows, crew, worker, &context, tile, window, work, user);
        while (gcor_is_of_device(status) && replace_device(crew, worker, &context));
        if (status) {
            (void)gcor_fail(outside, status, "%s", context.error.message);
            break;
        }
        __atomic_fetch_add(&outside->monitor->pairs_done, 1, __ATOMIC_RELAXED);
    }
}

typedef struct {
    gcor_windows *windows;
    gcor_window_crew *crew;
    const gcor_tile *tile;
    int64_t next, end;
    gcor_window_work work;
    void *user;
} windows_of_crew;

static void take_some_windows(void *argument, int thread, int64_t k) {
    windows_of_crew *w = argument;
    take_windows(w->windows, w->crew, thread, w->tile, &w->next, w->end, w->work, w->user);
}

gcor_status gcor_for_windows(gcor_windows *windows, gcor_window_crew *crew, const gcor_tile *tile, int64_t first,
                             int64_t n, gcor_window_work work, void *user) {
    gcor_context *context = crew->context;
    windows_of_crew all = {windows, crew, tile, first, first + n, work, user};
    if (gcor_stop(context)) return context->error.status; /* only the caller's thread asks, and it may be late */
    context->tile_pairs = 1;                              /* the current window */
    gcor_for_each(crew->n_workers, crew->n_workers, take_some_windows, &all);
    context->tile_pairs = 0;
    if (windows->job.devices_lost == 0) windows->job.lost = crew->lost;
    windows->job.devices_lost += crew->devices_lost;
    crew->devices_lost = 0;
    return context->error.status;
}
