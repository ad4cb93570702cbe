/* Weighted and adjusted columns: coefficients are those of residuals computed by Gram-Schmidt in long double. */
#include "check.h"
#include "device.h"
#include "results.h"

#include "../../src/measure/design.h"
#include "../../src/measure/measure.h"

#include <math.h>
#include <string.h>

enum { N_OBS = 37, N_X = 30, N_REGRESSORS = 5, N_RANKED = 2 };

typedef long double precise;

typedef struct {
    double weight[N_OBS], regressor[N_REGRESSORS * N_OBS], basis[N_OBS * N_OBS];
    const char *measure;
    int is_centred, is_ranked, is_weighted;
} regression;

/* ---- definitions ------------------------------------------------------------------------------- */

static precise product(const precise *x, const precise *y, int n) {
    precise sum = 0;
    for (int k = 0; k < n; k++) sum += x[k] * y[k];
    return sum;
}

/* The weight of the values below minus that of the values above. */
static void rank(precise *x, const precise *weight, int n) {
    precise score[N_OBS] = {0};
    for (int k = 0; k < n; k++)
        for (int q = 0; q < n; q++) score[k] += weight[q] * ((x[q] < x[k]) - (x[q] > x[k]));
    memcpy(x, score, (size_t)n * sizeof *x);
}

/* Orthogonalizes columns 0 .. n_columns-1, weighted, each against the previous ones; a column in their span becomes
 * zero. */
static void make_orthogonal(precise (*columns)[N_OBS], int n_columns, int n) {
    for (int c = 0; c < n_columns; c++) {
        precise before = product(columns[c], columns[c], n);
        for (int twice = 0; twice < 2; twice++)
            for (int q = 0; q < c; q++) {
                precise squares = product(columns[q], columns[q], n), along = product(columns[q], columns[c], n);
                for (int k = 0; squares > 0 && k < n; k++) columns[c][k] -= along / squares * columns[q][k];
            }
        if (product(columns[c], columns[c], n) < 1e-20L * before) memset(columns[c], 0, sizeof columns[c]);
    }
}

/* Residuals of the values at the rows: orthogonalizes the regressors, intercept first, then x. */
static void residual(const regression *r, const double *x, const int *rows, int n, precise *left) {
    precise columns[N_REGRESSORS + 2][N_OBS] = {{0}}, weight[N_OBS];
    for (int k = 0; k < n; k++) weight[k] = r->is_weighted ? r->weight[rows[k]] : 1;
    for (int c = 0; c < N_REGRESSORS + 2; c++) {
        for (int k = 0; k < n; k++)
            columns[c][k] = c == 0              ? r->is_centred
                            : c <= N_REGRESSORS ? r->regressor[(c - 1) * N_OBS + rows[k]]
                                                : x[rows[k]];
        if (r->is_ranked && c > 0 && (c <= N_RANKED || c > N_REGRESSORS)) rank(columns[c], weight, n);
        for (int k = 0; k < n; k++) columns[c][k] *= sqrtl(weight[k]);
    }
    make_orthogonal(columns, N_REGRESSORS + 2, n);
    memcpy(left, columns[N_REGRESSORS + 1], (size_t)n * sizeof *left);
}

/* The expected coefficient; -7 if there is none (results.c). */
static double coefficient(const regression *r, gcor_use use, const double *x, const double *y) {
    int rows[N_OBS], n = 0;
    precise a[N_OBS], b[N_OBS];
    for (int k = 0; k < N_OBS; k++) {
        if (r->weight[k] == 0) continue;
        if (!isnan(x[k]) && !isnan(y[k]))
            rows[n++] = k;
        else if (use == GCOR_EVERYTHING)
            return -7;
    }
    if (n < N_REGRESSORS + 3) return -7;
    residual(r, x, rows, n, a);
    residual(r, y, rows, n, b);
    precise aa = product(a, a, n), bb = product(b, b, n); /* NaN if there are infinite values */
    return aa == 0 || bb == 0 ? -7 : (double)(product(a, b, n) / sqrtl(aa * bb));
}

