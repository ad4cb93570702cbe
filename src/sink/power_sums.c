/* Sums of powers and of centrality measures. Every thread collects rows in a block, and adds each value to its own sums
 * of the value's row and column, strip by strip. At the end of a tile the threads' sums are added up. */
#include "connectivity.h"

#include "../base/alloc.h"
#include "../base/elementary.h"
#include "../base/threads.h"
#include "combine_loops.h"

#include <string.h>

enum {
    STRIP = 64,     /* columns of a strip: their sums stay in the L1 cache */
    MAX_COLS = 4096 /* columns of a block */
};

/* Sums of a strip's columns over at most GCOR_EXACT_TERMS rows, in parts that add up exactly (weight.h). */
typedef struct {
    double high[GCOR_MAX_POWERS + GCOR_MAX_MAPS][STRIP], low[GCOR_MAX_POWERS + GCOR_MAX_MAPS][STRIP];
    double complete; /* number of rows with a coefficient in every column, which are not yet in the counts */
} strip_sums;

/* ---- a row of a strip ----------------------------------------------------------------------------- */

/* Sets power to base^0 = 1, and base; both are 0 for values that are no coefficient. */
static void start_powers(gcor_similarity similarity, const double *r, int64_t n, double *base, double *power) {
    for (int64_t k = 0; k < n; k++) {
        power[k] = r[k] <= 1 ? 1 : 0;
        base[k] = r[k] <= 1 ? gcor_base(similarity, r[k]) : 0;
    }
}

/* gcor_power() for n values, vectorized if computed by multiplication. */
static void power_all(const double *base, double step, int64_t n, double *factor) {
    if (!gcor_is_multiplied(step)) {
        for (int64_t k = 0; k < n; k++) factor[k] = gcor_power(base[k], step);
        return;
    }
    double part = step - (double)(int)step;
    for (int64_t k = 0; k < n; k++) factor[k] = gcor_power(base[k], part);
    for (int p = (int)step; p > 0; p--) {
        for (int64_t k = 0; k < n; k++) factor[k] *= base[k];
    }
}

/* Adds n values of a row to the sums of their columns and of the row. */
static void add_values(const gcor_combine_loops *loops, const gcor_sums_rule *rule, const double *r, int64_t n,
                       strip_sums *cols, gcor_int128 *row) {
    double base[STRIP], factor[STRIP], terms[STRIP];
    start_powers(rule->similarity, r, n, base, terms);
    for (int p = 0; p < rule->n_power; p++) {
        if (p == 0 || rule->steps[p] != rule->steps[p - 1]) power_all(base, rule->steps[p], n, factor);
        for (int64_t k = 0; k < n; k++) terms[k] *= factor[k];
        row[p] += loops->add_exactly(terms, n, cols->high[p], cols->low[p]);
    }
}

/* Adds the numbers of coefficients among n values. Returns the values, or a copy with 0 for those that are none. */
static const double *count_values(const gcor_combine_loops *loops, const double *r, int64_t n, strip_sums *cols,
                                  double *copy, int p, gcor_int128 *row) {
    double terms[STRIP];
    if (loops->are_coefficients(r, n)) {
        cols->complete += 1;
        row[p] += gcor_fixed((double)n, 0);
        return r;
    }
    for (int64_t k = 0; k < n; k++) {
        terms[k] = r[k] <= 1;
        copy[k] = r[k] <= 1 ? r[k] : 0;
    }
    row[p] += loops->add_exactly(terms, n, cols->high[p], cols->low[p]);
    return copy;
}

/* Adds n values to the centrality measures: the count of coefficients, r, z and r^2. */
static void add_maps(const gcor_combine_loops *loops, const gcor_sums_rule *rule, const double *r, int64_t n,
                     strip_sums *cols, gcor_int128 *row) {
    double copy[STRIP], terms[STRIP];
    int p = rule->n_power;
    const double *own = count_values(loops, r, n, cols, copy, p++, row);
    if (rule->maps & GCOR_MAP_MEAN) row[p] += loops->add_exactly(own, n, cols->high[p], cols->low[p]), p++;
    if (rule->maps & GCOR_MAP_Z) {
        memset(terms, 0, sizeof terms);
        loops->add_fisher(terms, own, 1, n);
        loops->divide(terms, GCOR_MAX_Z, n);
        row[p] += loops->add_exactly(terms, n, cols->high[p], cols->low[p]), p++;
    }
    if (!(rule->maps & GCOR_MAP_SQUARE)) return;
    for (int64_t k = 0; k < n; k++) terms[k] = own[k] * own[k];
    row[p] += loops->add_exactly(terms, n, cols->high[p], cols->low[p]);
}

/* ---- a block -------------------------------------------------------------------------------------- */

static void clear(strip_sums *cols, int n_sum) {
    memset(cols->high, 0, (size_t)n_sum * sizeof *cols->high);
    memset(cols->low, 0, (size_t)n_sum * sizeof *cols->low);
    cols->complete = 0;
}

/* Adds the sums of a strip's n columns to `to`, and clears them. */
static void add_columns(const gcor_sums_rule *rule, int64_t n, strip_sums *cols, gcor_int128 *to) {
    int n_sum = gcor_count_sums(rule);
    if (rule->maps)
        for (int64_t j = 0; j < n; j++) cols->high[rule->n_power][j] += cols->complete;
    for (int p = 0; p < n_sum; p++)
        for (int64_t j = 0; j < n; j++) to[j * n_sum + p] += gcor_fixed(cols->high[p][j], cols->low[p][j]);
    clear(cols, n_sum);
}

