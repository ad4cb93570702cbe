/* SIGN operands: a tile's scores are opened into bit planes, a slice at a time, and multiplied
 * by popcounts. The slices keep the memory bounded for any n_obs; the sums are exact. */
#include "sign.h"

#include "../core/coefficient.h"
#include "../core/threads.h"

#include <string.h>

enum { SLICE_WORDS = 512 }; /* 4 KB a plane: a block's planes stay in the cache */

/* The work memory of one tile, carved from one piece. */
typedef struct {
    cpu_planes rows, cols;
    cpu_sign_sums sums; /* n_row x n_col each */
} tile_work;

static int64_t plane_words(int common, int64_t n_var, int64_t words) {
    return n_var * (words * (common ? 3 : 2) + 1);
}

static int64_t *carve_planes(int64_t *from, int common, int64_t n_var, int64_t words, cpu_planes *planes) {
    planes->words = words;
    planes->greater = (uint64_t *)from;
    planes->less = planes->greater + n_var * words;
    planes->present = common ? planes->less + n_var * words : NULL;
    planes->ones = from + n_var * words * (common ? 3 : 2);
    return planes->ones + n_var;
}

static gcor_status carve(gcor_state *state, int common, const gcor_tile *tile, int64_t words, tile_work *work) {
    int64_t pairs = tile->n_row * tile->n_col, sums = pairs * (common ? 3 : 1);
    int64_t planes = plane_words(common, tile->n_row, words) + plane_words(common, tile->n_col, words);
    int64_t *from = cpu_work(state, sums + planes, sizeof(int64_t));
    if (!from) return GCOR_NO_MEMORY;
    memset(from, 0, (size_t)sums * sizeof *from);
    work->sums = (cpu_sign_sums){from, common ? from + pairs : NULL, common ? from + 2 * pairs : NULL};
    from = carve_planes(from + sums, common, tile->n_row, words, &work->rows);
    carve_planes(from, common, tile->n_col, words, &work->cols);
    return GCOR_OK;
}

/* Compare scores [k], [k+1], ... with [q], [q+1], ... and set their bits from `bit` on. */
static void compare_run(const float *score, int64_t k, int64_t q, int64_t run, int bit, uint64_t *greater,
                        uint64_t *less, uint64_t *present) {
    uint64_t g = 0, l = 0, p = 0;
    for (int64_t t = 0; t < run; t++) {
        float x = score[k + t], y = score[q + t];
        g |= (uint64_t)(x > y) << t;
        l |= (uint64_t)(x < y) << t;
        p |= (uint64_t)(x == x && y == y) << t;
    }
    *greater |= g << bit;
    *less |= l << bit;
    if (present) *present |= p << bit;
}

/* Bits first .. first+planes->bits-1 of variable v, whose scores are given. */
static void open_variable(const float *score, int64_t n_obs, int64_t first, cpu_planes *planes, int64_t v) {
    gcor_obs_pair pair = gcor_obs_pair_of(first, n_obs);
    int64_t at = v * planes->words, ones = 0;
    for (int64_t w = 0; w < planes->words; w++) {
        uint64_t greater = 0, less = 0, present = 0;
        int64_t bits = planes->bits - 64 * w < 64 ? planes->bits - 64 * w : 64;
        for (int64_t bit = 0, run; bit < bits; bit += run) {
            run = bits - bit;
            if (run > n_obs - pair.k) run = n_obs - pair.k;
            if (run > n_obs - pair.q) run = n_obs - pair.q;
            compare_run(score, pair.k, pair.q, run, (int)bit, &greater, &less, planes->present ? &present : NULL);
            pair.k += run;
            pair.q += run;
            if (pair.q == n_obs) pair.q = 0;
            if (pair.k == n_obs) pair.k = 0, pair.q++; /* the next lag: the partner is one further on */
        }
        planes->greater[at + w] = greater;
        planes->less[at + w] = less;
        if (planes->present) planes->present[at + w] = present;
        ones += __builtin_popcountll(greater);
    }
    planes->ones[v] = ones;
}

static void open_planes(gcor_context *context, int thread, const cpu_operand *o, int64_t var, int64_t n_var,
                        int64_t first, cpu_planes *planes) {
    int64_t n = o->head.n_obs;
#pragma omp for schedule(dynamic, 32)
    for (int64_t v = 0; v < n_var; v++)
        if (!gcor_stop(context, thread))
            open_variable(o->columns + (var - o->head.first + v) * n, n, first, planes, v);
}

