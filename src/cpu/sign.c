/* SIGN operands: scores are packed to bit planes, one bit for each pair of observations, and multiplied by counting
 * bits. All sums are exact. */
#include "cpu.h"

#include "../measure/coefficient.h"
#include "../base/triangle.h"
#include "../measure/mutual.h"

#include <string.h>

/* Words that are packed at a time: 16 MB a plane of the variables of a tile, all words up to 256 observations. */
enum { SLICE_WORDS = 512, WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(uint64_t) };

static cpu_planes planes_at(const cpu_product *product, char *micro_panel) {
    uint64_t *plane = (uint64_t *)micro_panel;
    int64_t apart = product->slice * WIDTH;
    return (cpu_planes){plane, product->planes > 1 ? plane + apart : NULL,
                        product->planes > 2 ? plane + 2 * apart : NULL};
}

/* Copies the scores twice, so that pairs of observations do not wrap around at the end. */
static void pack_signs(const gcor_state *state, const cpu_product *product, const cpu_operand *operand, int64_t var,
                       int64_t first, int64_t n, char *micro_panel, void *work) {
    int64_t n_obs = operand->head.n_obs, bit = 64 * first, bits = gcor_obs_pairs(n_obs) - bit;
    if (bits > 64 * n) bits = 64 * n;
    if (bits <= 0) return; /* fewer than two observations */
    for (int v = 0; v < WIDTH; v++) {
        const float *score = operand->columns + (cpu_at_most_last(operand, var + v) - operand->head.first) * n_obs;
        cpu_planes planes = planes_at(product, micro_panel + v * (int64_t)sizeof(uint64_t));
        memcpy(work, score, (size_t)n_obs * sizeof *score);
        memcpy((float *)work + n_obs, score, (size_t)n_obs * sizeof *score);
        memset((float *)work + 2 * n_obs, 0, 64 * sizeof *score);
        state->kernels->pack(work, n_obs, bit, bits, &planes);
    }
}

static void dot_signs(const gcor_state *state, const cpu_product *product, char *rows, char *cols, int64_t n, int add,
                      void *sums) {
    cpu_planes row = planes_at(product, rows), col = planes_at(product, cols);
    state->kernels->signs(&row, &col, n, add, sums);
}

/* ---- to the sink ----------------------------------------------------------------------------- */

/* Converts the sums of pairwise-complete pairs: each pair has its own norms. If one is 0, either all values are
 * equal or there is no pair of complete observations. */
static void common_coefficients(const gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                                const gcor_segment *segment, double *sums) {
    int64_t n_obs = rows->head.n_obs;
    for (int plane = 1; plane <= 2; plane++)
        state->kernels->convert((int64_t *)sums + plane * CPU_BLOCK_PAIRS, 0, segment->n);
    state->kernels->own_coefficients(sums, sums + CPU_BLOCK_PAIRS, sums + 2 * CPU_BLOCK_PAIRS, segment->n);
    const float *x = rows->columns + (segment->row - rows->head.first) * n_obs;
    const float *y = cols->columns + (segment->col - cols->head.first) * n_obs;
    for (int64_t k = 0; k < segment->n; k++)
        if (sums[k] == GCOR_ZERO_SD && !gcor_has_common_pair(x, y + k * n_obs, n_obs)) sums[k] = GCOR_NO_VALUE;
}

