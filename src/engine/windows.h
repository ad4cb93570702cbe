/* Windows of consecutive observations: performs the same job for each window, reading columns in place. The work on
 * a window is a callback that runs the job. */
#pragma once

#include "../sink/moments.h"
#include "../source/source.h"

#include <pthread.h>

/* Number of windows in which each variable has a flag, and for each window whether any variable has it. Owned and
 * cleared by the caller. Both NULL: not recorded. */
typedef struct {
    int32_t *of_variable;
    unsigned char *of_window;
} gcor_window_notes;

/* Window w, from 0, consists of observations w step .. w step + width - 1. All pointers are the caller's. Members
 * are input unless marked as written. */
typedef struct {
    const gcor_matrix *series; /* doubles or integers */
    int64_t width, step, n;
    gcor_job job; /* settings shared by all windows: measure, design, in_double, use. The design covers the series and
                     has no basis. Written: devices_lost, lost */
    const double *taper;     /* width weights of a window's observations, multiplied with the design's; NULL: none */
    const int32_t *complete; /* not for GCOR_EVERYTHING: indices of the series' complete observations with positive
                                weight, ascending; NULL: all are */
    int64_t n_complete;
    /* Written: */
    gcor_window_notes missing, infinite, constant, few, fell_back; /* one per flag, GCOR_MISSING and so on */
    int64_t *n_obs;                                                /* n: number of observations used in each window */
} gcor_windows;

/* Per-thread data: flags of a tile's variables, weights of a window, and, if each worker has its own windows, a session
 * of one device. */
typedef struct {
    gcor_session *session;     /* NULL: the crew's */
    pthread_mutex_t is_in_use; /* the session, which others take over whose devices have failed */
    int n_lost;                /* number of devices that this worker has lost */
    unsigned char *flags;
    double *weight;
} gcor_window_worker;

/* How windows are computed: one after the other by all threads or devices, one per thread, or one per device. */
typedef struct {
    gcor_session *session; /* the caller's; while the crew is open, its workers have the open devices */
    gcor_context *context; /* of the calling thread; its monitor counts windows of a tile */
    gcor_window_worker *workers;
    int n_workers; /* 1: one window after the other */
    int devices_lost;
    gcor_error lost; /* of the first of these */
} gcor_window_crew;

/* Opens a crew for windows of `pairs` pairs each, at most at_a_time of them at once. The caller frees it with
 * gcor_window_crew_close(), also after an error. */
gcor_status gcor_window_crew_open(gcor_window_crew *crew, gcor_session *session, gcor_context *context,
                                  const gcor_windows *windows, int64_t pairs, int64_t at_a_time);
void gcor_window_crew_close(gcor_window_crew *crew);

/* Computes one window. job: the window's, complete except for the sink; it may be run several times. Called by
 * several threads at once, each with another window and its own session and context. */
typedef gcor_status (*gcor_window_work)(void *user, gcor_session *session, gcor_context *context, gcor_job *job,
                                        int64_t window);

/* Calls work for n windows from window `first` on. tile: the variables, rows against columns; if both are the same
 * range, each pair once. Returns the first error. */
gcor_status gcor_for_windows(gcor_windows *windows, gcor_window_crew *crew, const gcor_tile *tile, int64_t first,
                             int64_t n, gcor_window_work work, void *user);

/* ---- moments of each pair's coefficient over all windows (window_moments.c) ------------------------------------ */

/* They are computed tile by tile of the pairs, without storing windows. */

/* Called with a tile's moments, for its pairs with col < row, row by row without gaps. values: scratch, one number
 * per pair. */
typedef gcor_status (*gcor_window_tile_work)(void *user, gcor_context *context, const gcor_tile *tile,
                                             const gcor_moments *moments, double *values);

/* Calls work for every tile of the series' pairs, one tile at a time, after all of its windows are computed.
 * only_deviations: work asks for standard deviations only. */
gcor_status gcor_window_moments(gcor_windows *windows, gcor_session *session, gcor_context *context,
                                int only_deviations, gcor_window_tile_work work, void *user);
