#include "moments.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../base/triangle.h"

#include <math.h>

/* PIECE: numbers processed at a time, which stay in a near cache. BLOCK: numbers that a thread clears at a time. */
enum { PIECE = 256, BLOCK = 1 << 14 };

static gcor_status allocate(gcor_context *context, int64_t n, double **array) {
    *array = gcor_alloc(context, n, sizeof **array, "moments");
    if (!*array) return GCOR_NO_MEMORY;
    gcor_huge_pages(*array, (size_t)n * sizeof **array);
    return GCOR_OK;
}

static gcor_status allocate_all(gcor_context *context, gcor_moments *moments) {
    double **all[] = {&moments->count, &moments->first, &moments->sum, &moments->squares, &moments->min, &moments->max};
    gcor_status status = GCOR_OK;
    for (int a = 0; !status && a < 6; a++) status = allocate(context, moments->capacity, all[a]);
    return status;
}

gcor_status gcor_moments_new(gcor_context *context, int64_t capacity, int has_deviation, gcor_moments *moments) {
    *moments = (gcor_moments){.capacity = capacity};
    return has_deviation ? allocate(context, capacity, &moments->deviation) : allocate_all(context, moments);
}

void gcor_moments_free(gcor_moments *moments) {
    gcor_free(moments->count);
    gcor_free(moments->first);
    gcor_free(moments->sum);
    gcor_free(moments->squares);
    gcor_free(moments->min);
    gcor_free(moments->max);
    gcor_free(moments->deviation);
    *moments = (gcor_moments){0};
}

void gcor_moments_expect(gcor_moments *moments, int64_t n) {
    moments->n = n;
    moments->is_begun = moments->all_begun = moments->is_reduced = 0;
}

static void clear_block(void *argument, int thread, int64_t from, int64_t end) {
    const gcor_moments *moments = argument;
    for (int64_t k = from; k < end; k++) {
        moments->count[k] = moments->first[k] = moments->sum[k] = moments->squares[k] = 0;
        moments->min[k] = INFINITY;
        moments->max[k] = -INFINITY;
    }
}

void gcor_moments_begin(gcor_moments *moments, gcor_context *context, int64_t n) {
    gcor_moments_expect(moments, n);
    moments->is_begun = 1;
    gcor_for_blocks(context->threads, n, BLOCK, clear_block, moments);
}

/* Adds a row to numbers from .. from+n-1, some of which may have no value yet, or none in this row. */
static void add_some(const gcor_moments *moments, int64_t from, int64_t n, const double *values) {
    for (int64_t k = from; k < from + n; k++) {
        double value = values[k - from];
        if (!(value <= 1)) continue;
        if (moments->count[k] == 0) moments->first[k] = value;
        double away = value - moments->first[k];
        moments->count[k]++;
        moments->sum[k] += away;
        moments->squares[k] += away * away;
        if (value < moments->min[k]) moments->min[k] = value;
        if (value > moments->max[k]) moments->max[k] = value;
    }
}

/* Adds a row in which every number has a value. Compilers vectorize it as it has no branch and its arrays, being
 * parameters, do not overlap. */
static void add_all(int64_t n, const double *restrict value, const double *restrict first, double *restrict count,
                    double *restrict sum, double *restrict squares, double *restrict min, double *restrict max) {
    for (int64_t k = 0; k < n; k++) {
        double away = value[k] - first[k];
        count[k] += 1;
        sum[k] += away;
        squares[k] += away * away;
        min[k] = value[k] < min[k] ? value[k] : min[k];
        max[k] = value[k] > max[k] ? value[k] : max[k];
    }
}

/* Adds all rows to numbers from .. from+n-1 while these are in cache. */
static void add_rows(const gcor_moments *moments, int64_t from, int64_t n, const double *values, int64_t times,
                     const unsigned char *is_full) {
    int begun = moments->all_begun;
    for (int64_t t = 0; t < times; t++) {
        const double *row = values + t * moments->n + from;
        if (begun && is_full[t])
            add_all(n, row, moments->first + from, moments->count + from, moments->sum + from, moments->squares + from,
                    moments->min + from, moments->max + from);
        else
            add_some(moments, from, n, row);
        begun |= is_full[t];
    }
}

typedef struct {
    const gcor_moments *moments;
    const double *values;
    int64_t times;
    const unsigned char *is_full;
} addition;

static void add_share(void *argument, int thread, int64_t from, int64_t end) {
    const addition *a = argument;
    for (; from < end; from += PIECE)
        add_rows(a->moments, from, gcor_min(PIECE, end - from), a->values, a->times, a->is_full);
}

void gcor_moments_add(gcor_moments *moments, gcor_context *context, const double *values, int64_t times,
                      const unsigned char *is_full) {
    addition a = {moments, values, times, is_full};
    /* A share for each thread: one that takes the same share every time has it in its own cache. */
    int64_t share = gcor_blocks(moments->n, context->threads);
    gcor_for_blocks(context->threads, moments->n, gcor_blocks(share, PIECE) * PIECE, add_share, &a);
    for (int64_t t = 0; t < times; t++) moments->all_begun |= is_full[t];
}

double gcor_moments_mean(const gcor_moments *moments, int64_t k, double missing) {
    return moments->count[k] > 0 ? moments->first[k] + moments->sum[k] / moments->count[k] : missing;
}

double gcor_moments_sd(const gcor_moments *moments, int64_t k, double missing) {
    double sd = GCOR_NO_VALUE; /* of no values */
    if (moments->is_reduced)
        sd = moments->deviation[k];
    else if (moments->is_begun)
        sd = gcor_deviation_of(moments->count[k], moments->sum[k], moments->squares[k]);
    return sd == GCOR_NO_VALUE ? missing : sd;
}

double gcor_moments_min(const gcor_moments *moments, int64_t k, double missing) {
    return moments->count[k] > 0 ? moments->min[k] : missing;
}

double gcor_moments_max(const gcor_moments *moments, int64_t k, double missing) {
    return moments->count[k] > 0 ? moments->max[k] : missing;
}

/* ---- the sink ------------------------------------------------------------------------------- */

/* Values come to the host: the arrays are needed. */
static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_moments *moments = ((gcor_moments_sink *)sink)->moments;
    gcor_status status = GCOR_OK;
    if (moments->is_begun) return status;
    if (!moments->count) status = allocate_all(context, moments);
    if (!status) gcor_moments_begin(moments, context, moments->n);
    return status;
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_moments_sink *own = (gcor_moments_sink *)sink;
    const gcor_tile all = {0, sink->n_row, 0, sink->n_col};
    int64_t at = gcor_tile_offset(&all, sink->shape, segment->row) + segment->col;
    double scratch[PIECE];
    for (int64_t k = 0; k < segment->n; k += PIECE) {
        int64_t n = gcor_min(PIECE, segment->n - k);
        const double *values = gcor_segment_values(segment, k, n, scratch);
        add_some(own->moments, at + k, n, values);
        for (int64_t l = 0; l < n; l++)
            if (values[l] == GCOR_ZERO_SD) __atomic_store_n(&own->has_zero_sd, 1, __ATOMIC_RELAXED);
    }
    return GCOR_OK;
}

const gcor_sink_type gcor_moments_type = {
    .name = "moments", .size = sizeof(gcor_moments_sink), .role = GCOR_MOMENTS, .take = take, .begin_tile = begin_tile};
