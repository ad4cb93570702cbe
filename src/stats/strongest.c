#include "strongest.h"

#include "../base/alloc.h"
#include "../base/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_stronger(gcor_strong a, gcor_strong b) {
    return a.size > b.size || (a.size == b.size && a.position < b.position);
}

/* ---- one thread ------------------------------------------------------------------------------- */

static void rise(gcor_strong *heap, int64_t at) {
    gcor_strong moved = heap[at];
    for (int64_t up; at > 0 && is_stronger(heap[up = (at - 1) / 2], moved); at = up) heap[at] = heap[up];
    heap[at] = moved;
}

/* Moves a new root down to its position. */
static void sink_root(gcor_strong *heap, int64_t n) {
    gcor_strong moved = heap[0];
    int64_t at = 0;
    for (int64_t down; (down = 2 * at + 1) < n; at = down) {
        if (down + 1 < n && is_stronger(heap[down], heap[down + 1])) down++;
        if (!is_stronger(moved, heap[down])) break;
        heap[at] = heap[down];
    }
    heap[at] = moved;
}

/* Smaller values can be skipped. */
static double bound_of(const gcor_strongest *own) {
    return own->n == own->max ? own->heap[0].size : 0;
}

static gcor_status take(gcor_strongest *own, gcor_context *context, gcor_strong strong) {
    void *heap = own->heap;
    if (own->n == own->max) {
        if (!is_stronger(strong, own->heap[0])) return GCOR_OK;
        own->heap[0] = strong;
        sink_root(own->heap, own->n);
        return GCOR_OK;
    }
    gcor_status status = gcor_grow(context, &heap, own->n, &own->capacity, own->n + 1, sizeof *own->heap,
                                   "the strongest pairs");
    own->heap = heap;
    if (status) return status;
    own->heap[own->n] = strong;
    rise(own->heap, own->n++);
    return GCOR_OK;
}

void gcor_strongest_look(gcor_strongest *own, gcor_context *context, const double *value, int64_t n, int64_t first) {
    if (own->max == 0) return;
    double bound = bound_of(own);
    for (int64_t k = 0; k < n; k++) {
        double size = fabs(value[k]);
        if (!(size >= bound)) continue;
        if (take(own, context, (gcor_strong){size, first + k})) return;
        bound = bound_of(own);
    }
}

/* ---- all threads ------------------------------------------------------------------------------ */

gcor_strongest *gcor_strongest_new(gcor_context *context, int64_t max) {
    gcor_strongest *all = gcor_alloc(context, context->threads, sizeof *all, "the strongest pairs");
    for (int t = 0; all && t < context->threads; t++) all[t] = (gcor_strongest){.max = max};
    return all;
}

void gcor_strongest_free(gcor_strongest *all, int threads) {
    for (int t = 0; all && t < threads; t++) gcor_free(all[t].heap);
    gcor_free(all);
}

static int strongest_first(const void *a, const void *b) {
    return is_stronger(*(const gcor_strong *)a, *(const gcor_strong *)b) ? -1 : 1;
}

gcor_status gcor_strongest_join(const gcor_strongest *all, gcor_context *context, gcor_strong **best, int64_t *n) {
    *n = 0;
    for (int t = 0; t < context->threads; t++) *n += all[t].n;
    *best = gcor_alloc(context, *n, sizeof **best, "the strongest pairs");
    if (!*best) return GCOR_NO_MEMORY;
    gcor_strong *to = *best;
    for (int t = 0; t < context->threads; to += all[t++].n)
        if (all[t].n > 0) memcpy(to, all[t].heap, (size_t)all[t].n * sizeof *to);
    if (*n > 0) qsort(*best, (size_t)*n, sizeof **best, strongest_first);
    if (*n > all->max) *n = all->max;
    return GCOR_OK;
}

enum { BLOCK = 1 << 12 };

typedef struct {
    gcor_context *context;
    const gcor_values *values;
    int64_t n;
    gcor_strongest *all;
} search;

static void look_at_block(void *argument, int thread, int64_t k) {
    const search *s = argument;
    const gcor_range block = gcor_block(s->n, BLOCK, k);
    const int64_t size = block.end - block.from;
    double scratch[BLOCK];
    if (gcor_stop(s->context)) return;
    const double *value = gcor_read_values(s->values, block.from, size, scratch);
    gcor_strongest_look(&s->all[thread], s->context, value, size, block.from);
}

gcor_status gcor_find_strongest(gcor_context *context, const gcor_values *values, int64_t n, int64_t max,
                                gcor_strong **best, int64_t *n_best) {
    gcor_strongest *all = gcor_strongest_new(context, max);
    *best = NULL;
    if (!all) return GCOR_NO_MEMORY;
    search s = {context, values, n, all};
    gcor_for_each(context->threads, gcor_blocks(n, BLOCK), look_at_block, &s);
    gcor_status status = context->error.status;
    if (!status) status = gcor_strongest_join(all, context, best, n_best);
    gcor_strongest_free(all, context->threads);
    return status;
}
