#include "group_tests.h"

#include "../base/alloc.h"

#include <math.h>

enum { BLOCK = GCOR_GROUP_BLOCK };

/* ---- tests of a block of pairs ------------------------------------------------------------------------- */

/* A group's moments: number of subjects with a coefficient, their mean z, and the sum of squared deviations from it. */
typedef struct {
    double count[BLOCK], mean[BLOCK], squares[BLOCK];
} group_moments;

/* Two passes over z, so that subjects that agree to the last bit have no variance. */
static void find_moments(const double *z, int64_t subjects, int64_t n, group_moments *m) {
    for (int64_t k = 0; k < n; k++) m->count[k] = m->mean[k] = m->squares[k] = 0;
    for (int64_t s = 0; s < subjects; s++)
        for (int64_t k = 0; k < n; k++) {
            double value = z[s * BLOCK + k], is_there = value == value ? 1 : 0;
            m->count[k] += is_there;
            m->mean[k] += is_there > 0 ? value : 0;
        }
    for (int64_t k = 0; k < n; k++) m->mean[k] /= m->count[k];
    for (int64_t s = 0; s < subjects; s++)
        for (int64_t k = 0; k < n; k++) {
            double value = z[s * BLOCK + k], deviation = value == value ? value - m->mean[k] : 0;
            m->squares[k] += deviation * deviation;
        }
}

/* The variance of a group's mean; NaN if there are too few subjects. */
static double mean_variance(const gcor_groups *groups, const group_moments *m, int64_t k, int64_t subjects) {
    double n = m->count[k];
    if (n < 2 || (!groups->skips && n < (double)subjects)) return NAN;
    return m->squares[k] / (n * (n - 1));
}

/* Adds the second group to the tests of the first. */
static void subtract_group(const gcor_groups *groups, const group_moments *m, int64_t n, gcor_group_tests *tests) {
    int64_t subjects = groups->n - groups->n_first;
    for (int64_t k = 0; k < n; k++) {
        double first = tests->error[k] * tests->error[k], first_df = tests->df[k];
        double second = mean_variance(groups, m, k, subjects), second_df = m->count[k] - 1, both = first + second;
        tests->difference[k] -= m->mean[k];
        tests->error[k] = sqrt(both);
        tests->df[k] = both > 0 ? both * both / (first * first / first_df + second * second / second_df)
                                : first_df + second_df;
    }
}

/* Tests one group, or two. */
static void test_means(const gcor_groups *groups, const double *z, int64_t n, gcor_group_tests *tests) {
    group_moments m;
    find_moments(z, groups->n_first, n, &m);
    for (int64_t k = 0; k < n; k++) {
        tests->difference[k] = m.mean[k];
        tests->error[k] = sqrt(mean_variance(groups, &m, k, groups->n_first));
        tests->df[k] = m.count[k] - 1;
    }
    if (groups->n_first < groups->n) {
        find_moments(z + groups->n_first * BLOCK, groups->n - groups->n_first, n, &m);
        subtract_group(groups, &m, n, tests);
    }
}

/* ---- linear models ------------------------------------------------------------------------------------- */

/* Squares that are smaller in relation to those of z are rounding errors. */
static const double ROUNDING = 1e-28;

int64_t gcor_linear_scratch(const gcor_linear_model *model) {
    return model && model->basis ? model->n_values : 0;
}

double *gcor_linear_values(const gcor_linear_model *model, const gcor_combine_loops *loops, int64_t subjects, double *z,
                           int64_t n) {
    double *y = z + subjects * BLOCK, of_z[BLOCK] = {0}, of_y[BLOCK] = {0};
    if (!model->basis) return z;
    for (int64_t j = 0; j < model->n_values; j++) {
        loops->weighted_sums(z, model->basis + j * subjects, subjects, n, y + j * BLOCK);
        for (int64_t k = 0; k < n; k++) of_y[k] += y[j * BLOCK + k] * y[j * BLOCK + k];
    }
    for (int64_t s = 0; s < subjects; s++)
        for (int64_t k = 0; k < n; k++) of_z[k] += z[s * BLOCK + k] * z[s * BLOCK + k];
    for (int64_t k = 0; k < n; k++)
        if (of_y[k] <= ROUNDING * of_z[k])
            for (int64_t j = 0; j < model->n_values; j++) y[j * BLOCK + k] = 0;
    return y;
}

/* The residuals are computed one by one, so that those of pairs that the model explains do not cancel. */
static void test_contrast(const gcor_linear_model *model, const gcor_combine_loops *loops, const double *y, int64_t n,
                          gcor_group_tests *tests) {
    double effect[BLOCK], squares[BLOCK] = {0};
    loops->weighted_sums(y, model->effect, model->n_values, n, effect);
    for (int64_t j = 0; j < model->n_values; j++)
        for (int64_t k = 0; k < n; k++) {
            double residual = y[j * BLOCK + k] - effect[k] * model->effect[j];
            squares[k] += residual * residual;
        }
    for (int64_t k = 0; k < n; k++) {
        tests->difference[k] = model->scale * effect[k];
        if (squares[k] <= ROUNDING * effect[k] * effect[k]) squares[k] = 0;
        tests->error[k] = model->scale * sqrt(squares[k] / model->df);
        tests->df[k] = model->df;
    }
}

int64_t gcor_group_scratch(const gcor_groups *groups) {
    return BLOCK * (groups->n + gcor_linear_scratch(groups->model));
}

