/* The pair mask: its answers about rows, tiles and totals against the rule itself, and the order of the variables. */
#include "check.h"
#include "fixture.h"

#include "../../src/base/alloc.h"
#include "../../src/mask/pairs.h"
#include "../../src/base/triangle.h"

#include <math.h>
#include <stdlib.h>

enum { MAX = 300 };

/* Labels and coordinates of one side. */
typedef struct {
    int64_t n;
    int32_t label[MAX];
    double position[MAX * GCOR_MAX_DIMS];
} traits;

static traits random_traits(int64_t n, int dims, int labels) {
    traits t = {.n = n};
    for (int64_t v = 0; v < n; v++) t.label[v] = (int32_t)unit_random(labels + 1) - 1;
    for (int64_t k = 0; k < n * dims; k++) t.position[k] = unit_random(20) == 0 ? NAN : (double)unit_random(12) - 3;
    return t;
}

static int is_known(const traits *t, int dims, int64_t v) {
    int known = t->label[v] >= 0;
    for (int d = 0; d < dims; d++) known &= isfinite(t->position[v * dims + d]) != 0;
    return known;
}

/* The rule, implemented directly. */
static int counts(const gcor_pair_rule *rule, const traits *y, int64_t i, const traits *x, int64_t j) {
    double square = 0;
    if (!is_known(y, rule->dims, i) || !is_known(x, rule->dims, j)) return 0;
    for (int d = 0; d < rule->dims; d++) {
        double apart = y->position[i * rule->dims + d] - x->position[j * rule->dims + d];
        square += apart * apart;
    }
    int same = y->label[i] == x->label[j], near = sqrt(square) <= rule->distance;
    switch (rule->relation) {
    case GCOR_WITHIN: return same;
    case GCOR_BETWEEN: return !same;
    case GCOR_NEARER: return same && near;
    default: return !same || !near;
    }
}

static int64_t name_of(const int32_t *names, int64_t v) {
    return names ? names[v] : v;
}

static int counts_at(const gcor_pairs *pairs, const gcor_pair_rule *rule, const traits *y, const traits *x, int64_t i,
                     int64_t j) {
    return counts(rule, y, name_of(gcor_pairs_rows(pairs), i), x, name_of(gcor_pairs_cols(pairs), j));
}

static int64_t count_in(const gcor_pairs *pairs, const gcor_pair_rule *rule, gcor_shape shape, const traits *y,
                        const traits *x, const gcor_tile *tile) {
    int64_t found = 0;
    for (int64_t i = tile->row; i < tile->row + tile->n_row; i++) {
        int64_t col, n;
        gcor_tile_segment(tile, shape, i, &col, &n);
        for (int64_t j = col; j < col + n; j++) found += counts_at(pairs, rule, y, x, i, j);
    }
    return found;
}

static int64_t max_of(int64_t a, int64_t b) {
    return a < b ? a : b;
}

static void check_tile(const gcor_pairs *pairs, const gcor_pair_rule *rule, gcor_shape shape, const traits *y,
                       const traits *x, const gcor_tile *tile) {
    gcor_extent extent = gcor_pairs_of_tile(pairs, tile);
    gcor_tile part = gcor_pairs_shrink(pairs, tile);
    int64_t found = count_in(pairs, rule, shape, y, x, tile);
    if (extent == GCOR_NO_PAIR) CHECK_INT(found, 0);
    if (extent == GCOR_ALL_PAIRS) CHECK_INT(found, gcor_tile_pairs(tile, shape));
    CHECK(part.row >= tile->row && part.row + part.n_row <= tile->row + tile->n_row);
    CHECK(part.col >= tile->col && part.col + part.n_col <= tile->col + tile->n_col);
    CHECK_INT(count_in(pairs, rule, shape, y, x, &part), found);
}

static void check_row(const gcor_pairs *pairs, const gcor_pair_rule *rule, const traits *y, const traits *x,
                      int64_t i) {
    unsigned char found[MAX];
    int64_t col = unit_random(x->n), n = 1 + unit_random(x->n - col), sum = 0;
    int64_t all = gcor_pairs_of_row(pairs, i, col, n, found);
    for (int64_t k = 0; k < n; k++) {
        CHECK_INT(found[k], counts_at(pairs, rule, y, x, i, col + k));
        sum += found[k];
    }
    CHECK_INT(all, sum);
}

