#include "group_tests.h"

#include "../../base/alloc.h"

#include <math.h>

enum { BLOCK = GCOR_GROUP_BLOCK };

/* ---- values of subjects -------------------------------------------------------------------------------- */

void gcor_subject_z(const gcor_combine_loops *loops, const double *r, int64_t stride, int64_t subjects, int64_t n,
                    double *z) {
    for (int64_t s = 0; s < subjects; s++, z += GCOR_SUM_BLOCK) {
        const double *value = r + s * stride;
        for (int64_t k = 0; k < n; k++) z[k] = 0;
        loops->add_fisher(z, value, 1, n);
        for (int64_t k = 0; k < n; k++) z[k] = value[k] <= 1 ? z[k] : NAN;
    }
}

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

/* Squares that are smaller in relation to those of z are rounding errors; so are squares of what is left of a term
 * without the others. */
static const double ROUNDING = 1e-28, COLLINEAR = 1e-10;

void gcor_find_missing(const double *y, int64_t rows, int64_t n, gcor_missing_pairs *missing) {
    double sum[BLOCK] = {0};
    for (int64_t s = 0; s < rows; s++)
        for (int64_t k = 0; k < n; k++) sum[k] += y[s * BLOCK + k];
    missing->n = 0;
    for (int64_t k = 0; k < n; k++)
        if (sum[k] != sum[k]) missing->at[missing->n++] = k;
}

static void find_squares(const double *y, int64_t rows, int64_t n, double *squares) {
    for (int64_t k = 0; k < n; k++) squares[k] = 0;
    for (int64_t s = 0; s < rows; s++)
        for (int64_t k = 0; k < n; k++) {
            double value = y[s * BLOCK + k];
            squares[k] += value == value ? value * value : 0;
        }
}

/* Subtracts a term from all pairs that miss no value, and stores its coefficients. */
static void remove_term(const double *term, const gcor_combine_loops *loops, int64_t rows, double *y, int64_t n,
                        double *coefficient) {
    double c[BLOCK];
    loops->weighted_sums(y, term, rows, n, coefficient);
    for (int64_t k = 0; k < n; k++) c[k] = coefficient[k] == coefficient[k] ? coefficient[k] : 0;
    for (int64_t s = 0; s < rows; s++)
        for (int64_t k = 0; k < n; k++) y[s * BLOCK + k] -= term[s] * c[k];
}

/* Regresses the values of a pair that are not NaN, BLOCK apart, on n orthonormal terms, by Cholesky's decomposition of
 * their products over these subjects. Returns the number of values; 0 if it is not above n, or the terms are collinear.
 * root: n * n, the lower triangular factor; u: n, the coefficients of the terms, each without those before it. */
