/* Gathers columns from a source for the code that prepares them. */
#include "source.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../base/triangle.h"

#include <math.h>

/* Bytes read at a time if only one thread may read; max bytes for a grain. */
enum { BLOCK_BYTES = 4 << 20, MAX_BYTES = 64 << 20 };
enum { AT_ONCE_BYTES = 128 << 10, MAX_AT_ONCE = 64 }; /* bytes read at a time by each thread; max columns */

typedef struct {
    gcor_context *context;
    const gcor_columns *columns;
    int64_t first, n;
    gcor_column_work work;
    gcor_columns_work together; /* NULL: none */
    void *user;
} gathering;

/* -0 and +0 must tie, and a NaN of either sign must sort last on the device. */
static int normalise(double *value, int64_t n) {
    int flags = 0;
    for (int64_t k = 0; k < n; k++) {
        if (isfinite(value[k])) {
            value[k] += 0.0;
        } else if (isnan(value[k])) {
            value[k] = NAN;
            flags |= GCOR_MISSING;
        } else {
            flags |= GCOR_INFINITE;
        }
    }
    return flags;
}

/* Observations ascend, so that the selected ones can be moved to the front in place. */
static void work_on(const gathering *g, int thread, int64_t j, double *x) {
    const gcor_columns *columns = g->columns;
    if (columns->observed)
        for (int64_t k = 0; k < columns->n_obs; k++) x[k] = x[columns->observed[k]];
    if (columns->shuffle) gcor_shuffle_values(columns->shuffle, j, x, NULL, columns->n_obs, 1);
    g->work(g->user, thread, j, x, normalise(x, columns->n_obs));
}

/* n: at most GCOR_TOGETHER. */
static void work_on_columns(const gathering *g, int thread, int64_t first, int64_t n, double *x) {
    const int64_t stride = g->columns->source->n_obs;
    for (int64_t j = 0; j < n; j++) work_on(g, thread, first + j, x + j * stride);
    if (g->together) g->together(g->user, thread, first, n, x, stride);
}

/* Columns that a thread reads at a time: several if they are short, as each read of a file is a system call. */
static int64_t columns_at_once(const gathering *g) {
    int64_t fitting = AT_ONCE_BYTES / (8 * (g->columns->source->n_obs + 1));
    if (g->together) fitting = gcor_max(fitting / GCOR_TOGETHER, 1) * GCOR_TOGETHER;
    return gcor_clamp(gcor_min(fitting, g->n / (4 * g->context->threads)), 1, MAX_AT_ONCE);
}

static void read_and_work(const gathering *g, int thread, int64_t first, int64_t n, double *x) {
    gcor_source *source = g->columns->source;
    if (gcor_stop(g->context) || source->read(source, g->context, first, n, x)) return;
    for (int64_t j = 0; j < n; j += GCOR_TOGETHER)
        work_on_columns(g, thread, first + j, gcor_min(GCOR_TOGETHER, n - j), x + j * source->n_obs);
}

typedef struct {
    const gathering *g;
    int64_t width;   /* columns read at a time */
    double *scratch; /* memory for that many columns per thread */
} own_reading;

static void read_some(void *argument, int thread, int64_t from, int64_t end) {
    const own_reading *r = argument;
    read_and_work(r->g, thread, r->g->first + from, end - from,
                  r->scratch + thread * r->width * r->g->columns->source->n_obs);
}

/* Blocks begin at multiples of the grain, except for the first block, and if the grain is too large. */
typedef struct {
    int64_t start, columns; /* where the first block would begin; columns of each block */
} blocks;

static blocks blocks_of(const gathering *g) {
    int64_t grain = g->columns->source->grain, column_bytes = 8 * (g->columns->source->n_obs + 1);
    int64_t columns = BLOCK_BYTES / column_bytes > 1 ? BLOCK_BYTES / column_bytes : 1;
    if (grain < 1 || grain > MAX_BYTES / column_bytes) grain = 1;
    columns = (columns + grain - 1) / grain * grain;
    int64_t start = g->first - g->first % grain, all = g->first + g->n - start;
    return (blocks){start, columns < all ? columns : all};
}

/* Sets from and end to the columns of block b, from .. end-1; from >= end beyond the last block. */
static void block_range(const gathering *g, int64_t b, int64_t *from, int64_t *end) {
    blocks all = blocks_of(g);
    *from = all.start + b * all.columns > g->first ? all.start + b * all.columns : g->first;
    *end = all.start + (b + 1) * all.columns;
    if (*end > g->first + g->n) *end = g->first + g->n;
}

static double *half_of(const gathering *g, int64_t b, double *buffer) {
    return buffer + b % 2 * blocks_of(g).columns * g->columns->source->n_obs;
}

/* Reads block b into its half of the buffer; does nothing beyond the last block. An error is recorded in the
 * context. */
static void read_block(const gathering *g, int64_t b, double *buffer) {
    int64_t from, end;
    block_range(g, b, &from, &end);
    if (from < end && !gcor_stop(g->context))
        (void)gcor_read(g->columns->source, g->context, from, end - from, half_of(g, b, buffer));
}

typedef struct {
    const gathering *g;
    int64_t b, from, end; /* the current block and its columns */
    double *buffer;
    int has_read; /* the next block has been read; used only by the caller's thread */
} block_reading;

static void read_next_block(block_reading *r) {
    if (!r->has_read) read_block(r->g, r->b + 1, r->buffer);
    r->has_read = 1;
}

static void work_on_group(void *argument, int thread, int64_t from, int64_t end) {
    block_reading *r = argument;
    if (thread == 0) read_next_block(r);
    work_on_columns(r->g, thread, r->from + from, end - from,
                    half_of(r->g, r->b, r->buffer) + from * r->g->columns->source->n_obs);
}

/* The caller's thread reads the next block, and then helps the others with the current one. */
static void gather_in_blocks(const gathering *g, double *buffer) {
    block_reading r = {.g = g, .buffer = buffer};
    read_block(g, 0, buffer);
    for (; !g->context->error.status; r.b++) {
        block_range(g, r.b, &r.from, &r.end);
        if (r.from >= r.end) break;
        r.has_read = 0;
        gcor_for_blocks(g->context->threads, r.end - r.from, g->together ? GCOR_TOGETHER : 1, work_on_group, &r);
        read_next_block(&r);
    }
}

gcor_status gcor_for_columns(gcor_context *context, const gcor_columns *columns, int64_t first, int64_t n,
                             gcor_column_work work, void *user) {
    return gcor_for_columns_together(context, columns, first, n, work, NULL, user);
}

gcor_status gcor_for_columns_together(gcor_context *context, const gcor_columns *columns, int64_t first, int64_t n,
                                      gcor_column_work work, gcor_columns_work together, void *user) {
    gathering g = {context, columns, first, n, work, together, user};
    own_reading r = {&g, columns_at_once(&g), NULL};
    int any = columns->source->any_thread;
    int64_t capacity = any ? context->threads * r.width : 2 * blocks_of(&g).columns;
    if (n == 0) return GCOR_OK;
    r.scratch = gcor_alloc(context, capacity * columns->source->n_obs, sizeof(double), "columns being read");
    if (!r.scratch) return GCOR_NO_MEMORY;
    if (any)
        gcor_for_blocks(context->threads, n, r.width, read_some, &r);
    else
        gather_in_blocks(&g, r.scratch);
    gcor_free(r.scratch);
    return gcor_stop(context) ? context->error.status : GCOR_OK;
}

/* ---- the queue of requests ---------------------------------------------------------------------- */

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
