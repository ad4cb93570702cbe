/* The inner loops of approximate sums over many subjects: no error exceeds the bound that the sink assumes. */
#include "check.h"
#include "fixture.h"
#include "system.h"

#include "../../src/base/isa.h"
#include "../../src/sink/combine_loops.h"

#include <math.h>
#include <stdlib.h>

enum { VALUES = 3 * GCOR_APPROX_SOME + 5 };

/* Fills with values of both signs up to `max` in magnitude, including `max`. */
static void fill(float *value, double max) {
    for (int k = 0; k < VALUES; k++) value[k] = (float)((2 * unit_uniform() - 1) * max);
    value[0] = (float)max;
    value[VALUES - 1] = -(float)max;
}

static void check_sums(const gcor_combine_loops *loops, double max, float w) {
    const float beyond = (float)GCOR_APPROX_MAX;
    float value[VALUES], sum[VALUES];
    int expected = 0;
    fill(value, max);
    for (int k = 0; k < VALUES; k++) sum[k] = 0.25f;
    for (int k = 0; k < VALUES; k++) expected |= fabsf(value[k]) > beyond;
    CHECK(!loops->add_approx_fisher(sum, value, w, beyond, VALUES) == !expected);
    for (int k = 0; k < VALUES; k++) {
        double z = fabsf(value[k]) > beyond ? 0 : atanh(value[k]);
        unit_about("%s: r = %.9g, w = %g", gcor_best_loops()->name, value[k], w);
        CHECK(fabs((sum[k] - 0.25) / w - z) <= GCOR_APPROX_ERROR);
    }
}

static void check_looks(const gcor_combine_loops *loops) {
    float value[VALUES];
    for (int n = 1; n <= GCOR_APPROX_SOME; n++)
        for (int k = 0; k < n; k++) {
            for (int l = 0; l < n; l++) value[l] = l % 2 ? 0.5f : -0.5f;
            CHECK(!loops->are_beyond(value, 0.5f, n));
            value[k] = k % 3 ? NAN : nextafterf(-0.5f, -1);
            CHECK(!loops->are_beyond(value, 0.5f, n) == (k % 3 != 0));
        }
}

/* One of n values is at a bound, is NaN or lies just inside; a bound may be NaN. */
static void check_reaches(const gcor_combine_loops *loops) {
    const float own[] = {-0.5f, 0.5f, NAN, nextafterf(0.5f, 0)},
                bounds[][2] = {{-0.5f, 0.5f}, {-0.5f, NAN}, {NAN, 0.5f}};
    double value[GCOR_APPROX_SOME];
    float single[GCOR_APPROX_SOME];
    for (int n = 1; n <= GCOR_APPROX_SOME; n++)
        for (int k = 0; k < n; k++)
            for (int o = 0; o < 4; o++) {
                for (int l = 0; l < n; l++) value[l] = single[l] = l % 2 ? 0.25f : -0.25f;
                value[k] = single[k] = own[o];
                for (int b = 0; b < 3; b++) {
                    const float low = bounds[b][0], high = bounds[b][1];
                    const int expected = own[o] == low || own[o] == high;
                    CHECK_INT(loops->some_reach(value, low, high, n), expected);
                    CHECK_INT(loops->some_floats_reach(single, low, high, n), expected);
                }
            }
}

static void with_each_set(void (*check)(const gcor_combine_loops *)) {
    for (int s = 0; gcor_loops_at(s); s++) {
        unit_set_variable("GPUCOR_CPU", gcor_loops_at(s)->name);
        (void)gcor_isa_choose();
        check(gcor_combine_best_loops());
    }
    unit_set_variable("GPUCOR_CPU", NULL);
    (void)gcor_isa_choose();
}

