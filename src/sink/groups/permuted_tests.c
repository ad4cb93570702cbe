#include "permuted_tests.h"

#include "../../base/alloc.h"
#include "../../base/elementary.h"
#include "../../base/triangle.h"

enum { BLOCK = GCOR_GROUP_BLOCK };

/* Scratch: the values of a permutation; totals of z, and of its squares; the pairs that miss a subject; z, or the
 * model's values; and scratch of its tests. */
enum { VALUES = 0, TOTALS = BLOCK, SQUARES = 2 * BLOCK, MISSING = 3 * BLOCK, Z = 5 * BLOCK };
_Static_assert(sizeof(gcor_missing_pairs) <= (Z - MISSING) * sizeof(double), "the pairs that miss a subject need room");

static int is_t(const gcor_permutations *permutations) {
    return permutations->is_t || permutations->groups.model;
}

/* Returns the number of doubles of scratch that a thread needs. */
static int64_t scratch_of(const gcor_permutations *permutations) {
    return Z + gcor_group_scratch(&permutations->groups);
}

/* Subtracts the first subject's z, so that sums of squares do not cancel. */
static void shift_z(double *z, int64_t subjects, int64_t n) {
    for (int64_t s = subjects - 1; s >= 0; s--)
        for (int64_t k = 0; k < n; k++) z[s * BLOCK + k] -= z[k] == z[k] ? z[k] : 0;
}

static void find_totals(const double *z, int64_t subjects, int64_t n, double *totals, double *squares) {
    for (int64_t k = 0; k < n; k++) totals[k] = squares[k] = 0;
    for (int64_t s = 0; s < subjects; s++, z += BLOCK)
        for (int64_t k = 0; k < n; k++) {
            totals[k] += z[k];
            squares[k] += z[k] * z[k];
        }
}

/* Prepares n <= BLOCK pairs; subject s has their coefficients at r + s * stride. */
static void begin_pairs(const gcor_permutations *permutations, const gcor_combine_loops *loops, const double *r,
                        int64_t stride, int64_t n, double *scratch) {
    const gcor_groups *groups = &permutations->groups;
    gcor_missing_pairs *missing = (gcor_missing_pairs *)(scratch + MISSING);
    double *z = scratch + Z;
    gcor_subject_z(loops, r, stride, groups->n, n, z);
    if (groups->model) {
        gcor_linear_values(groups, loops, z, n, z + groups->n * BLOCK, missing);
        find_totals(z, groups->model->n_values, n, scratch + TOTALS, scratch + SQUARES);
    } else if (permutations->is_t) {
        missing->n = 0;
        shift_z(z, groups->n, n);
        find_totals(z, groups->n, n, scratch + TOTALS, scratch + SQUARES);
    } else {
        missing->n = 0;
    }
}

/* The t^2 (F) with the degrees of freedom of pairs that have all subjects whose p value is as large, by Bartlett's
 * approximation of the distribution of log(1 + n_tested F / df): pairs that miss subjects would have the largest t
 * of most permutations, and of the data by chance. R/data-subjects-tests.R has the same. */
static double comparable(const gcor_linear_model *model, double square, double df) {
    const double tested = (double)model->n_tested, most = (double)(model->n_values - model->n_terms);
    const double shift = tested / 2 - 1;
    return most / tested * expm1((df + shift) * log1p(tested * square / df) / (most + shift));
}

/* The statistic of pair k, which misses subjects. */
static double value_of_some(const gcor_permutations *permutations, const double *w, int64_t k, double *z) {
    const gcor_groups *groups = &permutations->groups;
    const gcor_linear_model *model = groups->model;
    gcor_group_tests tests;
    gcor_linear_test_some(model, w, z, k, z + groups->n * BLOCK, &tests);
    double value = gcor_group_statistic(groups, &tests, k);
    double square = comparable(model, model->n_tested > 1 ? value : value * value, tests.df[k]);
    return model->n_tested > 1 ? square * square : copysign(square, value);
}

/* Returns the prepared pairs' statistics under permutation k, in scratch: sums, or t |t|, or the square of F; NaN
 * without one. */