/* rows, to: the sums of the block's first row, and of the strip's first column. */
static void add_strip(const gcor_sums_rule *rule, const gcor_sums_block *block, int64_t first, gcor_int128 *rows,
                      gcor_int128 *to) {
    const gcor_combine_loops *loops = gcor_combine_best_loops();
    const gcor_tile *at = &block->at;
    const int64_t n = gcor_min(STRIP, at->n_col - first);
    strip_sums cols;
    clear(&cols, gcor_count_sums(rule));
    for (int64_t i = 0; i < at->n_row; i++) {
        const double *r = block->value + i * at->n_col + first;
        if (rule->n_power > 0) add_values(loops, rule, r, n, &cols, rows + i * gcor_count_sums(rule));
        if (rule->maps) add_maps(loops, rule, r, n, &cols, rows + i * gcor_count_sums(rule));
        if ((i + 1) % GCOR_EXACT_TERMS == 0 || i + 1 == at->n_row) add_columns(rule, n, &cols, to);
    }
}

static gcor_int128 *partial_of(const gcor_connectivity *c, int64_t thread) {
    return c->partial + thread * (c->at.n_row + c->at.n_col) * gcor_count_sums(&c->rule);
}

/* Adds a thread's block to its sums, and empties it. */
static void add_block(void *argument, int thread, int64_t k) {
    gcor_connectivity *c = argument;
    gcor_sums_block *block = &c->blocks[k];
    const gcor_tile *at = &block->at;
    const int64_t n_sum = gcor_count_sums(&c->rule);
    gcor_int128 *rows = partial_of(c, k), *cols = rows + c->at.n_row * n_sum;
    for (int64_t first = 0; at->n_row > 0 && first < at->n_col; first += STRIP)
        add_strip(&c->rule, block, first, rows + (at->row - c->at.row) * n_sum,
                  cols + (at->col + first - c->at.col) * n_sum);
    block->at = (gcor_tile){0};
}

void gcor_power_sums_take(gcor_connectivity *c, int thread, const gcor_segment *segment) {
    gcor_sums_block *block = &c->blocks[thread];
    gcor_tile *at = &block->at;
    for (int64_t from = 0; from < segment->n; from += MAX_COLS) {
        const int64_t n = gcor_min(MAX_COLS, segment->n - from), col = segment->col + from;
        if (segment->row != at->row + at->n_row || col < at->col || col + n > at->col + at->n_col ||
            (at->n_row + 1) * at->n_col > GCOR_SUMS_BLOCK) {
            add_block(c, thread, thread);
            *at = (gcor_tile){segment->row, 0, col, n};
        }
        double *row = block->value + at->n_row++ * at->n_col, *out = row + (col - at->col);
        for (double *none = row; none < row + at->n_col && n < at->n_col; none++) *none = GCOR_NO_VALUE;
        const double *values = gcor_segment_values(segment, from, n, out);
        if (values != out) memcpy(out, values, (size_t)n * sizeof *out);
    }
}

/* ---- a tile --------------------------------------------------------------------------------------- */

gcor_status gcor_power_sums_begin(gcor_connectivity *c, gcor_context *context, const gcor_tile *tile) {
    const char *what = "sums of a tile's rows";
    int64_t sums = context->threads * (tile->n_row + tile->n_col) * gcor_count_sums(&c->rule);
    c->at = *tile;
    if (sums > 0 && !c->blocks) {
        c->blocks = gcor_alloc(context, context->threads, sizeof *c->blocks, what);
        if (!c->blocks) return GCOR_NO_MEMORY;
        for (int t = 0; t < context->threads; t++) c->blocks[t].at = (gcor_tile){0};
    }
    if (sums > c->partial_capacity) {
        gcor_free(c->partial);
        c->partial_capacity = 0;
        c->partial = gcor_alloc(context, sums, sizeof *c->partial, what);
        if (!c->partial) return GCOR_NO_MEMORY;
        c->partial_capacity = sums;
    }
    if (sums > 0) memset(c->partial, 0, (size_t)sums * sizeof *c->partial);
    return GCOR_OK;
}

typedef struct {
    gcor_connectivity *c;
    gcor_context *context;
    int64_t first, var; /* of the partial sums; their variable */
} ending;

/* Adds the threads' sums of a row or a column to its variable; strengths come before these sums. */
static void end_variable(void *argument, int thread, int64_t i) {
    const ending *e = argument;
    gcor_connectivity *c = e->c;
    const int n_sum = gcor_count_sums(&c->rule);
    for (int t = 0; t < e->context->threads && !gcor_stop(e->context); t++) {
        const gcor_int128 *own = partial_of(c, t) + (e->first + i) * n_sum;
        for (int p = 0; p < n_sum; p++) c->sums[e->var + i + (gcor_count_levels_of(&c->rule) + p) * c->n_var] += own[p];
    }
}

gcor_status gcor_power_sums_end(gcor_connectivity *c, gcor_context *context) {
    const gcor_tile *tile = &c->at;
    if (gcor_count_sums(&c->rule) == 0) return GCOR_OK;
    ending rows = {c, context, 0, gcor_first_row(&c->edges.sink) + tile->row},
           cols = {c, context, tile->n_row, tile->col};
    gcor_for_each(context->threads, context->threads, add_block, c);
    gcor_for_each(context->threads, tile->n_row, end_variable, &rows);
    /* Only now: the same variables may be among the rows. */
    gcor_for_each(context->threads, tile->n_col, end_variable, &cols);
    return context->error.status;
}
