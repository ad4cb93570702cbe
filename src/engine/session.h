/* What is opened once and used by many runs: a back end's devices, with their streams, buffers and threads. */
#ifndef GPUCOR_SESSION_H
#define GPUCOR_SESSION_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GCOR_MAX_DEVICES = 64 };

struct gcor_session {
    const gcor_backend *backend;
    int n_devices, devices[GCOR_MAX_DEVICES];
    gcor_state *states[GCOR_MAX_DEVICES]; /* NULL: not opened yet, or lost */
    double shared_steps; /* a run of fewer uses one device only (run.c); 0: as run.c has it. For tests */
};

/* devices: n of them, by the back end's numbers. They are opened when they are first used. *session is the caller's,
 * to end with gcor_session_close(), which may be given NULL; NULL after an error. */
gcor_status gcor_session_open(gcor_context *context, const gcor_backend *backend, const int *devices, int n_devices,
                              gcor_session **session);
void gcor_session_close(gcor_session *session);

/* The device's state, opened if need be. */
gcor_status gcor_session_state(gcor_session *session, gcor_context *context, int device, gcor_state **state);
/* Close one device's; the next run opens it anew. */
void gcor_session_drop(gcor_session *session, int device);

#ifdef __cplusplus
}
#endif
#endif
