#include "test.h"

#include "../base/alloc.h"
#include "../measure/design.h"
#include "../base/elementary.h"
#include "../measure/measure.h"
#include "../source/source.h"
#include "../base/threads.h"
#include "../base/triangle.h"

#include <string.h>

/* ---- tables ----------------------------------------------------------------------------------- */

enum { PAIRS_OF_TABLE = 1000 }; /* min number of pairs per table to be worth it */

static void count_range(const gcor_observed *o, int64_t *min, int64_t *max) {
    *min = o->n_obs;
    *max = 0;
    for (int64_t j = 0; j < o->n_var; j++) {
        if (o->n_present[j] < *min) *min = o->n_present[j];
        if (o->n_present[j] > *max) *max = o->n_present[j];
    }
}

/* Difference between the number of observations and the degrees of freedom. */
static int64_t taken(const gcor_test *test) {
    return test->rule.measure->df_taken + test->rule.df.lost;
}

/* Sets low and n_found to the numbers of observations that tested pairs can have. */
static void find_range(gcor_test *test) {
    int64_t n_obs = test->x->n_obs, first = taken(test) + 1, min_x, max_x, min_y, max_y;
    test->low = test->n_found = n_obs;
    if (!gcor_test_is_single(test)) {
        count_range(test->x, &min_x, &max_x);
        count_range(test->y, &min_y, &max_y);
        test->low = min_x + min_y - n_obs;
        test->n_found = max_x < max_y ? max_x : max_y;
    }
    if (test->low < first) test->low = first;
    test->n_found -= test->low - 1;
    if (test->n_found < 0) test->n_found = 0;
}

static int is_normal(const gcor_test *test) {
    return test->rule.measure->distribution == GCOR_NORMAL_WITH_TIES;
}

static int is_chi_squared(const gcor_test *test) {
    return test->rule.measure->distribution == GCOR_CHI_SQUARED;
}

/* True if p values follow from Student's t, and thus from degrees of freedom. */
static int has_df(const gcor_test *test) {
    return test->rule.measure->distribution == GCOR_STUDENT_T;
}

static int needs_ties(const gcor_test *test) {
    return is_normal(test) || (test->rule.max_exact > 0 && gcor_max_exact(test->rule.measure) > 0);
}

/* Prepares a beta distribution of Spearman's rho for each number of observations. */
static gcor_status make_betas(gcor_context *context, gcor_test *test) {
    if (is_normal(test) || !needs_ties(test) || test->n_found == 0) return GCOR_OK;
    test->betas = gcor_alloc(context, test->n_found, sizeof *test->betas, "distributions of rho");
    if (!test->betas) return GCOR_NO_MEMORY;
    for (int64_t k = 0; k < test->n_found; k++) test->betas[k] = gcor_rho_beta_of((double)(test->low + k));
    return GCOR_OK;
}

/* The degrees of freedom common to all pairs; 0: they differ. */
static double common_df(const gcor_test *test) {
    if (test->rule.df.given > 0) return test->rule.df.given;
    return test->worth > 0 ? test->worth - (double)taken(test) : 0;
}

/* Prepares no tables if every pair has its own degrees of freedom; otherwise one for all pairs, or one for each
 * number of observations. */
static gcor_status make_tables(gcor_context *context, gcor_test *test, int64_t n_pairs) {
    const double common = common_df(test);
    if (gcor_df_is_own(&test->rule.df, !gcor_test_is_single(test))) return GCOR_OK;
    test->n_tables = common > 0 ? common >= 1 : test->n_found;
    if (n_pairs < PAIRS_OF_TABLE * test->n_tables) test->n_tables = 0;
    if (test->n_tables == 0) return GCOR_OK;
    test->tables = gcor_alloc(context, test->n_tables, sizeof *test->tables, "tables of p values");
    if (!test->tables) return GCOR_NO_MEMORY;
    memset(test->tables, 0, (size_t)test->n_tables * sizeof *test->tables);
    for (int64_t k = 0; k < test->n_tables && !gcor_stop(context); k++) {
        const double own = test->betas ? test->betas[k].df : (double)(test->low + k - taken(test));
        test->tables[k] = gcor_t_table_new(context, common > 0 ? common : own);
    }
    return context->error.status;
}

