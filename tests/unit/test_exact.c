/* Exact distributions of rank correlations, against enumeration of all orders, moments and published values;
 * recomputed coefficients. */
#include "check.h"
#include "fixture.h"

#include "../../src/base/alloc.h"
#include "../../src/measure/measure.h"
#include "../../src/stats/test.h"

#include <math.h>
#include <stdlib.h>

enum { MAX_ORDERS = 9, MAX_STEPS = 456 };

static gcor_exact *tables(const char *measure, int min, int max) {
    unit_call call;
    unit_call_begin(&call, 1);
    return gcor_exact_new(&call.context, unit_measure(measure), min, max);
}

static double at_step(const gcor_exact *exact, const char *measure, int64_t n, int64_t k) {
    return gcor_exact_lower(exact, n, 2.0 * (double)k / (double)gcor_exact_steps(unit_measure(measure), n) - 1);
}

/* ---- every order ------------------------------------------------------------------------------- */

/* Number of steps from the smallest coefficient to that of an order. */
static int steps_of(const int *order, int n, int is_kendall) {
    int concordant = 0, sum = 0;
    for (int k = 0; k < n; k++) {
        sum += (k - order[k]) * (k - order[k]);
        for (int q = 0; q < k; q++) concordant += order[q] < order[k];
    }
    return is_kendall ? concordant : (n * (n * n - 1) / 3 - sum) / 2;
}

/* Enumerates all orders of the elements from `at` on, by exchanges. */
static void count_orders(int *order, int at, int n, int is_kendall, double *counts) {
    if (at == n) {
        counts[steps_of(order, n, is_kendall)]++;
        return;
    }
    for (int k = at; k < n; k++) {
        int moved = order[k];
        order[k] = order[at];
        order[at] = moved;
        count_orders(order, at + 1, n, is_kendall, counts);
        order[at] = order[k];
        order[k] = moved;
    }
}

static void distributions_are_those_of_all_orders(void) {
    const char *measures[] = {"spearman", "kendall"};
    for (int m = 0; m < 2; m++) {
        gcor_exact *exact = tables(measures[m], 2, MAX_ORDERS);
        if (!CHECK(exact)) return;
        for (int n = 2; n <= MAX_ORDERS; n++) {
            double counts[MAX_STEPS] = {0}, all = 1, sum = 0;
            int order[MAX_ORDERS];
            for (int k = 0; k < n; k++) order[k] = k, all *= k + 1;
            count_orders(order, 0, n, m, counts);
            unit_about("%s of %d", measures[m], n);
            for (int k = 0; k <= gcor_exact_steps(unit_measure(measures[m]), n); k++) {
                sum += counts[k];
                CHECK_NEAR(at_step(exact, measures[m], n, k) / (sum / all), 1, 1e-14);
                CHECK_NEAR(
                    gcor_exact_upper(exact, n, 1 - 2.0 * k / (double)gcor_exact_steps(unit_measure(measures[m]), n)),
                    sum / all, 1e-15);
            }
        }
        gcor_exact_free(exact);
    }
}

/* ---- beyond --------------------------------------------------------------------------------------- */

/* The lower half, which is counted, contains half of all orders. */
static void orders_are_all_counted(void) {
    gcor_exact *exact = tables("spearman", 10, 14);
    if (!CHECK(exact)) return;
    double all = 40320 * 9.0;
    for (int n = 10; n <= 14; n++) {
        int64_t steps = gcor_exact_steps(unit_measure("spearman"), n);
        all *= n;
        unit_about("%d", n);
        CHECK_NEAR(at_step(exact, "spearman", n, (steps - 1) / 2) + at_step(exact, "spearman", n, steps / 2), 1, 1e-15);
        CHECK_NEAR(at_step(exact, "spearman", n, 0) * all, 1, 1e-14);
        CHECK_NEAR(at_step(exact, "spearman", n, 1) * all, n,
                   1e-13 * n); /* plus n - 1 exchanges of two adjacent ranks */
        CHECK_NEAR(at_step(exact, "spearman", n, 2) * all, n + (n - 2) * (n - 3) / 2, 1e-12);
    }
    gcor_exact_free(exact);
}

/* The number of orders with at most k steps, by the same recursion without limits, which takes seconds and gigabytes.
 * Up to 79 steps the tail is exact. */
static void tails_of_more_observations_are_exact(void) {
    static const struct {
        int64_t k[6];
        double orders[6];
    } known[] = {
        {{20, 79, 71, 112, 182, 239}, {1637783, 2288248572, 1317816142, 13303228032, 131558157109, 393843943991}},
        {{20, 79, 93, 142, 225, 292}, {3409658, 8516270345, 21186284629, 209027765843, 2092937905564, 6292958756139}},
        {{20, 79, 119, 178, 275, 352},
         {6933324, 30612583424, 358085185553, 3609589183929, 35822729677093, 106464104705525}},
        {{20, 79, 149, 219, 331, 420},
         {13799078, 106683303924, 6270843101400, 64826617114134, 639831534484372, 1912833519750670}},
        {{20, 79, 185, 265, 395, 497},
         {26924696, 361484042221, 121316318992299, 1203666612341035, 12201284022452196, 36511104459426336}},
        {{20, 79, 119, 319, 466, 582},
         {51573315, 1193356505877, 24939672166621, 24478556043590816, 242580752777464224, 728573220732035712}}};
    gcor_exact *exact = tables("spearman", 15, 20);
    if (!CHECK(exact)) return;
    double all = 87178291200.0; /* 14! */
    for (int n = 15; n <= 20; n++) {
        all *= n;
        for (int k = 0; k < 6; k++) {
            const int64_t step = known[n - 15].k[k];
            unit_about("%d at %d", n, (int)step);
            CHECK_NEAR(at_step(exact, "spearman", n, step) * all / known[n - 15].orders[k], 1,
                       step < 80 ? 1e-14 : 0.04);
        }
        for (int64_t k = 1; k <= gcor_exact_steps(unit_measure("spearman"), n) / 2; k++)
            CHECK(at_step(exact, "spearman", n, k) > at_step(exact, "spearman", n, k - 1));
    }
    gcor_exact_free(exact);
}