static void deliver_signs(gcor_state *state, const cpu_product *product, int thread, const cpu_operand *rows,
                          const cpu_operand *cols, const gcor_tile *block, void *sums) {
    const cpu_kernels *kernels = state->kernels;
    int64_t all = product->mode == CPU_UNTIED ? gcor_obs_pairs(rows->head.n_obs) : 0;
    int32_t counts[CPU_BLOCK_COLS];
    for (int64_t r = 0; r < block->n_row; r++) {
        gcor_segment segment = {.row = block->row + r};
        gcor_tile_segment(block, state->sink->shape, segment.row, &segment.col, &segment.n);
        if (segment.n == 0) continue;
        double *values = (double *)sums + r * CPU_BLOCK_COLS + (segment.col - block->col);
        if (state->sink->form == GCOR_AS_COUNTS && product->mode != CPU_COMMON) {
            for (int64_t k = 0; k < segment.n; k++) counts[k] = (int32_t)(((const int64_t *)values)[k] + all);
            segment.counts = counts;
            cpu_deliver(state, thread, segment);
            continue;
        }
        kernels->convert((int64_t *)values, all, segment.n);
        if (product->mode == CPU_COMMON) {
            common_coefficients(state, rows, cols, &segment, values);
        } else {
            kernels->coefficients(values, rows->head.norm[segment.row - rows->head.first],
                                  cols->head.norm + (segment.col - cols->head.first), segment.n);
        }
        segment.doubles = values;
        cpu_deliver(state, thread, segment);
    }
}

/* ---------------------------------------------------------------------------------------------- */

/* True if no variable has ties: then a pair of observations that is not concordant is discordant. For variables
 * without coefficients (norm below 0) the answer does not matter. */
static int untied(const cpu_operand *o, int64_t var, int64_t n_var) {
    double all = (double)gcor_obs_pairs(o->head.n_obs);
    for (int64_t v = var - o->head.first; v < var - o->head.first + n_var; v++)
        if (o->head.norm[v] >= 0 && o->head.norm[v] < all) return 0;
    return 1;
}

cpu_product cpu_sign_product(const cpu_operand *rows, const cpu_operand *cols, const gcor_tile *tile) {
    int64_t words = (gcor_obs_pairs(rows->head.n_obs) + 63) / 64;
    cpu_sign_mode mode = CPU_TIED;
    if (rows->head.kind == GCOR_SIGN_COMMON)
        mode = CPU_COMMON;
    else if (untied(rows, tile->row, tile->n_row) && untied(cols, tile->col, tile->n_col))
        mode = CPU_UNTIED;
    return (cpu_product){.length = words,
                         .slice = words < SLICE_WORDS ? words : SLICE_WORDS,
                         .element = sizeof(uint64_t),
                         .planes = cpu_count_planes(mode),
                         .sums = mode == CPU_COMMON ? 3 : 1,
                         .mode = mode,
                         .work_bytes = (2 * rows->head.n_obs + 64) * (int64_t)sizeof(float),
                         .pack = pack_signs,
                         .dot = dot_signs,
                         .deliver = deliver_signs};
}

/* ---- products of bins --------------------------------------------------------------------------------------- */

/* BINNED operands: bins are packed to level bitsets, and contingency tables are counted by counting bits. All sums are
 * exact integers. */

enum { BINS_WORD = 64 };

static const unsigned char *codes_of(const cpu_operand *o, int64_t var) {
    return o->codes + (var - o->head.first) * o->head.n_obs;
}

static void set_bit(uint64_t *level, int64_t k) {
    level[k / BINS_WORD * WIDTH] |= (uint64_t)1 << k % BINS_WORD;
}

/* Always packs all elements, as a product of bins has one slice. */
static void pack_bins(const gcor_state *state, const cpu_product *product, const cpu_operand *operand, int64_t var,
                      int64_t first, int64_t n, char *micro_panel, void *work) {
    const cpu_bins *bins = &product->bins;
    memset(micro_panel, 0, (size_t)n * CPU_MICRO_PANEL_BYTES);
    for (int v = 0; v < WIDTH; v++) {
        int64_t own = cpu_at_most_last(operand, var + v);
        const unsigned char *codes = codes_of(operand, own);
        uint64_t *words = (uint64_t *)(void *)micro_panel + v;
        for (int64_t k = 0; k < operand->head.n_obs; k++) {
            if (codes[k] == GCOR_NO_BIN) continue;
            set_bit(words + codes[k] * bins->words * WIDTH, k);
            if (bins->is_common) set_bit(words + bins->levels * bins->words * WIDTH, k);
        }
        words[(n - 1) * WIDTH] = operand->levels[own - operand->head.first];
    }
}

