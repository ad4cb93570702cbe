/* A radix sort by |r|, converted to an integer key. The leading bits of the key assign each edge to a bucket; edges of
 * a bucket stay in their order. Then each thread sorts a bucket in its cache, by digits from the last one on, and sorts
 * edges with equal keys by column. Their rows ascend already. */
#include "store.h"

#include "../../base/alloc.h"
#include "../../base/elementary.h"
#include "../../base/threads.h"

#include <math.h>
#include <string.h>

enum { BUCKET_BITS = 11, BUCKETS = 1 << BUCKET_BITS, PARTS = 4, SHORT = 32 };
enum { DIGIT_BITS = 11, DIGIT_VALUES = 1 << DIGIT_BITS, SHORT_DIGIT_BITS = 8, ALL_BITS = 63 };

/* All |r| below this fraction of the largest are in the last bucket. */
static const double SMALL = 0x1p-12;

typedef struct {
    void *work;
    int64_t capacity; /* edges */
} scratch;

typedef struct {
    gcor_context *context;
    int64_t n, n_row, n_parts;
    const int32_t *start, *col;
    const double *r;
    double largest;     /* |r| */
    uint64_t first;     /* the min key */
    int shift;          /* keys of a bucket differ in this number of last bits */
    int64_t *next;      /* parts x BUCKETS: position of a part's next edge of a bucket */
    int64_t *begin;     /* BUCKETS + 1: begins of the buckets */
    int32_t *from, *to; /* the resulting list; buckets are sorted in place */
    double *value;
    int rows_first;   /* edges of a bucket have `from` as their row, and `to` as their column */
    scratch *scratch; /* of each thread */
} sorting;

/* Larger for smaller |r|, and below 2^63; NaN has the largest key. */
static uint64_t key_of(double r) {
    return gcor_key(INFINITY) - (r == r ? gcor_key(fabs(r)) : gcor_key(0) - 1);
}

static int64_t bucket_of(const sorting *s, double r) {
    uint64_t bucket = (key_of(r) - s->first) >> s->shift;
    return bucket < BUCKETS ? (int64_t)bucket : BUCKETS - 1;
}

/* ---- to buckets ------------------------------------------------------------------------------- */

static int64_t part_begin(const sorting *s, int64_t part) {
    return s->n / s->n_parts * part + gcor_clamp(s->n % s->n_parts, 0, part);
}