static gcor_status estimate_lags(gcor_context *context, gcor_test *test, const gcor_columns *x, const gcor_columns *y) {
    if (!test->rule.df.is_estimated) return GCOR_OK;
    test->x_lags = test->y_lags = gcor_autocorrelation_new(context, x, test->rule.measure);
    if (test->x_lags && y) test->y_lags = gcor_autocorrelation_new(context, y, test->rule.measure);
    return test->x_lags && test->y_lags ? GCOR_OK : context->error.status;
}

/* Prepares the exact distributions for the numbers of observations that pairs can have, if exact p values are
 * requested. */
static gcor_status make_exact(gcor_context *context, gcor_test *test) {
    int64_t min = test->low, max = gcor_max_exact(test->rule.measure);
    if (max > test->rule.max_exact) max = test->rule.max_exact;
    if (max > test->low + test->n_found - 1) max = test->low + test->n_found - 1;
    if (min < test->rule.min_obs) min = test->rule.min_obs;
    test->rule.max_exact = max;
    if (max < min) return GCOR_OK;
    test->exact = gcor_exact_new(context, test->rule.measure, min, max);
    return test->exact ? GCOR_OK : GCOR_NO_MEMORY;
}

/* Effective number of the n observations of a pair. */
static double common_worth(const gcor_test *test, int64_t i, int64_t j, int64_t n) {
    const gcor_df_rule *rule = &test->rule.df;
    if (rule->worth == GCOR_WORTH_COUNT) return (double)n;
    const gcor_weight_sums sums = gcor_common_weights(test->x, i, test->y, j, test->weight);
    if (rule->worth == GCOR_WORTH_SUM) return sums.sum * rule->unit;
    return rule->worth == GCOR_WORTH_KISH && n > 0 ? sums.sum * sums.sum / sums.squares : (double)n;
}

gcor_status gcor_test_open(gcor_context *context, const gcor_test_rule *rule, const gcor_columns *x,
                           const gcor_columns *y, int common, int64_t n_pairs, gcor_test *test) {
    *test = (gcor_test){
        .rule = *rule, .x_columns = *x, .y_columns = y ? *y : *x, .weight = x->design ? x->design->weight : NULL};
    if (!test->weight && test->rule.df.worth == GCOR_WORTH_KISH) test->rule.df.worth = GCOR_WORTH_COUNT;
    test->x = test->y = gcor_observed_new(context, x, common, needs_ties(test));
    if (test->x && y) test->y = gcor_observed_new(context, y, common, needs_ties(test));
    gcor_status status = test->x && test->y ? GCOR_OK : context->error.status;
    if (!status) {
        find_range(test);
        status = make_betas(context, test);
    }
    if (!status && !common && test->rule.df.worth != GCOR_WORTH_COUNT && x->source->n_var > 0)
        test->worth = common_worth(test, 0, 0, x->n_obs);
    if (!status && has_df(test)) status = make_tables(context, test, n_pairs);
    if (!status) status = make_exact(context, test);
    if (!status) status = estimate_lags(context, test, x, y);
    if (status) gcor_test_close(test);
    return status;
}

void gcor_test_close(gcor_test *test) {
    for (int64_t k = 0; test->tables && k < test->n_tables; k++) gcor_free(test->tables[k]);
    gcor_free(test->tables);
    gcor_free(test->betas);
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
    if (test->betas) {
        df = test->betas[n - test->low].df;
        r /= test->betas[n - test->low].scale;
    }
    if (k >= 0 && k < test->n_tables) return gcor_t_table_tail(test->tables[k], r);
    return gcor_t_tail(df, r);
}

/* As in cor.test(): twice the smaller tail, on the coefficient's side. */
static double exact_p(const gcor_test *test, int64_t n, double r) {
    gcor_alternative alternative = test->rule.alternative;
    int is_lower = alternative == GCOR_LESS || (alternative == GCOR_TWO_SIDED && r < 0);
    double p = is_lower ? gcor_exact_lower(test->exact, n, r) : gcor_exact_upper(test->exact, n, r);
    if (alternative == GCOR_TWO_SIDED) p = p < 0.5 ? 2 * p : 1;
    return test->rule.is_log ? gcor_log(p) : p;
}