static void check_order(const int32_t *names, int64_t n) {
    char seen[MAX] = {0};
    for (int64_t v = 0; names && v < n; v++) seen[names[v]]++;
    for (int64_t v = 0; names && v < n; v++) CHECK_INT(seen[v], 1);
}

static void check_rule(const gcor_pair_rule *rule, gcor_shape shape, const traits *y, const traits *x, int reorder) {
    unit_call call;
    gcor_pairs *pairs;
    gcor_tile all = {0, y->n, 0, x->n};
    unit_call_begin(&call, 2);
    if (!CHECK_INT(gcor_pairs_new(&call.context, rule, shape, y->n, x->n, reorder, reorder, &pairs), GCOR_OK)) return;
    check_order(gcor_pairs_cols(pairs), x->n);
    check_order(gcor_pairs_rows(pairs), y->n);
    CHECK_INT(gcor_pairs_count(pairs, &call.context), count_in(pairs, rule, shape, y, x, &all));
    check_tile(pairs, rule, shape, y, x, &all);
    for (int k = 0; k < 20; k++) {
        int64_t row = unit_random((y->n + 63) / 64) * 64, col = unit_random((x->n + 63) / 64) * 64;
        gcor_tile tile = {row, max_of(64 << unit_random(3), y->n - row), col, max_of(64 << unit_random(3), x->n - col)};
        check_tile(pairs, rule, shape, y, x, &tile);
        check_row(pairs, rule, y, x, unit_random(y->n));
    }
    gcor_pairs_free(pairs);
}

static void pairs_are_those_of_the_rule(void) {
    unit_seed(1);
    for (int k = 0; k < 200; k++) {
        int dims = (int)unit_random(GCOR_MAX_DIMS + 1), labels = 1 + (int)unit_random(5);
        traits x = random_traits(1 + unit_random(MAX), dims, labels), y = random_traits(1 + unit_random(MAX), dims, 3);
        gcor_pair_rule rule = {.relation = (gcor_relation)unit_random(4),
                               .dims = dims,
                               .distance = (double)unit_random(8),
                               .x = {x.label, dims > 0 ? x.position : NULL},
                               .y = {y.label, dims > 0 ? y.position : NULL}};
        unit_about("rule %d", k);
        gcor_shape shape = (gcor_shape)unit_random(3);
        check_rule(&rule, shape, shape == GCOR_FULL ? &y : &x, &x, k % 4 > 0);
    }
}

/* With distances that are not integers, the comparison is that of the rounded root of the sum of squares. */
static void distances_are_compared_as_they_are_rounded(void) {
    unit_seed(2);
    for (int k = 0; k < 50; k++) {
        traits x = {.n = 40};
        for (int64_t j = 0; j < 80; j++) x.position[j] = (double)unit_random(30) * 0.1;
        gcor_pair_rule rule = {.relation = k % 2 ? GCOR_NEARER : GCOR_FARTHER, .dims = 2, .x = {NULL, x.position}};
        rule.distance = sqrt(unit_uniform() + (double)unit_random(4) * 0.01);
        if (k % 3 == 0) rule.distance = hypot(x.position[0] - x.position[2], x.position[1] - x.position[3]);
        unit_about("distance %.17g", rule.distance);
        check_rule(&rule, GCOR_LOWER, &x, &x, 1);
    }
}

static void memory_may_fail(void) {
    traits x = random_traits(100, 3, 4);
    gcor_pair_rule rule = {.relation = GCOR_NEARER, .dims = 3, .distance = 2, .x = {x.label, x.position}};
    unit_seed(3);
    for (int k = 1;; k++) {
        unit_call call;
        gcor_pairs *pairs;
        unit_call_begin(&call, 1);
        gcor_set_fault(GCOR_HOST_MEMORY, k);
        gcor_status status = gcor_pairs_new(&call.context, &rule, GCOR_LOWER, 100, 100, 1, 1, &pairs);
        gcor_set_fault(GCOR_HOST_MEMORY, 0);
        gcor_pairs_free(pairs);
        if (!status) break;
        CHECK_INT(status, GCOR_NO_MEMORY);
        CHECK(pairs == NULL && k < 50);
    }
}

const unit_test pairs_tests[] = {
    {"pairs are those of the rule", pairs_are_those_of_the_rule},
    {"distances are compared as they are rounded", distances_are_compared_as_they_are_rounded},
    {"memory may fail", memory_may_fail},
    {NULL, NULL},
};
