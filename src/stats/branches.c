/* Clusters of a tree by the shape of its branches (gcor_cut of hclust.h):
 *
 * 1. Merges are followed upwards to the cut. Two leaves begin a branch, which leaves join one by one. The core of a
 *    branch is the leaves that joined first, and its scatter is their mean distance. Where two branches meet, one fails
 *    if it has too few leaves, if its core is too scattered, or if the gap between its scatter and the height of the
 *    meeting is too small; the other one then takes its leaves. If both hold, a composite branch begins that bears
 *    them. It takes leaves and branches, and never fails.
 * 2. Branches that nothing took, and that hold where they end, are clusters.
 * 3. The other leaves are assigned as if to medoids ("PAM"): each to the cluster with the smallest mean distance.
 *
 * A mean is the same in any order of the distances, except in rare last bits, because comparisons of equal means should
 * not depend on rounding. */
#include "hclust.h"

#include "../base/alloc.h"
#include "../base/threads.h"

#include <math.h>

enum { NONE = -1 };

typedef enum { HOLDS, FAILS, FAILS_BY_SIZE } verdict;

/* A list goes from `first` over next[] to `last`; one that is appended to another remains. */
typedef struct {
    double end;          /* height at which a composite branch bears it, or the cut */
    int32_t first, last; /* its leaves as they joined; composite: the branches below it that are not */
    int32_t size;        /* in leaves */
    int32_t cluster;     /* from 0, or NONE */
    int is_composite;
    int is_taken, is_small; /* by another branch; only because of its size */
} branch;

typedef struct {
    const gcor_cut *cut;
    gcor_context *context;
    const float *floats; /* similarities, if that is what the distances are made of */
    branch *branches;    /* n */
    int32_t n_branches, n_clusters;
    int32_t *of_merge;           /* n: the branch of each merge */
    int32_t *next, *next_branch; /* n: of leaves, of branches */
    int32_t *place;              /* n: the composite branch that has a leaf, or NONE */
    int32_t *key;                /* n: of leaves, for list_by_key() */
    int32_t *leaf, *leaf_from;   /* n, n + 2: leaves by cluster */
    int32_t *other, *other_from; /* n, 2 n + 2: other leaves by the group that is assigned together */
    int32_t *scratch;            /* n */
    double *spread;              /* n: mean distance of a leaf from the others of its cluster */
    double *diameter;            /* n: of clusters, the max spread */
    int *label;                  /* n: the result */
} shape;

/* ---- means of distances --------------------------------------------------------------------- */

/* A sum and its rounding error. */
typedef struct {
    double high, low;
} sum;

static inline void add(sum *s, double x) {
    const double high = s->high + x, part = high - s->high;
    s->low += (s->high - (high - part)) + (x - part);
    s->high = high;
}

static double mean(const sum *s, double n) {
    const double rounded = (s->high + s->low) / n;
    return rounded + (gcor_fma(-rounded, n, s->high) + s->low) / n;
}

static inline double distance(const shape *s, int32_t a, int32_t b) {
    if (a == b) return 0;
    const int64_t k = gcor_row_position(a < b ? a : b, a < b ? b : a, s->cut->n);
    const double value = s->floats                 ? (double)s->floats[k]
                         : s->cut->distances.plain ? s->cut->distances.plain[k]
                                                   : gcor_compact_at(s->cut->distances.compact, k);
    return s->cut->is_similarity ? 1 - value : value;
}

static sum sum_distances(const shape *s, int32_t from, const int32_t *leaf, int64_t n) {
    sum all = {0, 0};
    for (int64_t k = 0; k < n; k++) add(&all, distance(s, from, leaf[k]));
    return all;
}

/* Returns the mean distance of one of n leaves from the others. */
static double spread_of(const shape *s, int32_t from, const int32_t *leaf, int64_t n) {
    const sum all = sum_distances(s, from, leaf, n);
    return (all.high + all.low) / (double)(n - 1);
}

