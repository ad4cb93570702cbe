#include "test.h"

#include "alloc.h"
#include "design.h"
#include "source.h"
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

/* By how much the observations outnumber degrees of freedom. */
static int64_t taken(const gcor_test *test) {
    return test->rule.measure->df_taken + test->rule.df.lost;
}

/* Which numbers of observations pairs can have that are tested. */
static void find_range(gcor_test *test) {
    int64_t n_obs = test->x->n_obs, first = taken(test) + 1, least_x, most_x, least_y, most_y;
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

/* Of all pairs, where they have as many; 0: they have not. */
static double common_df(const gcor_test *test) {
    if (test->rule.df.given > 0) return test->rule.df.given;
    return test->worth > 0 ? test->worth - (double)taken(test) : 0;
}

/* Where every pair has degrees of its own there are none; otherwise for each number of observations, or for the number
 * that all have. */
static gcor_status make_tables(gcor_context *context, gcor_test *test, int64_t n_pairs) {
    const double common = common_df(test);
    if (gcor_df_is_own(&test->rule.df, !gcor_test_is_single(test))) return GCOR_OK;
    find_range(test);
    if (common > 0) test->n_tables = common >= 1;
    if (n_pairs < PAIRS_OF_TABLE * test->n_tables) test->n_tables = 0;
    if (test->n_tables == 0) return GCOR_OK;
    test->tables = gcor_alloc(context, test->n_tables, sizeof *test->tables, "tables of p values");
    if (!test->tables) return GCOR_NO_MEMORY;
    memset(test->tables, 0, (size_t)test->n_tables * sizeof *test->tables);
    for (int64_t k = 0; k < test->n_tables && !gcor_stop(context); k++)
        test->tables[k] = gcor_t_table_new(context, common > 0 ? common : (double)(test->low + k - taken(test)));
    return context->error.status;
}

static gcor_status estimate_lags(gcor_context *context, gcor_test *test, const gcor_columns *x, const gcor_columns *y) {
    if (!test->rule.df.is_estimated) return GCOR_OK;
    test->x_lags = test->y_lags = gcor_autocorrelation_new(context, x, test->rule.measure);
    if (test->x_lags && y) test->y_lags = gcor_autocorrelation_new(context, y, test->rule.measure);
    return test->x_lags && test->y_lags ? GCOR_OK : context->error.status;
}

static int is_normal(const gcor_test *test) {
    return test->rule.measure->distribution == GCOR_NORMAL_WITH_TIES;
}

/* Where exact p values are wanted, for as many observations as there can be. */
static gcor_status make_exact(gcor_context *context, gcor_test *test) {
    int64_t most = gcor_most_exact(test->rule.measure);
    if (most > test->rule.most_exact) most = test->rule.most_exact;
    if (most > test->x->n_obs) most = test->x->n_obs;
    test->rule.most_exact = most;
    if (most < 2) return GCOR_OK;
    test->exact = gcor_exact_new(context, test->rule.measure, most);
    return test->exact ? GCOR_OK : GCOR_NO_MEMORY;
}

static int needs_ties(const gcor_test *test) {
    return is_normal(test) || (test->rule.most_exact > 0 && gcor_most_exact(test->rule.measure) > 0);
}

/* What n observations are worth whose weights have these sums. */
static double worth_of(const gcor_df_rule *rule, gcor_weight_sums sums, int64_t n) {
    if (rule->worth == GCOR_WORTH_SUM) return sums.sum * rule->unit;
    return rule->worth == GCOR_WORTH_KISH && n > 0 ? sums.sum * sums.sum / sums.squares : (double)n;
}

static double common_worth(const gcor_test *test, int64_t i, int64_t j, int64_t n) {
    if (test->rule.df.worth == GCOR_WORTH_COUNT) return (double)n;
    return worth_of(&test->rule.df, gcor_common_weights(test->x, i, test->y, j, test->weight), n);
}

gcor_status gcor_test_open(gcor_context *context, const gcor_test_rule *rule, const gcor_columns *x,
                           const gcor_columns *y, int common, int64_t n_pairs, gcor_test *test) {
    *test = (gcor_test){.rule = *rule, .weight = x->design ? x->design->weight : NULL};
    if (!test->weight && test->rule.df.worth == GCOR_WORTH_KISH) test->rule.df.worth = GCOR_WORTH_COUNT;
    test->x = test->y = gcor_observed_new(context, x, common, needs_ties(test));
    if (test->x && y) test->y = gcor_observed_new(context, y, common, needs_ties(test));
    gcor_status status = test->x && test->y ? GCOR_OK : context->error.status;
    if (!status && !common && x->source->n_var > 0) test->worth = common_worth(test, 0, 0, x->n_obs);
    if (!status && !is_normal(test)) status = make_tables(context, test, n_pairs);
    if (!status) status = make_exact(context, test);
    if (!status) status = estimate_lags(context, test, x, y);
    if (status) gcor_test_close(test);
    return status;
}

void gcor_test_close(gcor_test *test) {
    for (int64_t k = 0; test->tables && k < test->n_tables; k++) gcor_free(test->tables[k]);
    gcor_free(test->tables);
    gcor_exact_free(test->exact);
    if (test->y_lags != test->x_lags) gcor_autocorrelation_free(test->y_lags);
    gcor_autocorrelation_free(test->x_lags);
    if (test->y != test->x) gcor_observed_free(test->y);
    gcor_observed_free(test->x);
    *test = (gcor_test){.rule = test->rule};
}

/* ---- a pair ------------------------------------------------------------------------------------ */

static double df_of(const gcor_test *test, int64_t i, int64_t j, int64_t n) {
    if (test->rule.df.given > 0) return test->rule.df.given;
    if (!test->rule.df.is_estimated)
        return (test->worth > 0 ? test->worth : common_worth(test, i, j, n)) - (double)taken(test);
    const gcor_calibration *calibration = test->rule.df.calibration.n_points > 0 ? &test->rule.df.calibration : NULL;
    return gcor_effective_count(test->x_lags, i, test->y_lags, j, n, calibration) - test->rule.measure->df_taken;
}

static gcor_tail t_tail(const gcor_test *test, int64_t n, double df, double r) {
    int64_t k = common_df(test) > 0 ? 0 : n - test->low;
    if (k >= 0 && k < test->n_tables) return gcor_t_table_tail(test->tables[k], r);
    return gcor_t_tail(df, r);
}

/* As cor.test() has it: twice the smaller tail, where the coefficient is. */
static double exact_p(const gcor_test *test, int64_t n, double r) {
    gcor_alternative alternative = test->rule.alternative;
    int is_lower = alternative == GCOR_LESS || (alternative == GCOR_TWO_SIDED && r < 0);
    double p = is_lower ? gcor_exact_lower(test->exact, n, r) : gcor_exact_upper(test->exact, n, r);
    if (alternative == GCOR_TWO_SIDED) p = p < 0.5 ? 2 * p : 1;
    return test->rule.is_log ? log(p) : p;
}

static double asymptotic_p(const gcor_test *test, int64_t n, double df, double r, double statistic) {
    gcor_tail tail = is_normal(test) ? gcor_normal_tail(statistic) : t_tail(test, n, df, r);
    return gcor_tail_p(tail, statistic, test->rule.alternative, test->rule.is_log);
}

gcor_tested gcor_test_pair(const gcor_test *test, int64_t i, int64_t j, double r) {
    const int64_t n = gcor_common_count(test->x, i, test->y, j);
    double q = 0, other = 0, df = df_of(test, i, j, n);
    gcor_tested pair = {(double)n, df, r, r, 0};
    if (r != r) return pair;
    if (n < 3 || !(df >= 1)) return (gcor_tested){(double)n, df, test->rule.missing, test->rule.missing, 0};
    if (test->x->quotient) {
        q = gcor_common_quotient(test->x, i, test->y, j, n);
        other = gcor_common_quotient(test->y, j, test->x, i, n);
    }
    pair.statistic = is_normal(test) ? r / gcor_kendall_deviation((double)n, q, other) : gcor_t_score(df, r);
    int is_small = test->exact && n <= test->rule.most_exact;
    pair.is_tied = is_small && !(gcor_is_untied((double)n, q) && gcor_is_untied((double)n, other));
    pair.p = is_small && !pair.is_tied ? exact_p(test, n, r) : asymptotic_p(test, n, df, r, pair.statistic);
    return pair;
}

/* ---- all pairs ----------------------------------------------------------------------------------- */

typedef struct {
    const gcor_test *test;
    int is_triangle;
    const double *r;
    double *n, *df, *statistic, *p;
} pair_lists;

/* Variable j of y; returns how many pairs were tied. */
static int64_t test_line(const pair_lists *lists, int64_t j) {
    int64_t n_x = lists->test->x->n_var, first = lists->is_triangle ? j + 1 : 0, tied = 0;
    int64_t at = lists->is_triangle ? gcor_row_position(j, j + 1, n_x) : j * n_x;
    for (int64_t i = first; i < n_x; i++, at++) {
        gcor_tested pair = gcor_test_pair(lists->test, i, j, lists->r[at]);
        if (lists->n) lists->n[at] = pair.n;
        if (lists->df) lists->df[at] = pair.df;
        lists->statistic[at] = pair.statistic;
        lists->p[at] = pair.p;
        tied += pair.is_tied;
    }
    return tied;
}

gcor_status gcor_test_pairs(gcor_context *context, gcor_test *test, int is_triangle, const double *r, double *n,
                            double *df, double *statistic, double *p) {
    const pair_lists lists = {test, is_triangle, r, n, df, statistic, p};
    int64_t tied = 0, n_x = test->x->n_var, n_y = test->y->n_var;
    context->monitor->pairs = is_triangle ? gcor_triangular(n_x - 1) : n_x * n_y;
    context->monitor->pairs_done = 0;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic) reduction(+ : tied)
    for (int64_t j = 0; j < n_y; j++) {
        if (gcor_stop(context)) continue;
        tied += test_line(&lists, j);
        __atomic_fetch_add(&context->monitor->pairs_done, is_triangle ? n_x - 1 - j : n_x, __ATOMIC_RELAXED);
    }
    test->tied = tied;
    return context->error.status;
}