static const double *values_of(const gcor_permutations *permutations, const gcor_combine_loops *loops, int64_t k,
                               int64_t n, double *scratch) {
    const gcor_groups *groups = &permutations->groups;
    const gcor_linear_model *model = groups->model;
    const gcor_missing_pairs *missing = (const gcor_missing_pairs *)(scratch + MISSING);
    const double *w = permutations->weight + k * permutations->n_weights;
    double *values = scratch + VALUES, *z = scratch + Z;
    if (model)
        loops->linear_t(z, scratch + SQUARES, w + model->n_steady * model->n_values, model->n_terms - model->n_steady,
                        model->n_tested, model->n_values, (double)(model->n_values - model->n_terms), n, values);
    else if (permutations->is_t)
        loops->welch(z, scratch + TOTALS, w, groups->n, n, values);
    else
        loops->weighted_sums(z, w, groups->n, n, values);
    for (int64_t i = 0; groups->skips && i < missing->n; i++)
        values[missing->at[i]] = value_of_some(permutations, w, missing->at[i], z);
    return values;
}

/* ---- the sink of maxima ------------------------------------------------------------------------------- */

/* The largest value of t |t| is that of t. */
static double root(double t) {
    return t < 0 ? -sqrt(-t) : sqrt(t);
}

/* Turns n values into coefficients, and counts them. */
static void count_values(gcor_label_maxima *maxima, int thread, double *values, int64_t n) {
    const gcor_linear_model *model = maxima->permutations.groups.model;
    const int is_f = model && model->n_tested > 1;
    const double most = 1e18; /* of t^2 */
    if (!is_t(&maxima->permutations)) {
        maxima->loops->end_fisher(values, n);
    } else {
        for (int64_t k = 0; k < n; k++) {
            double size = is_f ? sqrt(values[k]) : fabs(values[k]);
            if (size > most) size = most;
            values[k] = copysign(sqrt(size / (size + maxima->df)), values[k]);
        }
    }
    gcor_bins_count(&maxima->bins, thread, values, n, 1);
}

/* Stores n values of permutation k from position `at` on. */
static void store_values(const gcor_label_maxima *maxima, int64_t k, int64_t at, const double *values, int64_t n) {
    const double most = 1e6;
    float *t = maxima->t + k * gcor_triangular(maxima->sink.n_col - 1) + at;
    for (int64_t j = 0; j < n; j++) {
        double size = sqrt(fabs(values[j]));
        t[j] = (float)copysign(size > most ? most : size, values[j]);
    }
}

static gcor_status take_maxima(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_label_maxima *maxima = (gcor_label_maxima *)sink;
    const gcor_permutations *permutations = &maxima->permutations;
    const gcor_combine_loops *loops = maxima->loops;
    double *scratch = maxima->scratch + thread * scratch_of(permutations);
    double *best = maxima->best + thread * permutations->n;
    for (int64_t from = 0; from < segment->n; from += BLOCK) {
        int64_t n = gcor_min(BLOCK, segment->n - from);
        begin_pairs(permutations, loops, segment->doubles + from, segment->stride, n, scratch);
        for (int64_t k = 0; k < permutations->n; k++) {
            const double *values = values_of(permutations, loops, k, n, scratch);
            if (maxima->df > 0) {
                count_values(maxima, thread, scratch + VALUES, n);
                continue;
            }
            if (maxima->t) {
                store_values(maxima, k, gcor_row_position(segment->row, segment->col + from, sink->n_col), values, n);
                continue;
            }
            double largest = loops->largest(values, maxima->side, n);
            if (largest > best[k]) best[k] = largest;
        }
    }
    return GCOR_OK;
}

/* Maximum over all threads. */
static double largest_of(const gcor_label_maxima *maxima, int64_t k) {
    double largest = -INFINITY;
    for (int64_t t = 0; t < maxima->threads; t++) {
        double own = maxima->best[t * maxima->permutations.n + k];
        if (own > largest) largest = own;
    }
    return largest;
}

double gcor_label_maxima_of(const gcor_label_maxima *maxima, int64_t k) {
    double largest = largest_of(maxima, k);
    if (!(largest > -INFINITY)) return GCOR_NO_WEIGHT;
    return is_t(&maxima->permutations) ? root(largest) : gcor_tanh(largest);
}

static void clear_maxima(gcor_label_maxima *maxima) {
    for (int64_t k = 0; k < maxima->threads * maxima->permutations.n; k++) maxima->best[k] = -INFINITY;
}

static gcor_status merge_maxima(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_label_maxima *maxima = (gcor_label_maxima *)sink, *from = (gcor_label_maxima *)other;
    for (int64_t k = 0; k < maxima->permutations.n; k++) {
        double largest = largest_of(from, k);
        if (largest > maxima->best[k]) maxima->best[k] = largest;
    }
    clear_maxima(from);
    if (maxima->df > 0) gcor_bins_move(&maxima->bins, &from->bins);
    return GCOR_OK;
}