static void count_blocks(gcor_context *context, int thread, const gcor_tile *tile, gcor_shape shape,
                         cpu_sign_mode mode, tile_work *work) {
    cpu_sign_count count = cpu_sign_counter();
#pragma omp for schedule(dynamic)
    for (int64_t b = 0; b < cpu_blocks(tile); b++) {
        gcor_tile block = cpu_block(tile, b);
        for (int64_t row = block.row; row < block.row + block.n_row && !gcor_stop(context, thread); row++) {
            int64_t col, n;
            gcor_tile_segment(&block, shape, row, &col, &n);
            int64_t r = row - tile->row, c = col - tile->col, at = r * tile->n_col + c;
            cpu_sign_sums sums = {work->sums.sign + at, NULL, NULL};
            if (mode == CPU_SIGN_COMMON) sums.row_untied = work->sums.row_untied + at;
            if (mode == CPU_SIGN_COMMON) sums.col_untied = work->sums.col_untied + at;
            if (n > 0) count(&work->rows, r, &work->cols, c, n, mode, &sums);
        }
    }
}

/* No untied pair: all values are the same, or there is no pair at all. */
static double common_coefficient(const cpu_operand *rows, int64_t row, const cpu_operand *cols, int64_t col,
                                 const cpu_sign_sums *sums, int64_t at) {
    int64_t n = rows->head.n_obs, x = sums->row_untied[at], y = sums->col_untied[at];
    if ((x == 0 || y == 0) && !gcor_has_common_pair(rows->columns + (row - rows->head.first) * n,
                                                    cols->columns + (col - cols->head.first) * n, n))
        return GCOR_NO_VALUE;
    return gcor_coefficient((double)sums->sign[at], (double)x, (double)y);
}

static void deliver_block(gcor_state *state, int thread, const cpu_operand *rows, const cpu_operand *cols,
                          const gcor_tile *tile, const gcor_tile *block, const cpu_sign_sums *sums) {
    double values[CPU_BLOCK_COLS];
    for (int64_t row = block->row; row < block->row + block->n_row; row++) {
        int64_t col, n;
        gcor_tile_segment(block, state->sink->shape, row, &col, &n);
        if (n == 0) continue;
        int64_t at = (row - tile->row) * tile->n_col + (col - tile->col);
        double norm = rows->head.norm[row - rows->head.first];
        const double *col_norm = cols->head.norm + (col - cols->head.first);
        for (int64_t k = 0; k < n; k++)
            values[k] = sums->row_untied ? common_coefficient(rows, row, cols, col + k, sums, at + k)
                                         : gcor_coefficient((double)sums->sign[at + k], norm, col_norm[k]);
        cpu_deliver(state, thread, row, col, n, values);
    }
}

static void deliver(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols, const gcor_tile *tile,
                    const cpu_sign_sums *sums) {
#pragma omp parallel for schedule(dynamic) num_threads(state->context->threads)
    for (int64_t b = 0; b < cpu_blocks(tile); b++) {
        gcor_tile block = cpu_block(tile, b);
        deliver_block(state, omp_get_thread_num(), rows, cols, tile, &block, sums);
    }
}

/* Without a tie the pairs not concordant are discordant, and one product tells. A variable
 * without coefficients (norm below 0) may count as it likes. */
static int untied(const cpu_operand *o, int64_t var, int64_t n_var) {
    double all = (double)gcor_obs_pairs(o->head.n_obs);
    for (int64_t v = var - o->head.first; v < var - o->head.first + n_var; v++)
        if (o->head.norm[v] >= 0 && o->head.norm[v] < all) return 0;
    return 1;
}

static cpu_sign_mode mode_of(const cpu_operand *rows, const cpu_operand *cols, const gcor_tile *tile) {
    if (rows->head.kind == GCOR_SIGN_COMMON) return CPU_SIGN_COMMON;
    int free_of_ties = untied(rows, tile->row, tile->n_row) && untied(cols, tile->col, tile->n_col);
    return free_of_ties ? CPU_SIGN_UNTIED : CPU_SIGN_TIED;
}

gcor_status cpu_multiply_sign(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                              const gcor_tile *tile) {
    gcor_context *context = state->context;
    cpu_sign_mode mode = mode_of(rows, cols, tile);
    int64_t bits = gcor_obs_pairs(rows->head.n_obs), words = (bits + 63) / 64;
    tile_work work;
    gcor_status status = carve(state, mode == CPU_SIGN_COMMON, tile, words < SLICE_WORDS ? words : SLICE_WORDS, &work);
    if (status) return status;

    for (int64_t first = 0; first < bits && !gcor_stop(context, 0); first += 64 * SLICE_WORDS) {
        int64_t slice = bits - first < 64 * SLICE_WORDS ? bits - first : 64 * SLICE_WORDS;
        work.rows.bits = work.cols.bits = slice;
        context->monitor.tile_share = (double)first / (double)bits;
#pragma omp parallel num_threads(context->threads)
        {
            int thread = omp_get_thread_num();
            open_planes(context, thread, rows, tile->row, tile->n_row, first, &work.rows);
            open_planes(context, thread, cols, tile->col, tile->n_col, first, &work.cols);
            count_blocks(context, thread, tile, state->sink->shape, mode, &work);
        }
    }
    if (gcor_stop(context, 0)) return context->error.status;
    deliver(state, rows, cols, tile, &work.sums);
    return context->error.status;
}
