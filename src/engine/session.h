/* A session keeps a back end's devices open for many runs, with their streams, buffers and threads. */
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
