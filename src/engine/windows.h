/* Windows of consecutive observations: the same job for each of them, whose columns are read from where they are. A
 * window's work may be anything that runs the job. */
#ifndef GPUCOR_WINDOWS_H
#define GPUCOR_WINDOWS_H

#include "../source/slice.h"

#ifdef __cplusplus
extern "C" {
#endif

/* In how many windows each variable has a flag, and whether any variable has it in each window. Owned and cleared by
 * the caller. NULL in both: not noted. */
typedef struct {
    int32_t *of_variable;
    unsigned char *of_window;
} gcor_window_notes;

/* Window w, from 0, is observations w step .. w step + width - 1. What is not said to be written is the caller's, and
 * stays. */
typedef struct {
    const gcor_matrix *series; /* of doubles or integers */
    int64_t width, step, n;
    gcor_job job; /* what all windows have in common: measure, design, in_double, use. The design is of the series, and
                   * has no basis. Written: devices_lost, lost */
    const double *taper;     /* width weights of a window's observations, beside those of the design; NULL: none */
    const int32_t *complete; /* not for GCOR_EVERYTHING: the series' observations without a missing value that count by
                              * their weight, ascending; NULL: all are */
    int64_t n_complete;
    /* Written: */
    gcor_window_notes missing, infinite, constant, few, fell_back; /* by flag: GCOR_MISSING and so on */
    int64_t *n_obs;                                                /* of each window, the observations that counted */
} gcor_windows;

/* A thread's own: flags of a tile's variables and weights of a window, and, where each thread has windows of its own, a
 * session. */
typedef struct {
    gcor_session *session;
    unsigned char *flags;
    double *weight;
} gcor_window_worker;

/* Who does windows: all threads, or devices, one window after the other; or each thread a window. */
typedef struct {
    gcor_session *session; /* the caller's */
    gcor_context *context; /* of the thread that called in; its monitor counts windows of a tile */
    gcor_window_worker *workers;
    int n_workers; /* 1: one window after the other */
} gcor_window_crew;

/* For windows of so many pairs, so many of which can be done at a time. The crew ends with gcor_window_crew_close(),
 * also after an error. */
gcor_status gcor_window_crew_open(gcor_window_crew *crew, gcor_session *session, gcor_context *context,
                                  const gcor_windows *windows, int64_t pairs, int64_t at_a_time);
void gcor_window_crew_close(gcor_window_crew *crew);

/* One window, by one of the crew with its context: the job is the window's, and lacks nothing but a sink. A run of it
 * may be made once or more often. Several threads at once, each with another window. */
typedef gcor_status (*gcor_window_work)(void *user, gcor_session *session, gcor_context *context, gcor_job *job,
                                        int64_t window);

/* The work for n windows from number `first` on. tile: the variables, those of the rows against those of the columns;
 * the same ones in both: each pair once. An error is the first one's. */
gcor_status gcor_for_windows(gcor_windows *windows, gcor_window_crew *crew, const gcor_tile *tile, int64_t first,
                             int64_t n, gcor_window_work work, void *user);

#ifdef __cplusplus
}
#endif
#endif
