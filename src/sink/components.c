#include "permuted_tests.h"

#include "../base/alloc.h"
#include "../base/triangle.h"

enum { BLOCK = GCOR_GROUP_BLOCK };

/* Weights are added as integers, so that sums do not depend on the order: in units of 2^-24, and up to MAX_WEIGHT. */
static const double UNIT = 0x1p-24, MAX_WEIGHT = 1e6;

struct gcor_components {
    gcor_sink sink; /* must be first */
    gcor_component_rule rule;
    gcor_permutations permutations;
    const gcor_combine_loops *loops;
    double *scratch; /* for each thread; owned */
    /* For each permutation and variable: a variable of the same component with at most this number, itself if it has
     * the smallest; and the size of the pairs that were counted for this variable. Owned. */
    int32_t *parent;
    int64_t *size;
};

/* ---- disjoint sets of variables, which all threads join -------------------------------------------------- */

/* Returns the component's variable without a smaller one, and shortens the path to it. A path that another thread has
 * shortened meanwhile still leads there. */
static int32_t find(int32_t *parent, int32_t v) {
    for (;;) {
        int32_t next = __atomic_load_n(parent + v, __ATOMIC_RELAXED);
        int32_t beyond = __atomic_load_n(parent + next, __ATOMIC_RELAXED);
        if (beyond == next) return next;
        __atomic_store_n(parent + v, beyond, __ATOMIC_RELAXED);
        v = beyond;
    }
}

static void join(int32_t *parent, int32_t a, int32_t b) {
    for (;;) {
        a = find(parent, a);
        b = find(parent, b);
        if (a == b) return;
        int32_t low = a < b ? a : b, high = a < b ? b : a;
        if (__atomic_compare_exchange_n(parent + high, &high, low, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    }
}

/* ---- the sink ------------------------------------------------------------------------------------------ */

static void add_pairs(gcor_components *c, int64_t k, int64_t row, int64_t col, const double *values, int64_t n) {
    const double least = c->rule.min * c->rule.min;
    int32_t *parent = c->parent + k * c->sink.n_col;
    int64_t *size = c->size + k * c->sink.n_col;
    for (int64_t j = 0; j < n; j++) {
        double weight = gcor_raw_weight(c->rule.side, values[j]);
        if (!(weight >= least)) continue;
        double excess = sqrt(weight) - c->rule.min;
        int64_t add = !c->rule.sums_weights ? 1 : (int64_t)((excess < MAX_WEIGHT ? excess : MAX_WEIGHT) / UNIT + 0.5);
        __atomic_fetch_add(size + row, add, __ATOMIC_RELAXED);
        join(parent, (int32_t)row, (int32_t)(col + j));
    }
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_components *c = (gcor_components *)sink;
    const gcor_permutations *permutations = &c->permutations;
    const double least = c->rule.min * c->rule.min;
    double *scratch = c->scratch + thread * gcor_permuted_scratch(permutations);
    (void)context;
    for (int64_t from = 0; from < segment->n; from += BLOCK) {
        int64_t n = gcor_min(BLOCK, segment->n - from);
        gcor_permuted_begin(permutations, c->loops, segment->doubles + from, segment->stride, n, scratch);
        for (int64_t k = 0; k < permutations->n; k++) {
            const double *values = gcor_permuted_values(permutations, c->loops, k, n, scratch);
            if (c->loops->largest(values, c->rule.side, n) >= least)
                add_pairs(c, k, segment->row, segment->col + from, values, n);
        }
    }
    return GCOR_OK;
}

double gcor_components_of(gcor_sink *sink, int64_t k, double *size, int *first) {
    gcor_components *c = (gcor_components *)sink;
    const int64_t n_var = c->sink.n_col;
    const double unit = c->rule.sums_weights ? UNIT : 1;
    int32_t *parent = c->parent + k * n_var;
    int64_t *own = c->size + k * n_var, largest = 0;
    for (int64_t v = n_var - 1; v >= 0; v--) {
        int32_t root = find(parent, (int32_t)v);
        if (root != v) own[root] += own[v];
    }
    for (int64_t v = 0; v < n_var; v++) {
        int32_t root = find(parent, (int32_t)v);
        size[v] = (double)own[root] * unit;
        first[v] = root;
        if (own[root] > largest) largest = own[root];
    }
    return (double)largest * unit;
}

static void clear(gcor_components *c) {
    for (int64_t k = 0; k < c->permutations.n; k++)
        for (int64_t v = 0; v < c->sink.n_col; v++) {
            c->parent[k * c->sink.n_col + v] = (int32_t)v;
            c->size[k * c->sink.n_col + v] = 0;
        }
}

static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_components *c = (gcor_components *)sink, *from = (gcor_components *)other;
    (void)context;
    for (int64_t k = 0; k < c->permutations.n; k++)
        for (int64_t v = 0, at = k * c->sink.n_col; v < c->sink.n_col; v++, at++) {
            join(c->parent + k * c->sink.n_col, (int32_t)v, from->parent[at]);
            c->size[at] += from->size[at];
        }
    clear(from);
    return GCOR_OK;
}

static gcor_status allocate(gcor_sink *sink, gcor_context *context) {
    const char *what = "the components of all permutations";
    gcor_components *c = (gcor_components *)sink;
    const int64_t elements = c->permutations.n * c->sink.n_col;
    c->scratch = gcor_alloc(context, context->threads * gcor_permuted_scratch(&c->permutations), sizeof(double), what);
    c->parent = gcor_alloc(context, elements, sizeof *c->parent, what);
    c->size = gcor_alloc(context, elements, sizeof *c->size, what);
    if (!c->scratch || !c->parent || !c->size) return GCOR_NO_MEMORY;
    clear(c);
    return GCOR_OK;
}

static void release(gcor_sink *sink) {
    gcor_components *c = (gcor_components *)sink;
    gcor_free(c->scratch);
    gcor_free(c->parent);
    gcor_free(c->size);
}

static const gcor_sink_type TYPE = {.name = "components",
                                    .size = sizeof(gcor_components),
                                    .take = take,
                                    .allocate = allocate,
                                    .merge = merge,
                                    .release = release};

gcor_status gcor_components_new(gcor_context *context, int64_t n_var, const gcor_component_rule *rule,
                                const gcor_permutations *permutations, gcor_sink **sink) {
    const gcor_components like = {.sink = {.type = &TYPE, .shape = GCOR_LOWER, .n_row = n_var, .n_col = n_var},
                                  .rule = *rule,
                                  .permutations = *permutations,
                                  .loops = gcor_combine_best_loops()};
    *sink = gcor_sink_new(context, &like);
    return *sink ? GCOR_OK : context->error.status;
}