/* ---- the engine's ------------------------------------------------------------------------------------ */

static regression regression_of(const char *measure, int is_weighted) {
    regression r = {.measure = measure,
                    .is_centred = strcmp(measure, "cosine") != 0,
                    .is_ranked = strcmp(measure, "spearman") == 0,
                    .is_weighted = is_weighted};
    for (int k = 0; k < N_OBS; k++) {
        r.weight[k] = k % 7 == 3 ? 0 : is_weighted ? 0.1 + unit_uniform() : 1;
        for (int q = 0; q < N_REGRESSORS; q++) r.regressor[q * N_OBS + k] = unit_uniform() - (q == 1 ? 0.5 : 0);
        r.regressor[k] = round(4 * r.regressor[k]);
        r.regressor[2 * N_OBS + k] = 3 * r.regressor[3 * N_OBS + k] + 1e-3 * unit_uniform();
    }
    return r;
}

/* Makes the basis as R does: orthonormal over the observations in use, or of the complement of its space. */
static int64_t make_basis(regression *r, int keeps) {
    precise columns[N_REGRESSORS + 1 + N_OBS][N_OBS] = {{0}}, weight[N_OBS];
    int rows[N_OBS], n = 0, all = N_REGRESSORS + 1 + (keeps ? N_OBS : 0);
    for (int k = 0; k < N_OBS; k++)
        if (r->weight[k] > 0) rows[n++] = k;
    for (int k = 0; k < n; k++) weight[k] = r->is_weighted ? r->weight[rows[k]] : 1;
    for (int c = 0; c < all; c++) {
        for (int k = 0; k < n; k++)
            columns[c][k] = c == 0              ? r->is_centred
                            : c <= N_REGRESSORS ? r->regressor[(c - 1) * N_OBS + rows[k]]
                                                : k == c - N_REGRESSORS - 1;
        if (r->is_ranked && c > 0 && c <= N_RANKED) rank(columns[c], weight, n);
        for (int k = 0; k < n; k++) columns[c][k] *= sqrtl(weight[k]);
    }
    make_orthogonal(columns, all, n);
    int64_t count = 0;
    memset(r->basis, 0, sizeof r->basis);
    for (int c = keeps ? N_REGRESSORS + 1 : 1; c < all; c++) {
        precise length = sqrtl(product(columns[c], columns[c], n));
        if (!(length > 0)) continue;
        for (int k = 0; k < n; k++) r->basis[count * N_OBS + rows[k]] = (double)(columns[c][k] / length);
        count++;
    }
    return count;
}

static void check_regression(unit_problem *p, regression *r, int keeps, double tolerance) {
    const gcor_matrix *x = (const gcor_matrix *)p->x;
    const double *values = x->values;
    gcor_design design = {.n_rows = N_OBS, .weight = r->weight, .basis = r->basis, .keeps = keeps};
    unit_sink sink;
    design.n_basis = make_basis(r, keeps);
    if (r->is_ranked) design.raw = r->regressor, design.n_raw = N_REGRESSORS, design.n_ranked = N_RANKED;
    unit_about("%s, weights %d, use %d, keeps %d", r->measure, r->is_weighted, (int)p->use, keeps);
    p->measure = unit_measure(r->measure);
    p->design = &design;
    CHECK_INT(unit_sink_new(p, unit_kind_named("square"), &sink), GCOR_OK);
    CHECK_INT(unit_run(p, sink.sink), GCOR_OK);
    for (int64_t i = 0; i < N_X; i++)
        for (int64_t j = i + 1; j < N_X; j++)
            CHECK_NEAR(sink.out[i * N_X + j], coefficient(r, p->use, values + i * N_OBS, values + j * N_OBS),
                       tolerance);
    unit_sink_free(&sink);
    p->design = NULL;
}

