/* Sums of powers and of centrality measures. Every thread takes strips of columns; each value is added to its
 * column's sums and to the thread's own sums of its row. At the end the threads' row sums are added up. */
#include "connectivity.h"

#include "../base/alloc.h"
#include "../base/elementary.h"
#include "../base/threads.h"
#include "combine_loops.h"

#include <string.h>

enum {
    STRIP = 64,    /* columns of a strip: their sums stay in the L1 cache */
    ROWS_AHEAD = 4 /* rows of a strip are fetched before they are needed, as processors do not foresee them */
};

/* Sums of a strip's columns over at most GCOR_EXACT_TERMS rows, in parts that add up exactly (weight.h). */
typedef struct {
    double high[GCOR_MAX_POWERS + GCOR_MAX_MAPS][STRIP], low[GCOR_MAX_POWERS + GCOR_MAX_MAPS][STRIP];
    double complete; /* number of rows with a coefficient in every column, which are not yet in the counts */
} strip_sums;

gcor_status gcor_power_sums_begin(gcor_connectivity *c, gcor_context *context, const gcor_tile *tile) {
    int64_t sums = context->threads * tile->n_row * gcor_count_sums(&c->rule);
    if (sums <= c->partial_capacity) return GCOR_OK;
    gcor_free(c->partial);
    c->partial_capacity = 0;
    c->partial = gcor_alloc(context, sums, sizeof *c->partial, "sums of a tile's rows");
    if (!c->partial) return GCOR_NO_MEMORY;
    c->partial_capacity = sums;
    return GCOR_OK;
}

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

/* ---- a tile --------------------------------------------------------------------------------------- */

/* Address of sum p of variable var; strengths come before these sums. */
static gcor_int128 *sum_of(gcor_connectivity *c, int64_t var, int p) {
    return &c->sums[var + (gcor_count_levels_of(&c->rule) + p) * c->n_var];
}

/* Adds a strip's sums to its n variables from `first` on, and clears them. */
static void add_columns(gcor_connectivity *c, int64_t first, int64_t n, strip_sums *cols) {
    int n_sum = gcor_count_sums(&c->rule);
    if (c->rule.maps)
        for (int64_t j = 0; j < n; j++) cols->high[c->rule.n_power][j] += cols->complete;
    cols->complete = 0;
    for (int p = 0; p < n_sum; p++)
        for (int64_t j = 0; j < n; j++) *sum_of(c, first + j, p) += gcor_fixed(cols->high[p][j], cols->low[p][j]);
    memset(cols->high, 0, (size_t)n_sum * sizeof *cols->high);
    memset(cols->low, 0, (size_t)n_sum * sizeof *cols->low);
}

static void add_strip(gcor_connectivity *c, const gcor_tile *tile, int64_t strip, gcor_int128 *rows) {
    const gcor_combine_loops *loops = gcor_combine_best_loops();
    strip_sums cols;
    int64_t first = strip * STRIP, n = tile->n_col - first < STRIP ? tile->n_col - first : STRIP;
    memset(&cols, 0, sizeof cols);
    for (int64_t i = 0; i < tile->n_row; i++) {
        const double *r = c->tile + i * tile->n_col + first;
        int64_t ahead = gcor_min(ROWS_AHEAD, tile->n_row - 1 - i) * tile->n_col;
        for (int64_t k = 0; k < n; k += 8) __builtin_prefetch(r + ahead + k);
        if (c->rule.n_power > 0) add_values(loops, &c->rule, r, n, &cols, rows + i * gcor_count_sums(&c->rule));
        if (c->rule.maps) add_maps(loops, &c->rule, r, n, &cols, rows + i * gcor_count_sums(&c->rule));
        if ((i + 1) % GCOR_EXACT_TERMS == 0 || i + 1 == tile->n_row) add_columns(c, tile->col + first, n, &cols);
    }
}

typedef struct {
    gcor_connectivity *c;
    gcor_context *context;
    const gcor_tile *tile;
    int64_t n_row_sums; /* sums of all rows, per thread */
} ending;

static void end_strip(void *argument, int thread, int64_t strip) {
    const ending *e = argument;
    if (!gcor_stop(e->context)) add_strip(e->c, e->tile, strip, e->c->partial + thread * e->n_row_sums);
}

/* Adds the threads' sums of a row to its variable. */
static void end_row(void *argument, int thread, int64_t i) {
    const ending *e = argument;
    gcor_connectivity *c = e->c;
    (void)thread;
    for (int t = 0; t < e->context->threads && !gcor_stop(e->context); t++) {
        const gcor_int128 *row = c->partial + (t * e->tile->n_row + i) * gcor_count_sums(&c->rule);
        for (int p = 0; p < gcor_count_sums(&c->rule); p++)
            *sum_of(c, gcor_first_row(&c->edges.sink) + e->tile->row + i, p) += row[p];
    }
}

gcor_status gcor_power_sums_end(gcor_connectivity *c, gcor_context *context, const gcor_tile *tile) {
    ending e = {c, context, tile, tile->n_row * gcor_count_sums(&c->rule)};
    memset(c->partial, 0, (size_t)(context->threads * e.n_row_sums) * sizeof *c->partial);
    gcor_for_each(context->threads, (tile->n_col + STRIP - 1) / STRIP, end_strip, &e);
    /* Only now: the same variables may be among the columns. */
    gcor_for_each(context->threads, tile->n_row, end_row, &e);
    return context->error.status;
}
