/* Multiplies a tile of signs pair by pair, choosing the cheapest method for each pair. */
#include "cpu.h"

#include "../measure/coefficient.h"
#include "../mask/pairs.h"
#include "../base/threads.h"
#include "kernels.h"
#include "../base/triangle.h"

#include <math.h>
#include <string.h>

/* ---- contingency tables ------------------------------------------------------------------------- */

/* Columns with few levels: counting bits gives the number of observations above level i in one and above level k in
 * the other, n_obs bits per pair of levels; the contingency table determines the rest. */

enum { WORD = 64, VECTOR_WORDS = CPU_MICRO_PANEL_BYTES / 8 };

int64_t cpu_set_words(int64_t n_obs) {
    int64_t words = (n_obs + WORD - 1) / WORD;
    return (words + VECTOR_WORDS - 1) / VECTOR_WORDS * VECTOR_WORDS;
}

/* Finds the distinct scores, ascending. */
static void find_levels(const float *score, int64_t n_obs, int levels, float *level) {
    int found = 0;
    for (int64_t k = 0; k < n_obs && found < levels; k++) {
        int at = 0;
        while (at < found && level[at] < score[k]) at++;
        if (score[k] != score[k] || (at < found && level[at] == score[k])) continue;
        memmove(level + at + 1, level + at, (size_t)(found - at) * sizeof *level);
        level[at] = score[k];
        found++;
    }
}

/* Compares 64 scores at a time; the last ones are padded with NaN. */
static void write_set(uint64_t (*compare)(const float *, const float *), const float *score, int64_t n_obs,
                      const float *with, uint64_t *set) {
    float last[WORD];
    int64_t whole = n_obs / WORD, rest = n_obs - whole * WORD;
    for (int64_t w = 0; w < whole; w++) set[w] = compare(score + w * WORD, with ? with : score + w * WORD);
    memset(set + whole, 0, (size_t)(cpu_set_words(n_obs) - whole) * sizeof *set);
    if (rest == 0) return;
    for (int k = 0; k < WORD; k++) last[k] = k < rest ? score[whole * WORD + k] : NAN;
    set[whole] = compare(last, with ? with : last);
}

void cpu_open_levels(const cpu_kernels *kernels, const float *score, int64_t n_obs, int levels, uint64_t *sets) {
    float level[CPU_LEVELS + 1], with[WORD];
    int64_t words = cpu_set_words(n_obs);
    find_levels(score, n_obs, levels, level);
    write_set(kernels->are_present, score, n_obs, NULL, sets);
    for (int l = 1; l < levels; l++) {
        for (int k = 0; k < WORD; k++) with[k] = level[l - 1];
        write_set(kernels->are_greater, score, n_obs, with, sets + l * words);
    }
}

/* table[i][k]: observations at level i of x or above and at level k of y or above; zeros beyond the last levels. */
cpu_kendall cpu_table(const cpu_kernels *kernels, const cpu_levels *x, const cpu_levels *y, int64_t n_obs) {
    enum { STRIDE = CPU_LEVELS + 1 };
    int64_t table[STRIDE][STRIDE] = {{0}}, numerator = 0, ties_x = 0, ties_y = 0;
    kernels->levels(x->sets, x->levels, y->sets, y->levels, cpu_set_words(n_obs), &table[0][0], STRIDE);
    for (int i = 0; i < x->levels; i++) {
        int64_t at_x = table[i][0] - table[i + 1][0];
        ties_x += at_x > 0 ? gcor_triangular(at_x - 1) : 0;
        for (int k = 0; k < y->levels; k++) {
            int64_t here = table[i][k] - table[i + 1][k] - table[i][k + 1] + table[i + 1][k + 1];
            int64_t above = table[i + 1][k + 1], below = table[i + 1][0] - table[i + 1][k];
            numerator += here * (above - below);
        }
    }
    for (int k = 0; k < y->levels; k++) {
        int64_t at_y = table[0][k] - table[0][k + 1];
        ties_y += at_y > 0 ? gcor_triangular(at_y - 1) : 0;
    }
    int64_t n = table[0][0], all = n > 0 ? gcor_triangular(n - 1) : 0;
    return (cpu_kendall){numerator, all - ties_x, all - ties_y, n};
}

