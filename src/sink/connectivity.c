/* The sink that sums over each variable's edges, or over all of its pairs. Edges are rare and are added as they are
 * found. Powers need every pair: values are collected and summed block by block (power_sums.c). */
#include "connectivity.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "file.h"

#include <string.h>

/* True if the sums are over all pairs, false if over edges. */
static int has_pairs(const gcor_sums_rule *rule) {
    return rule->n_power > 0 || rule->histogram || rule->maps;
}

/* ---- edges ---------------------------------------------------------------------------------------- */

static gcor_status begin_edges(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    return gcor_edge_sums_begin(&((gcor_connectivity *)sink)->edge_sums, context, tile, context->threads);
}

static gcor_status take_edges(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    const gcor_edge_rule *rule = &c->edges.rule;
    int32_t which[GCOR_SOME];
    double r[GCOR_SOME];
    int64_t above = 0;
    for (int64_t from = 0; from < segment->n; from += GCOR_SOME) {
        int64_t n = gcor_find_edges(rule, segment, 0, from, which, r, &above);
        if (n > 0) gcor_edge_sums_add_row(&c->edge_sums, thread, segment->row, segment->col, which, r, n, rule->side);
    }
    return GCOR_OK;
}

static gcor_status end_edges(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_edge_sums_end(&((gcor_connectivity *)sink)->edge_sums, context);
    return context->error.status;
}

enum { BLOCK = 1 << 14 }; /* edges that a thread adds at a time */

typedef struct {
    gcor_edge_sums *sums;
    gcor_side side;
    const gcor_edge *list;
} addition;

static void add_block(void *argument, int thread, int64_t from, int64_t end) {
    const addition *a = argument;
    for (const gcor_edge *edge = a->list + from; edge < a->list + end; edge++)
        gcor_edge_sums_add(a->sums, thread, edge->row, edge->col, gcor_raw_weight(a->side, edge->r));
}

/* Adds a list of edges from a back end that finds edges itself. */
static gcor_status keep_tile(gcor_edges *edges, gcor_context *context, const gcor_tile *tile, const gcor_edge *list,
                             int64_t n) {
    gcor_edge_sums *sums = &((gcor_connectivity *)edges)->edge_sums;
    int threads = gcor_edge_sums_threads(context, tile, n);
    gcor_status status = n > 0 ? gcor_edge_sums_begin(sums, context, tile, threads) : GCOR_OK;
    if (status || n == 0) return status;
    addition all = {sums, edges->rule.side, list};
    gcor_for_blocks(threads, n, BLOCK, add_block, &all);
    gcor_edge_sums_end(sums, context);
    return GCOR_OK;
}

/* ---- every pair ----------------------------------------------------------------------------------- */

static gcor_status begin_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    return gcor_power_sums_begin((gcor_connectivity *)sink, context, tile);
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    enum { SOME = 256 };
    gcor_connectivity *c = (gcor_connectivity *)sink;
    double scratch[SOME];
    if (gcor_count_sums(&c->rule) > 0) gcor_power_sums_take(c, thread, segment);
    for (int64_t k = 0; c->rule.histogram && k < segment->n; k += SOME) {
        int64_t n = gcor_min(SOME, segment->n - k);
        gcor_bins_count(&c->bins, thread, gcor_segment_values(segment, k, n, scratch), n, 1);
    }
    return GCOR_OK;
}

static gcor_status end_tile(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    return gcor_power_sums_end((gcor_connectivity *)sink, context);
}

/* ---- forks and files --------------------------------------------------------------------- */

static int64_t all_degrees(const gcor_connectivity *c) {
    return gcor_count_levels_of(&c->rule) * c->n_var;
}

static int64_t all_sums(const gcor_connectivity *c) {
    return all_degrees(c) + gcor_count_sums(&c->rule) * c->n_var;
}