/* The approximating distribution has the same moments: a coefficient with df degrees of freedom has 1 / (df + 1) and
 * 3 / ((df + 1) (df + 3)). */
static void moments_are_known(void) {
    gcor_exact *exact = tables("spearman", 3, 14);
    if (!CHECK(exact)) return;
    for (int n = 3; n <= 14; n++) {
        int64_t steps = gcor_exact_steps(unit_measure("spearman"), n);
        double second = 0, fourth = 0, before = 0;
        for (int64_t k = 0; k <= steps; k++) {
            double r = 2 * (double)k / (double)steps - 1, p = at_step(exact, "spearman", n, k);
            second += (p - before) * r * r;
            fourth += (p - before) * r * r * r * r;
            before = p;
        }
        gcor_rho_beta beta = gcor_rho_beta_of(n);
        double square = beta.scale * beta.scale;
        unit_about("%d", n);
        CHECK_NEAR(second, 1.0 / (n - 1), 1e-14);
        CHECK_NEAR(square / (beta.df + 1), second, 1e-13);
        CHECK_NEAR(3 * square * square / ((beta.df + 1) * (beta.df + 3)), fourth, 1e-13);
    }
    gcor_exact_free(exact);
}

/* Two-sided critical values at 0.05, 0.01 and 0.001 (Zar 1972, Ramsey 1989), to three digits. */
static void critical_values_are_published(void) {
    static const double level[] = {0.05, 0.01, 0.001}, critical[][3] = {{0.648, 0.794, 0.903},
                                                                        {0.618, 0.755, 0.873},
                                                                        {0.587, 0.727, 0.846},
                                                                        {0.560, 0.703, 0.824},
                                                                        {0.538, 0.679, 0.802}};
    gcor_exact *exact = tables("spearman", 10, 14);
    if (!CHECK(exact)) return;
    for (int n = 10; n <= 14; n++)
        for (int a = 0; a < 3; a++) {
            int64_t steps = gcor_exact_steps(unit_measure("spearman"), n), k = 0;
            while (2 * at_step(exact, "spearman", n, k + 1) <= level[a]) k++;
            unit_about("%d at %g", n, level[a]);
            CHECK_NEAR(1 - 2 * (double)k / (double)steps, critical[n - 10][a], 0.0011);
        }
    gcor_exact_free(exact);
}

/* ---- coefficients computed anew --------------------------------------------------------------------- */

enum { LONG = 60000, SOME = 160, N_PAIRS = 40 }; /* more columns than are in memory at a time */

static double correlation(const double *x, const double *y) {
    long double x_mean = 0, y_mean = 0, xx = 0, yy = 0, xy = 0;
    for (int k = 0; k < LONG; k++) x_mean += x[k] / LONG, y_mean += y[k] / LONG;
    for (int k = 0; k < LONG; k++) {
        xx += (x[k] - x_mean) * (x[k] - x_mean);
        yy += (y[k] - y_mean) * (y[k] - y_mean);
        xy += (x[k] - x_mean) * (y[k] - y_mean);
    }
    return (double)(xy / sqrtl(xx * yy));
}

static int ascend(const void *a, const void *b) {
    const gcor_pair_value *x = a, *y = b;
    return x->j < y->j ? -1 : x->j > y->j;
}

static void coefficients_are_computed_anew_block_by_block(void) {
    unit_seed(3);
    double *values = malloc(sizeof(double) * LONG * SOME);
    for (int64_t k = 0; k < (int64_t)LONG * SOME; k++)
        values[k] = (k < LONG ? 0 : values[k % LONG]) + unit_uniform() / (1 + (double)(k / LONG));
    gcor_matrix matrix = {.source = gcor_matrix_source(LONG, SOME), .storage = GCOR_DOUBLES, .values = values};
    gcor_columns columns = {.source = &matrix.source, .n_obs = LONG};
    for (int threads = 1; threads <= 2; threads++) {
        gcor_pair_value pairs[N_PAIRS];
        unit_call call;
        for (int k = 0; k < N_PAIRS; k++) pairs[k] = (gcor_pair_value){k, unit_random(SOME), unit_random(SOME), 7};
        qsort(pairs, N_PAIRS, sizeof *pairs, ascend);
        unit_call_begin(&call, threads);
        CHECK_INT(gcor_recompute(&call.context, unit_measure("pearson"), &columns, &columns, N_PAIRS, pairs), GCOR_OK);
        for (int k = 0; k < N_PAIRS; k++)
            CHECK_NEAR(pairs[k].r, correlation(values + pairs[k].i * LONG, values + pairs[k].j * LONG), 1e-13);
    }
    free(values);
}

const unit_test exact_tests[] = {
    {"exact distributions are those of all orders", distributions_are_those_of_all_orders},
    {"exact distributions count all orders", orders_are_all_counted},
    {"exact distributions have the known tails of more observations", tails_of_more_observations_are_exact},
    {"moments of exact distributions are known", moments_are_known},
    {"critical values of Spearman's rho are published", critical_values_are_published},
    {"coefficients are computed anew, block by block", coefficients_are_computed_anew_block_by_block},
    {NULL, NULL}};
