/* REAL operands. Cheap coefficients are sums in single precision of columns that were scaled to length one before.
 * Coefficients of single precision are sums of some products each in single precision, as on a GPU, to the last bit.
 * All others are sums in double, in which a product of two floats is exact. */
#include "cpu.h"

#include "../core/coefficient.h"

/* Observations that are opened at a time: 64 MB of the variables of a tile. And where some are summed in single
 * precision, and as many at a time as stay in the first-level cache: whole slices. */
enum { SLICE = 2048, SINGLE_SLICE = 171 * GCOR_OBS_SLICE, SINGLE_CHUNK = 11 * GCOR_OBS_SLICE };

static const float *column_of(const cpu_operand *o, int64_t var) {
    return o->columns + (var - o->head.first) * o->head.n_obs;
}

static void open_floats(const gcor_state *state, const cpu_product *product, const cpu_operand *operand, int64_t var,
                        int64_t first, int64_t n, char *sliver, void *work) {
    enum { WIDTH = CPU_SLIVER_BYTES / sizeof(float) };
    (void)state, (void)product, (void)work;
    for (int v = 0; v < WIDTH; v++) {
        int64_t own = cpu_at_most_last(operand, var + v);
        const float *column = column_of(operand, own) + first;
        float scale = operand->scale[own - operand->head.first], *out = (float *)sliver + v;
        for (int64_t k = 0; k < n; k++) out[k * WIDTH] = column[k] * scale;
    }
}

static void open_singles(const gcor_state *state, const cpu_product *product, const cpu_operand *operand, int64_t var,
                         int64_t first, int64_t n, char *sliver, void *work) {
    enum { WIDTH = CPU_SLIVER_BYTES / sizeof(float) };
    (void)state, (void)product, (void)work;
    for (int v = 0; v < WIDTH; v++) {
        const float *column = column_of(operand, cpu_at_most_last(operand, var + v)) + first;
        float *out = (float *)sliver + v;
        for (int64_t k = 0; k < n; k++) out[k * WIDTH] = column[k];
    }
}

static void open_doubles(const gcor_state *state, const cpu_product *product, const cpu_operand *operand, int64_t var,
                         int64_t first, int64_t n, char *sliver, void *work) {
    enum { WIDTH = CPU_SLIVER_BYTES / sizeof(double) };
    (void)state, (void)product, (void)work;
    for (int v = 0; v < WIDTH; v++) {
        const float *column = column_of(operand, cpu_at_most_last(operand, var + v)) + first;
        double *out = (double *)sliver + v;
        for (int64_t k = 0; k < n; k++) out[k * WIDTH] = column[k];
    }
}

static void multiply_floats(const gcor_state *state, const cpu_product *product, char *rows, char *cols, int64_t n,
                            int add, void *sums) {
    (void)product;
    state->kernels->floats((const float *)rows, (const float *)cols, n, add, sums);
}

static void multiply_slices(const gcor_state *state, const cpu_product *product, char *rows, char *cols, int64_t n,
                            int add, void *sums) {
    (void)product;
    state->kernels->slices((const float *)rows, (const float *)cols, n, add, sums);
}

static void multiply_doubles(const gcor_state *state, const cpu_product *product, char *rows, char *cols, int64_t n,
                             int add, void *sums) {
    (void)product;
    state->kernels->doubles((const double *)rows, (const double *)cols, n, add, sums);
}

/* ---- to the sink ----------------------------------------------------------------------------- */

static double exact(const gcor_segment *segment, int64_t k) {
    const cpu_operand *rows = segment->rows, *cols = segment->cols;
    int64_t row = segment->row, col = segment->col + k;
    double dot = rows->kernels->dot(column_of(rows, row), column_of(cols, col), rows->head.n_obs);
    return gcor_coefficient(dot, rows->head.norm[row - rows->head.first], cols->head.norm[col - cols->head.first]);
}

/* A sum of n products is off by at most n roundings of the sum of their sizes, which is at most the product of the
 * columns' lengths. What is added is for scaling to unit length, in double for the division. */
static double error_bound(const gcor_state *state, int64_t n_obs) {
    double n = (double)n_obs * 0x1p-24;
    if (!state->sink->approximate) return (double)(n_obs + 4) * 0x1p-52;
    return n < 0.5 ? n / (1 - n) + 0x1p-20 : 1;
}

/* From products, in their place, or as floats elsewhere, for a sink that keeps no more. */
static void set_coefficients(const gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                             double *products, float *rounded, gcor_segment *segment) {
    int64_t row = segment->row - rows->head.first, col = segment->col - cols->head.first;
    double norm = rows->head.norm[row], *other_norm = cols->head.norm + col;
    if (state->sink->form == GCOR_AS_FLOATS) {
        state->kernels->rounded_coefficients(products, norm, rows->inverse[row], other_norm, cols->inverse + col,
                                             segment->n, rounded);
        segment->floats = rounded;
    } else {
        state->kernels->coefficients(products, norm, other_norm, segment->n);
        segment->doubles = products;
    }
}

static void deliver(gcor_state *state, const cpu_product *product, int thread, const cpu_operand *rows,
                    const cpu_operand *cols, const gcor_tile *block, void *sums) {
    gcor_segment segment = {.error = error_bound(state, rows->head.n_obs), .exact = exact, .rows = rows, .cols = cols};
    float rounded[CPU_BLOCK_COLS];
    (void)product;
    for (int64_t r = 0; r < block->n_row; r++) {
        segment.row = block->row + r;
        gcor_tile_segment(block, state->sink->shape, segment.row, &segment.col, &segment.n);
        if (segment.n == 0) continue;
        int64_t at = r * CPU_BLOCK_COLS + (segment.col - block->col);
        if (state->sink->approximate) {
            segment.floats = (const float *)sums + at;
        } else {
            set_coefficients(state, rows, cols, (double *)sums + at, rounded, &segment);
        }
        /* A failure is in the context. Not by cpu_deliver(): a copy of what was written just now would wait. */
        (void)state->sink->type->take(state->sink, state->context, thread, &segment);
    }
}

gcor_status cpu_multiply_real(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                              const gcor_tile *tile) {
    int64_t n_obs = rows->head.n_obs;
    cpu_product product = {
        .length = n_obs, .slice = n_obs < SLICE ? n_obs : SLICE, .planes = 1, .sums = 1, .deliver = deliver};
    if (state->sink->approximate) {
        product.element = sizeof(float);
        product.open = open_floats;
        product.multiply = multiply_floats;
    } else if (state->sink->form == GCOR_AS_FLOATS) {
        product.element = sizeof(float);
        product.sum_bytes = sizeof(double);
        product.slice = n_obs < SINGLE_SLICE ? n_obs : SINGLE_SLICE;
        product.chunk = SINGLE_CHUNK;
        product.open = open_singles;
        product.multiply = multiply_slices;
    } else {
        product.element = sizeof(double);
        product.open = open_doubles;
        product.multiply = multiply_doubles;
    }
    return cpu_multiply_slivers(state, &product, rows, cols, tile);
}
