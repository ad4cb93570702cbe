/* Distributes a run to devices: to one, which the next device replaces if it fails, or to several, with a thread and a
 * worker for each. Workers draw squares from a queue; each has its own sink, and
 * the sinks are merged at the end. The calling thread supervises: it asks whether to stop, and reads columns for the
 * workers if only it may read.
 *
 * The squares that a failed device has drawn go back to the queue, including completed ones, as its sink is
 * discarded. So no worker leaves before all drawn squares are safe in a sink. */
#include "work.h"

#include "../base/alloc.h"
#include "../base/os.h"
#include "../source/source.h"
#include "session.h"

#include <pthread.h>
#include <time.h>

enum { PARTS = 4 }; /* a worker draws at most this fraction (1/4) of its part of the pairs left */

typedef struct pool pool;

typedef struct {
    pool *pool;
    int device; /* index in the session */
    gcor_context context;
    gcor_sink *sink;
    gcor_square *drawn; /* all squares drawn so far, to be repeated if the device fails */
    int64_t n_drawn, capacity;
    int is_started, is_busy, is_lost;
    pthread_t thread;
} member;

struct pool {
    gcor_work *work;
    gcor_context *context; /* of the calling thread */
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    gcor_read_queue reads; /* under `mutex` */
    int threads;           /* of each worker */
    int n, busy, running;  /* workers: all; those with pairs that are not safe; those that have not left */
    member members[GCOR_MAX_DEVICES];
};

/* ---- the shared queue ------------------------------------------------------------------- */

static gcor_status note_drawn(member *m, const gcor_square *square) {
    void *drawn = m->drawn;
    gcor_status status = gcor_grow(&m->context, &drawn, m->n_drawn, &m->capacity, m->n_drawn + 1, sizeof *m->drawn,
                                   "the tiles of a worker");
    m->drawn = drawn;
    if (!status) m->drawn[m->n_drawn++] = *square;
    return status;
}

/* The caller holds the pool's lock. */
static gcor_status draw(member *m, const gcor_worker *worker, gcor_square *square, int *found) {
    pool *p = m->pool;
    gcor_status status = gcor_queue_draw(&p->work->queue, &m->context, (int64_t)PARTS * p->n,
                                         gcor_worker_min_side(worker), square, found);
    return status || !*found ? status : note_drawn(m, square);
}

/* Records whether the worker has pairs that are not safe. The caller holds the lock. */
static void set_busy(member *m, int is_busy) {
    m->pool->busy += is_busy - m->is_busy;
    m->is_busy = is_busy;
    pthread_cond_broadcast(&m->pool->changed);
}

/* Waits until there is something to draw, or no worker is left that could return squares. Returns 1 if there may be
 * work. */
static int wait_for_work(member *m) {
    pool *p = m->pool;
    set_busy(m, 0);
    while (p->work->queue.n == 0 && p->busy > 0 && !gcor_stop(&m->context)) pthread_cond_wait(&p->changed, &p->mutex);
    if (p->work->queue.n == 0 || gcor_stop(&m->context)) return 0;
    set_busy(m, 1);
    return 1;
}

static gcor_status multiply_square(const gcor_work *work, gcor_worker *worker, const gcor_square *square) {
    gcor_tile tile = gcor_square_tile(&work->grid, square);
    return gcor_worker_multiply(worker, &tile);
}

static gcor_status draw_and_multiply(member *m, gcor_worker *worker) {
    pool *p = m->pool;
    gcor_status status = GCOR_OK;
    pthread_mutex_lock(&p->mutex);
    for (;;) {
        gcor_square square;
        int found;
        status = draw(m, worker, &square, &found);
        if (status) break;
        pthread_mutex_unlock(&p->mutex);
        status = found ? multiply_square(p->work, worker, &square) : gcor_worker_finish(worker);
        pthread_mutex_lock(&p->mutex);
        if (status || (!found && !wait_for_work(m))) break;
    }
    pthread_mutex_unlock(&p->mutex);
    return status ? status : m->context.error.status;
}

/* Returns the device's squares to the queue. If no device is left, its error becomes the run's. The caller holds the
 * lock. */
static void lose_device(member *m, gcor_status status) {
    pool *p = m->pool;
    gcor_job *job = p->work->job;
    gcor_error own = m->context.error;
    m->is_lost = 1;
    job->devices_lost++;
    job->lost = own;
    m->context.error.status = GCOR_OK; /* allows the calls below */
    __atomic_fetch_sub(&p->context->monitor->pairs_done, m->context.pairs_done, __ATOMIC_RELAXED);
    for (int64_t k = 0; k < m->n_drawn; k++)
        if (gcor_queue_return(&p->work->queue, &m->context, &m->drawn[k])) status = GCOR_NO_MEMORY;
    if (status == GCOR_NO_MEMORY || job->devices_lost == p->n) {
        (void)gcor_fail(p->context, own.status, "%s", own.message);
        __atomic_store_n(&p->context->monitor->stopped, 1, __ATOMIC_RELAXED);
    }
}

/* Ends a worker. The caller holds the lock. */
static void leave(member *m, gcor_status status) {
    pool *p = m->pool;
    if (gcor_is_of_device(status)) {
        lose_device(m, status);
    } else if (status) {
        (void)gcor_fail(p->context, status, "%s", m->context.error.message);
        __atomic_store_n(&p->context->monitor->stopped, 1, __ATOMIC_RELAXED);
    }
    p->running--;
    set_busy(m, 0); /* only now: no worker may leave before these squares are back in the queue */
}