/* ---- branches ------------------------------------------------------------------------------ */

static int64_t core_size(const shape *s, const branch *b) {
    const double min = s->cut->min_size / 2 + 1;
    return min < b->size ? (int64_t)(min + sqrt(b->size - min)) : b->size;
}

static double core_scatter(const shape *s, const branch *b) {
    const int64_t n = core_size(s, b);
    sum all = {0, 0};
    int32_t leaf = b->first;
    for (int64_t k = 0; k < n; k++, leaf = s->next[leaf]) s->scratch[k] = leaf;
    for (int64_t k = 0; k < n && !gcor_stop(s->context); k++) add(&all, spread_of(s, s->scratch[k], s->scratch, n));
    return mean(&all, (double)n);
}

static verdict judge(const shape *s, const branch *b, double height) {
    if (b->is_composite) return HOLDS;
    const gcor_cut *cut = s->cut;
    const double scatter = core_scatter(s, b);
    if (scatter > cut->max_core_scatter || height - scatter < cut->min_gap) return FAILS;
    return b->size < cut->min_size || height < cut->min_split_height ? FAILS_BY_SIZE : HOLDS;
}

static int32_t new_branch(shape *s, int32_t first, int32_t last, int32_t size, int is_composite) {
    s->branches[s->n_branches] = (branch){s->cut->cut_height, first, last, size, NONE, is_composite, 0, 0};
    return s->n_branches++;
}

static void set_each(const int32_t *next, int32_t first, int32_t last, int32_t *of, int32_t value) {
    for (int32_t k = first; k != last; k = next[k]) of[k] = value;
    of[last] = value;
}

/* Adds a list of leaves. */
static int32_t join(shape *s, int32_t to, int32_t first, int32_t last, int32_t size) {
    branch *b = &s->branches[to];
    b->size += size;
    if (b->is_composite) {
        set_each(s->next, first, last, s->place, to);
    } else {
        s->next[b->last] = first;
        b->last = last;
    }
    return to;
}

static int32_t take(shape *s, int32_t taken, int32_t taker, verdict why) {
    branch *b = &s->branches[taken];
    b->is_taken = 1;
    b->is_small = why == FAILS_BY_SIZE;
    return join(s, taker, b->first, b->last, b->size);
}

static int32_t bear(shape *s, int32_t a, int32_t b, double height) {
    branch *one = &s->branches[a], *two = &s->branches[b];
    one->end = two->end = height;
    s->next_branch[one->is_composite ? one->last : a] = two->is_composite ? two->first : b;
    return new_branch(s, one->is_composite ? one->first : a, two->is_composite ? two->last : b, one->size + two->size,
                      1);
}

/* The smaller one is judged first. */
static int32_t meet(shape *s, int32_t a, int32_t b, double height) {
    const int in_order = s->branches[a].size <= s->branches[b].size;
    const int32_t small = in_order ? a : b, large = in_order ? b : a;
    verdict v = judge(s, &s->branches[small], height);
    if (v != HOLDS) return take(s, small, large, v);
    v = judge(s, &s->branches[large], height);
    if (v != HOLDS) return take(s, large, small, v);
    return bear(s, small, large, height);
}

static int32_t follow(shape *s, int a, int b, double height) {
    if (a > 0 && b > 0) return meet(s, s->of_merge[a - 1], s->of_merge[b - 1], height);
    const int32_t leaf = -(a < 0 ? a : b) - 1;
    if (a > 0 || b > 0) return join(s, s->of_merge[(a > 0 ? a : b) - 1], leaf, leaf, 1);
    s->next[leaf] = -b - 1;
    return new_branch(s, leaf, -b - 1, 2, 0);
}

static void follow_merges(shape *s) {
    const int64_t n = s->cut->n - 1;
    const int *merge = s->cut->merge;
    const double *height = s->cut->height;
    for (int64_t k = 0; k < n && height[k] <= s->cut->cut_height && !gcor_stop(s->context); k++)
        s->of_merge[k] = follow(s, merge[k], merge[n + k], height[k]);
}

