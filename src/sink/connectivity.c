/* The sink that sums over each variable's pairs. A tile's values are put together first. Then every thread takes
 * strips of columns, and each value counts for its column and, in sums of the thread's own, for its row; at last
 * the rows' sums of all threads are added up. */
#include "connectivity.h"

#include "../core/alloc.h"
#include "../core/threads.h"
#include "file.h"

#include <string.h>

enum { STRIP = 64 }; /* columns: their sums stay in the first-level cache */

/* What is summed: edges, their weights, and each power. */
enum { DEGREE, STRENGTH, SOFT, MOST_SUMS = SOFT + GCOR_MOST_POWERS };

static int count_sums(const gcor_connectivity *c) {
    return SOFT + c->rule.n_power;
}

/* Sums of a strip's columns over at most GCOR_EXACT_TERMS rows, in parts that add up exactly (fixed.h). */
typedef struct {
    double high[MOST_SUMS][STRIP], low[MOST_SUMS][STRIP];
} strip_sums;

static gcor_status make_room(gcor_connectivity *c, gcor_context *context, const gcor_tile *tile) {
    int64_t pairs = tile->n_row * tile->n_col, sums = context->threads * tile->n_row * count_sums(c);
    if (pairs <= c->tile_room && sums <= c->partial_room) return GCOR_OK;
    gcor_free(c->tile);
    gcor_free(c->partial);
    c->tile_room = pairs;
    c->partial_room = sums;
    c->tile = gcor_alloc(context, pairs, sizeof(double), "a tile's coefficients");
    c->partial = gcor_alloc(context, sums, sizeof(gcor_int128), "sums of a tile's rows");
    if (c->tile && c->partial) return GCOR_OK;
    c->tile_room = 0;
    return GCOR_NO_MEMORY;
}

static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    int64_t pairs = tile->n_row * tile->n_col;
    gcor_status status = make_room(c, context, tile);
    if (status) return status;
    c->at = *tile;
    if (gcor_tile_pairs(tile, sink->shape) == pairs) return GCOR_OK;
    for (int64_t k = 0; k < pairs; k++) c->tile[k] = GCOR_NO_VALUE; /* pairs that do not count */
    return GCOR_OK;
}

/* Where the weight is close to the threshold the exact coefficient decides. */
static void settle(const gcor_sums_rule *rule, const gcor_segment *segment, double *values) {
    if (!segment->exact || rule->least > 1) return;
    for (int64_t k = 0; k < segment->n; k++)
        if (fabs(gcor_weight(rule->side, values[k]) - rule->least) <= segment->error)
            values[k] = segment->exact(segment, k);
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    double *out = c->tile + (segment->row - c->at.row) * c->at.n_col + (segment->col - c->at.col);
    (void)context;
    for (int64_t k = 0; k < segment->n; k++) out[k] = gcor_value(segment, k);
    settle(&c->rule, segment, out);
    gcor_bins_count(&c->bins, thread, out, segment->n, 1);
    return GCOR_OK;
}

/* ---- sums --------------------------------------------------------------------------------------- */

/* n terms, each to its column's sum; returns the sum of all. */
static gcor_int128 add_terms(const double *terms, int64_t n, double *high, double *low) {
    double all_high = 0, all_low = 0;
#pragma omp simd reduction(+ : all_high, all_low)
    for (int64_t k = 0; k < n; k++) {
        double high_part = gcor_high_part(terms[k]), low_part = gcor_low_part(terms[k], high_part);
        high[k] += high_part;
        low[k] += low_part;
        all_high += high_part;
        all_low += low_part;
    }
    return gcor_fixed(all_high, all_low);
}

/* Whole numbers, likewise. */
static gcor_int128 add_counts(const double *counts, int64_t n, double *sums) {
    double all = 0;
#pragma omp simd reduction(+ : all)
    for (int64_t k = 0; k < n; k++) {
        sums[k] += counts[k];
        all += counts[k];
    }
    return (gcor_int128)all;
}

/* What n values count for as edges. */
static void edge_terms(const gcor_sums_rule *rule, const double *r, int64_t n, double *degree, double *strength) {
    const gcor_weighing w = gcor_weigh(rule->side);
    const double least = rule->least;
#pragma omp simd
    for (int64_t k = 0; k < n; k++) {
        double weight = w.size * fabs(r[k]) + w.sign * r[k];
        int edge = (r[k] <= 1) & (weight >= least);
        degree[k] = edge ? 1 : 0;
        strength[k] = edge ? weight : 0;
    }
}