static void *work_in_thread(void *argument) {
    member *m = argument;
    pool *p = m->pool;
    gcor_state *state;
    gcor_worker *worker = NULL;
    gcor_status status = gcor_session_state(p->work->session, &m->context, m->device, &state);
    if (!status) status = p->work->open(&m->context, p->work, state, m->sink, &worker);
    if (!status) status = draw_and_multiply(m, worker);
    gcor_worker_close(worker);
    if (gcor_is_of_device(status)) gcor_session_drop(p->work->session, m->device);
    pthread_mutex_lock(&p->mutex);
    leave(m, status);
    pthread_mutex_unlock(&p->mutex);
    return NULL;
}

/* ---- the calling thread ------------------------------------------------------------------- */

static void wait_a_little(pool *p) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 50 * 1000 * 1000;
    if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
    (void)pthread_cond_timedwait(&p->changed, &p->mutex, &until);
}

static void look_after(pool *p) {
    pthread_mutex_lock(&p->mutex);
    while (p->running > 0) {
        if (p->reads.is_requested)
            gcor_read_queue_serve(&p->reads);
        else
            wait_a_little(p);
        pthread_mutex_unlock(&p->mutex);
        (void)gcor_stop(p->context); /* may run R's handlers, so the lock is not held */
        pthread_mutex_lock(&p->mutex);
        if (p->context->error.status) pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->mutex);
}

/* ---- several devices --------------------------------------------------------------------- */

static gcor_status start(pool *p, member *m, int device) {
    gcor_sink *sink = p->work->job->sink;
    *m = (member){.pool = p, .device = device, .context = *p->context};
    m->context.threads = p->threads;
    m->context.seconds_preparing = m->context.seconds_multiplying = 0;
    m->context.pairs_done = 0;
    gcor_status status = gcor_sink_fork(sink, &m->context, &m->sink);
    if (status) return gcor_fail(p->context, status, "%s", m->context.error.message);
    m->is_started = m->is_busy = gcor_os_thread(&m->thread, work_in_thread, m) == 0;
    return GCOR_OK;
}

/* If the system allows no further thread, there are fewer workers, or none. */
static gcor_status start_all(pool *p) {
    const int wanted = p->n;
    gcor_status status = GCOR_OK;
    pthread_mutex_lock(&p->mutex); /* until all workers are counted */
    for (p->n = 0; !status && p->n < wanted; p->n++) {
        member *m = &p->members[p->n];
        status = start(p, m, p->n);
        if (m->is_started) continue;
        gcor_sink_free(m->sink);
        break;
    }
    p->busy = p->running = p->n;
    if (status) __atomic_store_n(&p->context->monitor->stopped, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&p->mutex);
    return status;
}

static void end_member(pool *p, member *m) {
    gcor_context *context = p->context;
    gcor_sink *sink = p->work->job->sink;
    pthread_join(m->thread, NULL);
    if (m->sink && !m->is_lost && !context->error.status) (void)gcor_sink_merge(sink, context, m->sink);
    gcor_sink_free(m->sink);
    gcor_free(m->drawn);
    if (m->context.seconds_preparing > context->seconds_preparing)
        context->seconds_preparing = m->context.seconds_preparing;
    if (m->context.seconds_multiplying > context->seconds_multiplying)
        context->seconds_multiplying = m->context.seconds_multiplying;
}

/* Do the whole queue on the first *n of the session's devices, each with `threads` threads. The job's sink must be
 * one that merges. *n becomes the number of devices that had a thread: the system may allow fewer, or none. */
static gcor_status use_devices(gcor_work *work, gcor_context *context, int *n, int threads) {
    pool *p = gcor_alloc(context, 1, sizeof *p, "the workers");
    if (!p) return GCOR_NO_MEMORY;
    *p = (pool){.work = work, .context = context, .n = *n, .threads = threads};
    pthread_mutex_init(&p->mutex, NULL);
    pthread_cond_init(&p->changed, NULL);
    p->reads = (gcor_read_queue){.mutex = &p->mutex, .changed = &p->changed};
    context->monitor->reads = &p->reads;
    (void)start_all(p);
    look_after(p);
    for (int d = 0; d < p->n; d++) end_member(p, &p->members[d]);
    *n = p->n;
    if (p->n > 0 && !context->error.status && work->queue.pairs > 0)
        (void)gcor_fail(context, GCOR_DEVICE_ERROR, "%.0f pairs are left; please report this",
                        (double)work->queue.pairs);
    context->monitor->reads = NULL;
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->mutex);
    gcor_free(p);
    return context->error.status;
}

/* ---- one device, or the next one if it fails ---------------------------------------------- */

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
    if (!status) status = gcor_sink_merge(sink, context, own);
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
    if (work->session->n_devices < 2 || !gcor_sink_merges(work->job->sink))
        return use_device(work, context, 0, work->job->sink);
    if (workers < 2 || work->queue.pairs == 0) return use_any_device(work, context);
    int threads = context->threads > workers ? context->threads / workers : 1;
    gcor_status status = use_devices(work, context, &workers, threads);
    return status || workers > 0 ? status : use_any_device(work, context);
}
