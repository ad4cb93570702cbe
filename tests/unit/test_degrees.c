/* Degrees of freedom of pairs: from weights of the pairwise-complete observations, and from autocorrelations and a
 * calibration of Bartlett's formula. */
#include "check.h"
#include "fixture.h"

#include "../../src/measure/design.h"
#include "../../src/stats/test.h"

#include <math.h>

enum { N_OBS = 70, N_VAR = 9, N_PAIRS = N_VAR * (N_VAR - 1) / 2 };

/* ---- weights --------------------------------------------------------------------------------------- */

static double weight[N_OBS];

/* Effective number of the pairwise-complete observations of two columns; *n: their number. */
static double worth_of(gcor_worth worth, double unit, const double *x, const double *y, double *n) {
    double sum = 0, squares = 0;
    *n = 0;
    for (int k = 0; k < N_OBS; k++) {
        if (isnan(x[k]) || isnan(y[k])) continue;
        sum += weight[k];
        squares += weight[k] * weight[k];
        *n += 1;
    }
    return worth == GCOR_WORTH_COUNT ? *n : worth == GCOR_WORTH_SUM ? sum * unit : sum * sum / squares;
}

static void check_pairs(gcor_test *test, const unit_data *data, gcor_context *context) {
    double r[N_PAIRS], n[N_PAIRS], df[N_PAIRS], t[N_PAIRS], p[N_PAIRS], count;
    for (int k = 0; k < N_PAIRS; k++) r[k] = 0.3;
    const gcor_tested_pairs results = {.n = n, .df = df, .statistic = t, .p = p};
    CHECK_INT(gcor_test_pairs(context, test, 1, &(gcor_values){.plain = r}, &results), GCOR_OK);
    for (int j = 0, at = 0; j < N_VAR; j++)
        for (int i = j + 1; i < N_VAR; i++, at++) {
            double worth = worth_of(test->rule.df.worth, test->rule.df.unit, data->values + (size_t)i * N_OBS,
                                    data->values + (size_t)j * N_OBS, &count);
            CHECK_NEAR(df[at], worth - 2 - (double)test->rule.df.lost, 1e-9);
            CHECK_NEAR(n[at], count, 0);
            if (df[at] >= 1) CHECK_NEAR(t[at], 0.3 * sqrt(df[at] / (1 - 0.09)), 1e-9);
            if (df[at] >= 1) CHECK_NEAR(p[at], gcor_tail_p(gcor_t_tail(df[at], 0.3), t[at], GCOR_TWO_SIDED, 0), 1e-9);
        }
}

static void weigh(int spoilt) {
    unit_call call;
    unit_call_begin(&call, 2);
    unit_data data = unit_data_new(N_OBS, N_VAR, spoilt);
    for (int k = 0; k < N_OBS; k++) weight[k] = 0.1 + unit_uniform();
    const gcor_design design = {.n_rows = N_OBS, .weight = weight};
    const gcor_columns columns = {.source = &data.matrix.source, .n_obs = N_OBS, .design = &design};
    for (gcor_worth worth = GCOR_WORTH_COUNT; worth <= GCOR_WORTH_SUM; worth++) {
        const gcor_test_rule rule = {
            .measure = unit_measure("pearson"), .missing = -1, .df = {.lost = 3, .worth = worth, .unit = 2.5}};
        gcor_test test;
        unit_about("missing %d, worth %d", spoilt, worth);
        CHECK_INT(gcor_df_is_own(&rule.df, spoilt), spoilt && worth != GCOR_WORTH_COUNT);
        for (int64_t n_pairs = 1; n_pairs <= 1000000; n_pairs += 999999) { /* without and with tables */
            CHECK_INT(gcor_test_open(&call.context, &rule, &columns, NULL, spoilt, n_pairs, &test), GCOR_OK);
            check_pairs(&test, &data, &call.context);
            gcor_test_close(&test);
        }
    }
    unit_data_free(&data);
}

static void weigh_all_and_own(void) {
    unit_seed(11);
    weigh(UNIT_COMPLETE);
    weigh(UNIT_SPOILT);
}

/* ---- Bartlett's formula ------------------------------------------------------------------------------- */