/* Nanoseconds of one thread, measured together with those in set_*.h; only their ratios matter. */
static const double NS_SORT_STEP = 1.6, NS_PAIR = 200, NS_CELL = 15, NS_SUM = 0.6;

/* The variables of one side of a tile. */
typedef struct {
    const cpu_operand *of;
    int64_t var, n_var; /* the operand's numbers */
    cpu_levels *levels; /* of each, packed */
} side;

static int levels_of(const cpu_operand *o, int64_t v) {
    return o->head.norm[v] > 0 ? o->levels[v] : 0;
}

/* ---- estimated cost --------------------------------------------------------------------------- */

/* Counts of a side's variables: with few levels (and the sum of their levels), with two levels, with coefficients. */
typedef struct {
    double few, sets, two, all;
} census;

static census count_levels(const cpu_operand *o, int64_t first, int64_t n) {
    census c = {0};
    for (int64_t v = first - o->head.first; v < first - o->head.first + n; v++) {
        int levels = levels_of(o, v);
        c.all += o->head.norm[v] > 0;
        c.few += levels > 0;
        c.sets += levels;
        c.two += levels == 2;
    }
    return c;
}

static int is_diagonal(const cpu_operand *rows, const cpu_operand *cols, const gcor_tile *tile) {
    return rows == cols && tile->row == tile->col && tile->n_row == tile->n_col;
}

/* A level bitset has one word per 64 observations. The alternative is to pack sign planes for the tile and multiply
 * them. */
int cpu_is_cheaper_by_pairs(const gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                            const gcor_tile *tile, cpu_sign_mode mode) {
    double n = (double)rows->head.n_obs, words = n * n / 128, pairs = (double)gcor_tile_pairs(tile, state->sink->shape);
    double fraction = pairs / ((double)tile->n_row * (double)tile->n_col), word = state->kernels->ns_word;
    census a = count_levels(rows, tile->row, tile->n_row), b = count_levels(cols, tile->col, tile->n_col);
    double by_table = fraction * (a.sets * b.sets * (word * n / 64 + NS_CELL) + a.few * b.few * NS_PAIR);
    double by_sum = mode == CPU_COMMON ? 0 : fraction * (a.two * (b.all - b.few) + b.two * (a.all - a.few));
    double by_sort = fraction * (a.all * b.all - a.few * b.few) - by_sum;
    double sort = NS_SORT_STEP * n * log2(n + 2) + NS_PAIR;
    double own = by_table + by_sum * (NS_SUM * n + NS_PAIR) + by_sort * sort + (a.all - a.few) * 2 * sort;
    double packed = (double)tile->n_row + (is_diagonal(rows, cols, tile) ? 0 : (double)tile->n_col);
    double cost[] = {[CPU_UNTIED] = 1, [CPU_TIED] = 2, [CPU_COMMON] = 4};
    return own < words * (pairs * word * cost[mode] + packed * state->kernels->ns_pack * cpu_count_planes(mode));
}

/* ---- a tile --------------------------------------------------------------------------------------- */

typedef struct {
    gcor_state *state;
    const gcor_tile *tile;
    side rows, cols;
    int is_common;
    int64_t n_obs, work_bytes; /* bytes per thread: values of a row, a sorted column, scratch for sorting */
    int64_t piece, pieces;     /* columns of a piece of a row; pieces of a row */
    char *work;
} tile_of_pairs;

static const float *score_of(const side *s, int64_t v) {
    return s->of->columns + (s->var + v) * s->of->head.n_obs;
}

static double norm_of(const side *s, int64_t v) {
    return s->of->head.norm[s->var + v];
}

