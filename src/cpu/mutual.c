/* BINNED operands: bins are packed to level bitsets, and contingency tables are counted by counting bits. All sums are
 * exact integers. */
#include "cpu.h"

#include "../base/triangle.h"
#include "../measure/mutual.h"

#include <string.h>

enum { WORD = 64, WIDTH = CPU_MICRO_PANEL_BYTES / sizeof(uint64_t) };

static const unsigned char *codes_of(const cpu_operand *o, int64_t var) {
    return o->codes + (var - o->head.first) * o->head.n_obs;
}

static void set_bit(uint64_t *level, int64_t k) {
    level[k / WORD * WIDTH] |= (uint64_t)1 << k % WORD;
}

/* Always packs all elements, as a product of bins has one slice. */
static void pack_bins(const gcor_state *state, const cpu_product *product, const cpu_operand *operand, int64_t var,
                      int64_t first, int64_t n, char *micro_panel, void *work) {
    const cpu_bins *bins = &product->bins;
    (void)state, (void)first, (void)work;
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

static void dot_bins(const gcor_state *state, const cpu_product *product, char *rows, char *cols, int64_t n, int add,
                     void *sums) {
    (void)n, (void)add;                    /* one slice in one chunk */
    if (gcor_stop(state->context)) return; /* with long columns a block takes seconds */
    state->kernels->mutual((const uint64_t *)(void *)rows, (const uint64_t *)(void *)cols, &product->bins, sums);
}

/* ---- to the sink ----------------------------------------------------------------------------- */

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

/* ---------------------------------------------------------------------------------------------- */

cpu_product cpu_mutual_product(const cpu_operand *rows) {
    int is_common = rows->head.kind == GCOR_BINNED_COMMON;
    int64_t words = (rows->head.n_obs + WORD - 1) / WORD, length = (rows->n_bins + is_common) * words + 1;
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
