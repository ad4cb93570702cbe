/* Finds the edges in a segment of coefficients, and appends them to the thread's list. */
#include "tile_edges.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"
#include "../combine_loops.h"

#include <string.h>

/* Returns the min weight of the segment's row. If the row has none yet, uses the k-th largest weight in the segment,
 * rounded down to a bin: otherwise all of a variable's first pairs would be edges. */
static double row_min(const gcor_edge_rule *rule, const gcor_segment *segment) {
    enum { BINS = 256 };
    int bins[BINS] = {0};
    double known = rule->row_min[segment->row];
    if (known > 0 || segment->n < rule->k) return known;
    for (int64_t k = 0; k < segment->n; k++) {
        double weight = gcor_raw_weight(rule->side, gcor_value(segment, k)) - segment->error;
        if (weight > 0 && weight <= 1) bins[weight < 1 ? (int)(weight * BINS) : BINS - 1]++;
    }
    int64_t found = 0;
    for (int b = BINS - 1; b > 0; b--)
        if ((found += bins[b]) >= rule->k) return b / (double)BINS;
    return 0;
}

enum { STRIP = 64 };

/* Sets may[l] to -1 for values with a weight of at least `low`, otherwise to 0; returns their number. n: at most STRIP.
 * No branch, and vectors of one width. */
static int count_floats(gcor_side side, const float *value, float low, int64_t n, int32_t *may) {
    const gcor_weighing w = gcor_weigh(side);
    const float size = (float)w.size, sign = (float)w.sign;
    int found = 0;
    for (int64_t l = 0; l < n; l++) {
        may[l] = -(size * fabsf(value[l]) + sign * value[l] >= low);
        found -= may[l];
    }
    return found;
}

/* count_floats() for doubles. */
static int count_doubles(gcor_side side, const double *value, double low, int64_t n, int32_t *may) {
    const gcor_weighing w = gcor_weigh(side);
    int64_t found = 0, mask[STRIP];
    for (int64_t l = 0; l < n; l++) {
        mask[l] = -(int64_t)(w.size * fabs(value[l]) + w.sign * value[l] >= low);
        found -= mask[l];
    }
    for (int64_t l = 0; found > 0 && l < n; l++) may[l] = (int32_t)mask[l];
    return (int)found;
}

/* count_floats() for elements k .. k+n-1 of any segment, where variables have min weights of their own. own: the row's.
 */
static int count_own(const gcor_edge_rule *rule, const gcor_segment *segment, double own, int64_t k, int64_t n,
                     int32_t *may) {
    const double *other = rule->col_min + segment->col + k;
    int found = 0;
    for (int64_t l = 0; l < n; l++) {
        double min = other[l] < own ? other[l] : own;
        may[l] = -(gcor_raw_weight(rule->side, gcor_value(segment, k + l)) >= min - segment->error);
        found -= may[l];
    }
    return found;
}

/* count_floats() for the strip from element k on. */
static int count_strip(const gcor_edge_rule *rule, const gcor_segment *segment, double own, double low, int64_t k,
                       int64_t n, int32_t *may) {
    if (rule->row_min) return count_own(rule, segment, own, k, n, may);
    if (segment->doubles) return count_doubles(rule->side, segment->doubles + k, low, n, may);
    return count_floats(rule->side, segment->floats + k, (float)low, n, may);
}

/* Writes to k the indices of those elements from .. to-1 that may be edges; returns their number. */
static int64_t find_candidates(const gcor_edge_rule *rule, const gcor_segment *segment, double own, int64_t from,
                               int64_t to, int32_t *k) {
    double low = rule->min - segment->error; /* the min approximate weight of an edge */
    const gcor_combine_loops *loops = gcor_combine_best_loops();
    int64_t found = 0;
    if (segment->floats) low = nextafterf((float)low, -INFINITY);
    const double below = rule->side == GCOR_POSITIVE ? NAN : -low, above = rule->side == GCOR_NEGATIVE ? NAN : low;
    for (; from < to; from += STRIP) {
        int32_t may[STRIP];
        int n = to - from < STRIP ? (int)(to - from) : STRIP;
        /* Most strips have no edge, which is faster to see than where edges are. */
        if (!rule->row_min &&
            !(segment->doubles ? loops->some_reach(segment->doubles + from, below, above, n)
                               : loops->some_floats_reach(segment->floats + from, (float)below, (float)above, n)))
            continue;
        int edges = count_strip(rule, segment, own, low, from, n, may);
        int32_t *next = k + found;
        found += edges;
        for (int l = 0; edges > 0 && l < n; l++, next -= may[l - 1]) *next = (int32_t)from + l;
    }
    return found;
}