/* base[k]^0, and the base, of n values; 0 where there is no coefficient. */
static void start_powers(gcor_similarity similarity, const double *r, int64_t n, double *base, double *power) {
    for (int64_t k = 0; k < n; k++) {
        power[k] = r[k] <= 1 ? 1 : 0;
        base[k] = r[k] <= 1 ? gcor_base(similarity, r[k]) : 0;
    }
}

/* As gcor_raise(). */
static void raise_power(const double *base, double step, int64_t n, double *power) {
    double factor[STRIP];
    if (step > 32 || step != (double)(int)step) {
        for (int64_t k = 0; k < n; k++) power[k] *= gcor_raise(base[k], step);
        return;
    }
    for (int64_t k = 0; k < n; k++) factor[k] = 1;
    for (int p = (int)step; p > 0; p--) {
#pragma omp simd
        for (int64_t k = 0; k < n; k++) factor[k] *= base[k];
    }
#pragma omp simd
    for (int64_t k = 0; k < n; k++) power[k] *= factor[k];
}

/* n values of a row, to the sums of their columns and to the row's. */
static void add_values(const gcor_sums_rule *rule, const double *r, int64_t n, strip_sums *cols, gcor_int128 *row) {
    double base[STRIP], terms[STRIP], weights[STRIP];
    if (rule->least <= 1) {
        edge_terms(rule, r, n, terms, weights);
        row[DEGREE] += add_counts(terms, n, cols->high[DEGREE]);
        row[STRENGTH] += add_terms(weights, n, cols->high[STRENGTH], cols->low[STRENGTH]);
    }
    start_powers(rule->similarity, r, n, base, terms);
    for (int p = 0; p < rule->n_power; p++) {
        raise_power(base, rule->steps[p], n, terms);
        row[SOFT + p] += add_terms(terms, n, cols->high[SOFT + p], cols->low[SOFT + p]);
    }
}

/* Sum s of variable var, after the degree. */
static gcor_int128 *sum_of(gcor_connectivity *c, int64_t var, int s) {
    return &c->sums[var + (s - STRENGTH) * c->n_var];
}

/* A strip's sums so far to its n variables from `first` on. */
static void add_columns(gcor_connectivity *c, int64_t first, int64_t n, strip_sums *cols) {
    int all = count_sums(c);
    for (int64_t j = 0; j < n; j++) c->degree[first + j] += (int64_t)cols->high[DEGREE][j];
    for (int s = STRENGTH; s < all; s++)
        for (int64_t j = 0; j < n; j++) *sum_of(c, first + j, s) += gcor_fixed(cols->high[s][j], cols->low[s][j]);
    memset(cols->high, 0, (size_t)all * sizeof *cols->high);
    memset(cols->low, 0, (size_t)all * sizeof *cols->low);
}

static void add_strip(gcor_connectivity *c, const gcor_tile *tile, int64_t strip, gcor_int128 *rows) {
    strip_sums cols;
    int64_t first = strip * STRIP, n = tile->n_col - first < STRIP ? tile->n_col - first : STRIP;
    memset(&cols, 0, sizeof cols);
    for (int64_t i = 0; i < tile->n_row; i++) {
        add_values(&c->rule, c->tile + i * tile->n_col + first, n, &cols, rows + i * count_sums(c));
        if ((i + 1) % GCOR_EXACT_TERMS == 0 || i + 1 == tile->n_row) add_columns(c, tile->col + first, n, &cols);
    }
}

static void add_row(gcor_connectivity *c, const gcor_tile *tile, int64_t i, int team) {
    const gcor_int128 *partial = c->partial;
    for (int t = 0; t < team; t++) {
        const gcor_int128 *row = partial + (t * tile->n_row + i) * count_sums(c);
        c->degree[tile->row + i] += (int64_t)row[DEGREE];
        for (int s = STRENGTH; s < count_sums(c); s++) *sum_of(c, tile->row + i, s) += row[s];
    }
}

static gcor_status end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    int64_t strips = (tile->n_col + STRIP - 1) / STRIP, sums = tile->n_row * count_sums(c);
#pragma omp parallel num_threads(context->threads)
    {
        gcor_int128 *rows = (gcor_int128 *)c->partial + omp_get_thread_num() * sums;
        memset(rows, 0, (size_t)sums * sizeof *rows);
#pragma omp for schedule(dynamic)
        for (int64_t strip = 0; strip < strips; strip++)
            if (!gcor_stop(context)) add_strip(c, tile, strip, rows);
        /* The same variables may be among the columns: only now. */
#pragma omp for schedule(static)
        for (int64_t i = 0; i < tile->n_row; i++)
            if (!gcor_stop(context)) add_row(c, tile, i, omp_get_num_threads());
    }
    return context->error.status;
}

/* ---- forks and files --------------------------------------------------------------------- */

static int64_t all_sums(const gcor_connectivity *c) {
    return (1 + c->rule.n_power) * c->n_var;
}