/* All of n is one slice, so that there is nothing to add to. */
static void dot_bins(const gcor_state *state, const cpu_product *product, char *rows, char *cols, int64_t n, int add,
                     void *sums) {
    if (gcor_stop(state->context)) return; /* with long columns a block takes seconds */
    state->kernels->mutual((const uint64_t *)(void *)rows, (const uint64_t *)(void *)cols, &product->bins, sums);
}

/* True if both columns have several bins among their pairwise-complete observations. */
static int both_vary(const unsigned char *x, const unsigned char *y, int64_t n) {
    int64_t first = 0, x_varies = 0, y_varies = 0;
    while (first < n && (x[first] == GCOR_NO_BIN || y[first] == GCOR_NO_BIN)) first++;
    for (int64_t k = first; k < n && !(x_varies && y_varies); k++) {
        if (x[k] == GCOR_NO_BIN || y[k] == GCOR_NO_BIN) continue;
        x_varies |= x[k] != x[first];
        y_varies |= y[k] != y[first];
    }
    return x_varies && y_varies;
}

/* A constant column has no information in common with any other, so only sums near zero need a look at the bins. */
static double common_coefficient(const cpu_operand *rows, int64_t row, const cpu_operand *cols, int64_t col,
                                 int64_t sum, int64_t n) {
    if (n < 2) return GCOR_NO_VALUE;
    double r = gcor_mutual_coefficient(sum, n, rows->unit);
    return r > 0 || both_vary(codes_of(rows, row), codes_of(cols, col), rows->head.n_obs) ? r : GCOR_ZERO_SD;
}

static double complete_coefficient(const cpu_operand *rows, int64_t row, const cpu_operand *cols, int64_t col,
                                   int64_t sum) {
    int64_t i = row - rows->head.first, j = col - cols->head.first, n = rows->head.n_obs;
    const gcor_mutual_scale scale = {n, rows->terms[n], rows->unit};
    return gcor_mutual_of_cells(&scale, sum, rows->margin[i], cols->margin[j], rows->head.norm[i], cols->head.norm[j]);
}

static void deliver_bins(gcor_state *state, const cpu_product *product, int thread, const cpu_operand *rows,
                         const cpu_operand *cols, const gcor_tile *block, void *sums) {
    double values[CPU_BLOCK_COLS];
    if (gcor_stop(state->context)) return; /* sums may be unfinished */
    for (int64_t r = 0; r < block->n_row; r++) {
        gcor_segment segment = {.row = block->row + r, .doubles = values};
        gcor_tile_segment(block, state->sink->shape, segment.row, &segment.col, &segment.n);
        if (segment.n == 0) continue;
        const int64_t *sum = (const int64_t *)sums + r * CPU_BLOCK_COLS + (segment.col - block->col);
        for (int64_t k = 0; k < segment.n; k++)
            values[k] = product->bins.is_common
                            ? common_coefficient(rows, segment.row, cols, segment.col + k, sum[k],
                                                 sum[k + CPU_BLOCK_PAIRS])
                            : complete_coefficient(rows, segment.row, cols, segment.col + k, sum[k]);
        cpu_deliver(state, thread, segment);
    }
}

cpu_product cpu_mutual_product(const cpu_operand *rows) {
    int is_common = rows->head.kind == GCOR_BINNED_COMMON;
    int64_t words = (rows->head.n_obs + BINS_WORD - 1) / BINS_WORD, length = (rows->n_bins + is_common) * words + 1;
    return (cpu_product){.length = length,
                         .slice = length,
                         .chunk = length,
                         .element = sizeof(uint64_t),
                         .planes = 1,
                         .sums = 1 + is_common,
                         .bins = {rows->n_bins, is_common, words, rows->terms},
                         .work_bytes = 1,
                         .pack = pack_bins,
                         .dot = dot_bins,
                         .deliver = deliver_bins};
}
