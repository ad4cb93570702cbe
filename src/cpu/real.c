/* REAL and DOUBLE operands. Approximate coefficients of REAL operands are sums in single precision of columns scaled to
 * unit length, or for a coarse sink sums of bytes, four times as fast. Coefficients rounded to single precision are
 * summed slice by slice in single precision, to the same last bit as on a GPU. All others are sums of doubles, in which
 * a product of two floats is exact; DOUBLE operands are summed in runs (coefficient.h), as on a GPU. */
#include "cpu.h"

#include "../base/alloc.h"
#include "../measure/coefficient.h"
#include "../sink/groups/combine.h"

#include <math.h>
#include <string.h>

/* SLICE: observations packed at a time, 64 MB for a tile's variables, in whole runs. SINGLE_SLICE, SINGLE_CHUNK: for
 * sums in single precision, in whole slices; a chunk stays in the first-level cache. */
enum { SLICE = 2048, SINGLE_SLICE = 171 * GCOR_OBS_SLICE, SINGLE_CHUNK = 11 * GCOR_OBS_SLICE };
/* A sum of products of bytes, one of them with 128 added, fits in 32 bits. */
enum { MAX_BYTES = INT32_MAX / (255 * 127), IN_ELEMENT = sizeof(float) };
_Static_assert(SLICE % GCOR_OBS_RUN == 0, "slices of whole runs");

static const float *column_of(const cpu_operand *o, int64_t var) {
    return o->columns + (var - o->head.first) * o->stride;
}

/* Columns for approximate sums have unit length. */
static void pack_floats(const gcor_state *state, const cpu_product *product, const cpu_operand *operand, int64_t var,
                        int64_t first, int64_t n, char *micro_panel, void *work) {
    enum { WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(float) };
    for (int v = 0; v < WIDTH; v++) {
        int64_t own = cpu_at_most_last(operand, var + v);
        const float *column = column_of(operand, own) + first;
        float scale = state->sink->approximate ? operand->scale[own - operand->head.first] : 1;
        float *out = (float *)micro_panel + v;
        for (int64_t k = 0; k < n; k++) out[k * WIDTH] = column[k] * scale;
    }
}

/* An element of a column is four bytes. */
static void pack_bytes(const gcor_state *state, const cpu_product *product, const cpu_operand *operand, int64_t var,
                       int64_t first, int64_t n, char *micro_panel, void *work) {
    for (int v = 0; v < CPU_MICRO_PANEL_BYTES; v += IN_ELEMENT) {
        int64_t own = cpu_at_most_last(operand, var + v / IN_ELEMENT) - operand->head.first;
        const unsigned char *column = operand->bytes + own * operand->stride + first * IN_ELEMENT;
        for (int64_t k = 0; k < n; k++)
            memcpy(micro_panel + k * CPU_MICRO_PANEL_BYTES + v, column + k * IN_ELEMENT, IN_ELEMENT);
    }
}

static void pack_doubles(const gcor_state *state, const cpu_product *product, const cpu_operand *operand, int64_t var,
                         int64_t first, int64_t n, char *micro_panel, void *work) {
    enum { WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(double) };
    for (int v = 0; v < WIDTH; v++) {
        const float *column = column_of(operand, cpu_at_most_last(operand, var + v)) + first;
        double *out = (double *)micro_panel + v;
        for (int64_t k = 0; k < n; k++) out[k * WIDTH] = column[k];
    }
}

static void pack_values(const gcor_state *state, const cpu_product *product, const cpu_operand *operand, int64_t var,
                        int64_t first, int64_t n, char *micro_panel, void *work) {
    enum { WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(double) };
    for (int v = 0; v < WIDTH; v++) {
        int64_t own = cpu_at_most_last(operand, var + v) - operand->head.first;
        const double *column = operand->values + own * operand->head.n_obs + first;
        const gcor_common_sums *common = operand->common ? operand->common + own : NULL;
        double *out = (double *)micro_panel + v;
        for (int64_t k = 0; k < n; k++) out[k * WIDTH] = common ? gcor_common_score(common, column[k]) : column[k];
    }
}

#define DOT(name, kernel, type, sum_type) \
    static void name(const gcor_state *state, const cpu_product *product, char *rows, char *cols, int64_t n, int add, \
                     void *sums) { \
        state->kernels->kernel((const type *)rows, (const type *)cols, n, add, (sum_type *)sums); \
    }
DOT(dot_floats, floats, float, float)
DOT(dot_slices, slices, float, double)
DOT(dot_bytes, bytes, int32_t, int32_t)
DOT(dot_doubles, doubles, double, double)
DOT(dot_values, fused, double, double)

/* ---- pairs by themselves ------------------------------------------------------------------------ */

/* Inlined because compilers drop calls of functions that only prefetch. */
static inline __attribute__((always_inline)) void prefetch_column(const cpu_operand *o, int64_t var) {
    enum { LINE = 64 };
    const char *at = (const char *)column_of(o, var);
    for (int64_t byte = 0; byte < o->stride * (int64_t)sizeof(float); byte += LINE) __builtin_prefetch(at + byte);
    __builtin_prefetch(o->head.norm + (var - o->head.first));
    __builtin_prefetch(o->inverse + (var - o->head.first));
}