static int64_t regress_some(const double *terms, int64_t rows, int64_t n, const double *y, double *root, double *u) {
    int64_t values = 0;
    for (int64_t i = 0; i < n * n; i++) root[i] = i % (n + 1) == 0;
    for (int64_t i = 0; i < n; i++) u[i] = 0;
    for (int64_t s = 0; s < rows; s++) {
        const double value = y[s * BLOCK], *of_s = terms + s;
        values += value == value;
        for (int64_t i = 0; i < n; i++) {
            if (value == value)
                u[i] += of_s[i * rows] * value;
            else
                for (int64_t j = 0; j <= i; j++) root[i * n + j] -= of_s[i * rows] * of_s[j * rows];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        double *row = root + i * n;
        for (int64_t j = 0; j <= i; j++) {
            for (int64_t l = 0; l < j; l++) row[j] -= row[l] * root[j * n + l];
            if (j == i) break;
            row[j] /= root[j * n + j];
            u[i] -= row[j] * u[j];
        }
        if (row[i] < COLLINEAR) return 0;
        row[i] = sqrt(row[i]);
        u[i] /= row[i];
    }
    return values > n ? values : 0;
}

/* Returns subject s's residual of regress_some(), whose u finish_some() turned into the coefficients of all terms. */
static double residual_of(const double *terms, int64_t rows, int64_t n, const double *y, const double *u, int64_t s) {
    double residual = y[s * BLOCK];
    for (int64_t i = 0; i < n; i++) residual -= terms[i * rows + s] * u[i];
    return residual;
}

static void finish_some(int64_t n, const double *root, double *u) {
    for (int64_t i = n - 1; i >= 0; i--) {
        for (int64_t l = i + 1; l < n; l++) u[i] -= root[l * n + i] * u[l];
        u[i] /= root[i * n + i];
    }
}

void gcor_linear_values(const gcor_groups *groups, const gcor_combine_loops *loops, double *z, int64_t n,
                        double *scratch, gcor_missing_pairs *missing) {
    const gcor_linear_model *model = groups->model;
    const int64_t rows = model->n_values, others = model->n_terms - model->n_tested;
    double of_z[BLOCK], of_y[BLOCK], *u = scratch + others * others;
    for (int64_t s = rows; s < groups->n; s++)
        for (int64_t k = 0; k < n; k++) z[(s - rows) * BLOCK + k] -= z[s * BLOCK + k];
    gcor_find_missing(z, rows, n, missing);
    find_squares(z, rows, n, of_z);
    for (int64_t j = 0; j < others; j++) remove_term(model->terms + j * rows, loops, rows, z, n, of_y);
    for (int64_t i = 0; groups->skips && i < missing->n; i++) {
        double *y = z + missing->at[i];
        int64_t values = regress_some(model->terms, rows, others, y, scratch, u);
        finish_some(others, scratch, u);
        for (int64_t s = 0; s < rows; s++)
            y[s * BLOCK] = values > 0 ? residual_of(model->terms, rows, others, y, u, s) : NAN;
    }
    find_squares(z, rows, n, of_y);
    for (int64_t k = 0; k < n; k++)
        if (of_y[k] <= ROUNDING * of_z[k])
            for (int64_t s = 0; s < rows; s++) z[s * BLOCK + k] *= 0; /* NaN stays */
}

/* Stores a test of the sums of squares of effects, of n_tested terms, and of residuals of some values. contrast: the
 * coefficient of the only tested term, and its standard error without that of the residuals. */
static void store_test(const gcor_linear_model *model, double contrast, double unit, double effects, double rest,
                       int64_t values, gcor_group_tests *tests, int64_t k) {
    const double tested = (double)model->n_tested, df = (double)(values - model->n_terms);
    const double size = model->n_tested > 1 ? 1 / sqrt((double)values) : model->scale;
    if (rest <= ROUNDING * effects) rest = 0;
    tests->difference[k] = size * (model->n_tested > 1 ? sqrt(effects) : contrast);
    tests->error[k] = size * unit * sqrt(tested * rest / df);
    tests->df[k] = df;
}

void gcor_linear_test_some(const gcor_linear_model *model, const double *terms, const double *values, int64_t k,
                           double *scratch, gcor_group_tests *tests) {
    const int64_t rows = model->n_values, n = model->n_terms;
    const double *y = values + k;
    double *u = scratch + n * n, effects = 0, rest = 0;
    int64_t found = regress_some(terms, rows, n, y, scratch, u);
    tests->difference[k] = tests->error[k] = tests->df[k] = NAN;
    if (found == 0) return;
    for (int64_t i = n - model->n_tested; i < n; i++) effects += u[i] * u[i];
    finish_some(n, scratch, u);
    for (int64_t s = 0; s < rows; s++) {
        double residual = residual_of(terms, rows, n, y, u, s);
        rest += residual == residual ? residual * residual : 0;
    }
    store_test(model, u[n - 1], model->n_tested > 1 ? 1 : 1 / scratch[n * n - 1], effects, rest, found, tests, k);
}

/* The residuals are computed one by one, so that those of pairs that the model explains do not cancel. */
static void test_terms(const gcor_groups *groups, const gcor_combine_loops *loops, double *y, int64_t n,
                       double *scratch, gcor_group_tests *tests) {
    const gcor_linear_model *model = groups->model;
    const int64_t rows = model->n_values;
    double effect[BLOCK], effects[BLOCK] = {0}, rest[BLOCK];
    gcor_missing_pairs missing;
    gcor_linear_values(groups, loops, y, n, scratch, &missing);
    for (int64_t j = model->n_terms - model->n_tested; j < model->n_terms; j++) {
        remove_term(model->terms + j * rows, loops, rows, y, n, effect);
        for (int64_t k = 0; k < n; k++) effects[k] += effect[k] * effect[k];
    }
    find_squares(y, rows, n, rest);
    for (int64_t k = 0; k < n; k++) store_test(model, effect[k], 1, effects[k], rest[k], rows, tests, k);
    for (int64_t i = 0; i < missing.n; i++) {
        if (groups->skips)
            gcor_linear_test_some(model, model->terms, y, missing.at[i], scratch, tests);
        else
            tests->error[missing.at[i]] = NAN;
    }
}

int64_t gcor_group_scratch(const gcor_groups *groups) {
    const gcor_linear_model *model = groups->model;
    const int64_t of_model = model ? (model->n_terms * (model->n_terms + 1) + 7) / 8 * 8
                                   : 0; /* rows of z stay aligned */
    return BLOCK * groups->n + of_model;
}

void gcor_test_groups(const gcor_groups *groups, const gcor_combine_loops *loops, const double *r, int64_t stride,
                      int64_t n, double *z, gcor_group_tests *tests) {
    gcor_subject_z(loops, r, stride, groups->n, n, z);
    if (groups->model)
        test_terms(groups, loops, z, n, z + groups->n * BLOCK, tests);
    else
        test_means(groups, z, n, tests);
    for (int64_t k = 0; k < n; k++)
        if (tests->error[k] != tests->error[k]) tests->difference[k] = tests->df[k] = NAN;
}

double gcor_group_statistic(const gcor_groups *groups, const gcor_group_tests *tests, int64_t k) {
    double t = tests->difference[k] == 0 ? 0 : tests->difference[k] / tests->error[k];
    return groups->model && groups->model->n_tested > 1 ? t * t : t;
}

void gcor_group_coefficients(const gcor_groups *groups, const gcor_group_tests *tests, int64_t n, double *r) {
    const gcor_linear_model *model = groups->model;
    double max_df = (double)(model ? model->n_values - model->n_terms
                                   : groups->n - (groups->n_first < groups->n ? 2 : 1));
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

static void take_all(group_sink *g, double *z, const gcor_segment *segment) {
    const gcor_sink *sink = &g->sink;
    int64_t at = sink->shape == GCOR_FULL ? segment->row * sink->n_col + segment->col
                                          : gcor_row_position(segment->row, segment->col, sink->n_col);
    for (int64_t from = 0; from < segment->n; from += BLOCK)
        test_block(g, z, segment->doubles + from, segment->stride, gcor_min(BLOCK, segment->n - from), at + from);
}

/* r: scratch for the subjects' coefficients. */
static void take_listed(group_sink *g, double *z, double *r, const gcor_segment *segment) {
    const int32_t *start = g->listed.start + segment->row, *col = g->listed.col;
    int64_t at = gcor_first_from(col, start[0], start[1], segment->col);
    int64_t end = gcor_first_from(col, at, start[1], segment->col + segment->n);
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