void gcor_test_groups(const gcor_groups *groups, const gcor_combine_loops *loops, const double *r, int64_t stride,
                      int64_t n, double *z, gcor_group_tests *tests) {
    gcor_subject_z(loops, r, stride, groups->n, n, z);
    if (groups->model)
        test_contrast(groups->model, loops, gcor_linear_values(groups->model, loops, groups->n, z, n), n, tests);
    else
        test_means(groups, z, n, tests);
    for (int64_t k = 0; k < n; k++)
        if (tests->error[k] != tests->error[k]) tests->difference[k] = tests->df[k] = NAN;
}

void gcor_group_coefficients(const gcor_groups *groups, const gcor_group_tests *tests, int64_t n, double *r) {
    double max_df = groups->model ? groups->model->df : (double)(groups->n - (groups->n_first < groups->n ? 2 : 1));
    for (int64_t k = 0; k < n; k++) {
        double d = tests->difference[k], e = tests->error[k];
        r[k] = d == 0 && e == 0 ? 0 : d / sqrt(d * d + max_df * e * e);
    }
}

/* ---- the sink ------------------------------------------------------------------------------------------ */

typedef struct {
    gcor_sink sink; /* must be first */
    gcor_groups groups;
    gcor_listed_pairs listed;
    gcor_group_results results;
    const gcor_combine_loops *loops;
    double *scratch; /* for each thread: that of the tests, and every subject's coefficients of a block; owned */
} group_sink;

/* Index of a row's first entry at or after column `col`. */
static int64_t find_entry(const gcor_listed_pairs *listed, int64_t row, int64_t col) {
    int64_t low = listed->start[row], high = listed->start[row + 1];
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (listed->col[middle] < col)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Tests n pairs, whose coefficients subject s has at r + s * stride, and stores the results from index `at` on. */
static void test_block(group_sink *g, double *z, const double *r, int64_t stride, int64_t n, int64_t at) {
    const gcor_group_results *to = &g->results;
    gcor_group_tests tests;
    gcor_test_groups(&g->groups, g->loops, r, stride, n, z, &tests);
    for (int64_t k = 0; k < n; k++) {
        int is_missing = tests.error[k] != tests.error[k];
        to->difference[at + k] = is_missing ? to->missing : tests.difference[k];
        to->error[at + k] = is_missing ? to->missing : tests.error[k];
        to->df[at + k] = is_missing ? to->missing : tests.df[k];
    }
}

static int64_t position(const gcor_sink *sink, int64_t row, int64_t col) {
    return sink->shape == GCOR_FULL ? row * sink->n_col + col : gcor_row_position(row, col, sink->n_col);
}

static void take_all(group_sink *g, double *z, const gcor_segment *segment) {
    for (int64_t from = 0; from < segment->n; from += BLOCK)
        test_block(g, z, segment->doubles + from, segment->stride, gcor_min(BLOCK, segment->n - from),
                   position(&g->sink, segment->row, segment->col + from));
}

/* r: scratch for the subjects' coefficients. */
static void take_listed(group_sink *g, double *z, double *r, const gcor_segment *segment) {
    int64_t at = find_entry(&g->listed, segment->row, segment->col);
    int64_t end = find_entry(&g->listed, segment->row, segment->col + segment->n);
    for (; at < end; at += BLOCK) {
        int64_t n = gcor_min(BLOCK, end - at);
        for (int64_t s = 0; s < g->groups.n; s++)
            for (int64_t k = 0; k < n; k++)
                r[s * BLOCK + k] = segment->doubles[s * segment->stride + g->listed.col[at + k] - segment->col];
        test_block(g, z, r, BLOCK, n, at);
    }
}

static int64_t thread_scratch(const group_sink *g) {
    return gcor_group_scratch(&g->groups) + BLOCK * g->groups.n;
}

static gcor_status take(gcor_sink *sink, gcor_context *context, int thread, const gcor_segment *segment) {
    group_sink *g = (group_sink *)sink;
    double *z = g->scratch + thread * thread_scratch(g);
    (void)context;
    if (g->listed.start)
        take_listed(g, z, z + gcor_group_scratch(&g->groups), segment);
    else
        take_all(g, z, segment);
    return GCOR_OK;
}

static gcor_status allocate(gcor_sink *sink, gcor_context *context) {
    group_sink *g = (group_sink *)sink;
    g->scratch = gcor_alloc(context, context->threads * thread_scratch(g), sizeof(double),
                            "tests of groups of subjects");
    return g->scratch ? GCOR_OK : GCOR_NO_MEMORY;
}

/* Forks write to the same results, each to its own pairs. */
static gcor_status merge(gcor_sink *sink, gcor_context *context, gcor_sink *other) {
    (void)sink, (void)context, (void)other;
    return GCOR_OK;
}

static void release(gcor_sink *sink) {
    gcor_free(((group_sink *)sink)->scratch);
}

static const gcor_sink_type TYPE = {.name = "group tests",
                                    .size = sizeof(group_sink),
                                    .take = take,
                                    .allocate = allocate,
                                    .merge = merge,
                                    .release = release};

gcor_status gcor_group_sink_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col,
                                const gcor_groups *groups, const gcor_listed_pairs *listed,
                                const gcor_group_results *results, gcor_sink **sink) {
    const group_sink like = {.sink = {.type = &TYPE, .shape = shape, .n_row = n_row, .n_col = n_col},
                             .groups = *groups,
                             .listed = *listed,
                             .results = *results,
                             .loops = gcor_combine_best_loops()};
    *sink = gcor_sink_new(context, &like);
    return *sink ? GCOR_OK : context->error.status;
}
