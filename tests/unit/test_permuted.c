/* Sinks of permuted tests: what several workers find, merged in any order, is what one finds, and components are those
 * of their definition. One "subject", whose z is the statistic. */
#include "check.h"
#include "fixture.h"

#include "../../src/base/triangle.h"
#include "../../src/sink/groups/permuted_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { N = 70, WORKERS = 4, PERMUTATIONS = 2 };
/* The second permutation has negative statistics where the first has positive ones. */
static const double weight[PERMUTATIONS] = {1, -1};
static const gcor_permutations permutations = {.weight = weight, .n_weights = 1, .n = PERMUTATIONS, .groups = {.n = 1}};

/* Coefficients of which few are large, so that there are components of many sizes; one is missing. */
static double r[N][N];
static void fill(void) {
    unit_seed(23);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < i; j++) r[i][j] = unit_random(60) ? 0.3 * unit_uniform() : 1.6 * unit_uniform() - 0.8;
    r[N - 1][0] = GCOR_NO_VALUE;
}

/* Delivers rows from .. to-1. */
static void take_rows(gcor_sink *sink, gcor_context *context, int64_t from, int64_t to) {
    const gcor_tile tile = {from, to - from, 0, N};
    double values[N * N];
    for (int64_t i = from; i < to; i++)
        memcpy(values + gcor_tile_offset(&tile, sink->shape, i), r[i], (size_t)i * sizeof(double));
    CHECK_INT(gcor_take_tile(sink, context, &tile, values, NULL), GCOR_OK);
}

/* The rows are spread over forks, which are merged in pairs at first. */
static void take_spread(gcor_sink *sink, gcor_context *context) {
    const int64_t start[WORKERS + 1] = {0, 9, 40, 41, N};
    gcor_sink *forks[WORKERS];
    for (int k = 0; k < WORKERS; k++) {
        CHECK_INT(gcor_sink_fork(sink, context, &forks[k]), GCOR_OK);
        take_rows(forks[k], context, start[k], start[k + 1]);
    }
    CHECK_INT(gcor_sink_merge(forks[2], context, forks[0]), GCOR_OK);
    for (int k = WORKERS - 1; k >= 0; k--) {
        CHECK_INT(gcor_sink_merge(sink, context, forks[k]), GCOR_OK);
        gcor_sink_free(forks[k]);
    }
}

/* ---- components ------------------------------------------------------------------------------ */

/* Returns 1 if the pair is an edge of graph `sign` under permutation k, and how much it adds. */
static int is_edge(const gcor_component_rule *rule, int k, int sign, int i, int j, double *add) {
    double z = weight[k] * atanh(i > j ? r[i][j] : r[j][i]), size = rule->side == GCOR_POSITIVE ? z : fabs(z);
    *add = rule->sums_weights ? sqrt(size) - rule->min : 1; /* the statistic z stands for t^2 */
    return sqrt(size) >= rule->min && (rule->signs == 1 || (z < 0) == sign);
}

/* The smallest variable that can be reached, and the sum over the edges of those that reach the same. */
static void define(const gcor_component_rule *rule, int k, int sign, double *size, int *first) {
    double add;
    for (int v = 0; v < N; v++) first[v] = v;
    for (int step = 0; step < N; step++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                if (i != j && is_edge(rule, k, sign, i, j, &add) && first[j] < first[i]) first[i] = first[j];
    for (int v = 0; v < N; v++) {
        size[v] = 0;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < i; j++)
                if (first[i] == first[v] && is_edge(rule, k, sign, i, j, &add)) size[v] += add;
    }
}

static void check_components(const gcor_component_rule *rule, int spread) {
    gcor_sink *sink;
    unit_call call;
    double size[2 * N], expected[N];
    int first[2 * N], expected_first[N];
    unit_about("side %d, %d signs, sums %d, spread %d", (int)rule->side, rule->signs, rule->sums_weights, spread);
    unit_call_begin(&call, 3);
    CHECK_INT(gcor_components_new(&call.context, N, rule, &permutations, &sink), GCOR_OK);
    (spread ? take_spread(sink, &call.context) : take_rows(sink, &call.context, 0, N));
    for (int k = 0; k < PERMUTATIONS; k++) {
        double largest = gcor_components_of(sink, k, size, first), most = 0;
        for (int sign = 0; sign < rule->signs; sign++) {
            define(rule, k, sign, expected, expected_first);
            for (int v = 0; v < N; v++) {
                CHECK(fabs(size[sign * N + v] - expected[v]) <= N * 0x1p-24);
                CHECK_INT(first[sign * N + v], sign * N + expected_first[v]);
                most = fmax(most, size[sign * N + v]);
            }
        }
        CHECK(largest == most && most > (rule->sums_weights ? 0.1 : 1));
    }
    gcor_sink_free(sink);
}

static void components_of_several_workers(void) {
    fill();
    for (int sums = 0; sums < 2; sums++)
        for (int spread = 0; spread < 2; spread++) {
            check_components(&(gcor_component_rule){GCOR_ABSOLUTE, 1, 0.6, sums}, spread);
            check_components(&(gcor_component_rule){GCOR_ABSOLUTE, 2, 0.6, sums}, spread);
            check_components(&(gcor_component_rule){GCOR_POSITIVE, 1, 0.56, sums}, spread);
        }
}

/* ---- maxima and counts -------------------------------------------------------------------------- */

static gcor_label_maxima *maxima_of(unit_call *call, double df, int spread) {
    gcor_label_maxima *maxima;
    CHECK_INT(gcor_label_maxima_new(&call->context, GCOR_LOWER, N, N, GCOR_POSITIVE, df, &permutations, &maxima),
              GCOR_OK);
    (spread ? take_spread(&maxima->sink, &call->context) : take_rows(&maxima->sink, &call->context, 0, N));
    gcor_bins_sum(&maxima->bins);
    return maxima;
}

static void maxima_of_several_workers(void) {
    unit_call call;
    unit_call_begin(&call, 3);
    fill();
    for (int df = 0; df < 2; df++) {
        gcor_label_maxima *alone = maxima_of(&call, df, 0), *several = maxima_of(&call, df, 1);
        for (int k = 0; k < PERMUTATIONS && !df; k++)
            CHECK(gcor_label_maxima_of(alone, k) == gcor_label_maxima_of(several, k));
        if (df) CHECK(memcmp(alone->bins.counts, several->bins.counts, GCOR_BINS * sizeof *alone->bins.counts) == 0);
        gcor_sink_free(&alone->sink);
        gcor_sink_free(&several->sink);
    }
}

const unit_test permuted_tests[] = {
    {"components are those of their definition, with one worker or several", components_of_several_workers},
    {"maxima and counts of permutations are the same with one worker or several", maxima_of_several_workers},
    {NULL, NULL},
};