static double count_at(double sum, const gcor_calibration *calibration) {
    double one = 1, missing = NAN, *values[] = {isnan(sum) ? &missing : &sum, &one};
    gcor_autocorrelation x = {1, 1, values[0]}, y = {1, 1, values[1]};
    return gcor_effective_count(&x, 0, &y, 0, 50, calibration);
}

static void interpolate(void) {
    const double sums[] = {0.5, 1, 3}, counts[] = {80, 60, 20};
    const gcor_calibration calibration = {3, 100, sums, counts}, *c = &calibration;
    CHECK_NEAR(count_at(-1, NULL), 50, 0);
    CHECK_NEAR(count_at(2, NULL), 10, 1e-12);
    CHECK(isnan(count_at(NAN, NULL)));
    CHECK_NEAR(count_at(-1, c), 40, 1e-12); /* half of the 100 observations */
    CHECK_NEAR(count_at(0.5, c), 40, 1e-12);
    CHECK_NEAR(count_at(0.75, c), 35, 1e-12);
    CHECK_NEAR(count_at(2, c), 20, 1e-12);
    CHECK_NEAR(count_at(3, c), 10, 1e-12);
    CHECK_NEAR(count_at(1e9, c), 10, 1e-12);
    CHECK(isnan(count_at(NAN, c)));
}

/* The autocorrelation at a lag, by sums over all observations that have a neighbour there. */
static double at_lag(const double *x, int n, int lag) {
    long double mean = 0, squares = 0, sum = 0;
    int there = 0, products = 0;
    for (int t = 0; t < n; t++)
        if (!isnan(x[t])) there++, mean += x[t];
    mean /= there;
    for (int t = 0; t < n; t++)
        if (!isnan(x[t])) squares += (x[t] - mean) * (x[t] - mean);
    for (int t = 0; t + lag < n; t++) {
        if (isnan(x[t]) || isnan(x[t + lag])) continue;
        sum += (x[t] - mean) * (x[t + lag] - mean);
        products++;
    }
    return products ? (double)(sum / squares * (n - lag) / n * sqrtl((long double)there / products)) : 0;
}

/* Lengths before and after those at which a longer transform is needed; the last column is constant. */
static void correlate_with_itself(void) {
    enum { MAX = 1640 };
    const int lengths[] = {4, 5, 8, 13, 14, 51, 52, 102, 103, 104, 410, 1000, 1638, 1639, MAX};
    static double values[4 * MAX];
    unit_call call;
    unit_call_begin(&call, 2);
    unit_seed(12);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        const int n = lengths[l];
        for (int k = 0; k < 4 * n; k++) values[k] = (k % n ? 0.9 * values[k - 1] : 0) + unit_uniform();
        for (int k = n; k < 3 * n; k++) values[k] = 100 + unit_uniform(); /* two columns with gaps */
        for (int k = n; k < 3 * n; k++)
            if (k % n > 2 && unit_uniform() < 0.3) values[k] = NAN;
        for (int k = 3 * n; k < 4 * n; k++) values[k] = 2;
        gcor_matrix matrix = {.source = gcor_matrix_source(n, 4), .storage = GCOR_DOUBLES, .values = values};
        const gcor_columns columns = {.source = &matrix.source, .n_obs = n};
        gcor_autocorrelation *of = gcor_autocorrelation_new(&call.context, &columns, unit_measure("pearson"));
        unit_about("%d observations", n);
        if (!CHECK(of != NULL) || !CHECK_INT(of->n_lags, n / 4)) return;
        for (int j = 0; j < 4; j++)
            for (int lag = 1; lag <= n / 4; lag++)
                CHECK_NEAR(of->values[j * of->n_lags + lag - 1], j < 3 ? at_lag(values + j * n, n, lag) : NAN, 1e-13);
        gcor_autocorrelation_free(of);
    }
}

const unit_test degrees_tests[] = {{"pairs have what their observations are worth", weigh_all_and_own},
                                   {"autocorrelations are those of the definition", correlate_with_itself},
                                   {"counts are interpolated", interpolate},
                                   {NULL, NULL}};
