#include "test.h"

#include "alloc.h"
#include "threads.h"
#include "triangle.h"

#include <string.h>

/* ---- tables ----------------------------------------------------------------------------------- */

enum { PAIRS_OF_TABLE = 1000 }; /* that a table must serve to be worth it */

static void count_range(const gcor_observed *o, int64_t *least, int64_t *most) {
    *least = o->n_obs;
    *most = 0;
    for (int64_t j = 0; j < o->n_var; j++) {
        if (o->n_present[j] < *least) *least = o->n_present[j];
        if (o->n_present[j] > *most) *most = o->n_present[j];
    }
}

/* Which numbers of observations pairs can have that are tested. */
static void find_range(gcor_test *test) {
    int64_t n_obs = test->x->n_obs, first = test->rule.measure->df_taken + 1, least_x, most_x, least_y, most_y;
    test->low = test->n_tables = n_obs;
    if (!gcor_test_is_single(test)) {
        count_range(test->x, &least_x, &most_x);
        count_range(test->y, &least_y, &most_y);
        test->low = least_x + least_y - n_obs;
        test->n_tables = most_x < most_y ? most_x : most_y;
    }
    if (test->low < first) test->low = first;
    test->n_tables -= test->low - 1;
    if (test->n_tables < 0) test->n_tables = 0;
}

static gcor_status make_tables(gcor_context *context, gcor_test *test, int64_t n_pairs) {
    find_range(test);
    if (n_pairs < PAIRS_OF_TABLE * test->n_tables) test->n_tables = 0;
    if (test->n_tables == 0) return GCOR_OK;
    test->tables = gcor_alloc(context, test->n_tables, sizeof *test->tables, "tables of p values");
    if (!test->tables) return GCOR_NO_MEMORY;
    memset(test->tables, 0, (size_t)test->n_tables * sizeof *test->tables);
    for (int64_t k = 0; k < test->n_tables && !gcor_stop(context); k++)
        test->tables[k] = gcor_t_table_new(context, (double)(test->low + k - test->rule.measure->df_taken));
    return context->error.status;
}

static int is_normal(const gcor_test *test) {
    return test->rule.measure->distribution == GCOR_NORMAL_WITH_TIES;
}

gcor_status gcor_test_open(gcor_context *context, const gcor_test_rule *rule, const gcor_columns *x,
                           const gcor_columns *y, int common, int64_t n_pairs, gcor_test *test) {
    *test = (gcor_test){.rule = *rule};
    test->x = test->y = gcor_observed_new(context, x, common, is_normal(test));
    if (test->x && y) test->y = gcor_observed_new(context, y, common, is_normal(test));
    gcor_status status = test->x && test->y ? GCOR_OK : context->error.status;
    if (!status && !is_normal(test)) status = make_tables(context, test, n_pairs);
    if (status) gcor_test_close(test);
    return status;
}

void gcor_test_close(gcor_test *test) {
    for (int64_t k = 0; test->tables && k < test->n_tables; k++) gcor_free(test->tables[k]);
    gcor_free(test->tables);
    if (test->y != test->x) gcor_observed_free(test->y);
    gcor_observed_free(test->x);
    *test = (gcor_test){.rule = test->rule};
}

/* ---- a pair ------------------------------------------------------------------------------------ */

static double kendall_score(const gcor_test *test, int64_t i, int64_t j, int64_t n, double r) {
    double q = gcor_common_quotient(test->x, i, test->y, j, n);
    double other = gcor_common_quotient(test->y, j, test->x, i, n);
    return r / gcor_kendall_deviation((double)n, q, other);
}

static gcor_tail t_tail(const gcor_test *test, int64_t n, double r) {
    int64_t k = n - test->low;
    if (k >= 0 && k < test->n_tables) return gcor_t_table_tail(test->tables[k], r);
    return gcor_t_tail((double)(n - test->rule.measure->df_taken), r);
}

gcor_tested gcor_test_pair(const gcor_test *test, int64_t i, int64_t j, double r) {
    const gcor_test_rule *rule = &test->rule;
    int64_t n = gcor_common_count(test->x, i, test->y, j);
    gcor_tested pair = {(double)n, r, r};
    if (r != r) return pair;
    if (n < 3 || n <= rule->measure->df_taken) return (gcor_tested){(double)n, rule->missing, rule->missing};
    gcor_tail tail;
    if (is_normal(test)) {
        pair.statistic = kendall_score(test, i, j, n, r);
        tail = gcor_normal_tail(pair.statistic);
    } else {
        pair.statistic = gcor_t_score((double)(n - rule->measure->df_taken), r);
        tail = t_tail(test, n, r);
    }
    pair.p = gcor_tail_p(tail, pair.statistic, rule->alternative, rule->is_log);
    return pair;
}

/* ---- all pairs ----------------------------------------------------------------------------------- */

gcor_status gcor_test_pairs(gcor_context *context, const gcor_test *test, int is_triangle, const double *r, double *n,
                            double *statistic, double *p) {
    int64_t n_x = test->x->n_var, n_y = test->y->n_var;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t j = 0; j < n_y; j++) {
        int64_t first = is_triangle ? j + 1 : 0, start = is_triangle ? gcor_row_position(j, j + 1, n_x) : j * n_x;
        if (gcor_stop(context)) continue;
        for (int64_t i = first; i < n_x; i++) {
            int64_t at = start + i - first;
            gcor_tested pair = gcor_test_pair(test, i, j, r[at]);
            if (n) n[at] = pair.n;
            statistic[at] = pair.statistic;
            p[at] = pair.p;
        }
    }
    return context->error.status;
}