static void clear(gcor_connectivity *c) {
    memset(c->degree, 0, (size_t)all_degrees(c) * sizeof *c->degree);
    memset(c->sums, 0, (size_t)all_sums(c) * sizeof *c->sums);
    if (c->rule.histogram) memset(c->bins.counts, 0, (size_t)c->bins.threads * GCOR_BINS * sizeof *c->bins.counts);
}

static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_connectivity *c = (gcor_connectivity *)sink, *from = (gcor_connectivity *)other;
    for (int64_t k = 0; k < all_degrees(c); k++) c->degree[k] += from->degree[k];
    for (int64_t k = 0; k < all_sums(c); k++) c->sums[k] += from->sums[k];
    if (c->rule.histogram) {
        gcor_bins_move(&c->bins, &from->bins);
    }
    clear(from);
    return GCOR_OK;
}

static gcor_status save(gcor_sink *sink, gcor_context *context, const gcor_shard *shard, FILE *file) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    gcor_status status = gcor_put(context, file, &c->rule, 1, sizeof c->rule);
    if (!status) status = gcor_put(context, file, c->degree, all_degrees(c), sizeof *c->degree);
    if (!status) status = gcor_put(context, file, c->sums, all_sums(c), sizeof *c->sums);
    return status || !c->rule.histogram ? status : gcor_bins_save(&c->bins, context, file);
}

/* A variable cannot have more edges than pairs, and each adds at most 1. */
static int is_sound(const gcor_connectivity *c) {
    const gcor_int128 max = c->n_var * ((gcor_int128)1 << GCOR_FIXED_BITS);
    int sound = 1;
    for (int64_t k = 0; k < all_degrees(c); k++) sound &= c->degree[k] >= 0 && c->degree[k] < c->n_var;
    for (int64_t k = 0; k < all_sums(c); k++) sound &= c->sums[k] >= -max && c->sums[k] <= max;
    return sound;
}

static gcor_status load(gcor_sink *sink, gcor_context *context, FILE *file) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    gcor_status status = gcor_expect(context, file, &c->rule, sizeof c->rule);
    if (!status) status = gcor_get(context, file, c->degree, all_degrees(c), sizeof *c->degree);
    if (!status) status = gcor_get(context, file, c->sums, all_sums(c), sizeof *c->sums);
    if (!status && !is_sound(c)) status = gcor_damaged(context);
    if (status || !c->rule.histogram) return status;
    return gcor_bins_load(&c->bins, context, sink->n_row * sink->n_col, file);
}

/* Moves one side's numbers, `size` bytes each, from their positions to the variables names[j]; copy: scratch. */
static void unpermute_numbers(const int32_t *names, int64_t n, size_t size, char *numbers, char *copy) {
    memcpy(copy, numbers, (size_t)n * size);
    for (int64_t j = 0; names && j < n; j++) memcpy(numbers + (size_t)names[j] * size, copy + (size_t)j * size, size);
}

static gcor_status unpermute_variables(gcor_sink *sink, gcor_context *context, const int32_t *rows,
                                       const int32_t *cols) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    int64_t n = c->n_var, n_col = sink->n_col;
    char *copy = gcor_alloc(context, n, sizeof *c->sums, "sums over pairs");
    if (!copy) return GCOR_NO_MEMORY;
    for (int64_t at = 0; at < all_degrees(c); at += n) {
        unpermute_numbers(cols, n_col, sizeof *c->degree, (char *)(c->degree + at), copy);
        unpermute_numbers(rows, n - n_col, sizeof *c->degree, (char *)(c->degree + at + n_col), copy);
    }
    for (int64_t at = 0; at < all_sums(c); at += n) {
        unpermute_numbers(cols, n_col, sizeof *c->sums, (char *)(c->sums + at), copy);
        unpermute_numbers(rows, n - n_col, sizeof *c->sums, (char *)(c->sums + at + n_col), copy);
    }
    gcor_free(copy);
    return GCOR_OK;
}