static double statistic_of(const gcor_test *test, int64_t n, double df, double r, double q, double other) {
    if (is_normal(test)) return r / gcor_kendall_deviation((double)n, q, other);
    return is_chi_squared(test) ? (double)n * r + 1 : gcor_t_score(df, r);
}

static double asymptotic_p(const gcor_test *test, int64_t n, double df, double r, double statistic) {
    if (is_chi_squared(test))
        return gcor_tail_p(gcor_chi_squared_tail(statistic), 0, GCOR_TWO_SIDED, test->rule.is_log);
    gcor_tail tail = is_normal(test) ? gcor_normal_tail(statistic) : t_tail(test, n, df, r);
    return gcor_tail_p(tail, statistic, test->rule.alternative, test->rule.is_log);
}

/* Lower bound of p for a tied pair of few observations: its own order, and orders that look the same, are at least
 * as extreme. Sides count as in exact_p(). */
static double at_least_own_order(const gcor_test *test, int64_t i, int64_t j, int64_t n, double p) {
    double own = gcor_common_orders(test->x, i, test->y, j, n), other = gcor_common_orders(test->y, j, test->x, i, n);
    double min = fmax(own, other) / gcor_factorial(n);
    if (test->rule.alternative == GCOR_TWO_SIDED) min = min < 0.5 ? 2 * min : 1;
    return fmax(p, test->rule.is_log ? gcor_log(min) : min);
}

gcor_tested gcor_test_pair(const gcor_test *test, int64_t i, int64_t j, double r) {
    const int64_t n = gcor_common_count(test->x, i, test->y, j);
    double q = 0, other = 0, df = df_of(test, i, j, n), missing = test->rule.missing;
    gcor_tested pair = {(double)n, df, r, r, {r, r}, 0, 0};
    if (r != r) return pair;
    if (n < test->rule.min_obs || !(df >= 1))
        return (gcor_tested){(double)n, df, missing, missing, {missing, missing}, 0, 0};
    pair.is_few = n <= GCOR_VERY_FEW && fabs(r) > 1 - 0x1p-20;
    if (test->x->quotient) {
        q = gcor_common_quotient(test->x, i, test->y, j, n);
        other = gcor_common_quotient(test->y, j, test->x, i, n);
    }
    pair.statistic = statistic_of(test, n, df, r, q, other);
    int is_small = test->exact && n <= test->rule.max_exact;
    pair.is_tied = is_small && !(gcor_is_untied((double)n, q) && gcor_is_untied((double)n, other));
    pair.p = is_small && !pair.is_tied ? exact_p(test, n, r) : asymptotic_p(test, n, df, r, pair.statistic);
    if (pair.is_tied) pair.p = at_least_own_order(test, i, j, n, pair.p);
    if (test->rule.has_interval)
        pair.interval = gcor_interval_of(test->rule.measure, test->rule.alternative, test->rule.quantile, df, r,
                                         missing);
    return pair;
}

/* ---- all pairs ----------------------------------------------------------------------------------- */

enum { BLOCK = 512 }; /* pairs that a thread tests at a time */

typedef struct {
    const gcor_test *test;
    int is_triangle, is_plain, is_counted;
    gcor_values r;
    gcor_tested_pairs results;
    int64_t *n_near; /* number of pairs near 1 of each variable of y; NULL: they are not computed again */
} pair_lists;

/* True if both orders of two variables are among the pairs. A pair and its reverse have the same results. */
static int is_symmetric(const pair_lists *lists) {
    return !lists->is_triangle && lists->test->x == lists->test->y;
}

static int64_t first_of(const pair_lists *lists, int64_t j) {
    return lists->is_triangle ? j + 1 : is_symmetric(lists) ? j : 0;
}

/* Index of the pair of variable j and first_of(). */
static int64_t position_of(const pair_lists *lists, int64_t j) {
    int64_t n_x = lists->test->x->n_var;
    return lists->is_triangle ? gcor_row_position(j, j + 1, n_x) : j * n_x + first_of(lists, j);
}

static void write_pair(const gcor_tested_pairs *results, int64_t at, const gcor_tested *pair) {
    if (results->n) results->n[at] = pair->n;
    if (results->df) results->df[at] = pair->df;
    results->statistic[at] = pair->statistic;
    results->p[at] = pair->p;
    if (results->low) results->low[at] = pair->interval.low;
    if (results->high) results->high[at] = pair->interval.high;
}

