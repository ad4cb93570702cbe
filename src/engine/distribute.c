/* Distributes a run to devices: to several at once, or to one, which the next device replaces if it fails. */
#include "session.h"
#include "work.h"

int gcor_is_of_device(gcor_status status) {
    return status == GCOR_DEVICE_ERROR || status == GCOR_NO_DEVICE_MEMORY || status == GCOR_NO_BACKEND;
}

/* Do the whole queue on one device, in the calling thread. */
static gcor_status use_device(gcor_work *work, gcor_context *context, int device, gcor_sink *sink) {
    gcor_state *state;
    gcor_worker *worker = NULL;
    gcor_status status = gcor_session_state(work->session, context, device, &state);
    if (!status) status = work->open(context, work, state, sink, &worker);
    if (!status) status = gcor_worker_drain(worker);
    gcor_worker_close(worker);
    if (gcor_is_of_device(status)) gcor_session_drop(work->session, device);
    return status;
}

/* Use a fork of the sink, which is dropped if the device fails. */
static gcor_status try_device(gcor_work *work, gcor_context *context, int device) {
    gcor_sink *sink = work->job->sink, *own;
    gcor_status status = gcor_sink_fork(sink, context, &own);
    if (status) return status;
    status = use_device(work, context, device, own);
    if (!status) status = sink->type->merge(sink, context, own);
    gcor_sink_free(own);
    return status;
}

/* Reset the run for another device after one has failed. */
static gcor_status begin_again(gcor_work *work, gcor_context *context) {
    work->job->devices_lost++;
    work->job->lost = context->error;
    context->error.status = GCOR_OK;
    context->monitor->pairs_done = context->pairs_done = context->tile_pairs = 0;
    gcor_queue_free(&work->queue);
    return gcor_queue_fill(&work->queue, context, &work->grid, &work->job->shard);
}

static gcor_status use_any_device(gcor_work *work, gcor_context *context) {
    int n = work->session->n_devices;
    gcor_status status = try_device(work, context, 0);
    for (int device = 1; device < n && gcor_is_of_device(status); device++) {
        status = begin_again(work, context);
        if (!status) status = try_device(work, context, device);
    }
    return status;
}

gcor_status gcor_distribute(gcor_work *work, gcor_context *context, int workers) {
    if (work->session->n_devices < 2 || !work->job->sink->type->merge)
        return use_device(work, context, 0, work->job->sink);
    if (workers < 2 || work->queue.pairs == 0) return use_any_device(work, context);
    int threads = context->threads > workers ? context->threads / workers : 1;
    gcor_status status = gcor_use_devices(work, context, &workers, threads);
    return status || workers > 0 ? status : use_any_device(work, context);
}