/* The numerator of a pair of which one column has two levels: scores sum to zero, so it is the sum of the other
 * column's scores above the lower level. */
static double sum_above(const float *two, const float *score, int64_t n) {
    double lane[8] = {0}, sum = 0;
    float lower = two[0];
    for (int64_t k = 1; k < n && two[0] == lower; k++) lower = two[k] < lower ? two[k] : lower;
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        for (int l = 0; l < 8; l++) lane[l] += two[k + l] > lower ? (double)score[k + l] : 0;
    for (; k < n; k++) sum += two[k] > lower ? (double)score[k] : 0;
    for (int l = 0; l < 8; l++) sum += lane[l];
    return sum;
}

static double coefficient(const tile_of_pairs *t, int64_t i, int64_t j, cpu_kendall found) {
    if (found.n_obs < 2) return GCOR_NO_VALUE;
    if (t->is_common) return gcor_coefficient((double)found.numerator, (double)found.untied_x, (double)found.untied_y);
    return gcor_coefficient((double)found.numerator, norm_of(&t->rows, i), norm_of(&t->cols, j));
}

static double pair(const tile_of_pairs *t, int64_t i, int64_t j, cpu_sorted *sorted, void *work) {
    const cpu_levels *x = t->rows.levels + i, *y = t->cols.levels + j;
    double norm_x = norm_of(&t->rows, i), norm_y = norm_of(&t->cols, j);
    int has_none = t->is_common ? norm_x < 0 || norm_y < 0 : !(norm_x > 0 && norm_y > 0);
    if (has_none) return gcor_coefficient(0, norm_x, norm_y);
    if (x->levels && y->levels) return coefficient(t, i, j, cpu_table(t->state->kernels, x, y, t->n_obs));
    if (x->levels == 2 && !t->is_common)
        return gcor_coefficient(sum_above(score_of(&t->rows, i), score_of(&t->cols, j), t->n_obs), norm_x, norm_y);
    if (y->levels == 2 && !t->is_common)
        return gcor_coefficient(sum_above(score_of(&t->cols, j), score_of(&t->rows, i), t->n_obs), norm_x, norm_y);
    if (!sorted->score) cpu_sort_column(score_of(&t->rows, i), t->n_obs, work, sorted);
    return coefficient(t, i, j, cpu_knight(sorted, score_of(&t->cols, j), work));
}

/* Computes columns begin .. end-1 of a row. */
static void work_on_row(const tile_of_pairs *t, int thread, int64_t row, int64_t begin, int64_t end) {
    char *own = t->work + thread * t->work_bytes;
    double *values = (double *)own;
    cpu_sorted sorted = {.rows = (int32_t *)(values + t->tile->n_col)};
    void *work = (char *)sorted.rows + (t->n_obs * (int64_t)sizeof(int32_t) + 63) / 64 * 64;
    gcor_segment segment = {.row = row, .col = begin, .n = end - begin, .doubles = values};
    for (int64_t k = 0; k < segment.n; k++) {
        if (gcor_stop(t->state->context)) return;
        values[k] = pair(t, row - t->tile->row, begin + k - t->tile->col, &sorted, work);
    }
    cpu_deliver(t->state, thread, segment);
}

typedef struct {
    const tile_of_pairs *t;
    side *s;
} packing;

static void pack_variable(void *argument, int thread, int64_t v) {
    const packing *o = argument;
    const cpu_levels *levels = o->s->levels + v;
    if (levels->levels)
        cpu_open_levels(o->t->state->kernels, score_of(o->s, v), o->t->n_obs, levels->levels, (uint64_t *)levels->sets);
}

static void pack_side(const tile_of_pairs *t, side *s) {
    packing o = {t, s};
    gcor_for_each(t->state->context->threads, s->n_var, pack_variable, &o);
}

