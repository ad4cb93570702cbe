#include "windows.h"

#include "../sink/dense.h"
#include "../base/alloc.h"
#include "session.h"
#include "work.h"
#include "../base/triangle.h"

/* Max sides of tiles. A tile's columns are prepared again for each window, and its coefficients and moments should stay
 * in cache; a GPU needs larger tiles to be busy. It keeps the moments, and standard deviations take a sixth of their
 * memory on the host. */
enum { SIDE = 1024, DEVICE_SIDE = 4096, DEVIATIONS_SIDE = 10240 };
/* Bytes of a pair's moments on a device; fraction (1/4) of its memory that all moments may take. */
enum { DEVICE_PAIR = 48, DEVICE_DIVISOR = 4 };

/* On the host, coefficients of several windows are collected before they are added, so that moments are not reloaded
 * for each window. */
enum { BUFFER_BYTES = 8 << 20 };

typedef struct {
    gcor_windows *windows;
    gcor_window_crew crew;
    gcor_moments moments;
    int64_t side, at_a_time; /* number of windows collected */
    double *values;          /* at_a_time rows of a tile's coefficients; on a device, scratch of one row */
    unsigned char *is_full;  /* one per window collected */
    gcor_tile tile;
    int64_t first; /* first window in `values` */
} tiles;

static int64_t pairs_of(const gcor_tile *tile) {
    return gcor_tile_pairs(tile, GCOR_LOWER);
}

/* True if every pair certainly has a coefficient. */
static int is_full(const gcor_job *job) {
    unsigned char flags = 0;
    for (int64_t j = 0; j < job->x->n_var; j++) flags |= job->x_flags[j];
    for (int64_t j = 0; job->y && j < job->y->n_var; j++) flags |= job->y_flags[j];
    return job->use != GCOR_PAIRWISE && !(flags & ~GCOR_FELL_BACK) && job->n_obs_used > 1;
}

static gcor_status run_window(void *user, gcor_session *session, gcor_context *context, gcor_job *job, int64_t window) {
    tiles *t = user;
    int64_t pairs = pairs_of(&t->tile);
    double *out = t->values + (window - t->first) * pairs;
    gcor_dense *dense;
    gcor_status status = gcor_dense_new(context, job->y ? GCOR_RECTANGLE : GCOR_TRIANGLE_COLUMNS, t->tile.n_row,
                                        t->tile.n_col, out, pairs, GCOR_NO_VALUE, &dense);
    if (status) return status;
    dense->sink.form = job->in_double ? GCOR_AS_DOUBLES : GCOR_AS_FLOATS;
    job->sink = &dense->sink;
    status = gcor_run(session, context, job);
    if (!status && dense->zero_sd > 0) t->windows->constant.of_window[window] = 1;
    gcor_sink_free(&dense->sink);
    t->is_full[window - t->first] = (unsigned char)is_full(job);
    return status;
}

static gcor_status add_window(void *user, gcor_session *session, gcor_context *context, gcor_job *job, int64_t window) {
    tiles *t = user;
    gcor_moments_sink sink = {.sink = {.type = &gcor_moments_type,
                                       .shape = job->y ? GCOR_FULL : GCOR_LOWER,
                                       .n_row = t->tile.n_row,
                                       .n_col = t->tile.n_col,
                                       .form = job->in_double ? GCOR_AS_DOUBLES : GCOR_AS_FLOATS},
                              .moments = &t->moments,
                              .is_first = window == 0,
                              .is_last = window == t->windows->n - 1};
    job->sink = &sink.sink;
    gcor_status status = gcor_run(session, context, job);
    if (!status && sink.has_zero_sd) t->windows->constant.of_window[window] = 1;
    return status;
}

/* A device may keep the tile's moments from window to window; after an error they are freed with its state. */
static gcor_status do_tile(tiles *t, gcor_context *context) {
    int64_t n = t->windows->n;
    gcor_status status = GCOR_OK;
    if (t->moments.deviation)
        gcor_moments_expect(&t->moments, pairs_of(&t->tile));
    else
        gcor_moments_begin(&t->moments, context, pairs_of(&t->tile));
    if (!t->crew.session->backend->is_host) {
        status = gcor_for_windows(t->windows, &t->crew, &t->tile, 0, n, add_window, t);
        if (status) gcor_session_drop(t->crew.session, 0);
        return status;
    }
    for (t->first = 0; !status && t->first < n; t->first += t->at_a_time) {
        int64_t some = n - t->first < t->at_a_time ? n - t->first : t->at_a_time;
        status = gcor_for_windows(t->windows, &t->crew, &t->tile, t->first, some, run_window, t);
        if (!status) gcor_moments_add(&t->moments, context, t->values, some, t->is_full);
    }
    return status;
}

