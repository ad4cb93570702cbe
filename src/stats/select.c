/* Radix selection: a histogram of the leading bits determines those of the k-th number; histograms of the next bits,
 * among the numbers that share them, determine the rest. Ties need no special case. */
#include "select.h"

#include "../base/alloc.h"
#include "../base/threads.h"

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