static void check_all_sums(const gcor_combine_loops *loops) {
    const double max[] = {0.01, 0.3,       0.5999999, 0.6,  0.6000001, 0.75,   0.8999999,
                          0.9,  0.9000001, 0.95,      0.99, 0.999,     0.9997, 1};
    const float weights[] = {1, 0.25f, -2};
    unit_seed(7);
    for (size_t m = 0; m < sizeof max / sizeof *max; m++)
        for (int w = 0; w < 3; w++) check_sums(loops, max[m], weights[w]);
}

/* Returns the largest of the sums, added one by one in the order of the subjects. */
static double largest_by_one(const double *z, const double *w, int64_t subjects, gcor_side side, int64_t n) {
    double largest = -INFINITY;
    for (int64_t k = 0; k < n; k++) {
        volatile double sum = 0;
        for (int64_t s = 0; s < subjects; s++) {
            volatile double product = w[s] * z[s * GCOR_SUM_BLOCK + k];
            sum += product;
        }
        largest = gcor_raw_weight(side, sum) > largest ? gcor_raw_weight(side, sum) : largest;
    }
    return largest;
}

static void check_largest(const gcor_combine_loops *loops) {
    enum { SUBJECTS = 5 };
    double z[SUBJECTS * GCOR_SUM_BLOCK], w[SUBJECTS], sums[GCOR_SUM_BLOCK];
    unit_seed(8);
    for (int64_t n = 1; n <= GCOR_SUM_BLOCK; n++) {
        for (int k = 0; k < SUBJECTS * GCOR_SUM_BLOCK; k++) z[k] = 2 * unit_uniform() - 1;
        for (int s = 0; s < SUBJECTS; s++) w[s] = 2 * unit_uniform() - 1;
        for (int64_t k = 0; k < n; k += 3) z[2 * GCOR_SUM_BLOCK + k] = NAN;
        for (int side = 0; side < 3; side++) {
            unit_about("%s: %d sums, side %d", gcor_best_loops()->name, (int)n, side);
            loops->weighted_sums(z, w, SUBJECTS, n, sums);
            CHECK(loops->largest(sums, (gcor_side)side, n) == largest_by_one(z, w, SUBJECTS, (gcor_side)side, n));
        }
    }
}

/* Returns Welch's t of pair k, with its sign, from the groups' means and sums of squared deviations. */
static double welch_t(const double *z, const double *is_first, int64_t subjects, int64_t k) {
    double n[2] = {0, 0}, mean[2] = {0, 0}, squares[2] = {0, 0};
    for (int64_t s = 0; s < subjects; s++) {
        int group = is_first[s] == 0;
        n[group]++;
        mean[group] += z[s * GCOR_SUM_BLOCK + k];
    }
    for (int g = 0; g < 2; g++) mean[g] /= n[g];
    for (int64_t s = 0; s < subjects; s++) {
        int group = is_first[s] == 0;
        double deviation = z[s * GCOR_SUM_BLOCK + k] - mean[group];
        squares[group] += deviation * deviation;
    }
    return (mean[0] - mean[1]) / sqrt(squares[0] / (n[0] * (n[0] - 1)) + squares[1] / (n[1] * (n[1] - 1)));
}

static double largest_welch_by_one(const double *z, const double *is_first, int64_t subjects, gcor_side side,
                                   int64_t n) {
    double largest = -INFINITY;
    for (int64_t k = 0; k < n; k++) {
        double weight = gcor_raw_weight(side, welch_t(z, is_first, subjects, k));
        largest = weight > largest ? weight : largest;
    }
    return largest;
}