/* True if p of a pair with n observations follows from its coefficient by a table or the normal distribution, and the
 * pair is not exceptional. */
static int is_usual(const gcor_test *test, int64_t n) {
    const int64_t table = common_df(test) > 0 ? 0 : n - test->low;
    if (n <= GCOR_VERY_FEW || n < test->rule.min_obs) return 0;
    return is_normal(test) || (table >= 0 && table < test->n_tables && df_of(test, 0, 0, n) >= 1);
}

/* True if all usual pairs can be tested by vectors. */
static int has_vectors(const gcor_test *test) {
    const gcor_test_rule *rule = &test->rule;
    if (test->exact || test->x_lags || is_chi_squared(test)) return 0;
    return rule->alternative == GCOR_TWO_SIDED && !rule->is_log && !rule->has_interval;
}

/* Writes Kendall's z of coefficients r of variables i, i + 1, ... of x and variable j of y; NaN stays as it is. Most
 * variables have the same quotient. */
static void kendall_scores(const gcor_test *test, int64_t i, int64_t j, const double *r, int64_t n, double *z) {
    const double *q = test->x->quotient + i, other = test->y->quotient[j], n_obs = (double)test->x->n_obs;
    double of = q[0], deviation = gcor_kendall_deviation(n_obs, of, other);
    for (int64_t k = 0; k < n; k++) {
        if (q[k] != of) {
            of = q[k];
            deviation = gcor_kendall_deviation(n_obs, of, other);
        }
        z[k] = r[k] == r[k] ? r[k] / deviation : r[k];
    }
}

/* Tests n coefficients of usual pairs with n_obs observations by their table. Returns how many are near 1. */
static int64_t test_by_table(const gcor_test *test, int64_t n_obs, const double *r, int64_t n, double *statistic,
                             double *p) {
    const int64_t at = n_obs - test->low;
    double scaled[BLOCK];
    int64_t near = gcor_t_scores(df_of(test, 0, 0, n_obs), gcor_test_max_df(test), r, n, statistic);
    for (int64_t k = 0; test->betas && k < n; k++) scaled[k] = r[k] == r[k] ? r[k] / test->betas[at].scale : r[k];
    gcor_t_table_p(test->tables[common_df(test) > 0 ? 0 : at], test->betas ? scaled : r, n, p);
    return near;
}

/* Tests n pairs of variables i, i + 1, ... of x and j of y; the first one's index is `at`. Returns how many are near
 * 1. */
static int64_t test_plain_pairs(const pair_lists *lists, int64_t i, int64_t j, int64_t at, const double *r, int64_t n) {
    const gcor_test *test = lists->test;
    double *statistic = lists->results.statistic + at, *p = lists->results.p + at;
    if (!is_normal(test)) return test_by_table(test, test->x->n_obs, r, n, statistic, p);
    kendall_scores(test, i, j, r, n, statistic);
    gcor_normal_p(statistic, n, p);
    return 0;
}

/* As test_plain_pairs(); adds to the numbers of tied and few pairs. */
static int64_t test_each_pair(const pair_lists *lists, int64_t i, int64_t j, int64_t at, const double *r, int64_t n,
                              int64_t *tied, int64_t *few) {
    const double max_df = gcor_test_max_df(lists->test);
    int64_t near = 0;
    for (int64_t k = 0; k < n; k++) {
        gcor_tested pair = gcor_test_pair(lists->test, i + k, j, r[k]);
        write_pair(&lists->results, at + k, &pair);
        *tied += pair.is_tied;
        *few += pair.is_few;
        near += gcor_is_near(max_df, r[k]);
    }
    return near;
}

enum { COUNTS = 64 }; /* numbers of observations that are told apart in one pass */

/* The n pairs of variables i, i + 1, ... of x and j of y, ordered by their numbers of observations. */
typedef struct {
    int64_t n_obs[BLOCK], order[BLOCK];
    double r[BLOCK], statistic[BLOCK], p[BLOCK];
} counted_pairs;

static void order_by_count(const gcor_test *test, int64_t i, int64_t j, int64_t n, counted_pairs *pairs) {
    int64_t begin[COUNTS + 1] = {0};
    for (int64_t k = 0; k < n; k++) {
        pairs->n_obs[k] = gcor_common_count(test->x, i + k, test->y, j);
        begin[pairs->n_obs[k] % COUNTS + 1]++;
    }
    for (int64_t k = 0; k < COUNTS; k++) begin[k + 1] += begin[k];
    for (int64_t k = 0; k < n; k++) pairs->order[begin[pairs->n_obs[k] % COUNTS]++] = k;
}