static gcor_status allocate_maxima(gcor_sink *sink, gcor_context *context) {
    const char *what = "the largest differences";
    gcor_label_maxima *maxima = (gcor_label_maxima *)sink;
    const gcor_permutations *permutations = &maxima->permutations;
    maxima->threads = context->threads;
    maxima->scratch = gcor_alloc(context, maxima->threads * scratch_of(permutations), sizeof(double), what);
    maxima->best = gcor_alloc(context, maxima->threads * permutations->n, sizeof(double), what);
    if (!maxima->scratch || !maxima->best) return GCOR_NO_MEMORY;
    clear_maxima(maxima);
    return maxima->df > 0 ? gcor_bins_new(context, &maxima->bins) : GCOR_OK;
}

static void release_maxima(gcor_sink *sink) {
    gcor_free(((gcor_label_maxima *)sink)->scratch);
    gcor_free(((gcor_label_maxima *)sink)->best);
    gcor_bins_free(&((gcor_label_maxima *)sink)->bins);
}

static const gcor_sink_type MAXIMA = {.name = "label maxima",
                                      .size = sizeof(gcor_label_maxima),
                                      .take = take_maxima,
                                      .allocate = allocate_maxima,
                                      .merge = merge_maxima,
                                      .release = release_maxima};

gcor_status gcor_label_maxima_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, gcor_side side,
                                  double df, const gcor_permutations *permutations, gcor_label_maxima **maxima) {
    const gcor_label_maxima like = {.sink = {.type = &MAXIMA, .shape = shape, .n_row = n_row, .n_col = n_col},
                                    .side = side,
                                    .df = df,
                                    .permutations = *permutations,
                                    .loops = gcor_combine_best_loops()};
    *maxima = gcor_sink_new(context, &like);
    return *maxima ? GCOR_OK : context->error.status;
}

/* ---- the sink of components --------------------------------------------------------------------- */

/* Weights of a variable's pairs are added as integers, so that sums do not depend on the order: in units of 2^-24, and
 * up to MAX_WEIGHT, or less if so many would not fit into a sum. */
static const double SIZE_UNIT = 0x1p-24, MAX_WEIGHT = 1e6, MAX_SUM = 0x1p62;

struct gcor_components {
    gcor_sink sink; /* must be first */
    gcor_component_rule rule;
    gcor_permutations permutations;
    const gcor_combine_loops *loops;
    double *scratch; /* for each thread; owned */
    /* For each permutation, sign and variable: a variable of the same component with at most this number, itself if it
     * has the smallest; and the size of the pairs that were counted for this variable. Owned. */
    int32_t *parent;
    int64_t *size;
};

/* Number of graphs, each with all variables; those of a permutation are next to each other. */
static int64_t count_graphs(const gcor_components *c) {
    return c->permutations.n * c->rule.signs;
}

/* ---- disjoint sets of variables, which all threads join -------------------------------------------------- */

/* Returns the component's variable without a smaller one, and shortens the path to it. A path that another thread has
 * shortened meanwhile still leads there. */
static int32_t find_component(int32_t *parent, int32_t v) {
    for (;;) {
        int32_t next = __atomic_load_n(parent + v, __ATOMIC_RELAXED);
        int32_t beyond = __atomic_load_n(parent + next, __ATOMIC_RELAXED);
        if (beyond == next) return next;
        __atomic_store_n(parent + v, beyond, __ATOMIC_RELAXED);
        v = beyond;
    }
}