/* Assigns memory to each variable's bitsets; variables without coefficients have none. */
static gcor_status plan_side(const tile_of_pairs *t, side *s, cpu_scratch *list, cpu_scratch *sets) {
    int64_t words = cpu_set_words(t->n_obs), count = 0, before = 0;
    gcor_context *context = t->state->context;
    for (int64_t v = 0; v < s->n_var; v++) count += levels_of(s->of, s->var + v);
    s->levels = cpu_reserve(context, list, s->n_var, sizeof *s->levels);
    uint64_t *at = cpu_reserve(context, sets, count * words, sizeof *at);
    if (!s->levels || !at) return GCOR_NO_MEMORY;
    for (int64_t v = 0; v < s->n_var; v++) {
        int levels = levels_of(s->of, s->var + v);
        s->levels[v] = (cpu_levels){at + before * words, levels};
        before += levels;
    }
    return GCOR_OK;
}

/* Computes a row's columns from .. end-1, skipping blocks outside of the pair mask. */
static void work_on_counted(const tile_of_pairs *t, int thread, int64_t row, int64_t from, int64_t end) {
    if (!t->state->sink->pairs) {
        work_on_row(t, thread, row, from, end);
        return;
    }
    for (int64_t at = from, next; at < end; at = next) {
        next = gcor_clamp((at / GCOR_PAIR_BLOCK + 1) * GCOR_PAIR_BLOCK, at, end);
        gcor_tile part = {row, 1, at, next - at};
        if (!cpu_is_outside(t->state, &part)) work_on_row(t, thread, row, at, next);
    }
}

static void work_on_piece(void *argument, int thread, int64_t k) {
    const tile_of_pairs *t = argument;
    const gcor_tile *tile = t->tile;
    int64_t row = tile->row + k / t->pieces, begin, n, from, end;
    gcor_tile_segment(tile, t->state->sink->shape, row, &begin, &n);
    from = gcor_clamp(tile->col + k % t->pieces * t->piece, begin, begin + n);
    end = gcor_clamp(tile->col + (k % t->pieces + 1) * t->piece, begin, begin + n);
    if (end > from && !gcor_stop(t->state->context)) work_on_counted(t, thread, row, from, end);
}

static void multiply(tile_of_pairs *t) {
    /* Rows are cut if there are fewer rows than threads. */
    t->piece = t->tile->n_col / (4 * t->state->context->threads / t->tile->n_row + 1) + 1;
    t->pieces = (t->tile->n_col + t->piece - 1) / t->piece;
    pack_side(t, &t->rows);
    if (t->cols.levels != t->rows.levels) pack_side(t, &t->cols);
    gcor_for_each(t->state->context->threads, t->tile->n_row * t->pieces, work_on_piece, t);
}

gcor_status cpu_kendall_tile(gcor_state *state, const cpu_operand *rows, const cpu_operand *cols,
                             const gcor_tile *tile) {
    gcor_context *context = state->context;
    int64_t n = rows->head.n_obs;
    tile_of_pairs t = {.state = state,
                       .tile = tile,
                       .rows = {.of = rows, .var = tile->row - rows->head.first, .n_var = tile->n_row},
                       .cols = {.of = cols, .var = tile->col - cols->head.first, .n_var = tile->n_col},
                       .is_common = rows->head.kind == GCOR_SIGN_COMMON,
                       .n_obs = n};
    t.work_bytes = (tile->n_col * 8 + n * 4 + cpu_knight_bytes(n) + 191) / 64 * 64;
    state->rows.of = NULL; /* its memory is reused for level bitsets */
    t.work = cpu_reserve(context, &state->work, context->threads, (size_t)t.work_bytes);
    gcor_status status = t.work ? plan_side(&t, &t.rows, &state->row_levels, &state->rows.memory) : GCOR_NO_MEMORY;
    t.cols.levels = t.rows.levels;
    if (!status && !is_diagonal(rows, cols, tile))
        status = plan_side(&t, &t.cols, &state->col_levels, &state->cols.memory);
    if (!status) multiply(&t);
    return status ? status : context->error.status;
}