/* ---- clusters ------------------------------------------------------------------------------ */

/* Lists items 0 .. n - 1 by key, from 0 to n_keys - 1, and those of a key by their number; NONE: not listed. Those of
 * key k become item[from[k]] .. item[from[k + 1] - 1]; from: n_keys + 2. */
static void list_by_key(const int32_t *key, int64_t n, int64_t n_keys, int32_t *item, int32_t *from) {
    memset(from, 0, (size_t)(n_keys + 2) * sizeof *from);
    for (int64_t i = 0; i < n; i++) from[key[i] + 2] += key[i] != NONE;
    for (int64_t k = 2; k < n_keys + 2; k++) from[k] += from[k - 1];
    for (int64_t i = 0; i < n; i++)
        if (key[i] != NONE) item[from[key[i] + 1]++] = (int32_t)i;
}

static int is_cluster(const shape *s, const branch *b) {
    if (b->is_composite || b->is_taken || b->size < s->cut->min_size) return 0;
    const double scatter = core_scatter(s, b);
    return scatter < s->cut->max_core_scatter && b->end - scatter > s->cut->min_gap;
}

static void find_clusters(shape *s) {
    const int64_t n = s->cut->n;
    for (int64_t i = 0; i < n; i++) s->key[i] = NONE;
    for (int32_t k = 0; k < s->n_branches && !gcor_stop(s->context); k++) {
        branch *b = &s->branches[k];
        if (!is_cluster(s, b)) continue;
        b->cluster = s->n_clusters++;
        set_each(s->next, b->first, b->last, s->key, b->cluster);
    }
    list_by_key(s->key, n, s->n_clusters, s->leaf, s->leaf_from);
    for (int64_t i = 0; i < n; i++) s->label[i] = s->key[i] + 1;
}

/* ---- the other leaves ------------------------------------------------------------------------ */

/* Groups are numbered by the last branch that failed by its size alone, or after these by a leaf that is by itself. */
static void group_others(shape *s) {
    const int64_t n = s->cut->n;
    for (int64_t i = 0; i < n; i++) s->key[i] = s->n_branches + (int32_t)i;
    for (int32_t k = 0; k < s->n_branches && s->cut->respects_small; k++) {
        const branch *b = &s->branches[k];
        if (b->is_small) set_each(s->next, b->first, b->last, s->key, k);
    }
    for (int64_t i = 0; i < n; i++)
        if (s->label[i] > 0) s->key[i] = NONE;
    list_by_key(s->key, n, s->n_branches + n, s->other, s->other_from);
}

static void measure_leaf(void *argument, int thread, int64_t k) {
    const shape *s = argument;
    const int32_t leaf = s->leaf[k], own = s->label[leaf] - 1, from = s->leaf_from[own];
    if (!gcor_stop(s->context)) s->spread[k] = spread_of(s, leaf, s->leaf + from, s->leaf_from[own + 1] - from);
}

/* Returns the mean over a cluster's leaves of their mean distance from n others. */
static double mean_distance(const shape *s, int32_t cluster, const int32_t *other, int64_t n) {
    const int32_t from = s->leaf_from[cluster], end = s->leaf_from[cluster + 1];
    sum all = {0, 0};
    for (int32_t k = from; k < end; k++) {
        const sum own = sum_distances(s, s->leaf[k], other, n);
        add(&all, mean(&own, (double)n));
    }
    return mean(&all, end - from);
}

