/* Distance correlations of pairs in n log n steps, against the definition in long double. */
#include "check.h"
#include "fixture.h"

#include "../../src/base/isa.h"
#include "../../src/base/os.h"
#include "../../src/cpu/cpu.h"
#include "../../src/measure/distance_pair.h"
#include "../../src/measure/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double normal(void) {
    double sum = 0;
    for (int k = 0; k < 12; k++) sum += unit_uniform();
    return sum - 6;
}

/* Columns of all shapes: with ties, few levels, far outliers, heavy tails, an offset, most values equal, two clusters,
 * one that is constant but for its ends, and one of which the ends leave nothing; dependent on the first ones. */
enum { N_KINDS = 14 };
static double value_of(int kind, int64_t k, int64_t n, double before) {
    switch (kind) {
    case 1: return round(2 * normal());
    case 2: return unit_uniform() < 0.3;
    case 3: return k == 3 ? 1e5 : k == 1 ? -3e4 : normal();
    case 4: return normal() / (unit_uniform() - 0.5);
    case 5: return 1e6 + normal();
    case 6: return unit_uniform() < 0.9 ? 7 : normal();
    case 7: return before * before;
    case 8: return 1e-300 * (before + 0.01 * normal());
    case 9: return k == 0 ? -2 : k == n - 1 ? 7 : 0.1;
    case 10: return k == 2 ? -1e15 : k == 0 ? 1e15 : normal();
    case 11: return (unit_uniform() < 0.5 ? -1e3 : 1e3) + normal();
    case 12: return pow(unit_uniform(), 3) * 1e300;
    case 13: return 5;
    default: return normal();
    }
}

/* Sets d to the U-centred distances of the n values; returns their sum of squares, 0 if rounding leaves nothing. */
static long double centre(const double *x, int64_t n, long double *d) {
    long double *row = calloc((size_t)n, sizeof *row), all = 0, squares = 0, own = 0, largest = 0;
    for (int64_t k = 0; k < n; k++) largest = fmaxl(largest, fabsl((long double)x[k]));
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            d[i * n + j] = fabsl((long double)x[i] - x[j]) / (largest > 0 ? largest : 1);
            row[i] += d[i * n + j];
            squares += d[i * n + j] * d[i * n + j];
        }
    for (int64_t k = 0; k < n; k++) all += row[k];
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            d[i * n + j] -= (row[i] + row[j]) / (n - 2) - all / ((long double)(n - 1) * (n - 2));
            if (i == j) d[i * n + j] = 0;
            own += d[i * n + j] * d[i * n + j];
        }
    free(row);
    return own > 0x1p-80L * squares ? own : 0;
}

typedef struct {
    int64_t n;
    double *values; /* N_KINDS columns */
    int32_t *order;
    gcor_ordered column[N_KINDS], known[N_KINDS]; /* the same with sums, if no value is missing */
    double *sums;
    void *work;
} columns;

static columns columns_new(int64_t n, double missing) {
    columns c = {.n = n, .values = malloc((size_t)(N_KINDS * n) * sizeof(double))};
    c.order = malloc((size_t)(N_KINDS * n) * sizeof *c.order);
    c.sums = malloc((size_t)(N_KINDS * cpu_distance_sums(n)) * sizeof *c.sums);
    c.work = gcor_os_alloc((size_t)(gcor_distance_bytes(n) + 63) / 64 * 64);
    void *memory = malloc(gcor_ranks_bytes(n));
    gcor_ranks ranks = gcor_ranks_at(memory, n);
    for (int j = 0; j < N_KINDS; j++) {
        double *x = c.values + j * n;
        int64_t tied;
        for (int64_t k = 0; k < n; k++) x[k] = value_of(j, k, n, j > 0 ? c.values[k] : 0);
        for (int64_t k = 0; k < n; k++)
            if (unit_uniform() < missing) x[k] = NAN;
        ranks.order = c.order + j * n;
        c.column[j] = c.known[j] = (gcor_ordered){x, ranks.order, gcor_rank(x, n, &ranks, &tied), NULL};
        if (missing > 0) continue;
        c.known[j].sums = c.sums + j * cpu_distance_sums(n);
        double norm = gcor_distance_norm(&c.column[j], c.work), known = gcor_distance_norm(&c.known[j], c.work);
        CHECK(memcmp(&norm, &known, sizeof norm) == 0);
    }
    free(memory);
    return c;
}

static void columns_free(columns *c) {
    free(c->values);
    free(c->order);
    free(c->sums);
    gcor_os_free(c->work);
}

static double pair_by(int isa, const columns *c, int i, int j) {
    return cpu_distance_pair(gcor_loops_at(isa)->kernels, &c->column[i], &c->column[j], c->n, c->work);
}