/* A few columns are far apart in memory: all are prefetched before the first is read. */
static inline __attribute__((always_inline)) void
prefetch_columns(const cpu_operand *a, const cpu_operand *b, int64_t row, int64_t col, const int32_t *k, int64_t n) {
    prefetch_column(a, row);
    for (int64_t i = 0; i < n; i++) prefetch_column(b, col + k[i]);
}

static void pairs_of_set(const cpu_operand *a, const cpu_operand *b, int64_t row, int64_t col, const int32_t *k,
                         int64_t n, double *r) {
    enum { SOME = 64 };
    int64_t own = row - a->head.first, other = col - b->head.first;
    double norm[SOME], inverse[SOME];
    float rounded[SOME];
    for (int64_t from = 0; from < n; from += SOME) {
        int64_t some = n - from < SOME ? n - from : SOME;
        a->kernels->slice_dots(column_of(a, row), column_of(b, col), b->stride, k + from, some, a->head.n_obs,
                               r + from);
        for (int64_t i = 0; i < some; i++) {
            norm[i] = b->head.norm[other + k[from + i]];
            inverse[i] = b->inverse[other + k[from + i]];
        }
        a->kernels->rounded_coefficients(r + from, a->head.norm[own], a->inverse[own], norm, inverse, some, rounded);
        for (int64_t i = 0; i < some; i++) r[from + i] = rounded[i];
    }
}

void cpu_pairs(const gcor_operand *const *rows, const gcor_operand *const *cols, int64_t sets, int64_t row, int64_t col,
               const int32_t *k, int64_t n, double *r) {
    enum { FEW = 16, AHEAD = 3 };
    const cpu_operand *const *a = (const cpu_operand *const *)rows, *const *b = (const cpu_operand *const *)cols;
    if (!r) {
        for (int64_t s = 0; s < sets; s++) prefetch_columns(a[s], b[s], row, col, k, n);
        return;
    }
    for (int64_t s = 0; s < sets; s++) {
        for (int64_t next = s == 0 ? 0 : s + AHEAD; n <= FEW && next <= s + AHEAD && next < sets; next++)
            prefetch_columns(a[next], b[next], row, col, k, n);
        pairs_of_set(a[s], b[s], row, col, k, n, r + s * n);
    }
}

/* ---- to the sink ----------------------------------------------------------------------------- */

static void exact(const gcor_segment *segment, const int32_t *k, int64_t n, double *r) {
    enum { SOME = 256 };
    const cpu_operand *rows = segment->rows, *cols = segment->cols;
    const double *other_norm = cols->head.norm + (segment->col - cols->head.first);
    double norm[SOME];
    rows->kernels->dots(column_of(rows, segment->row), column_of(cols, segment->col), cols->stride, k, n, rows->stride,
                        r);
    for (int64_t from = 0; from < n; from += SOME) {
        int64_t some = n - from < SOME ? n - from : SOME;
        for (int64_t i = 0; i < some; i++) norm[i] = other_norm[k[from + i]];
        rows->kernels->coefficients(r + from, rows->head.norm[segment->row - rows->head.first], norm, some);
    }
}

/* The same for a sink of form GCOR_AS_FLOATS. */
static void exact_rounded(const gcor_segment *segment, const int32_t *k, int64_t n, double *r) {
    pairs_of_set(segment->rows, segment->cols, segment->row, segment->col, k, n, r);
}

/* A sum of n products is off by at most n roundings of the sum of their absolute values, which is at most the product
 * of the columns' lengths. The added terms bound the errors of scaling to unit length, or of the division. */
static double error_bound(int is_approx, int64_t n_obs) {
    double n = (double)n_obs * 0x1p-24;
    if (!is_approx) return (double)(n_obs + 4) * 0x1p-52;
    return n < 0.5 ? n / (1 - n) + 0x1p-20 : 1;
}

/* A bound of the error of coefficients from bytes: x y - x' y' = (x - x') y + x' (y - y'). 1: there are no bytes. */
static double bytes_error(const cpu_operand *rows, const cpu_operand *cols) {
    if (!rows->bytes || !cols->bytes || rows->head.n_obs > MAX_BYTES) return 1;
    const double x = rows->max_length, y = cols->max_length, lost = rows->max_lost, other_lost = cols->max_lost;
    return (lost * y + (x + lost) * other_lost) * (1 + 1e-4) + error_bound(1, rows->head.n_obs);
}

/* True if few coefficients of a sample of pairs are so large that their Fisher z take exact ones (combine_approx.c). */
static int are_mostly_small(const cpu_operand *rows, const cpu_operand *cols) {
    enum { ROWS = 8, COLS = 32 };
    const int64_t n_row = rows->head.n_var, n_col = cols->head.n_var;
    int large = 0;
    for (int64_t row = 0; row < n_row; row += (n_row + ROWS - 1) / ROWS) {
        int32_t which[COLS];
        double r[COLS];
        for (int k = 0; k < COLS; k++) which[k] = (int32_t)((row + 1 + k * n_col / COLS) % n_col);
        rows->kernels->slice_dots(rows->columns + row * rows->stride, cols->columns, cols->stride, which, COLS,
                                  rows->head.n_obs, r);
        for (int k = 0; k < COLS; k++)
            large += fabs(r[k] * rows->inverse[row] * cols->inverse[which[k]]) > GCOR_APPROX_LOW;
    }
    return large < 2;
}

