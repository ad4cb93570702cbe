/* A session keeps a back end's devices open for many runs, with their streams, buffers and threads. Runs use it. */
#pragma once

#include "../gpucor.h"

enum { GCOR_MAX_DEVICES = 64 };

struct gcor_session {
    const gcor_backend *backend;
    int n_devices, devices[GCOR_MAX_DEVICES];
    gcor_state *states[GCOR_MAX_DEVICES]; /* NULL: not open yet, or lost */
    double shared_steps; /* min number of steps for a run on several devices (run.c); 0: run.c's default. For tests */
};

/* Opens a session for n devices, by the back end's numbers. Devices are opened on first use. *session is the
 * caller's, to free with gcor_session_close(); NULL after an error. gcor_session_close() allows NULL. */
gcor_status gcor_session_open(gcor_context *context, const gcor_backend *backend, const int *devices, int n_devices,
                              gcor_session **session);
void gcor_session_close(gcor_session *session);

/* Sets *state to the device's state, opening the device if necessary. Owned by the session. */
gcor_status gcor_session_state(gcor_session *session, gcor_context *context, int device, gcor_state **state);
/* The state of the first device that can be opened. */
gcor_status gcor_session_any_state(gcor_session *session, gcor_context *context, gcor_state **state);
/* True if the status means that a device failed, so that another device may do its work. */
int gcor_is_of_device(gcor_status status);
/* Closes one device; the next run opens it again. */
void gcor_session_drop(gcor_session *session, int device);

/* ---- kinds of runs behind gcor_run(), which is in masked_run.c ----------------------------------------- */

/* run.c: true if the job's pairs are products of the entries of sparse columns (GCOR_REAL_SPARSE,
 * GCOR_SIGN_SPARSE), provided that no observation is left out. Only a back end that is_host has such products. The last
 * bits of REAL_SPARSE differ from those of dense columns: callers use it whether or not there is a GPU. */
int gcor_is_sparse(const gcor_job *job);
/* run.c: gcor_run() of all pairs of the job, or of those that its sink's mask selects. */
gcor_status gcor_run_all(gcor_session *session, gcor_context *context, gcor_job *job);

/* ---- what a run will need (needs.c) ------------------------------------------------------------- */

/* A prediction of what a shard reads and holds in memory, without computing it. */

typedef struct {
    int64_t columns; /* columns read; a column read twice counts twice */
    int64_t bytes;   /* max bytes of prepared columns at any time */
} gcor_needs;

/* Counts for the shard on the session's first device. Uses x, y, measure, in_double and shard of the job. Nothing is
 * read, so pairs are assumed to have the same observations. A triangle is walked as for sinks of edges (GCOR_LOWER),
 * but without the bytes that coarse sinks need in addition, on the processor a quarter. */
gcor_status gcor_needs_of(gcor_session *session, gcor_context *context, const gcor_job *job, gcor_needs *needs);
