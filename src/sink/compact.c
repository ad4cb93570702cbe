#include "dense.h"

#include "../base/alloc.h"
#include "../measure/coefficient.h"
#include "../base/threads.h"

#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { PIECE_BYTES = 64 << 10 }; /* bytes that a thread copies at a time, few enough that all threads finish together */

static int64_t position(const gcor_sink *sink, int64_t row, int64_t col) {
    return sink->shape == GCOR_LOWER ? gcor_column_position(col, row) : gcor_row_position(row, col, sink->n_col);
}

/* Returns the numerator of a coefficient. r times the root of the norms is below 2^31, with an error of at most 2^-20,
 * so that rounding is exact. */
static int32_t numerator(double r, double norm, double other_norm) {
    return r <= 1 && norm > 0 && other_norm > 0 ? (int32_t)lrint(r * sqrt(norm * other_norm)) : 0;
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    const gcor_compact *to = ((gcor_compact_sink *)sink)->to;
    char *out = (char *)to->values + position(sink, segment->row, segment->col) * GCOR_COMPACT_BYTES;
    size_t bytes = (size_t)segment->n * GCOR_COMPACT_BYTES;
    const double *norm = to->norm;
    if (segment->counts)
        memcpy(out, segment->counts, bytes);
    else if (to->form == GCOR_AS_COUNTS)
        for (int64_t k = 0; k < segment->n; k++)
            ((int32_t *)out)[k] = numerator(gcor_value(segment, k), norm[segment->row], norm[segment->col + k]);
    else if (segment->floats)
        memcpy(out, segment->floats, bytes);
    else
        for (int64_t k = 0; k < segment->n; k++) ((float *)out)[k] = (float)segment->doubles[k];
    return GCOR_OK;
}

/* ---- whole tiles ----------------------------------------------------------------------------- */

/* True if the rows of the tile are contiguous in the result. */
static int is_contiguous(const gcor_sink *sink, const gcor_tile *tile) {
    if (sink->shape == GCOR_LOWER) return tile->col == 0 && tile->n_col >= tile->row + tile->n_row - 1;
    return tile->col <= tile->row + 1 && tile->col + tile->n_col == sink->n_col;
}

/* Copies with streaming stores: through the cache, the memory would be read first. */
static void stream(char *out, const char *from, int64_t bytes) {
#ifdef __SSE2__
    int64_t k = (int64_t)(-(uintptr_t)out % sizeof(__m128i));
    k = k < bytes ? k : bytes;
    memcpy(out, from, (size_t)k);
    for (; k + (int64_t)sizeof(__m128i) <= bytes; k += (int64_t)sizeof(__m128i))
        _mm_stream_si128((__m128i *)(out + k), _mm_loadu_si128((const __m128i *)(from + k)));
    memcpy(out + k, from + k, (size_t)(bytes - k));
    _mm_sfence();
#else
    memcpy(out, from, (size_t)bytes);
#endif
}

typedef struct {
    char *to;
    const char *from;
    int64_t before; /* bytes of the first piece that precede `to` */
} piecewise_copy;

static void copy_piece(void *argument, int thread, int64_t from, int64_t end) {
    const piecewise_copy *c = argument;
    const int64_t begin = gcor_max(0, from - c->before);
    stream(c->to + begin, c->from + begin, end - c->before - begin);
}

typedef struct {
    const gcor_sink *sink;
    const gcor_tile *tile;
    const char *from;
    int64_t rows; /* that a thread copies at a time */
} rowwise_copy;

static void copy_some_rows(void *argument, int thread, int64_t from, int64_t end) {
    const rowwise_copy *c = argument;
    char *to = (char *)((const gcor_compact_sink *)c->sink)->to->values;
    for (int64_t row = c->tile->row + from; row < c->tile->row + end; row++) {
        int64_t col, n;
        gcor_tile_segment(c->tile, c->sink->shape, row, &col, &n);
        if (n > 0)
            stream(to + position(c->sink, row, col) * GCOR_COMPACT_BYTES,
                   c->from + gcor_tile_offset(c->tile, c->sink->shape, row) * GCOR_COMPACT_BYTES,
                   n * GCOR_COMPACT_BYTES);
    }
}

void gcor_compact_take_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile, const void *values) {
    gcor_compact_sink *own = (gcor_compact_sink *)sink;
    int64_t col, n, row = tile->row, pairs = gcor_tile_pairs(tile, sink->shape);
    if (pairs == 0) return;
    /* Page faults between copies from a device take three times as long. */
    gcor_prefault(context, own->to->values, own->to->n * GCOR_COMPACT_BYTES, own->shared);
    if (!is_contiguous(sink, tile)) {
        rowwise_copy rows = {sink, tile, values, PIECE_BYTES / GCOR_COMPACT_BYTES / sink->n_col + 1};
        gcor_for_blocks(context->threads, tile->n_row, rows.rows, copy_some_rows, &rows);
        return;
    }
    do gcor_tile_segment(tile, sink->shape, row++, &col, &n);
    while (n == 0);
    char *to = (char *)own->to->values + position(sink, row - 1, col) * GCOR_COMPACT_BYTES;
    piecewise_copy c = {to, values, (int64_t)((uintptr_t)to % PIECE_BYTES)};
    gcor_for_blocks(context->threads, c.before + pairs * GCOR_COMPACT_BYTES, PIECE_BYTES, copy_piece, &c);
}

/* ---- forks --------------------------------------------------------------------------------------- */

/* Forks write to the same memory, each to its own pairs, so there is nothing to move. */
static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    return GCOR_OK;
}

static const gcor_sink_type TYPE = {
    .name = "compact",
    .size = sizeof(gcor_compact_sink),
    .role = GCOR_COMPACT,
    .keeps_all = 1,
    .take = take,
    .merge = merge,
};

gcor_status gcor_compact_sink_new(gcor_context *context, const gcor_compact *to, gcor_sink **sink) {
    const gcor_compact_sink like = {
        .sink = {.type = &TYPE, .shape = to->shape, .n_row = to->n_var, .n_col = to->n_var, .form = to->form},
        .to = to,
        .begun = to->is_prefaulted ? INT64_MAX : 0,
    };
    gcor_compact_sink *own = gcor_sink_new(context, &like);
    *sink = own ? &own->sink : NULL;
    if (!own) return context->error.status;
    own->shared = &own->begun;
    return GCOR_OK;
}
