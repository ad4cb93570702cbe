/* Errors, the clock, and the question whether to go on. */
#include "gpucor.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

gcor_status gcor_fail(gcor_context *context, gcor_status status, const char *format, ...) {
    gcor_error *error = &context->error;
    /* Several threads may fail at once: the first to claim the status writes the message. */
    gcor_status none = GCOR_OK;
    if (__atomic_compare_exchange_n(&error->status, &none, status, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

double gcor_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int gcor_stop(gcor_context *context, int thread) {
    gcor_monitor *monitor = &context->monitor;
    if (thread == 0 && monitor->check && !monitor->stopped) {
        double now = gcor_seconds();
        if (now - monitor->last_check >= 0.05) {
            double done = monitor->pairs_done + monitor->tile_share * monitor->tile_pairs;
            double share = monitor->pairs > 0 ? done / monitor->pairs : 0;
            monitor->last_check = now;
            if (monitor->check(monitor->user, share)) {
                gcor_fail(context, GCOR_INTERRUPTED, "interrupted");
                __atomic_store_n(&monitor->stopped, 1, __ATOMIC_RELAXED);
            }
        }
    }
    return __atomic_load_n(&monitor->stopped, __ATOMIC_RELAXED) ||
           __atomic_load_n(&context->error.status, __ATOMIC_RELAXED) != GCOR_OK;
}
