/* The open sessions of this process, one for each back end. */
#include "job.h"

enum { MAX_BACKENDS = 8 };

static struct {
    const gcor_backend *backend;
    gcor_session *session;
} kept[MAX_BACKENDS];

static double shared_steps;

static int slot_of(const gcor_backend *backend) {
    int k = 0;
    while (k < MAX_BACKENDS - 1 && kept[k].backend && kept[k].backend != backend) k++;
    return k;
}

static int has_devices(const gcor_session *session, const int *devices, int n_devices) {
    if (!session || session->n_devices != n_devices) return 0;
    for (int d = 0; d < n_devices; d++)
        if (session->devices[d] != devices[d]) return 0;
    return 1;
}

static void close_at(int k) {
    gcor_session_close(kept[k].session);
    kept[k].session = NULL;
}

gcor_status r_session(gcor_context *context, const gcor_backend *backend, const int *devices, int n_devices,
                      gcor_session **session) {
    int k = slot_of(backend);
    gcor_status status = GCOR_OK;
    if (kept[k].backend != backend || !has_devices(kept[k].session, devices, n_devices)) {
        close_at(k);
        kept[k].backend = backend;
        status = gcor_session_open(context, backend, devices, n_devices, &kept[k].session);
    }
    *session = kept[k].session;
    if (*session) (*session)->shared_steps = shared_steps;
    return status;
}

void r_session_end(const gcor_backend *backend, gcor_status status) {
    if (status == GCOR_DEVICE_ERROR) close_at(slot_of(backend));
}

void r_close_sessions(void) {
    for (int k = 0; k < MAX_BACKENDS; k++) close_at(k);
}

/* For tests: the min number of steps of a run that several devices share; 0: the default. */
SEXP r_set_shared_steps(SEXP steps) {
    shared_steps = Rf_asReal(steps);
    return R_NilValue;
}