/* Removes and counts the candidates whose weight is certainly above the ceiling; returns the number that is left. */
static int64_t leave_out_above(const gcor_edge_rule *rule, const gcor_segment *segment, int64_t n, int32_t *k,
                               int64_t *above) {
    int64_t left = 0;
    for (int64_t c = 0; c < n; c++) {
        double value = gcor_value(segment, k[c]);
        int is_above = gcor_judge_approx(rule, segment->row, segment->col + k[c], value, segment->error) == GCOR_ABOVE;
        k[left] = k[c];
        left += !is_above;
        *above += is_above;
    }
    return left;
}

/* Sets keep[c] to -1 for exact coefficients that are edges, otherwise to 0; returns their number. */
static int64_t judge(const gcor_edge_rule *rule, const gcor_segment *segment, int64_t n, const int32_t *k,
                     const double *r, int64_t *keep, int64_t *above) {
    int64_t kept = 0;
    if (rule->row_min || rule->ceiling <= 1) {
        for (int64_t c = 0; c < n; c++) {
            gcor_verdict verdict = gcor_judge(rule, segment->row, segment->col + k[c], r[c]);
            keep[c] = -(verdict == GCOR_KEPT);
            kept -= keep[c];
            *above += verdict == GCOR_ABOVE;
        }
        return kept;
    }
    const gcor_weighing w = gcor_weigh(rule->side);
    const double min = rule->min;
    for (int64_t c = 0; c < n; c++) {
        double weight = r[c] <= 1 ? w.size * fabs(r[c]) + w.sign * r[c] : -2;
        keep[c] = -(int64_t)(weight >= min);
        kept -= keep[c];
    }
    return kept;
}

int64_t gcor_find_edges(const gcor_edge_rule *rule, const gcor_segment *segment, double own, int64_t from, int32_t *k,
                        double *r, int64_t *above) {
    int64_t to = segment->n - from < GCOR_SOME ? segment->n : from + GCOR_SOME, at = 0;
    int64_t n = find_candidates(rule, segment, own, from, to, k);
    int64_t keep[GCOR_SOME];
    if (segment->refine && rule->ceiling <= 1) n = leave_out_above(rule, segment, n, k, above);
    if (n == 0) return 0;
    if (segment->refine)
        segment->refine(segment, k, n, r);
    else
        for (int64_t c = 0; c < n; c++) r[c] = gcor_value(segment, k[c]);
    int64_t kept = judge(rule, segment, n, k, r, keep, above);
    for (int64_t c = 0; kept < n && c < n; c++) {
        k[at] = k[c];
        r[at] = r[c];
        at -= keep[c];
    }
    return kept;
}

gcor_status gcor_edges_take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_edges *edges = (gcor_edges *)sink;
    const gcor_edge_rule *rule = &edges->rule;
    gcor_edge_list *loose;
    gcor_status status = gcor_edges_reserve(edges, context, thread, segment->n, &loose);
    if (status) return status;
    int32_t which[GCOR_SOME];
    double own = rule->row_min ? row_min(rule, segment) : 0, r[GCOR_SOME];
    int64_t above = 0;
    for (int64_t from = 0; from < segment->n; from += GCOR_SOME) {
        int64_t n = gcor_find_edges(rule, segment, own, from, which, r, &above);
        gcor_edge *out = loose->list + loose->n;
        for (int64_t e = 0; e < n; e++)
            out[e] = (gcor_edge){(int32_t)segment->row, (int32_t)(segment->col + which[e]), r[e]};
        loose->n += n;
    }
    if (above > 0) __atomic_fetch_add(&edges->above, above, __ATOMIC_RELAXED);
    return GCOR_OK;
}

/* A weight is at most |r|. If variables have their own min weights, the min may still be 0. */
double gcor_edges_min(const gcor_sink *sink) {
    const gcor_edge_rule *rule = &((const gcor_edges *)sink)->rule;
    return rule->row_min ? 0 : rule->min;
}

/* ---- lists ------------------------------------------------------------------------------------ */

static gcor_status reserve(gcor_context *context, gcor_edge_list *list, int64_t n) {
    enum { MIN_EDGES = 1 << 12 };
    void *edges = list->list;
    gcor_status status = gcor_grow(context, &edges, list->n, &list->capacity, gcor_max(n, MIN_EDGES),
                                   sizeof *list->list, "edges of a tile");
    list->list = edges;
    return status;
}

gcor_status gcor_edges_reserve(gcor_edges *edges, gcor_context *context, int thread, int64_t n, gcor_edge_list **list) {
    *list = &edges->lists[thread];
    return reserve(context, *list, (*list)->n + n);
}