static void residuals_are_compared(void) {
    const char *measures[] = {"pearson", "spearman", "cosine"};
    unit_problem *p = malloc(sizeof *p);
    unit_seed(17);
    unit_devices_reset();
    unit_data x = unit_data_new(N_OBS, N_X, UNIT_SPOILT);
    for (int k = 0; k < 12; k++) {
        regression r = regression_of(measures[k % 3], k / 3 % 2);
        unit_problem_of(p, &x.matrix.source, NULL);
        p->backend = &unit_device;
        p->use = k < 6 ? GCOR_PAIRWISE : GCOR_EVERYTHING;
        check_regression(p, &r, 0, 1e-6);
        if (p->use == GCOR_PAIRWISE) continue;
        check_regression(p, &r, 1, 1e-6);
        p->in_double = 1;
        check_regression(p, &r, 1, 1e-13);
    }
    unit_data_free(&x);
    free(p);
}

/* A measure with options and scratch of its own: pairs with all observations have the coefficients of complete
 * columns. */
static void pairs_are_as_columns(void) {
    unit_problem *p = malloc(sizeof *p);
    unit_seed(18);
    unit_devices_reset();
    unit_data x = unit_data_new(N_OBS, N_X, UNIT_COMPLETE);
    double outliers[] = {0.1, 0, 1};
    gcor_design design = {.n_rows = N_OBS, .option = outliers};
    unit_sink complete, pairwise;
    unit_problem_of(p, &x.matrix.source, NULL);
    p->backend = &unit_device;
    p->measure = unit_measure("bicor");
    p->design = &design;
    CHECK_INT(unit_sink_new(p, unit_kind_named("square"), &complete), GCOR_OK);
    CHECK_INT(unit_run(p, complete.sink), GCOR_OK);
    x.values[0] = NAN; /* of column 0 */
    p->use = GCOR_PAIRWISE;
    CHECK_INT(unit_sink_new(p, unit_kind_named("square"), &pairwise), GCOR_OK);
    CHECK_INT(unit_run(p, pairwise.sink), GCOR_OK);
    for (int64_t i = 1; i < N_X; i++)
        for (int64_t j = i + 1; j < N_X; j++) CHECK_NEAR(pairwise.out[i * N_X + j], complete.out[i * N_X + j], 1e-6);
    unit_sink_free(&complete);
    unit_sink_free(&pairwise);
    unit_data_free(&x);
    free(p);
}

static void what_is_refused(void) {
    const char *measures[] = {"kendall", "bicor", "kendall"};
    unit_problem *p = malloc(sizeof *p);
    unit_seed(19);
    unit_devices_reset();
    unit_data x = unit_data_new(N_OBS, N_X, UNIT_COMPLETE);
    for (int k = 0; k < 3; k++) {
        regression r = regression_of("pearson", k < 2);
        gcor_design design = {.n_rows = N_OBS, .weight = r.weight, .basis = r.basis, .n_basis = k < 2 ? 0 : 2};
        gcor_status status;
        unit_about("%s, %d", measures[k], k);
        unit_problem_of(p, &x.matrix.source, NULL);
        p->backend = &unit_device;
        p->measure = unit_measure(measures[k]);
        p->design = &design;
        unit_found none = unit_find(p, unit_kind_named("square"), &status);
        CHECK(!none.bytes);
        CHECK_INT(status, GCOR_BAD_INPUT);
        CHECK_TEXT(p->error.message, k < 2 ? "takes no 'weights' other than 0 and 1" : "takes no 'covariates'");
    }
    unit_data_free(&x);
    free(p);
}

const unit_test design_tests[] = {
    {"coefficients are those of residuals, weighted and ranked, pair by pair, too", residuals_are_compared},
    {"pairs of complete columns are as these", pairs_are_as_columns},
    {"what a measure does not take is refused", what_is_refused},
    {NULL, NULL},
};
