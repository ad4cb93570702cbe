#include "test.h"

#include "../base/alloc.h"
#include "../measure/measure.h"
#include "../source/source.h"
#include "../base/threads.h"
#include "../base/triangle.h"

#include <string.h>

/* BLOCK_BYTES: of columns of each side in memory at a time. SOME: pairs that a thread computes at a time. */
enum { BLOCK_BYTES = 32 << 20, SOME = 64 };

/* Columns first .. first + n - 1 of one side. */
typedef struct {
    const gcor_columns *columns;
    int64_t first, n;
    double *values; /* columns->n_obs values each */
} block;

typedef struct {
    gcor_context *context;
    const gcor_measure *measure;
    block x, y;
    char *scratch; /* scratch_bytes per thread */
    size_t scratch_bytes;
    gcor_pair_value *pairs; /* of a block */
} recomputation;

static void keep_column(void *user, int thread, int64_t j, double *x, int flags) {
    const block *b = user;
    memcpy(b->values + (j - b->first) * b->columns->n_obs, x, (size_t)b->columns->n_obs * sizeof *x);
}

/* Reads columns first .. last. */
static gcor_status read_block(gcor_context *context, block *b, int64_t first, int64_t last) {
    b->first = first;
    b->n = last - first + 1;
    return gcor_for_columns(context, b->columns, first, b->n, keep_column, b);
}

static double *column_of(const block *b, int64_t variable) {
    return b->values + (variable - b->first) * b->columns->n_obs;
}

static void compute_some_pairs(void *argument, int thread, int64_t from, int64_t end) {
    const recomputation *c = argument;
    const gcor_columns *columns = c->x.columns;
    gcor_pair_value *pairs = c->pairs;
    const gcor_pair pair = gcor_pair_at(c->scratch + (size_t)thread * c->scratch_bytes, c->measure, columns->design,
                                        columns->n_obs);
    for (int64_t p = from; p < end; p++) {
        if (pairs[p].i < c->x.first || pairs[p].i >= c->x.first + c->x.n || gcor_stop(c->context)) continue;
        double r = gcor_pair_coefficient(&pair, column_of(&c->x, pairs[p].i), column_of(&c->y, pairs[p].j));
        if (r <= 1) pairs[p].r = r;
    }
}

/* Finds the first and last variable of x among the pairs' in from .. end - 1; first > last if there is none. */
static void find_range(const gcor_pair_value *pairs, int64_t n, int64_t from, int64_t end, int64_t *first,
                       int64_t *last) {
    *first = end;
    *last = from - 1;
    for (int64_t k = 0; k < n; k++) {
        if (pairs[k].i < from || pairs[k].i >= end) continue;
        if (pairs[k].i < *first) *first = pairs[k].i;
        if (pairs[k].i > *last) *last = pairs[k].i;
    }
}

/* Computes pairs whose variables of y are in one block, against one block of x after the other. */
static gcor_status compute_block(recomputation *c, int64_t width, int64_t n, gcor_pair_value *pairs) {
    gcor_status status = read_block(c->context, &c->y, pairs[0].j, pairs[n - 1].j);
    for (int64_t from = 0; !status && from < c->x.columns->source->n_var; from += width) {
        int64_t first, last;
        find_range(pairs, n, from, from + width, &first, &last);
        if (first > last) continue;
        status = read_block(c->context, &c->x, first, last);
        c->pairs = pairs;
        if (!status) gcor_for_blocks(c->context->threads, n, SOME, compute_some_pairs, c);
    }
    return status ? status : c->context->error.status;
}

static gcor_status compute_all(recomputation *c, int64_t width, int64_t n, gcor_pair_value *pairs) {
    gcor_status status = GCOR_OK;
    for (int64_t from = 0, end; !status && from < n; from = end) {
        for (end = from; end < n && pairs[end].j < pairs[from].j + width;) end++;
        status = compute_block(c, width, end - from, pairs + from);
    }
    return status;
}

gcor_status gcor_recompute(gcor_context *context, const gcor_measure *measure, const gcor_columns *x,
                           const gcor_columns *y, int64_t n, gcor_pair_value *pairs) {
    if (n == 0) return GCOR_OK;
    int64_t width = gcor_max(1, BLOCK_BYTES / (8 * (x->n_obs + 1)));
    int64_t x_width = gcor_min(width, x->source->n_var), y_width = gcor_min(width, y->source->n_var);
    recomputation c = {.context = context, .measure = measure, .x = {.columns = x}, .y = {.columns = y}};
    c.scratch_bytes = (gcor_pair_bytes(measure, x->design, x->n_obs) + 63) / 64 * 64;
    c.scratch = gcor_alloc(context, context->threads, c.scratch_bytes, "pairs in double precision");
    double *values = c.scratch ? gcor_alloc(context, (x_width + y_width) * x->n_obs, sizeof *values, "columns") : NULL;
    gcor_status status = values ? GCOR_OK : GCOR_NO_MEMORY;
    c.x.values = values;
    c.y.values = values ? values + x_width * x->n_obs : NULL;
    if (!status) status = compute_all(&c, width, n, pairs);
    gcor_free(values);
    gcor_free(c.scratch);
    return status;
}