/* Sides of tiles are equal, unless they do not divide the number of variables. */
static gcor_status choose_side(tiles *t, gcor_context *context, int only_deviations) {
    gcor_session *session = t->crew.session;
    gcor_state *state;
    int64_t n_var = t->windows->series->source.n_var, max = only_deviations ? DEVIATIONS_SIDE : DEVICE_SIDE;
    t->side = SIDE;
    if (session->backend->is_host) return GCOR_OK;
    gcor_status status = gcor_session_any_state(session, context, &state);
    if (status) return status;
    while (max > DEVICE_SIDE && max * max * DEVICE_PAIR > session->backend->memory(state) / DEVICE_DIVISOR) max /= 2;
    int64_t sides = (n_var + max - 1) / max;
    t->side = sides > 1 ? (n_var + sides - 1) / sides : max;
    return GCOR_OK;
}

static gcor_status reserve(tiles *t, gcor_context *context, int only_deviations) {
    gcor_tile largest = {t->side, t->side, 0, t->side}; /* all of its pairs are in the triangle */
    int64_t n_var = t->windows->series->source.n_var, pairs = n_var > t->side ? pairs_of(&largest) : n_var * n_var / 2;
    int is_host = t->crew.session->backend->is_host;
    int64_t fit = BUFFER_BYTES / ((pairs + 1) * (int64_t)sizeof(double)), n = t->windows->n;
    gcor_status status = gcor_window_crew_open(&t->crew, t->crew.session, context, t->windows, pairs, is_host ? n : 1);
    t->at_a_time = is_host ? gcor_clamp(fit, t->crew.n_workers, n) : 1;
    if (!status) status = gcor_moments_new(context, pairs, only_deviations && !is_host, &t->moments);
    if (status) return status;
    t->values = gcor_alloc(context, t->at_a_time * pairs, sizeof *t->values, "coefficients of some windows");
    t->is_full = gcor_alloc(context, t->at_a_time, 1, "coefficients of some windows");
    if (!t->values || !t->is_full) return GCOR_NO_MEMORY;
    gcor_huge_pages(t->values, (size_t)(t->at_a_time * pairs) * sizeof *t->values);
    return GCOR_OK;
}

static int64_t side_at(const tiles *t, int64_t first) {
    int64_t left = t->windows->series->source.n_var - first;
    return left < t->side ? left : t->side;
}

static gcor_status do_tiles(tiles *t, gcor_context *context, gcor_window_tile_work work, void *user) {
    int64_t n_var = t->windows->series->source.n_var, sides = (n_var + t->side - 1) / t->side;
    gcor_status status = GCOR_OK;
    context->monitor->pairs = gcor_triangular(sides) * t->windows->n;
    context->monitor->pairs_done = 0;
    for (int64_t row = 0; !status && row < n_var; row += t->side)
        for (int64_t col = 0; !status && col <= row; col += t->side) {
            t->tile = (gcor_tile){row, side_at(t, row), col, side_at(t, col)};
            status = do_tile(t, context);
            if (!status) status = work(user, context, &t->tile, &t->moments, t->values);
        }
    return status;
}

gcor_status gcor_window_moments(gcor_windows *windows, gcor_session *session, gcor_context *context,
                                int only_deviations, gcor_window_tile_work work, void *user) {
    tiles t = {.windows = windows, .crew = {.session = session}};
    gcor_status status = choose_side(&t, context, only_deviations);
    if (!status) status = reserve(&t, context, only_deviations);
    if (!status) status = do_tiles(&t, context, work, user);
    gcor_free(t.values);
    gcor_free(t.is_full);
    gcor_moments_free(&t.moments);
    gcor_window_crew_close(&t.crew);
    return status;
}
