/* The table of measures is open: a row defined here works with every sink; invalid rows are refused. */
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
    .version = GCOR_MEASURE_VERSION,
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
    CHECK_INT(gcor_add_measure(&quadrant), 0);
    CHECK(unit_measure("quadrant") == &quadrant);
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

/* ---- rows that cannot be --------------------------------------------------------------------------- */

static double prepare_nothing(double *x, int64_t n, gcor_preparing *with, float *out) {
    return 0;
}

static int64_t longer(int64_t n_obs) {
    return 2 * n_obs;
}

static int count_measures(void) {
    int n = 0;
    while (gcor_measure_at(n)) n++;
    return n;
}

enum { REFUSED = 19 };

static void rows_that_are_refused(void) {
    const gcor_measure right = {
        .version = GCOR_MEASURE_VERSION, .title = "Refused", .kind = GCOR_REAL, .prepare = prepare_nothing};
    static gcor_option many[GCOR_MAX_OPTIONS + 2];
    static gcor_measure wrong[REFUSED];
    static char names[REFUSED][32];
    int before = count_measures();
    for (int k = 0; k <= GCOR_MAX_OPTIONS; k++) many[k].name = "an option";
    for (int k = 0; k < REFUSED; k++) {
        snprintf(names[k], sizeof names[k], "refused %d", k);
        wrong[k] = right;
        wrong[k].name = names[k];
    }
    wrong[0].version++;
    wrong[1].version = 0;
    wrong[2].name = NULL;
    wrong[3].title = NULL;
    wrong[4].name = "kendall";
    wrong[5].prepare = NULL;
    wrong[6].kind = GCOR_NO_KIND;
    wrong[7].kind = GCOR_REAL_COMMON;
    wrong[8].kind = GCOR_SIGN; /* the values are ranks */
    wrong[9].common = GCOR_REAL;
    wrong[10].common = (gcor_kind)77;
    wrong[11].kind = (gcor_kind)77;
    wrong[12].common = GCOR_PAIR_COMMON; /* without prepare_double() */
    wrong[13].options = many;
    wrong[14].length = longer; /* designs apply to columns of n_obs values */
    wrong[14].angle = GCOR_CENTRED;
    wrong[15].length = longer; /* and so do sums of moments */
    wrong[15].common = GCOR_REAL_COMMON;
    wrong[16].kind = GCOR_BINNED; /* the package's own */
    wrong[16].ranked = 1;
    wrong[17].common = GCOR_BINNED_COMMON;
    wrong[18].common = GCOR_DISTANCE_COMMON;
    for (int k = 0; k < REFUSED; k++) {
        unit_about("row %d", k);
        CHECK_INT(gcor_add_measure(&wrong[k]), 1);
    }
    CHECK_INT(count_measures(), before);
}

/* Runs last, as rows cannot be removed. */
static void the_table_is_full(void) {
    enum { MANY = 40 };
    static gcor_measure rows[MANY];
    static char names[MANY][16];
    int refused = 0, before = count_measures();
    for (int k = 0; k < MANY; k++) {
        snprintf(names[k], sizeof names[k], "row %d", k);
        rows[k] = quadrant;
        rows[k].name = names[k];
        refused += gcor_add_measure(&rows[k]);
    }
    CHECK(refused > 0 && refused < MANY);
    CHECK_INT(count_measures(), before + MANY - refused);
    CHECK(!gcor_measure_at(-1));
}

const unit_test measure_tests[] = {
    {"a measure that only a test knows runs into every sink", a_measure_of_ones_own},
    {"columns may be longer than the data", columns_that_are_longer},
    {"rows that cannot be used are refused", rows_that_are_refused},
    {"a table that is full is no place for more", the_table_is_full},
    {NULL, NULL},
};