void gcor_edges_clear(gcor_edges *edges) {
    edges->above = 0;
    edges->threads = 0;
    edges->lists = NULL;
}

void gcor_edges_free(gcor_edges *edges) {
    for (int t = 0; t < edges->threads; t++) gcor_free(edges->lists[t].list);
    gcor_free(edges->lists);
    edges->threads = 0;
    edges->lists = NULL;
}

/* An earlier run may have had fewer threads. */
gcor_status gcor_edges_begin(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_edges *edges = (gcor_edges *)sink;
    if (edges->threads < context->threads) {
        gcor_edges_free(edges);
        edges->lists = gcor_alloc(context, context->threads, sizeof *edges->lists, "edges of a tile");
        if (!edges->lists) return GCOR_NO_MEMORY;
        edges->threads = context->threads;
        memset(edges->lists, 0, (size_t)edges->threads * sizeof *edges->lists);
    }
    for (int t = 0; t < edges->threads; t++) edges->lists[t].n = 0;
    return GCOR_OK;
}

/* Appends the other lists to the longest one, to move few edges. */
gcor_status gcor_edges_end(gcor_sink *sink, gcor_context *context, const gcor_tile *tile) {
    gcor_edges *edges = (gcor_edges *)sink;
    gcor_edge_list *all = edges->lists;
    int64_t n = 0;
    for (gcor_edge_list *list = edges->lists; list < edges->lists + edges->threads; list++) {
        n += list->n;
        if (list->n > all->n) all = list;
    }
    if (n == 0) return GCOR_OK;
    gcor_status status = reserve(context, all, n);
    if (status) return status;
    for (gcor_edge_list *list = edges->lists; list < edges->lists + edges->threads; list++) {
        if (list == all || list->n == 0) continue;
        memcpy(all->list + all->n, list->list, (size_t)list->n * sizeof *list->list);
        all->n += list->n;
    }
    return edges->keep_tile(edges, context, tile, all->list, n);
}

/* ---- degrees and strengths ---------------------------------------------------------------------- */

enum { BLOCK = 512 }; /* variables whose sums a thread folds at a time */

gcor_status gcor_edge_sums_begin(gcor_edge_sums *sums, gcor_context *context, const gcor_tile *tile, int threads) {
    int64_t wanted = threads * gcor_edge_levels(sums) * (tile->n_row + tile->n_col);
    sums->at = *tile;
    sums->threads = threads;
    if (wanted <= sums->capacity) return GCOR_OK;
    gcor_free(sums->partial);
    sums->capacity = 0;
    sums->partial = gcor_alloc(context, wanted, sizeof *sums->partial, "sums over a tile's edges");
    if (!sums->partial) return GCOR_NO_MEMORY;
    sums->capacity = wanted;
    memset(sums->partial, 0, (size_t)wanted * sizeof *sums->partial);
    return GCOR_OK;
}

/* Adds all threads' sums at position k, among the tile's rows and columns, to a variable, and clears them. */
static void fold(gcor_edge_sums *sums, int64_t k, int64_t var) {
    int64_t positions = sums->at.n_row + sums->at.n_col, levels = gcor_edge_levels(sums);
    for (int t = 0; t < sums->threads; t++)
        for (int64_t level = 0; level < levels; level++) {
            gcor_edge_sum *own = sums->partial + (t * positions + k) * levels + level;
            sums->degree[level * sums->n_var + var] += own->degree;
            sums->strength[level * sums->n_var + var] += own->strength;
            *own = (gcor_edge_sum){0, 0};
        }
}

static void fold_rows(void *argument, int thread, int64_t from, int64_t end) {
    gcor_edge_sums *sums = argument;
    for (int64_t i = from; i < end; i++) fold(sums, i, sums->first_row + sums->at.row + i);
}

static void fold_columns(void *argument, int thread, int64_t from, int64_t end) {
    gcor_edge_sums *sums = argument;
    for (int64_t j = from; j < end; j++) fold(sums, sums->at.n_row + j, sums->at.col + j);
}

/* Rows before columns, because a variable may be in both. */
void gcor_edge_sums_end(gcor_edge_sums *sums, gcor_context *context) {
    gcor_for_blocks(context->threads, sums->at.n_row, BLOCK, fold_rows, sums);
    gcor_for_blocks(context->threads, sums->at.n_col, BLOCK, fold_columns, sums);
}

void gcor_edge_sums_free(gcor_edge_sums *sums) {
    gcor_free(sums->partial);
    sums->partial = NULL;
    sums->capacity = 0;
}
