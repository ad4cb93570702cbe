/* Radix selection: a histogram of the leading bits determines those of the k-th number; histograms of the next bits,
 * among the numbers that share them, determine the rest. Ties need no special case. */
#include "summary.h"

#include "../base/alloc.h"
#include "../base/threads.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BIN_BITS = 15, BINS = 1 << BIN_BITS, FEW = 1 << 22 };

/* The numbers still considered: those with number - base < 2^bits. */
typedef struct {
    uint64_t base;
    int bits;
} range;

static range range_of(uint64_t low, uint64_t high) {
    range r = {low, 0};
    while (r.bits < 64 && (high - low) >> r.bits > 0) r.bits++;
    return r;
}

static int shift_of(range r, int bin_bits) {
    return r.bits > bin_bits ? r.bits - bin_bits : 0;
}

static void count_list(range r, int bin_bits, const uint64_t *list, int64_t n, int64_t *counts) {
    int shift = shift_of(r, bin_bits);
    for (int64_t e = 0; e < n; e++) {
        uint64_t bin = (list[e] - r.base) >> shift;
        if (bin < (uint64_t)1 << bin_bits) counts[bin]++;
    }
}

/* Narrows the range to the bin with the *k-th smallest number and makes *k relative to that bin. Returns the bin's
 * count. */
static int64_t narrow(range *r, int bin_bits, const int64_t *counts, int64_t *k) {
    int shift = shift_of(*r, bin_bits), bin = 0;
    while (bin < (1 << bin_bits) - 1 && counts[bin] < *k) *k -= counts[bin++];
    r->base += (uint64_t)bin << shift;
    r->bits = shift;
    return counts[bin];
}

/* Copies the numbers in range to `to`, which may be the list itself; returns how many. */
static int64_t pick(range r, const uint64_t *list, int64_t n, uint64_t *to) {
    int64_t left = 0;
    for (int64_t e = 0; e < n; e++) {
        uint64_t number = list[e];
        to[left] = number;
        left += r.bits == 64 || (number - r.base) >> r.bits == 0;
    }
    return left;
}

uint64_t gcor_select_few(const uint64_t *list, int64_t n, uint64_t low, uint64_t high, int64_t k, uint64_t *work,
                         int64_t *counts) {
    range r = range_of(low, high);
    while (r.bits > 0) {
        memset(counts, 0, GCOR_SELECT_BINS * sizeof *counts);
        count_list(r, GCOR_SELECT_BITS, list, n, counts);
        (void)narrow(&r, GCOR_SELECT_BITS, counts, &k);
        n = pick(r, list, n, work);
        list = work;
    }
    return r.base;
}

/* ---- in pieces -------------------------------------------------------------------------------- */

typedef struct {
    gcor_context *context;
    const gcor_numbers *from;
    range left;
    int64_t *counts;    /* threads x BINS */
    uint64_t *buffers;  /* threads x the capacity of a piece */
    uint64_t *gathered; /* the last numbers, with a capacity of so many */
    int64_t n_gathered, capacity;
} selection;

/* Reads piece p's numbers into the thread's buffer. */
static int64_t read_piece(const selection *s, int thread, int64_t p, uint64_t **list) {
    *list = s->buffers + thread * s->from->capacity;
    return gcor_stop(s->context) ? 0 : s->from->read(s->from->user, s->context, thread, p, *list);
}

static void count_piece(void *argument, int thread, int64_t p) {
    const selection *s = argument;
    uint64_t *list;
    int64_t n = read_piece(s, thread, p, &list);
    count_list(s->left, BIN_BITS, list, n, s->counts + thread * (int64_t)BINS);
}

/* Counts into one set of bins per thread; the first set gets the totals. */
static void count(selection *s) {
    const int threads = s->context->threads;
    memset(s->counts, 0, (size_t)threads * BINS * sizeof *s->counts);
    gcor_for_each(threads, s->from->n_pieces, count_piece, s);
    for (int t = 1; t < threads; t++)
        for (int64_t b = 0; b < BINS; b++) s->counts[b] += s->counts[t * (int64_t)BINS + b];
}

