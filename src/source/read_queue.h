/* The read request queue, for a source that only the run's owner may read: a worker's thread places a request, and the
 * owner serves it while it waits for the workers (engine/devices.c). */
#ifndef GPUCOR_READ_QUEUE_H
#define GPUCOR_READ_QUEUE_H

#include "source.h"

#include <pthread.h>

typedef struct {
    gcor_source *source;
    gcor_context *context; /* of the thread that asks */
    int64_t first, n;
    double *out;
    gcor_status *status; /* set when the request is served */
} gcor_read_request;

/* At most one request at a time. mutex and changed are the workers', borrowed; the mutex protects everything else. */
typedef struct gcor_read_queue {
    pthread_mutex_t *mutex;
    pthread_cond_t *changed; /* signaled when a request is placed, and when it is served */
    int is_requested;
    gcor_read_request request;
} gcor_read_queue;

/* Reads columns first .. first + n - 1 to out, n_obs doubles each: at once if this thread may, otherwise through the
 * monitor's read queue. Returns the source's status, or the context's after an interrupt. Any thread. */
gcor_status gcor_read(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out);

/* Serves the request, without the mutex while it reads. The owner's thread, which holds the mutex; is_requested is
 * set. */
void gcor_read_queue_serve(gcor_read_queue *queue);

#endif
