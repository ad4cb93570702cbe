/* Errors, the clock, and the check for interrupts. */
#include "../gpucor.h"
#include "isa.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static const double CHECK_SECONDS = 0.05;

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

gcor_monitor gcor_watch(int (*check)(void *user, double fraction), void *user) {
    (void)gcor_isa_choose();
    return (gcor_monitor){
        .check = check, .user = user, .last_check = gcor_seconds(), .owner = (uintptr_t)pthread_self()};
}

/* The only place that calls check(). */
static void ask(const gcor_context *context, gcor_monitor *monitor) {
    double now = gcor_seconds();
    if (now - monitor->last_check < CHECK_SECONDS) return;
    double done = (double)__atomic_load_n(&monitor->pairs_done, __ATOMIC_RELAXED);
    done += context->tile_fraction * (double)context->tile_pairs;
    monitor->last_check = now;
    double fraction = monitor->pairs > 0 ? done / (double)monitor->pairs : 0;
    if (monitor->check(monitor->user, fraction)) __atomic_store_n(&monitor->stopped, 1, __ATOMIC_RELAXED);
}

int gcor_stop(gcor_context *context) {
    gcor_monitor *monitor = context->monitor;
    int stopped = __atomic_load_n(&monitor->stopped, __ATOMIC_RELAXED);
    if (monitor->check && !stopped && monitor->owner == (uintptr_t)pthread_self()) ask(context, monitor);
    if (__atomic_load_n(&monitor->stopped, __ATOMIC_RELAXED)) (void)gcor_fail(context, GCOR_INTERRUPTED, "interrupted");
    return __atomic_load_n(&context->error.status, __ATOMIC_RELAXED) != GCOR_OK;
}