/* Collects the numbers in range, in any order; at most `capacity`, in case a file was modified after counting. */
static void gather_piece(void *argument, int thread, int64_t p) {
    selection *s = argument;
    uint64_t *list;
    int64_t n = read_piece(s, thread, p, &list), own = pick(s->left, list, n, list);
    int64_t at = __atomic_fetch_add(&s->n_gathered, own, __ATOMIC_RELAXED);
    for (int64_t e = 0; e < own && at + e < s->capacity; e++) s->gathered[at + e] = list[e];
}

/* When few numbers are left, collects them and selects in memory. */
static gcor_status select_few(selection *s, gcor_context *context, int64_t n, int64_t k, uint64_t *number) {
    uint64_t *some = gcor_alloc(context, n, sizeof *some, "values to choose among");
    if (!some) return GCOR_NO_MEMORY;
    s->gathered = some;
    s->capacity = n;
    gcor_for_each(context->threads, s->from->n_pieces, gather_piece, s);
    if (s->n_gathered < n) n = s->n_gathered;
    uint64_t high = s->left.base + (((uint64_t)1 << s->left.bits) - 1);
    if (!context->error.status) *number = gcor_select_few(some, n, s->left.base, high, k, some, s->counts);
    gcor_free(some);
    return context->error.status;
}

static gcor_status select_number(selection *s, gcor_context *context, int64_t k, uint64_t *number) {
    while (s->left.bits > 0) {
        count(s);
        if (context->error.status) return context->error.status;
        int64_t n = narrow(&s->left, BIN_BITS, s->counts, &k);
        if (s->left.bits > 0 && n <= FEW) return select_few(s, context, n, k, number);
    }
    *number = s->left.base;
    return GCOR_OK;
}

gcor_status gcor_select(gcor_context *context, const gcor_numbers *numbers, uint64_t low, uint64_t high, int64_t k,
                        uint64_t *number) {
    selection s = {.context = context, .from = numbers, .left = range_of(low, high)};
    gcor_status status = GCOR_NO_MEMORY;
    s.counts = gcor_alloc(context, (int64_t)context->threads * BINS, sizeof *s.counts, "values to choose among");
    s.buffers = gcor_alloc(context, context->threads * numbers->capacity, sizeof *s.buffers, "values to choose among");
    if (s.counts && s.buffers) status = select_number(&s, context, k, number);
    gcor_free(s.buffers);
    gcor_free(s.counts);
    return status;
}

/* ---- the strongest ------------------------------------------------------------------------------ */

static int is_stronger(gcor_strong a, gcor_strong b) {
    return a.size > b.size || (a.size == b.size && a.position < b.position);
}

/* ---- one thread ------------------------------------------------------------------------------- */

static void heap_rise(gcor_strong *heap, int64_t at) {
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
static double strongest_bound(const gcor_strongest *own) {
    return own->n == own->max ? own->heap[0].size : 0;
}

static gcor_status take_strong(gcor_strongest *own, gcor_context *context, gcor_strong strong) {
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
    heap_rise(own->heap, own->n++);
    return GCOR_OK;
}

void gcor_strongest_look(gcor_strongest *own, gcor_context *context, const double *value, int64_t n, int64_t first) {
    if (own->max == 0) return;
    double bound = strongest_bound(own);
    for (int64_t k = 0; k < n; k++) {
        double size = fabs(value[k]);
        if (!(size >= bound)) continue;
        if (take_strong(own, context, (gcor_strong){size, first + k})) return;
        bound = strongest_bound(own);
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
    gcor_strongest *all;
} search;

static void look_at_values(void *argument, int thread, int64_t from, int64_t end) {
    const search *s = argument;
    const int64_t size = end - from;
    double scratch[BLOCK];
    if (gcor_stop(s->context)) return;
    const double *value = gcor_read_values(s->values, from, size, scratch);
    gcor_strongest_look(&s->all[thread], s->context, value, size, from);
}

gcor_status gcor_find_strongest(gcor_context *context, const gcor_values *values, int64_t n, int64_t max,
                                gcor_strong **best, int64_t *n_best) {
    gcor_strongest *all = gcor_strongest_new(context, max);
    *best = NULL;
    if (!all) return GCOR_NO_MEMORY;
    search s = {context, values, all};
    gcor_for_blocks(context->threads, n, BLOCK, look_at_values, &s);
    gcor_status status = context->error.status;
    if (!status) status = gcor_strongest_join(all, context, best, n_best);
    gcor_strongest_free(all, context->threads);
    return status;
}
