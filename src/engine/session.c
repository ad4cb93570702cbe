#include "session.h"

#include "../base/alloc.h"

gcor_status gcor_session_open(gcor_context *context, const gcor_backend *backend, const int *devices, int n_devices,
                              gcor_session **session) {
    *session = NULL;
    if (n_devices < 1 || n_devices > GCOR_MAX_DEVICES)
        return gcor_fail(context, GCOR_BAD_INPUT, "%d devices; from 1 to %d can be used", n_devices, GCOR_MAX_DEVICES);
    gcor_session *fresh = gcor_alloc(context, 1, sizeof *fresh, "a session");
    if (!fresh) return GCOR_NO_MEMORY;
    *fresh = (gcor_session){.backend = backend, .n_devices = n_devices};
    for (int d = 0; d < n_devices; d++) fresh->devices[d] = devices[d];
    *session = fresh;
    return GCOR_OK;
}

void gcor_session_close(gcor_session *session) {
    if (!session) return;
    for (int d = 0; d < session->n_devices; d++) gcor_session_drop(session, d);
    gcor_free(session);
}

gcor_status gcor_session_state(gcor_session *session, gcor_context *context, int device, gcor_state **state) {
    gcor_status status = GCOR_OK;
    if (!session->states[device])
        status = session->backend->open(context, session->devices[device], &session->states[device]);
    *state = session->states[device];
    return status;
}

int gcor_is_of_device(gcor_status status) {
    return status == GCOR_DEVICE_ERROR || status == GCOR_NO_DEVICE_MEMORY || status == GCOR_NO_BACKEND;
}

gcor_status gcor_session_any_state(gcor_session *session, gcor_context *context, gcor_state **state) {
    gcor_status status = gcor_session_state(session, context, 0, state);
    for (int d = 1; gcor_is_of_device(status) && d < session->n_devices; d++) {
        context->error = (gcor_error){0};
        status = gcor_session_state(session, context, d, state);
    }
    return status;
}

void gcor_session_drop(gcor_session *session, int device) {
    session->backend->close(session->states[device]);
    session->states[device] = NULL;
}
