/* Columns from a source, gathered for whoever prepares them. */
#include "source.h"

#include "alloc.h"
#include "threads.h"
#include "triangle.h"
#include "workers.h"

#include <math.h>

enum { BLOCK_BYTES = 4 << 20, MOST_BYTES = 64 << 20 }; /* read at a time where one thread alone may read; for a grain */
enum { AT_ONCE_BYTES = 128 << 10, MOST_AT_ONCE = 64 }; /* read at a time by each thread; columns */

typedef struct {
    gcor_context *context;
    const gcor_columns *columns;
    int64_t first, n;
    gcor_column_work work;
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

/* Observations ascend, so that those that count can be moved up in place. */
static void work_on(const gathering *g, int thread, int64_t j, double *x) {
    const gcor_columns *columns = g->columns;
    if (columns->observed)
        for (int64_t k = 0; k < columns->n_obs; k++) x[k] = x[columns->observed[k]];
    g->work(g->user, thread, j, x, normalise(x, columns->n_obs));
}

/* How many columns a thread reads at a time: short ones together, as each read of a file is a call of the system. */
static int64_t columns_at_once(const gathering *g) {
    int64_t fitting = AT_ONCE_BYTES / (8 * (g->columns->source->n_obs + 1));
    return gcor_clamp(gcor_smaller(fitting, g->n / (4 * g->context->threads)), 1, MOST_AT_ONCE);
}

static void read_and_work(const gathering *g, int thread, int64_t first, int64_t n, double *x) {
    gcor_source *source = g->columns->source;
    if (gcor_stop(g->context) || source->read(source, g->context, first, n, x)) return;
    for (int64_t j = 0; j < n; j++) work_on(g, thread, first + j, x + j * source->n_obs);
}

/* Every thread reads for itself, into memory of its own. */
static void gather_anywhere(const gathering *g, double *scratch) {
    int64_t width = columns_at_once(g), end = g->first + g->n;
#pragma omp parallel num_threads(g->context->threads)
    {
        int thread = omp_get_thread_num();
        double *x = scratch + thread * width * g->columns->source->n_obs;
#pragma omp for schedule(dynamic)
        for (int64_t j = g->first; j < end; j += width) read_and_work(g, thread, j, gcor_smaller(width, end - j), x);
    }
}

/* Blocks begin at multiples of the grain, but for the first one and where the grain is too large. */
typedef struct {
    int64_t start, columns; /* where the first would begin, and how many columns each has */
} blocks;

static blocks blocks_of(const gathering *g) {
    int64_t grain = g->columns->source->grain, column_bytes = 8 * (g->columns->source->n_obs + 1);
    int64_t columns = BLOCK_BYTES / column_bytes > 1 ? BLOCK_BYTES / column_bytes : 1;
    if (grain < 1 || grain > MOST_BYTES / column_bytes) grain = 1;
    columns = (columns + grain - 1) / grain * grain;
    int64_t start = g->first - g->first % grain, all = g->first + g->n - start;
    return (blocks){start, columns < all ? columns : all};
}

/* Columns from .. end-1 are block b; none beyond the last one. */
static void block_range(const gathering *g, int64_t b, int64_t *from, int64_t *end) {
    blocks all = blocks_of(g);
    *from = all.start + b * all.columns > g->first ? all.start + b * all.columns : g->first;
    *end = all.start + (b + 1) * all.columns;
    if (*end > g->first + g->n) *end = g->first + g->n;
}

static double *half_of(const gathering *g, int64_t b, double *buffer) {
    return buffer + b % 2 * blocks_of(g).columns * g->columns->source->n_obs;
}

/* Block b to its half of the buffer; beyond the last one there is nothing to do. A failure is in the context. */
static void read_block(const gathering *g, int64_t b, double *buffer) {
    int64_t from, end;
    block_range(g, b, &from, &end);
    if (from < end && !gcor_stop(g->context))
        (void)gcor_read(g->columns->source, g->context, from, end - from, half_of(g, b, buffer));
}

/* One thread reads the next block, and then helps the others with the one at hand. */
static void gather_in_blocks(const gathering *g, double *buffer) {
    int64_t n_obs = g->columns->source->n_obs;
    read_block(g, 0, buffer);
#pragma omp parallel num_threads(g->context->threads)
    for (int64_t b = 0;; b++) {
        int64_t from, end;
        double *values = half_of(g, b, buffer);
        block_range(g, b, &from, &end);
        if (from >= end) break;
        int failed = __atomic_load_n(&g->context->error.status, __ATOMIC_RELAXED) != GCOR_OK;
#pragma omp barrier /* all have seen the same */
        if (failed) break;
#pragma omp master
        read_block(g, b + 1, buffer);
#pragma omp for schedule(dynamic)
        for (int64_t j = from; j < end; j++) work_on(g, omp_get_thread_num(), j, values + (j - from) * n_obs);
    }
}

gcor_status gcor_for_columns(gcor_context *context, const gcor_columns *columns, int64_t first, int64_t n,
                             gcor_column_work work, void *user) {
    gathering g = {context, columns, first, n, work, user};
    int any = columns->source->any_thread;
    int64_t room = any ? context->threads * columns_at_once(&g) : 2 * blocks_of(&g).columns;
    if (n == 0) return GCOR_OK;
    double *values = gcor_alloc(context, room * columns->source->n_obs, sizeof(double), "columns being read");
    if (!values) return GCOR_NO_MEMORY;
    if (any)
        gather_anywhere(&g, values);
    else
        gather_in_blocks(&g, values);
    gcor_free(values);
    return gcor_stop(context) ? context->error.status : GCOR_OK;
}