static gcor_status fork_sink(gcor_sink *sink, gcor_context *context, gcor_sink **other) {
    const gcor_connectivity *c = (const gcor_connectivity *)sink;
    gcor_connectivity *fresh;
    gcor_status status = gcor_connectivity_new(context, c->rule, c->n_var, &fresh);
    *other = fresh ? &fresh->sink : NULL;
    return status;
}

static void clear(gcor_connectivity *c) {
    memset(c->degree, 0, (size_t)c->n_var * sizeof *c->degree);
    memset(c->sums, 0, (size_t)all_sums(c) * sizeof *c->sums);
    memset(c->bins.counts, 0, (size_t)c->bins.threads * GCOR_BINS * sizeof *c->bins.counts);
}

static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_connectivity *c = (gcor_connectivity *)sink, *from = (gcor_connectivity *)other;
    (void)context;
    for (int64_t j = 0; j < c->n_var; j++) c->degree[j] += from->degree[j];
    for (int64_t k = 0; k < all_sums(c); k++) c->sums[k] += from->sums[k];
    gcor_bins_sum(&from->bins);
    gcor_bins_add(&c->bins, from->bins.counts);
    clear(from);
    return GCOR_OK;
}

static gcor_status save(gcor_sink *sink, gcor_context *context, const gcor_share *share, FILE *file) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    (void)share;
    gcor_status status = gcor_put(context, file, &c->rule, 1, sizeof c->rule);
    if (!status) status = gcor_put(context, file, c->degree, c->n_var, sizeof *c->degree);
    if (!status) status = gcor_put(context, file, c->sums, all_sums(c), sizeof *c->sums);
    return status ? status : gcor_bins_save(&c->bins, context, file);
}

/* Of each variable no more than it has pairs; each counts for at most 1. */
static int is_sound(const gcor_connectivity *c) {
    const gcor_int128 most = c->n_var * ((gcor_int128)1 << GCOR_FIXED_BITS);
    int sound = 1;
    for (int64_t j = 0; j < c->n_var; j++) sound &= c->degree[j] >= 0 && c->degree[j] < c->n_var;
    for (int64_t k = 0; k < all_sums(c); k++) sound &= c->sums[k] >= -most && c->sums[k] <= most;
    return sound;
}

static gcor_status load(gcor_sink *sink, gcor_context *context, FILE *file) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    gcor_status status = gcor_expect(context, file, &c->rule, sizeof c->rule);
    if (!status) status = gcor_get(context, file, c->degree, c->n_var, sizeof *c->degree);
    if (!status) status = gcor_get(context, file, c->sums, all_sums(c), sizeof *c->sums);
    if (!status && !is_sound(c)) status = gcor_damaged(context);
    return status ? status : gcor_bins_load(&c->bins, context, sink->n_row * sink->n_col, file);
}

static void release(gcor_sink *sink) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    gcor_bins_free(&c->bins);
    gcor_free(c->degree);
    gcor_free(c->sums);
    gcor_free(c->tile);
    gcor_free(c->partial);
    gcor_free(c);
}

const gcor_sink_type gcor_connectivity_type = {
    .name = "connectivity", .take = take, .begin_tile = begin_tile, .end_tile = end_tile,
    .fork = fork_sink, .merge = merge, .save = save, .load = load, .free = release,
};

gcor_status gcor_connectivity_new(gcor_context *context, gcor_sums_rule rule, int64_t n_var,
                                  gcor_connectivity **connectivity) {
    const char *what = "sums over pairs";
    gcor_connectivity *c = *connectivity = gcor_alloc(context, 1, sizeof *c, what);
    if (!c) return GCOR_NO_MEMORY;
    gcor_sink sink = {.type = &gcor_connectivity_type, .shape = GCOR_LOWER, .n_row = n_var, .n_col = n_var};
    memset(c, 0, sizeof *c); /* the rule is compared byte by byte */
    c->sink = sink;
    c->n_var = n_var;
    c->rule.side = rule.side;
    c->rule.least = rule.least;
    c->rule.similarity = rule.similarity;
    c->rule.n_power = rule.n_power;
    for (int p = 0; p < rule.n_power; p++) c->rule.steps[p] = rule.steps[p];
    c->degree = gcor_alloc(context, n_var, sizeof *c->degree, what);
    c->sums = gcor_alloc(context, all_sums(c), sizeof *c->sums, what);
    gcor_status status = c->degree && c->sums ? gcor_bins_new(context, &c->bins) : GCOR_NO_MEMORY;
    if (!status) clear(c);
    if (!status) return GCOR_OK;
    release(&c->sink);
    *connectivity = NULL;
    return status;
}
