/* Compares coefficients with the definitions, for every treatment of missing values; other tests compare the engine
 * with itself. */
#include "check.h"
#include "device.h"
#include "results.h"

#include <math.h>

enum { N_OBS = 40, N_X = 150, N_Y = 70 };

static double mean_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += x[k];
    return sum / (double)n;
}

static double pearson(const double *x, const double *y, int64_t n) {
    double a = mean_of(x, n), b = mean_of(y, n), xy = 0, xx = 0, yy = 0;
    for (int64_t k = 0; k < n; k++) {
        xy += (x[k] - a) * (y[k] - b);
        xx += (x[k] - a) * (x[k] - a);
        yy += (y[k] - b) * (y[k] - b);
    }
    return xy / sqrt(xx * yy);
}

static int sign(double x, double y) {
    return (x > y) - (x < y);
}

static double kendall(const double *x, const double *y, int64_t n) {
    double xy = 0, xx = 0, yy = 0;
    for (int64_t k = 0; k < n; k++)
        for (int64_t q = 0; q < k; q++) {
            xy += sign(x[k], x[q]) * sign(y[k], y[q]);
            xx += sign(x[k], x[q]) != 0;
            yy += sign(y[k], y[q]) != 0;
        }
    return xy / sqrt(xx * yy);
}

static double spearman(const double *x, const double *y, int64_t n) {
    double a[N_OBS] = {0}, b[N_OBS] = {0};
    for (int64_t k = 0; k < n; k++)
        for (int64_t q = 0; q < n; q++) {
            a[k] += sign(x[k], x[q]);
            b[k] += sign(y[k], y[q]);
        }
    return pearson(a, b, n);
}

/* ---- columns ------------------------------------------------------------------------------------- */

/* Gathers the values that both columns have (pairwise use), or all values. Returns their number. */
static int64_t common_values(const unit_problem *p, int64_t i, int64_t j, double *x, double *y) {
    const gcor_matrix *rows = (const gcor_matrix *)(p->y ? p->y : p->x), *cols = (const gcor_matrix *)p->x;
    const double *a = (const double *)rows->values + i * N_OBS, *b = (const double *)cols->values + j * N_OBS;
    int64_t n = 0;
    for (int64_t k = 0; k < p->x->n_obs; k++) {
        int missing = isnan(a[k]) || isnan(b[k]);
        if (missing && p->use == GCOR_EVERYTHING) return 0;
        if (missing) continue;
        x[n] = a[k];
        y[n++] = b[k];
    }
    return n;
}

static int varies(const double *x, int64_t n) {
    int any = 0;
    for (int64_t k = 1; k < n; k++) any |= x[k] != x[0];
    return any;
}

typedef struct {
    const char *measure;
    double (*definition)(const double *x, const double *y, int64_t n);
} defined;

/* The expected coefficient; -7 if there is none (results.c). */
static double expected(const unit_problem *p, const defined *d, int64_t i, int64_t j) {
    double x[N_OBS], y[N_OBS];
    int64_t n = common_values(p, i, j, x, y);
    return n < 2 || !varies(x, n) || !varies(y, n) ? -7 : d->definition(x, y, n);
}

static void check_definition(unit_problem *p, const defined *d) {
    const unit_kind *kind = unit_kind_named(p->y ? "rectangle" : "square");
    int64_t n_row = p->y ? N_Y : N_X;
    unit_sink sink;
    unit_about("%s, %s, use %d", d->measure, kind->name, (int)p->use);
    p->measure = unit_measure(d->measure);
    CHECK_INT(unit_sink_new(p, kind, &sink), GCOR_OK);
    CHECK_INT(unit_run(p, sink.sink), GCOR_OK);
    for (int64_t i = 0; i < n_row; i++)
        for (int64_t j = p->y ? 0 : i + 1; j < N_X; j++) CHECK_NEAR(sink.out[i * N_X + j], expected(p, d, i, j), 1e-6);
    unit_sink_free(&sink);
}

static void coefficients_are_as_defined(void) {
    const defined all[] = {{"pearson", pearson}, {"kendall", kendall}, {"spearman", spearman}};
    const gcor_use uses[] = {GCOR_EVERYTHING, GCOR_PAIRWISE};
    unit_problem *p = malloc(sizeof *p);
    unit_seed(3);
    unit_devices_reset();
    unit_data x = unit_data_new(N_OBS, N_X, UNIT_SPOILT), y = unit_data_new(N_OBS, N_Y, UNIT_SPOILT);
    for (int k = 0; k < 12; k++) {
        unit_problem_of(p, &x.matrix.source, k < 6 ? NULL : &y.matrix.source);
        p->backend = &unit_device;
        p->use = uses[k % 2];
        check_definition(p, &all[k / 2 % 3]);
    }
    unit_data_free(&x);
    unit_data_free(&y);
    free(p);
}

const unit_test definition_tests[] = {
    {"coefficients are those of the definitions", coefficients_are_as_defined},
    {NULL, NULL},
};
