#include "tfce.h"

#include "../../base/alloc.h"
#include "../../base/elementary.h"
#include "../../base/threads.h"

#include <string.h>

/* A variable, once for each sign, and the component whose root it is. */
typedef struct {
    int32_t parent,
        size;            /* parent: a variable of the same component; itself: it is a root. size: the number of pairs */
    double score, level; /* of pairs that join it, and the integral of h^height, up to the height reached so far */
} variable;

/* The component that a pair joined, and the one that became a part of it; the same one twice: none did. */
typedef struct {
    int32_t root, other;
} joining;

/* What a thread needs: pairs as keys, by descending t: bits of t in the high half, both variables in the low one. */
typedef struct {
    uint64_t *key, *other;
    joining *joining; /* of each key */
    variable *variable;
} scratch;

typedef struct {
    gcor_context *context;
    const gcor_tfce_rule *rule;
    const float *t;
    int64_t n_var, n_pairs;
    double *extent; /* size^extent of each size */
    double *largest, *score;
    scratch *scratch; /* of each thread */
} enhancement;

static float height_of(uint64_t key) {
    uint32_t bits = ~(uint32_t)(key >> 32);
    float height;
    memcpy(&height, &bits, sizeof height);
    return height;
}

static int64_t list_pairs(const enhancement *e, const float *t, uint64_t *key) {
    int64_t n = 0;
    for (int64_t i = 0; i < e->n_var; i++)
        for (int64_t j = i + 1; j < e->n_var; j++, t++) {
            const float weight = (float)gcor_raw_weight(e->rule->side, *t);
            const uint64_t first = e->rule->signs > 1 && *t < 0 ? (uint64_t)e->n_var : 0;
            uint32_t bits;
            memcpy(&bits, &weight, sizeof bits);
            if (weight > 0) key[n++] = (uint64_t)~bits << 32 | (first + (uint64_t)i) << 16 | (first + (uint64_t)j);
        }
    return n;
}

/* Sorts by the high halves, digit by digit from the last one on. Returns the sorted keys, in one of both arrays. */
static uint64_t *sort_pairs(uint64_t *key, uint64_t *other, int64_t n) {
    enum { BITS = 11, VALUES = 1 << BITS };
    for (int shift = 32; shift < 64; shift += BITS) {
        int64_t next[VALUES] = {0};
        for (int64_t k = 0; k < n; k++) next[key[k] >> shift & (VALUES - 1)]++;
        gcor_begin_buckets(next, 1, VALUES, NULL);
        for (int64_t k = 0; k < n; k++) other[next[key[k] >> shift & (VALUES - 1)]++] = key[k];
        uint64_t *swap = key;
        key = other;
        other = swap;
    }
    return key;
}

/* Returns the component's root, and shortens the path to it. */
static int32_t find_root(variable *list, int32_t v) {
    while (list[v].parent != v) v = list[v].parent = list[list[v].parent].parent;
    return v;
}

/* Adds a pair of variables, and joins their components. */
static joining add_pair(variable *list, int32_t a, int32_t b) {
    joining j = {find_root(list, a), find_root(list, b)};
    if (list[j.other].size > list[j.root].size) j = (joining){j.other, j.root};
    list[j.root].size += 1 + (j.other != j.root ? list[j.other].size : 0);
    list[j.other].parent = j.root;
    return j;
}

/* Raises a component to the height of a pair that had joined it, and takes the pair away again. Returns its score. */
static double take_pair(const enhancement *e, variable *list, joining j, double level) {
    variable *root = list + j.root, *other = list + j.other;
    root->score += e->extent[root->size] * (level - root->level);
    root->level = level;
    root->size -= 1 + (other != root ? other->size : 0);
    other->score = root->score;
    other->level = level;
    return root->score;
}

/* Returns the largest score, and stores those of all pairs unless `score` is NULL. Components are joined from the
 * largest t down; then their integrals grow from 0 up, as sums of positive numbers, while components come apart. */
static double enhance(const enhancement *e, const float *t, const scratch *s, double *score) {
    const int64_t n = list_pairs(e, t, s->key);
    const uint64_t *key = sort_pairs(s->key, s->other, n);
    const double power = e->rule->height + 1;
    double largest = 0;
    for (int32_t v = 0; v < e->n_var * e->rule->signs; v++) s->variable[v] = (variable){.parent = v};
    for (int64_t k = 0; k < n; k++)
        s->joining[k] = add_pair(s->variable, (int32_t)(key[k] >> 16 & 0xffff), (int32_t)(key[k] & 0xffff));
    for (int64_t p = 0; score && p < e->n_pairs; p++) score[p] = t[p] == t[p] ? 0 : NAN;
    for (int64_t k = n - 1; k >= 0; k--) {
        const int64_t i = (int64_t)(key[k] >> 16 & 0xffff), j = (int64_t)(key[k] & 0xffff);
        double own = take_pair(e, s->variable, s->joining[k], gcor_pow((double)height_of(key[k]), power) / power);
        if (own > largest) largest = own;
        if (score) score[gcor_row_position(i % e->n_var, j % e->n_var, e->n_var)] = own;
    }
    return largest;
}

static void enhance_permutation(void *argument, int thread, int64_t k) {
    const enhancement *e = argument;
    if (!gcor_stop(e->context))
        e->largest[k] = enhance(e, e->t + k * e->n_pairs, e->scratch + thread, k == 0 ? e->score : NULL);
}

static int allocate_scratch(const enhancement *e, scratch *s) {
    const char *what = "threshold-free enhancement";
    s->key = gcor_alloc(e->context, e->n_pairs, sizeof *s->key, what);
    s->other = gcor_alloc(e->context, e->n_pairs, sizeof *s->other, what);
    s->joining = gcor_alloc(e->context, e->n_pairs, sizeof *s->joining, what);
    s->variable = gcor_alloc(e->context, e->n_var * e->rule->signs, sizeof *s->variable, what);
    return s->key && s->other && s->joining && s->variable;
}

gcor_status gcor_tfce(gcor_context *context, int threads, int64_t n_var, const gcor_tfce_rule *rule, const float *t,
                      int64_t n, double *largest, double *score) {
    const int64_t n_pairs = gcor_triangular(n_var - 1);
    enhancement e = {.context = context,
                     .rule = rule,
                     .t = t,
                     .n_var = n_var,
                     .n_pairs = n_pairs,
                     .extent = gcor_alloc(context, n_pairs + 1, sizeof *e.extent, "threshold-free enhancement"),
                     .largest = largest,
                     .score = score,
                     .scratch = gcor_alloc(context, threads, sizeof *e.scratch, "threshold-free enhancement")};
    int is_ready = e.extent && e.scratch;
    for (int64_t size = 0; is_ready && size <= n_pairs; size++)
        e.extent[size] = size > 0 ? gcor_pow((double)size, rule->extent) : 0;
    for (int i = 0; e.scratch && i < threads; i++) e.scratch[i] = (scratch){0};
    for (int i = 0; is_ready && i < threads; i++) is_ready = allocate_scratch(&e, e.scratch + i);
    if (is_ready) gcor_for_each(threads, n, enhance_permutation, &e);
    for (int i = 0; e.scratch && i < threads; i++) {
        gcor_free(e.scratch[i].key);
        gcor_free(e.scratch[i].other);
        gcor_free(e.scratch[i].joining);
        gcor_free(e.scratch[i].variable);
    }
    gcor_free(e.scratch);
    gcor_free(e.extent);
    return context->error.status;
}