/* By definition; GCOR_NO_VALUE and GCOR_ZERO_SD as the engine has them. */
static double defined(const columns *c, int i, int j) {
    int64_t n = 0;
    double *x = malloc((size_t)(2 * c->n) * sizeof *x), *y = x + c->n, r = GCOR_NO_VALUE;
    for (int64_t k = 0; k < c->n; k++) {
        double own = c->values[i * c->n + k], other = c->values[j * c->n + k];
        if (own != own || other != other) continue;
        x[n] = own;
        y[n++] = other;
    }
    if (n >= 4) {
        long double *d = malloc((size_t)(2 * n * n) * sizeof *d), product = 0;
        long double xx = centre(x, n, d), yy = centre(y, n, d + n * n);
        for (int64_t k = 0; k < n * n; k++) product += d[k] * d[n * n + k];
        r = xx > 0 && yy > 0 ? (double)(product / sqrtl(xx * yy)) : GCOR_ZERO_SD;
        free(d);
    }
    free(x);
    return r;
}

static void check_pairs(int64_t n, double missing) {
    columns c = columns_new(n, missing);
    for (int i = 0; i < N_KINDS; i++)
        for (int j = 0; j <= i; j++) {
            double r = pair_by(GCOR_PLAIN, &c, i, j), back = pair_by(GCOR_PLAIN, &c, j, i);
            unit_about("columns %d and %d of %d observations, %g missing", i, j, (int)n, missing);
            CHECK_NEAR(r, defined(&c, i, j), 1e-13);
            CHECK(memcmp(&r, &back, sizeof r) == 0);
            if (i == j && r <= 1) CHECK(r == 1);
            double known = cpu_distance_pair(gcor_loops_at(GCOR_PLAIN)->kernels, &c.known[i], &c.known[j], n, c.work);
            CHECK(memcmp(&r, &known, sizeof r) == 0);
            for (int k = 0; gcor_loops_at(k); k++) {
                double other = pair_by(k, &c, i, j);
                CHECK(memcmp(&r, &other, sizeof r) == 0);
            }
        }
    columns_free(&c);
}

static void pairs_are_as_defined(void) {
    const int64_t n[] = {3, 4, 5, 6, 7, 8, 9, 17, 33, 64, 131, 300};
    unit_seed(31);
    for (size_t k = 0; k < sizeof n / sizeof *n; k++) {
        check_pairs(n[k], 0);
        check_pairs(n[k], 0.1);
        check_pairs(n[k], 0.7);
    }
    check_pairs(600, 0.02); /* quadrants are split, and their halves */
}

/* Columns that are permutations of each other have the same norm. */
static void the_order_of_a_pair_does_not_matter(void) {
    unit_seed(32);
    columns c = columns_new(50, 0);
    int *order = unit_permutation(50);
    for (int j = 0; j < 2; j++) {
        void *memory = malloc(gcor_ranks_bytes(50));
        gcor_ranks ranks = gcor_ranks_at(memory, 50);
        int64_t tied;
        for (int k = 0; k < 50; k++) c.values[50 * j + k] = j ? order[k] : k;
        ranks.order = c.order + 50 * j;
        (void)gcor_rank(c.values + 50 * j, 50, &ranks, &tied);
        free(memory);
    }
    double r = pair_by(GCOR_PLAIN, &c, 0, 1), back = pair_by(GCOR_PLAIN, &c, 1, 0);
    CHECK(memcmp(&r, &back, sizeof r) == 0);
    free(order);
    columns_free(&c);
}

/* The plain way, of columns that are longer than the data, and this one. */
static void both_ways_agree(void) {
    unit_seed(33);
    columns c = columns_new(61, 0.1);
    const gcor_measure *distance = unit_measure("distance");
    void *memory = malloc(gcor_pair_bytes(distance, NULL, c.n));
    gcor_pair pair = gcor_pair_at(memory, distance, NULL, c.n);
    for (int i = 0; i < N_KINDS; i++)
        for (int j = 0; j < i; j++) {
            unit_about("columns %d and %d", i, j);
            CHECK_NEAR(pair_by(GCOR_PLAIN, &c, i, j),
                       gcor_pair_coefficient(&pair, c.column[i].values, c.column[j].values),
                       i == 3 || j == 3 || i == 10 || j == 10 ? 1e-9 : 1e-13);
        }
    free(memory);
    columns_free(&c);
}

const unit_test distance_tests[] = {
    {"pairs in n log n steps are as defined", pairs_are_as_defined},
    {"the order of a pair does not matter", the_order_of_a_pair_does_not_matter},
    {"both ways agree", both_ways_agree},
    {NULL, NULL},
};
