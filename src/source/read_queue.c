#include "read_queue.h"

gcor_status gcor_read(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out) {
    gcor_read_queue *queue = context->monitor->reads;
    if (!queue || source->any_thread || context->monitor->owner == (uintptr_t)pthread_self())
        return source->read(source, context, first, n, out);
    pthread_mutex_lock(queue->mutex);
    while (queue->is_requested && !gcor_stop(context)) pthread_cond_wait(queue->changed, queue->mutex);
    gcor_status status = gcor_stop(context) ? context->error.status : GCOR_OK;
    if (!status) {
        queue->request = (gcor_read_request){source, context, first, n, out, &status};
        queue->is_requested = 1;
        pthread_cond_broadcast(queue->changed);
        /* Compare the status pointer, because another thread may have placed the next request meanwhile. */
        while (queue->is_requested && queue->request.status == &status) pthread_cond_wait(queue->changed, queue->mutex);
    }
    pthread_mutex_unlock(queue->mutex);
    return status;
}

void gcor_read_queue_serve(gcor_read_queue *queue) {
    const gcor_read_request *q = &queue->request; /* no other thread writes to it until it is served */
    pthread_mutex_unlock(queue->mutex);
    gcor_status status = q->source->read(q->source, q->context, q->first, q->n, q->out);
    pthread_mutex_lock(queue->mutex);
    *q->status = status;
    queue->is_requested = 0;
    pthread_cond_broadcast(queue->changed);
}