static void check_welch(const gcor_combine_loops *loops) {
    enum { SUBJECTS = 7 };
    const double is_first[SUBJECTS] = {0, 1, 1, 0, 0, 1, 0};
    double z[SUBJECTS * GCOR_SUM_BLOCK], totals[2 * GCOR_SUM_BLOCK], t[GCOR_SUM_BLOCK];
    unit_seed(9);
    for (int64_t n = 1; n <= GCOR_SUM_BLOCK; n += 9) {
        for (int k = 0; k < SUBJECTS * GCOR_SUM_BLOCK; k++) z[k] = 2 * unit_uniform() - 1;
        for (int64_t k = 0; k < n; k += 3) z[2 * GCOR_SUM_BLOCK + k] = NAN;
        for (int k = 0; k < GCOR_SUM_BLOCK; k++) {
            totals[k] = totals[GCOR_SUM_BLOCK + k] = 0;
            for (int s = 0; s < SUBJECTS; s++) {
                double value = z[s * GCOR_SUM_BLOCK + k];
                totals[k] += value;
                totals[GCOR_SUM_BLOCK + k] += value * value;
            }
        }
        for (int side = 0; side < 3; side++) {
            double expected = largest_welch_by_one(z, is_first, SUBJECTS, (gcor_side)side, n);
            loops->welch(z, totals, is_first, SUBJECTS, n, t);
            double found = loops->largest(t, (gcor_side)side, n);
            found = found < 0 ? -sqrt(-found) : sqrt(found);
            unit_about("%s: %d t, side %d: %.17g, %.17g", gcor_best_loops()->name, (int)n, side, found, expected);
            CHECK(found == expected || fabs(found - expected) < 1e-12 * fabs(expected));
        }
    }
}

/* Student's t of the mean of z adjusted for a second term, whose unit vector is orthogonal to that of the mean. */
static double linear_t(const double *z, int64_t k) {
    double mean = 0, other = 0, squares = 0;
    for (int s = 0; s < 4; s++) {
        double value = z[s * GCOR_SUM_BLOCK + k];
        mean += value / 2;
        other += (s % 2 == 0 ? value : -value) / 2;
        squares += value * value;
    }
    return mean / sqrt((squares - mean * mean - other * other) / 2);
}

static void check_linear(const gcor_combine_loops *loops) {
    const double w[] = {0.5, -0.5, 0.5, -0.5, 0.5, 0.5, 0.5, 0.5};
    double z[4 * GCOR_SUM_BLOCK], squares[GCOR_SUM_BLOCK], t[GCOR_SUM_BLOCK];
    unit_seed(10);
    for (int64_t n = 1; n <= GCOR_SUM_BLOCK; n += 9) {
        for (int k = 0; k < 4 * GCOR_SUM_BLOCK; k++) z[k] = 2 * unit_uniform() - 1;
        for (int k = 0; k < GCOR_SUM_BLOCK; k++) {
            squares[k] = 0;
            for (int s = 0; s < 4; s++) squares[k] += z[s * GCOR_SUM_BLOCK + k] * z[s * GCOR_SUM_BLOCK + k];
        }
        loops->linear_t(z, squares, w, 2, 1, 4, 2, n, t);
        for (int64_t k = 0; k < n; k++) {
            double expected = linear_t(z, k), found = t[k] < 0 ? -sqrt(-t[k]) : sqrt(t[k]);
            unit_about("%s: t %d: %.17g, %.17g", gcor_best_loops()->name, (int)k, found, expected);
            CHECK(fabs(found - expected) < 1e-9 * fabs(expected));
        }
    }
}

static void linear_t_are_near(void) {
    with_each_set(check_linear);
}

static void largest_sums_are_the_same(void) {
    with_each_set(check_largest);
}

static void largest_t_are_near(void) {
    with_each_set(check_welch);
}

static void approx_sums_are_near(void) {
    with_each_set(check_all_sums);
}

static void larger_ones_are_seen(void) {
    with_each_set(check_looks);
    with_each_set(check_reaches);
}

const unit_test combine_tests[] = {
    {"cheap sums are near", approx_sums_are_near},
    {"larger values are seen", larger_ones_are_seen},
    {"largest sums are the same", largest_sums_are_the_same},
    {"largest t are near", largest_t_are_near},
    {"linear t are near", linear_t_are_near},
    {NULL, NULL},
};