static void find_largest(void *argument, int thread, int64_t part) {
    sorting *s = argument;
    double largest = 0, known;
    for (int64_t e = part_begin(s, part); e < part_begin(s, part + 1); e++)
        if (fabs(s->r[e]) > largest) largest = fabs(s->r[e]);
    __atomic_load(&s->largest, &known, __ATOMIC_RELAXED);
    while (largest > known &&
           !__atomic_compare_exchange(&s->largest, &known, &largest, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}

static void count_part(void *argument, int thread, int64_t part) {
    const sorting *s = argument;
    if (gcor_stop(s->context)) return;
    int64_t *count = s->next + part * BUCKETS;
    memset(count, 0, BUCKETS * sizeof *count);
    for (int64_t e = part_begin(s, part); e < part_begin(s, part + 1); e++) count[bucket_of(s, s->r[e])]++;
}

/* Returns the row of entry e. */
static int64_t row_of(const sorting *s, int64_t e) {
    int64_t next = 1;
    GCOR_SEARCH(next, s->n_row, k, s->start[k] > e);
    return next - 1;
}

static void move_part(void *argument, int thread, int64_t part) {
    const sorting *s = argument;
    if (gcor_stop(s->context)) return;
    int64_t *next = s->next + part * BUCKETS, begin = part_begin(s, part), end = part_begin(s, part + 1);
    int64_t row = begin < end ? row_of(s, begin) : 0;
    for (int64_t e = begin; e < end; e++) {
        while (s->start[row + 1] <= e) row++;
        int64_t at = next[bucket_of(s, s->r[e])]++;
        s->from[at] = s->col[e] + 1;
        s->to[at] = (int32_t)row + 1;
        s->value[at] = s->r[e];
    }
}

/* ---- in a bucket, or in a row ------------------------------------------------------------------- */

/* Returns the number to sort by: the key or, if keys are tied, the column. */
static uint64_t number_of(const gcor_edge *edge, int tied) {
    return tied ? (uint64_t)edge->col : key_of(edge->r);
}

static int is_before(const gcor_edge *a, const gcor_edge *b, int tied) {
    uint64_t x = number_of(a, tied), y = number_of(b, tied);
    if (x != y) return x < y;
    return a->col != b->col ? a->col < b->col : a->row < b->row;
}

static void insertion_sort(gcor_edge *list, int64_t n, int tied) {
    for (int64_t k = 1; k < n; k++) {
        gcor_edge edge = list[k];
        int64_t to = k;
        for (; to > 0 && is_before(&edge, &list[to - 1], tied); to--) list[to] = list[to - 1];
        list[to] = edge;
    }
}

/* Returns the end of the edges from `begin` on whose keys differ at most in the last `bits` bits. */
static int64_t run_end(const gcor_edge *list, int64_t n, int64_t begin, int bits) {
    uint64_t key = key_of(list[begin].r) >> bits;
    int64_t end = begin + 1;
    while (end < n && key_of(list[end].r) >> bits == key) end++;
    return end;
}

static void move_by_digit(const gcor_edge *list, int64_t n, int tied, int shift, int digit_bits, gcor_edge *work) {
    int64_t next[DIGIT_VALUES], values = (int64_t)1 << digit_bits;
    memset(next, 0, (size_t)values * sizeof *next);
    for (int64_t k = 0; k < n; k++) next[number_of(&list[k], tied) >> shift & (values - 1)]++;
    gcor_begin_buckets(next, 1, values, NULL);
    for (int64_t k = 0; k < n; k++) work[next[number_of(&list[k], tied) >> shift & (values - 1)]++] = list[k];
}

/* Sorts by the first `leading` of the bits that differ, and returns the number of bits that are left. The sort is
 * stable. Digits that all numbers have in common are skipped. work: scratch for n edges. */
static int sort_by_digits(gcor_edge *list, int64_t n, int tied, int leading, gcor_edge *work) {
    gcor_edge *from = list, *to = work;
    uint64_t differ = 0, first = number_of(list, tied);
    int left = 0, digit_bits = n < DIGIT_VALUES / 4 ? SHORT_DIGIT_BITS : DIGIT_BITS;
    for (int64_t k = 1; k < n; k++) differ |= number_of(&list[k], tied) ^ first;
    while (differ >> left >> leading > 0) left++;
    for (int shift = left; shift < 64 && differ >> shift > 0; shift += digit_bits) {
        if ((differ >> shift & (((uint64_t)1 << digit_bits) - 1)) == 0) continue;
        move_by_digit(from, n, tied, shift, digit_bits, to);
        gcor_edge *swap = from;
        from = to;
        to = swap;
    }
    if (from != list) memcpy(list, from, (size_t)n * sizeof *list);
    return left;
}

void gcor_sort_columns(gcor_edge *list, int64_t n, gcor_edge *work) {
    if (n <= SHORT)
        insertion_sort(list, n, 1);
    else
        (void)sort_by_digits(list, n, 1, ALL_BITS, work);
}

/* Sorts edges whose keys differ at most in the last `bits` bits. */
static void sort_run(gcor_edge *list, int64_t n, int bits, gcor_edge *work) {
    if (bits == 0) {
        gcor_sort_columns(list, n, work);
    } else if (n <= SHORT) {
        insertion_sort(list, n, 0);
    } else {
        (void)sort_by_digits(list, n, 0, ALL_BITS, work);
        for (int64_t begin = 0, end; begin < n; begin = end) {
            end = run_end(list, n, begin, 0);
            gcor_sort_columns(list + begin, end - begin, work);
        }
    }
}

/* Two digits of the keys distinguish nearly all edges. */
static void sort_bucket(gcor_edge *list, int64_t n, gcor_edge *work) {
    int bits = n > SHORT ? sort_by_digits(list, n, 0, 2 * DIGIT_BITS, work) : ALL_BITS;
    for (int64_t begin = 0, end; begin < n; begin = end) {
        end = run_end(list, n, begin, bits);
        if (end - begin > 1) sort_run(list + begin, end - begin, bits, work);
    }
}

/* Sorts a bucket in the thread's scratch. work: scratch for 2 n edges. */
static void sort_range(const sorting *s, int64_t begin, int64_t n, gcor_edge *work) {
    int32_t *row = (s->rows_first ? s->from : s->to) + begin, *col = (s->rows_first ? s->to : s->from) + begin;
    for (int64_t e = 0; e < n; e++) work[e] = (gcor_edge){row[e], col[e], s->value[begin + e]};
    sort_bucket(work, n, work + n);
    for (int64_t e = 0; e < n; e++) {
        row[e] = work[e].row;
        col[e] = work[e].col;
        s->value[begin + e] = work[e].r;
    }
}

/* Each thread's scratch grows to the largest bucket that it sorts. */
static void sort_bucket_number(void *argument, int thread, int64_t b) {
    const sorting *s = argument;
    scratch *own = &s->scratch[thread];
    int64_t begin = s->begin[b], n = s->begin[b + 1] - begin;
    if (n > 1 && !gcor_stop(s->context) &&
        !gcor_grow(s->context, &own->work, 0, &own->capacity, 2 * n, sizeof(gcor_edge), "a list of edges"))
        sort_range(s, begin, n, own->work);
}

/* ---- the whole list --------------------------------------------------------------------------- */

static gcor_status sort(sorting *s, gcor_context *context) {
    gcor_huge_pages(s->from, (size_t)s->n * sizeof *s->from);
    gcor_huge_pages(s->to, (size_t)s->n * sizeof *s->to);
    gcor_huge_pages(s->value, (size_t)s->n * sizeof *s->value);
    gcor_for_each(context->threads, s->n_parts, find_largest, s);
    s->first = key_of(s->largest); /* the leading bits depend on the largest |r| */
    const uint64_t span = key_of(isfinite(s->largest) ? s->largest * SMALL : 1) - s->first;
    while (span >> s->shift >= BUCKETS) s->shift++;
    gcor_for_each(context->threads, s->n_parts, count_part, s);
    if (context->error.status) return context->error.status;
    gcor_begin_buckets(s->next, s->n_parts, BUCKETS, s->begin);
    gcor_for_each(context->threads, s->n_parts, move_part, s);
    if (context->error.status) return context->error.status;
    gcor_for_each(context->threads, BUCKETS, sort_bucket_number, s);
    for (int t = 0; t < context->threads; t++) gcor_free(s->scratch[t].work);
    return context->error.status;
}

gcor_status gcor_sort_edges(gcor_context *context, int64_t n_row, const int32_t *start, const int32_t *col,
                            const double *r, int rows_first, int32_t *from, int32_t *to, double *value) {
    sorting s = {.context = context, .n = start[n_row], .n_row = n_row, .start = start, .col = col, .r = r};
    s.rows_first = rows_first;
    gcor_status status = GCOR_NO_MEMORY;
    s.from = from;
    s.to = to;
    s.value = value;
    s.n_parts = (int64_t)PARTS * context->threads;
    s.next = gcor_alloc(context, s.n_parts * BUCKETS, sizeof *s.next, "a list of edges");
    s.begin = gcor_alloc(context, BUCKETS + 1, sizeof *s.begin, "a list of edges");
    s.scratch = gcor_alloc(context, context->threads, sizeof *s.scratch, "a list of edges");
    for (int t = 0; s.scratch && t < context->threads; t++) s.scratch[t] = (scratch){NULL, 0};
    if (s.next && s.begin && s.scratch) status = sort(&s, context);
    gcor_free(s.scratch);
    gcor_free(s.begin);
    gcor_free(s.next);
    return status;
}