static void join_components(int32_t *parent, int32_t a, int32_t b) {
    for (;;) {
        a = find_component(parent, a);
        b = find_component(parent, b);
        if (a == b) return;
        int32_t low = a < b ? a : b, high = a < b ? b : a;
        if (__atomic_compare_exchange_n(parent + high, &high, low, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return;
    }
}

/* ---- the sink ------------------------------------------------------------------------------------------ */

static void add_pairs(gcor_components *c, int64_t k, int64_t row, int64_t col, const double *values, int64_t n) {
    const double least = c->rule.min * c->rule.min;
    const double max = fmin(MAX_WEIGHT, MAX_SUM * SIZE_UNIT / (double)c->sink.n_col);
    for (int64_t j = 0; j < n; j++) {
        double weight = gcor_raw_weight(c->rule.side, values[j]);
        if (!(weight >= least)) continue;
        int64_t graph = k * c->rule.signs + (c->rule.signs > 1 && values[j] < 0);
        int32_t *parent = c->parent + graph * c->sink.n_col;
        double excess = sqrt(weight) - c->rule.min;
        int64_t add = c->rule.sums_weights ? (int64_t)(fmin(excess, max) / SIZE_UNIT + 0.5) : 1;
        __atomic_fetch_add(c->size + graph * c->sink.n_col + row, add, __ATOMIC_RELAXED);
        join_components(parent, (int32_t)row, (int32_t)(col + j));
    }
}

static gcor_status take_components(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    gcor_components *c = (gcor_components *)sink;
    const gcor_permutations *permutations = &c->permutations;
    const double least = c->rule.min * c->rule.min;
    double *scratch = c->scratch + thread * scratch_of(permutations);
    for (int64_t from = 0; from < segment->n; from += BLOCK) {
        int64_t n = gcor_min(BLOCK, segment->n - from);
        begin_pairs(permutations, c->loops, segment->doubles + from, segment->stride, n, scratch);
        for (int64_t k = 0; k < permutations->n; k++) {
            const double *values = values_of(permutations, c->loops, k, n, scratch);
            if (c->loops->largest(values, c->rule.side, n) >= least)
                add_pairs(c, k, segment->row, segment->col + from, values, n);
        }
    }
    return GCOR_OK;
}

double gcor_components_of(gcor_sink *sink, int64_t k, double *size, int *first) {
    gcor_components *c = (gcor_components *)sink;
    const int64_t n_var = c->sink.n_col;
    const double unit = c->rule.sums_weights ? SIZE_UNIT : 1;
    double largest = 0;
    for (int64_t s = 0; s < c->rule.signs; s++, size += n_var, first += n_var) {
        int32_t *parent = c->parent + (k * c->rule.signs + s) * n_var;
        const int64_t *own = c->size + (k * c->rule.signs + s) * n_var;
        memset(size, 0, (size_t)n_var * sizeof *size);
        for (int64_t v = 0; v < n_var; v++) size[find_component(parent, (int32_t)v)] += (double)own[v] * unit;
        for (int64_t v = 0; v < n_var; v++) {
            int32_t root = find_component(parent, (int32_t)v); /* at most v */
            size[v] = size[root];
            first[v] = (int)(s * n_var) + root;
            if (size[v] > largest) largest = size[v];
        }
    }
    return largest;
}

static void clear_components(gcor_components *c) {
    for (int64_t k = 0; k < count_graphs(c); k++)
        for (int64_t v = 0; v < c->sink.n_col; v++) {
            c->parent[k * c->sink.n_col + v] = (int32_t)v;
            c->size[k * c->sink.n_col + v] = 0;
        }
}

static gcor_status merge_components(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    gcor_components *c = (gcor_components *)sink, *from = (gcor_components *)other;
    for (int64_t k = 0; k < count_graphs(c); k++)
        for (int64_t v = 0, at = k * c->sink.n_col; v < c->sink.n_col; v++, at++) {
            join_components(c->parent + k * c->sink.n_col, (int32_t)v, from->parent[at]);
            c->size[at] += from->size[at];
        }
    clear_components(from);
    return GCOR_OK;
}

static gcor_status allocate_components(gcor_sink *sink, gcor_context *context) {
    const char *what = "the components of all permutations";
    gcor_components *c = (gcor_components *)sink;
    const int64_t elements = count_graphs(c) * c->sink.n_col;
    c->scratch = gcor_alloc(context, context->threads * scratch_of(&c->permutations), sizeof(double), what);
    c->parent = gcor_alloc(context, elements, sizeof *c->parent, what);
    c->size = gcor_alloc(context, elements, sizeof *c->size, what);
    if (!c->scratch || !c->parent || !c->size) return GCOR_NO_MEMORY;
    clear_components(c);
    return GCOR_OK;
}

static void release_components(gcor_sink *sink) {
    gcor_components *c = (gcor_components *)sink;
    gcor_free(c->scratch);
    gcor_free(c->parent);
    gcor_free(c->size);
}

static const gcor_sink_type COMPONENTS = {.name = "components",
                                          .size = sizeof(gcor_components),
                                          .take = take_components,
                                          .allocate = allocate_components,
                                          .merge = merge_components,
                                          .release = release_components};

gcor_status gcor_components_new(gcor_context *context, int64_t n_var, const gcor_component_rule *rule,
                                const gcor_permutations *permutations, gcor_sink **sink) {
    const gcor_components like = {.sink = {.type = &COMPONENTS, .shape = GCOR_LOWER, .n_row = n_var, .n_col = n_var},
                                  .rule = *rule,
                                  .permutations = *permutations,
                                  .loops = gcor_combine_best_loops()};
    *sink = gcor_sink_new(context, &like);
    return *sink ? GCOR_OK : context->error.status;
}
