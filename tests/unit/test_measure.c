/* A measure is a row: one defined here works with every sink. */
#include "check.h"
#include "device.h"
#include "results.h"

#include "../../src/measure/measure.h"

#include <math.h>
#include <string.h>

/* ---- quadrant correlation: signs about the median ---------------------------------------------- */

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const double *x, int64_t n) {
    double *sorted = malloc((size_t)n * sizeof *sorted);
    memcpy(sorted, x, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, compare);
    double median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
    free(sorted);
    return median;
}

static double prepare_quadrant(double *x, int64_t n, gcor_preparing *with, float *out) {
    double median = median_of(x, n), squares = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] = (x[k] > median) - (x[k] < median);
        squares += x[k] * x[k];
    }
    return gcor_unit(x, squares, n, out);
}

static const gcor_measure quadrant = {
    .name = "quadrant",
    .title = "Quadrant correlation",
    .kind = GCOR_REAL,
    .infinite = GCOR_INFINITE_IS_NAN,
    .distribution = GCOR_STUDENT_T,
    .df_taken = 2,
    .prepare = prepare_quadrant,
};

enum { N_OBS = 25, N_X = 150, N_Y = 80 };

/* The coefficient by its definition; -7 if there is none (results.c). */
static double quadrant_of(const double *x, const double *y) {
    double a = median_of(x, N_OBS), b = median_of(y, N_OBS), xy = 0, xx = 0, yy = 0;
    for (int64_t k = 0; k < N_OBS; k++) {
        double u = (x[k] > a) - (x[k] < a), v = (y[k] > b) - (y[k] < b);
        xy += u * v;
        xx += u * u;
        yy += v * v;
    }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : -7;
}

static void check_coefficients(unit_problem *p, const unit_data *x, double (*of)(const double *, const double *)) {
    unit_sink sink;
    CHECK_INT(unit_sink_new(p, unit_kind_named("square"), &sink), GCOR_OK);
    CHECK_INT(unit_run(p, sink.sink), GCOR_OK);
    for (int64_t i = 0; i < N_X; i++)
        for (int64_t j = i + 1; j < N_X; j++)
            CHECK_NEAR(sink.out[i * N_X + j], of(x->values + i * N_OBS, x->values + j * N_OBS), 1e-6);
    unit_sink_free(&sink);
}

/* Runs into every sink, with one worker and with several. */
static void check_sinks(unit_problem *p, gcor_source *y) {
    for (const unit_kind *kind = unit_kinds; kind->name; kind++) {
        gcor_status status;
        unit_about("%s", kind->name);
        p->y = kind->shape == GCOR_FULL ? y : NULL;
        p->devices = p->threads = 1;
        unit_found alone = unit_find(p, kind, &status);
        CHECK_INT(status, GCOR_OK);
        p->devices = p->threads = 3;
        CHECK_SAME(&alone, unit_find(p, kind, &status));
        free(alone.bytes);
    }
}

static void check_pairwise(unit_problem *p) {
    unit_data spoilt = unit_data_new(N_OBS, N_X, UNIT_SPOILT);
    gcor_status status;
    p->x = &spoilt.matrix.source;
    p->y = NULL;
    p->use = GCOR_PAIRWISE;
    unit_found none = unit_find(p, unit_kind_named("square"), &status);
    CHECK(!none.bytes);
    CHECK_INT(status, GCOR_BAD_INPUT);
    CHECK_TEXT(p->error.message, "\"quadrant\" has no pairwise form");
    unit_data_free(&spoilt);
}

static void a_measure_of_ones_own(void) {
    unit_problem *p = malloc(sizeof *p);
    unit_seed(13);
    unit_devices_reset();
    unit_data x = unit_data_new(N_OBS, N_X, UNIT_COMPLETE), y = unit_data_new(N_OBS, N_Y, UNIT_COMPLETE);
    unit_problem_of(p, &x.matrix.source, NULL);
    p->backend = &unit_device;
    p->measure = &quadrant;
    check_coefficients(p, &x, quadrant_of);
    check_sinks(p, &y.matrix.source);
    p->use = GCOR_PAIRWISE; /* complete data need no pairwise form */
    p->y = NULL;
    check_coefficients(p, &x, quadrant_of);
    check_pairwise(p);
    unit_data_free(&x);
    unit_data_free(&y);
    free(p);
}

/* ---- columns that are longer than the data: distances ---------------------------------------------- */

/* U-centred distances (Szekely and Rizzo 2014). */
static void centre_distances(const double *x, double centred[N_OBS][N_OBS]) {
    double row[N_OBS] = {0}, all = 0;
    for (int i = 0; i < N_OBS; i++)
        for (int j = 0; j < N_OBS; j++) row[i] += fabs(x[i] - x[j]);
    for (int i = 0; i < N_OBS; i++) all += row[i];
    for (int i = 0; i < N_OBS; i++)
        for (int j = 0; j < N_OBS; j++)
            centred[i][j] = i == j ? 0
                                   : fabs(x[i] - x[j]) - (row[i] + row[j]) / (N_OBS - 2) +
                                         all / ((N_OBS - 1) * (N_OBS - 2));
}

static double distance_correlation_of(const double *x, const double *y) {
    double u[N_OBS][N_OBS], v[N_OBS][N_OBS], xy = 0, xx = 0, yy = 0;
    centre_distances(x, u);
    centre_distances(y, v);
    for (int i = 0; i < N_OBS; i++)
        for (int j = 0; j < N_OBS; j++) {
            xy += u[i][j] * v[i][j];
            xx += u[i][j] * u[i][j];
            yy += v[i][j] * v[i][j];
        }
    return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : -7;
}

static void columns_that_are_longer(void) {
    unit_problem *p = malloc(sizeof *p);
    unit_seed(14);
    unit_devices_reset();
    unit_data x = unit_data_new(N_OBS, N_X, UNIT_COMPLETE), y = unit_data_new(N_OBS, N_Y, UNIT_COMPLETE);
    unit_problem_of(p, &x.matrix.source, NULL);
    p->backend = &unit_device;
    p->measure = unit_measure("distance");
    check_coefficients(p, &x, distance_correlation_of);
    check_sinks(p, &y.matrix.source);
    unit_data_free(&x);
    unit_data_free(&y);
    free(p);
}

/* ---- the package's own rows --------------------------------------------------------------------- */

static void rows_that_can_be_used(void) {
    for (int k = 0; gcor_measure_at(k); k++) {
        const gcor_measure *row = gcor_measure_at(k);
        unit_about("row %d", k);
        int options = 0;
        while (row->options && row->options[options].name) options++;
        CHECK(row->name && row->title && unit_measure(row->name) == row); /* names differ */
        CHECK(options <= GCOR_MAX_OPTIONS);
        CHECK(row->kind != GCOR_REAL || row->ranked || row->prepare);
        CHECK(row->common == GCOR_NO_KIND || gcor_is_common(row->common));
        CHECK(row->common != GCOR_PAIR_COMMON || gcor_has_double(row));
        CHECK(!row->length || row->angle == GCOR_OWN_WAY); /* designs and moments need a value for each observation */
    }
    CHECK(!gcor_measure_at(-1));
}

const unit_test measure_tests[] = {
    {"a measure that only a test knows runs into every sink", a_measure_of_ones_own},
    {"columns may be longer than the data", columns_that_are_longer},
    {"all rows of the table can be used", rows_that_can_be_used},
    {NULL, NULL},
};