/* True if products of bytes cost less than of floats, with more pairs to refine. On two processors that is where the
 * min coefficient exceeds the error by 1.5 standard errors of unrelated columns. A maximum grows, and soon rules out
 * most pairs, but not large coefficients whose Fisher z are combined. */
static int do_bytes_pay(const gcor_sink *sink, const cpu_operand *rows, const cpu_operand *cols) {
    const double error = bytes_error(rows, cols), size = rows->max_length * cols->max_length;
    if (!sink->approximate || !sink->coarse || error > GCOR_COARSE_ERROR) return 0;
    if (sink->type->role == GCOR_COMBINE && ((const gcor_combine *)sink)->rule->how == GCOR_FISHER)
        return are_mostly_small(rows, cols);
    if (!sink->type->min || sink->type->role == GCOR_MAXIMUM) return 1;
    return sink->type->min(sink) > error + 1.5 * size / sqrt((double)rows->head.n_obs);
}

/* True if coefficients are delivered as floats. */
static int is_rounded(const gcor_state *state, const cpu_operand *rows) {
    return rows->head.kind == GCOR_REAL && state->sink->form == GCOR_AS_FLOATS;
}

/* Replace products by coefficients, or write them as floats to `rounded`. */
static void set_coefficients(const gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                             double *products, float *rounded, gcor_segment *segment) {
    int64_t row = segment->row - rows->head.first, col = segment->col - cols->head.first;
    double norm = rows->head.norm[row], *other_norm = cols->head.norm + col;
    if (is_rounded(state, rows)) {
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
    int is_approx = rows->head.kind == GCOR_REAL && state->sink->approximate;
    gcor_segment segment = {0};
    float rounded[CPU_BLOCK_COLS];
    if (rows->head.kind == GCOR_REAL)
        segment = (gcor_segment){.error = product->is_bytes ? bytes_error(rows, cols)
                                                            : error_bound(is_approx, rows->head.n_obs),
                                 .refine = is_rounded(state, rows) ? exact_rounded : exact,
                                 .rows = rows,
                                 .cols = cols};
    for (int64_t r = 0; r < block->n_row; r++) {
        segment.row = block->row + r;
        gcor_tile_segment(block, state->sink->shape, segment.row, &segment.col, &segment.n);
        if (segment.n == 0) continue;
        int64_t at = r * CPU_BLOCK_COLS + (segment.col - block->col);
        if (product->is_bytes) {
            state->kernels->scale_sums((const int32_t *)sums + at, rows->step[segment.row - rows->head.first],
                                       cols->step + (segment.col - cols->head.first), segment.n, rounded);
            segment.floats = rounded;
        } else if (is_approx) {
            segment.floats = (const float *)sums + at;
        } else {
            set_coefficients(state, rows, cols, (double *)sums + at, rounded, &segment);
        }
        /* A failure is in the context. Not by cpu_deliver(), whose copy of the segment would stall on the writes just
         * made. */
        (void)state->sink->type->take(state->sink, state->context, thread, &segment);
    }
}

cpu_product cpu_real_product(const gcor_state *state, const cpu_operand *rows, const cpu_operand *cols) {
    int64_t n_obs = rows->head.n_obs;
    cpu_product product = {
        .length = n_obs, .slice = n_obs < SLICE ? n_obs : SLICE, .planes = 1, .sums = 1, .deliver = deliver};
    if (rows->head.kind == GCOR_DOUBLE || rows->head.kind == GCOR_REAL_COMMON) {
        product.element = sizeof(double);
        product.chunk = GCOR_OBS_RUN;
        product.pack = pack_values;
        product.dot = dot_values;
        if (rows->head.kind == GCOR_REAL_COMMON) product.deliver = cpu_deliver_common;
    } else if (do_bytes_pay(state->sink, rows, cols)) {
        product.is_bytes = 1;
        product.element = IN_ELEMENT;
        product.length = (n_obs + IN_ELEMENT - 1) / IN_ELEMENT;
        product.slice = product.length < SLICE ? product.length : SLICE;
        product.pack = pack_bytes;
        product.dot = dot_bytes;
    } else if (state->sink->approximate) {
        product.element = sizeof(float);
        product.pack = pack_floats;
        product.dot = dot_floats;
    } else if (is_rounded(state, rows)) {
        product.element = sizeof(float);
        product.sum_bytes = sizeof(double);
        product.slice = n_obs < SINGLE_SLICE ? n_obs : SINGLE_SLICE;
        product.chunk = SINGLE_CHUNK;
        product.pack = pack_floats;
        product.dot = dot_slices;
    } else {
        product.element = sizeof(double);
        product.pack = pack_doubles;
        product.dot = dot_doubles;
    }
    return product;
}