/* As test_each_pair(), but usual pairs by their tables. */
static int64_t test_counted_pairs(const pair_lists *lists, int64_t i, int64_t j, int64_t at, const double *r, int64_t n,
                                  int64_t *tied, int64_t *few) {
    const gcor_test *test = lists->test;
    counted_pairs all;
    int64_t near = 0;
    order_by_count(test, i, j, n, &all);
    for (int64_t from = 0, to; from < n; from = to) {
        const int64_t n_obs = all.n_obs[all.order[from]];
        for (to = from; to < n && all.n_obs[all.order[to]] == n_obs; to++) all.r[to] = r[all.order[to]];
        if (is_usual(test, n_obs)) {
            near += test_by_table(test, n_obs, all.r + from, to - from, all.statistic + from, all.p + from);
            gcor_tested pair = {.n = (double)n_obs, .df = df_of(test, 0, 0, n_obs)};
            for (int64_t k = from; k < to; k++) {
                pair.statistic = all.statistic[k];
                pair.p = all.p[k];
                write_pair(&lists->results, at + all.order[k], &pair);
            }
        } else {
            for (int64_t l = from; l < to; l++) {
                const int64_t k = all.order[l];
                near += test_each_pair(lists, i + k, j, at + k, r + k, 1, tied, few);
            }
        }
    }
    return near;
}

/* Tests variable j of y. */
static void test_line(const pair_lists *lists, int64_t j, int64_t *tied, int64_t *few) {
    const int64_t n_x = lists->test->x->n_var;
    double scratch[BLOCK];
    int64_t near = 0;
    for (int64_t i = first_of(lists, j), at = position_of(lists, j); i < n_x; i += BLOCK, at += BLOCK) {
        int64_t n = gcor_min(BLOCK, n_x - i);
        const double *r = gcor_read_values(&lists->r, at, n, scratch);
        near += lists->is_plain     ? test_plain_pairs(lists, i, j, at, r, n)
                : lists->is_counted ? test_counted_pairs(lists, i, j, at, r, n, tied, few)
                                    : test_each_pair(lists, i, j, at, r, n, tied, few);
    }
    if (lists->n_near) lists->n_near[j] = near;
}

/* Counts the pairs of variable j a second time, except for that with itself. */
static void count_reverse(const pair_lists *lists, int64_t j, int64_t *tied, int64_t *few) {
    double scratch, r = *gcor_read_values(&lists->r, position_of(lists, j), 1, &scratch);
    gcor_tested own = gcor_test_pair(lists->test, j, j, r);
    *tied = 2 * *tied - own.is_tied;
    *few = 2 * *few - own.is_few;
}

typedef struct {
    gcor_context *context;
    const pair_lists *lists;
    int64_t tied, few;
} testing;

static void test_line_number(void *argument, int thread, int64_t j) {
    testing *t = argument;
    int64_t tied = 0, few = 0, n_x = t->lists->test->x->n_var;
    if (gcor_stop(t->context)) return;
    test_line(t->lists, j, &tied, &few);
    if (is_symmetric(t->lists)) count_reverse(t->lists, j, &tied, &few);
    __atomic_fetch_add(&t->tied, tied, __ATOMIC_RELAXED);
    __atomic_fetch_add(&t->few, few, __ATOMIC_RELAXED);
    __atomic_fetch_add(&t->context->monitor->pairs_done, t->lists->is_triangle ? n_x - 1 - j : n_x, __ATOMIC_RELAXED);
}

static gcor_status test_lines(gcor_context *context, gcor_test *test, const pair_lists *lists) {
    int64_t n_x = test->x->n_var, n_y = test->y->n_var;
    testing t = {.context = context, .lists = lists};
    context->monitor->pairs = lists->is_triangle ? gcor_triangular(n_x - 1) : n_x * n_y;
    context->monitor->pairs_done = 0;
    gcor_for_each(context->threads, n_y, test_line_number, &t);
    test->tied = t.tied;
    test->few = t.few;
    return context->error.status;
}