static gcor_status allocate(gcor_sink *sink, gcor_context *context) {
    const char *what = "sums over pairs";
    gcor_connectivity *c = (gcor_connectivity *)sink;
    c->bins = (gcor_bins){0};
    c->blocks = NULL;
    c->partial = NULL;
    c->partial_capacity = 0;
    c->degree = gcor_alloc(context, all_degrees(c), sizeof *c->degree, what);
    c->sums = gcor_alloc(context, all_sums(c), sizeof *c->sums, what);
    c->edge_sums = (gcor_edge_sums){.degree = c->degree,
                                    .strength = c->sums,
                                    .first_row = gcor_first_row(sink),
                                    .n_level = c->rule.n_level,
                                    .level = c->rule.levels,
                                    .n_var = c->n_var};
    if (!c->degree || !c->sums) return GCOR_NO_MEMORY;
    gcor_status status = c->rule.histogram ? gcor_bins_new(context, &c->bins) : GCOR_OK;
    if (!status) clear(c);
    return status;
}

static void release(gcor_sink *sink) {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    gcor_bins_free(&c->bins);
    gcor_edge_sums_free(&c->edge_sums);
    gcor_free(c->degree);
    gcor_free(c->sums);
    gcor_free(c->blocks);
    gcor_free(c->partial);
}

static const gcor_sink_type DEGREES = {
    .name = "degrees",
    .size = sizeof(gcor_connectivity),
    .role = GCOR_DEGREES,
    .take = take_edges,
    .begin_tile = begin_edges,
    .end_tile = end_edges,
    .min = gcor_edges_min,
    .allocate = allocate,
    .merge = merge,
    .save = save,
    .load = load,
    .unpermute = unpermute_variables,
    .release = release,
};

static const gcor_sink_type CONNECTIVITY = {
    .name = "connectivity",
    .size = sizeof(gcor_connectivity),
    .role = GCOR_CONNECTIVITY,
    .take = take,
    .begin_tile = begin_tile,
    .end_tile = end_tile,
    .allocate = allocate,
    .merge = merge,
    .save = save,
    .load = load,
    .unpermute = unpermute_variables,
    .release = release,
};

/* Copies the used fields only: rules are compared byte by byte, so all other bytes must be 0. */
static void copy_rule(const gcor_sums_rule *rule, gcor_sums_rule *to) {
    memset(to, 0, sizeof *to);
    to->side = rule->side;
    to->min = rule->min;
    to->similarity = rule->similarity;
    to->n_power = rule->n_power;
    to->histogram = rule->histogram;
    for (int p = 0; p < rule->n_power; p++) to->steps[p] = rule->steps[p];
    to->n_level = rule->n_level;
    for (int l = 0; l < rule->n_level; l++) to->levels[l] = rule->levels[l];
    to->maps = rule->maps;
}

/* Edges are found by approximate (screening) values. Sums over all pairs use the coefficients of a dense result. */
gcor_status gcor_connectivity_new(gcor_context *context, gcor_sums_rule rule, gcor_shape shape, int64_t n_row,
                                  int64_t n_col, gcor_connectivity **connectivity) {
    gcor_sink sink = {.type = has_pairs(&rule) ? &CONNECTIVITY : &DEGREES,
                      .shape = shape,
                      .n_row = n_row,
                      .n_col = n_col,
                      .approximate = !has_pairs(&rule),
                      .coarse = !has_pairs(&rule),
                      .form = has_pairs(&rule) ? GCOR_AS_FLOATS : GCOR_AS_DOUBLES};
    gcor_edge_rule edge = {.side = rule.side, .min = rule.min, .ceiling = 2};
    gcor_connectivity like = {.edges = {.sink = sink, .rule = edge, .keep_tile = keep_tile},
                              .n_var = n_col + (shape == GCOR_FULL ? n_row : 0)};
    copy_rule(&rule, &like.rule);
    *connectivity = gcor_sink_new(context, &like);
    return *connectivity ? GCOR_OK : context->error.status;
}