static void assign_group(void *argument, int thread, int64_t group) {
    const shape *s = argument;
    const int32_t *other = s->other + s->other_from[group];
    const int64_t n = s->other_from[group + 1] - s->other_from[group];
    const int is_free = !s->cut->respects_tree;
    int32_t nearest = NONE;
    double low = INFINITY;
    if (n == 0 || (!is_free && s->place[other[0]] == NONE)) return;
    const branch own = is_free ? (branch){.first = 0, .last = s->n_branches - 1} : s->branches[s->place[other[0]]];
    for (int32_t b = own.first; !gcor_stop(s->context); b = is_free ? b + 1 : s->next_branch[b]) {
        const int32_t k = s->branches[b].cluster;
        const double found = k == NONE ? INFINITY : mean_distance(s, k, other, n);
        if (found < low || (found == low && k < nearest)) {
            low = found;
            nearest = k;
        }
        if (b == own.last) break;
    }
    if (nearest == NONE || !(low < s->diameter[nearest] || low < s->cut->max_pam_distance)) return;
    for (int64_t k = 0; k < n; k++) s->label[other[k]] = nearest + 1;
}

static void assign_others(shape *s) {
    const int threads = s->context->threads;
    group_others(s);
    gcor_for_each(threads, s->leaf_from[s->n_clusters], measure_leaf, s);
    for (int32_t k = 0; k < s->n_clusters; k++) s->diameter[k] = 0;
    for (int32_t k = 0; k < s->leaf_from[s->n_clusters]; k++) {
        double *diameter = &s->diameter[s->label[s->leaf[k]] - 1];
        *diameter = fmax(*diameter, s->spread[k]);
    }
    gcor_for_each(threads, s->n_branches + s->cut->n, assign_group, s);
}

/* Numbers clusters by size; of equal sizes in their order. */
static void sort_labels(shape *s) {
    const int64_t n = s->cut->n;
    for (int32_t k = 0; k < s->n_clusters; k++) s->key[k] = (int32_t)n;
    for (int64_t i = 0; i < n; i++)
        if (s->label[i] > 0) s->key[s->label[i] - 1]--;
    list_by_key(s->key, s->n_clusters, n + 1, s->other, s->other_from);
    for (int32_t k = 0; k < s->n_clusters; k++) s->scratch[s->other[k]] = k + 1;
    for (int64_t i = 0; i < n; i++)
        if (s->label[i] > 0) s->label[i] = s->scratch[s->label[i] - 1];
}

static void cut_tree(shape *s) {
    int64_t below = 0;
    while (below < s->cut->n - 1 && s->cut->height[below] <= s->cut->cut_height) below++;
    for (int64_t i = 0; i < s->cut->n; i++) s->place[i] = NONE;
    if (below >= s->cut->min_size) follow_merges(s);
    find_clusters(s);
    if (s->cut->is_pam && s->n_clusters > 0) assign_others(s);
    sort_labels(s);
}

gcor_status gcor_cut_tree(const gcor_cut *cut, gcor_context *context, int *label) {
    const char *what = "the branches of the tree";
    const int64_t n = cut->n;
    const gcor_compact *compact = cut->distances.compact;
    const int has_floats = compact && compact->form == GCOR_AS_FLOATS && !compact->is_distance && compact->values;
    shape s = {.cut = cut, .context = context, .floats = has_floats ? compact->values : NULL, .label = label};
    s.branches = gcor_alloc(context, n, sizeof *s.branches, what);
    double *numbers = gcor_alloc(context, 2 * n, sizeof *numbers, what);
    int32_t *lists = gcor_alloc(context, 11 * n + 4, sizeof *lists, what);
    if (s.branches && numbers && lists) {
        int32_t **list[] = {&s.of_merge, &s.next, &s.next_branch, &s.place, &s.key, &s.scratch, &s.leaf, &s.other};
        for (size_t k = 0; k < sizeof list / sizeof *list; k++) *list[k] = lists + (int64_t)k * n;
        s.leaf_from = lists + 8 * n;
        s.other_from = lists + 9 * n + 2;
        s.spread = numbers;
        s.diameter = numbers + n;
        cut_tree(&s);
    }
    gcor_free(s.branches);
    gcor_free(numbers);
    gcor_free(lists);
    return context->error.status;
}