/* ---- pairs near 1 -------------------------------------------------------------------------------- */

double gcor_test_max_df(const gcor_test *test) {
    return test->rule.df.given > 0 ? test->rule.df.given : (double)(test->x->n_obs - taken(test));
}

int gcor_test_recomputes(const gcor_test *test) {
    return !test->rule.in_double && has_df(test) && gcor_has_double(test->rule.measure);
}

/* Lists the pairs near 1 of variable j of y. */
static void list_line(const pair_lists *lists, int64_t j, gcor_pair_value *near) {
    const int64_t n_x = lists->test->x->n_var;
    const double max_df = gcor_test_max_df(lists->test);
    double scratch[BLOCK];
    for (int64_t i = first_of(lists, j), at = position_of(lists, j); i < n_x; i += BLOCK, at += BLOCK) {
        int64_t n = gcor_min(BLOCK, n_x - i);
        const double *r = gcor_read_values(&lists->r, at, n, scratch);
        for (int64_t k = 0; k < n; k++)
            if (gcor_is_near(max_df, r[k])) *near++ = (gcor_pair_value){at + k, i + k, j, r[k]};
    }
}

typedef struct {
    const pair_lists *lists;
    gcor_pair_value *near;
    int64_t n;
} near_pairs;

static void list_near_line(void *argument, int thread, int64_t j) {
    const near_pairs *p = argument;
    const int64_t *before = p->lists->n_near;
    if (before[j] < (j + 1 < p->lists->test->y->n_var ? before[j + 1] : p->n))
        list_line(p->lists, j, p->near + before[j]);
}

static void test_near_block(void *argument, int thread, int64_t from, int64_t end) {
    const near_pairs *p = argument;
    for (const gcor_pair_value *near = p->near + from; near < p->near + end; near++) {
        gcor_tested pair = gcor_test_pair(p->lists->test, near->i, near->j, near->r);
        write_pair(&p->lists->results, near->at, &pair);
    }
}

/* Tests the n pairs near 1 again, with coefficients in double precision. near: n elements; n_near becomes the number of
 * pairs before each variable of y. */
static gcor_status test_near(gcor_context *context, const pair_lists *lists, gcor_pair_value *near, int64_t n) {
    const gcor_test *test = lists->test;
    const int64_t n_y = test->y->n_var;
    for (int64_t j = 0, before = 0, own; j < n_y; j++, before += own) {
        own = lists->n_near[j];
        lists->n_near[j] = before;
    }
    near_pairs all = {lists, near, n};
    gcor_for_each(context->threads, n_y, list_near_line, &all);
    if (gcor_recompute(context, test->rule.measure, &test->x_columns, &test->y_columns, n, near))
        return context->error.status;
    gcor_for_blocks(context->threads, n, BLOCK, test_near_block, &all);
    return GCOR_OK;
}

static gcor_status test_all_near(gcor_context *context, const pair_lists *lists) {
    int64_t n = 0;
    for (int64_t j = 0; j < lists->test->y->n_var; j++) n += lists->n_near[j];
    if (n == 0) return GCOR_OK;
    gcor_pair_value *near = gcor_alloc(context, n, sizeof *near, "pairs near 1");
    gcor_status status = near ? test_near(context, lists, near, n) : GCOR_NO_MEMORY;
    gcor_free(near);
    return status;
}

gcor_status gcor_test_pairs(gcor_context *context, gcor_test *test, int is_triangle, const gcor_values *r,
                            const gcor_tested_pairs *results) {
    const int64_t n_obs = test->x->n_obs;
    pair_lists lists = {.test = test, .is_triangle = is_triangle, .r = *r, .results = *results};
    lists.is_plain = has_vectors(test) && gcor_test_is_single(test) && is_usual(test, n_obs);
    lists.is_counted = has_vectors(test) && !gcor_test_is_single(test) && test->n_tables > 0;
    if (gcor_test_recomputes(test)) {
        lists.n_near = gcor_alloc(context, test->y->n_var, sizeof *lists.n_near, "pairs near 1");
        if (!lists.n_near) return GCOR_NO_MEMORY;
    }
    gcor_status status = test_lines(context, test, &lists);
    if (!status && lists.n_near) status = test_all_near(context, &lists);
    gcor_free(lists.n_near);
    return status;
}
