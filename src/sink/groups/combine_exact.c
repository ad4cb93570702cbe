/* Adds up the values of a pair, or combines those that need every subject's coefficient at once. */
#include "combine.h"

#include "../../base/elementary.h"
#include "../../measure/bicor.h"

#include <math.h>

/* ---- sums --------------------------------------------------------------------------------------- */

#define NO_VALUE GCOR_SUM_NO_VALUE
#define ZERO_SD GCOR_SUM_ZERO_SD

/* Adds n coefficients with weight w to their sums. */
static void add(const gcor_combine *c, double *sum, const double *value, double w, int64_t n) {
    switch (c->rule->how) {
    case GCOR_FISHER: c->loops->add_fisher(sum, value, w, n); break;
    case GCOR_MIN: c->loops->add_min(sum, value, n); break;
    case GCOR_SQUARES:
    case GCOR_SIZE:
        for (int64_t k = 0; k < n; k++) sum[k] += w * (value[k] * value[k]);
        break;
    default: c->loops->add_mean(sum, value, w, n);
    }
}

/* Turns n sums, divided by the total, into coefficients. */
static void end(const gcor_combine *c, double *sum, int64_t n) {
    const gcor_combining how = c->rule->how;
    if (how == GCOR_FISHER) c->loops->end_fisher(sum, n);
    for (int64_t k = 0; (how == GCOR_SQUARES || how == GCOR_SIZE) && k < n; k++) {
        double square = sum[k] > 1 ? 1 : sum[k]; /* NaN stays */
        sum[k] = how == GCOR_SIZE ? sqrt(square) : square;
    }
}

/* Adds values one by one, as some pairs have no coefficient. */
static void add_any(const gcor_combine *c, double *sum, double *taken, const double *value, double w, int64_t n) {
    const gcor_combination *rule = c->rule;
    for (int64_t k = 0; k < n; k++) {
        double v = value[k], none = v == GCOR_ZERO_SD ? ZERO_SD : NO_VALUE;
        if (v <= 1 && taken) taken[k] += w;
        if (v <= 1)
            add(c, sum + k, &v, w, 1);
        else if (taken)
            continue;
        else if (v != v)
            sum[k] = NAN;
        else if (rule->how == GCOR_MIN)
            sum[k] = sum[k] > -none ? -none : sum[k];
        else
            sum[k] += none;
    }
}

void gcor_sums_add(const gcor_combine *c, double *sum, double *taken, const double *value, double w, int64_t n) {
    if (!c->loops->are_coefficients(value, n)) {
        add_any(c, sum, taken, value, w, n);
        return;
    }
    for (int64_t k = 0; taken && k < n; k++) taken[k] += w;
    add(c, sum, value, w, n);
}

void gcor_sums_clear(const gcor_combination *rule, double *sum, double *taken, int64_t n) {
    const double start = rule->how == GCOR_MIN ? INFINITY : 0;
    for (int64_t k = 0; k < n; k++) sum[k] = start;
    for (int64_t k = 0; taken && k < n; k++) taken[k] = 0;
}

/* As gcor_sums_end(), with pairs that have no coefficient: in a subject or, if subjects are left out, in any subject.
 * */
static void end_any(const gcor_combine *c, double *sum, const double *taken, int64_t n) {
    const gcor_combination *rule = c->rule;
    const double scale = rule->how == GCOR_MIN || taken ? 1 : fabs(rule->total);
    for (int64_t k = 0; k < n; k++) {
        double size = fabs(sum[k]) * scale;
        if (taken && taken[k] == 0)
            sum[k] = GCOR_NO_VALUE;
        else if (size > NO_VALUE / 2)
            sum[k] = size > ZERO_SD / 2 ? GCOR_ZERO_SD : GCOR_NO_VALUE;
        else
            end(c, sum + k, 1);
    }
}

void gcor_sums_end(const gcor_combine *c, double *sum, const double *taken, int64_t n) {
    int others = 0;
    if (c->rule->how != GCOR_MIN && !taken) c->loops->divide(sum, c->rule->total, n);
    if (c->rule->how != GCOR_MIN && taken)
        for (int64_t k = 0; k < n; k++) sum[k] /= taken[k];
    for (int64_t k = 0; k < n; k++) others |= !(fabs(sum[k]) < 1e9);
    if (others)
        end_any(c, sum, taken, n);
    else
        end(c, sum, n);
}

/* ---- Student's t ------------------------------------------------------------------------------------------ */

gcor_groups gcor_groups_of(const gcor_combination *rule) {
    return (gcor_groups){rule->n, rule->n_first, rule->skips, rule->model};
}

void gcor_t_end(const gcor_combine *c, double *values, int64_t stride, int64_t n, double *scratch) {
    const gcor_combination *rule = c->rule;
    const gcor_groups groups = gcor_groups_of(rule);
    gcor_group_tests tests;
    double r[GCOR_GROUP_BLOCK];
    for (int64_t from = 0; from < n; from += GCOR_GROUP_BLOCK) {
        int64_t some = gcor_min(GCOR_GROUP_BLOCK, n - from);
        gcor_test_groups(&groups, c->loops, values + from, stride, some, scratch, &tests);
        if (rule->how == GCOR_T) gcor_group_coefficients(&groups, &tests, some, r);
        for (int64_t k = 0; rule->how == GCOR_DIFFERENCE && k < some; k++) r[k] = gcor_tanh(tests.difference[k]);
        for (int64_t k = 0; k < some; k++) {
            double none = r[k] == r[k] ? 0 : gcor_reason_for_none(values + from + k, stride, rule->n);
            values[from + k] = r[k] == r[k] ? r[k] : none == 0 ? GCOR_NO_VALUE : none;
        }
    }
}

int64_t gcor_combine_scratch(const gcor_combination *rule) {
    const gcor_groups groups = gcor_groups_of(rule);
    return gcor_combines_by_tests(rule) ? gcor_group_scratch(&groups) : rule->n;
}

double gcor_reason_for_none(const double *value, int64_t stride, int64_t subjects) {
    double none = 0;
    for (int64_t s = 0; s < subjects; s++) {
        double v = value[s * stride];
        if (!(v <= 1)) none = v != v || none != none ? NAN : v > none ? v : none;
    }
    return none;
}

/* ---- quantiles ------------------------------------------------------------------------------------------- */

/* R's default, type 7 of quantile(). */
static double quantile(const gcor_combination *rule, double *x, int64_t n) {
    double at = (double)(n - 1) * rule->level;
    int64_t below = (int64_t)floor(at + 4 * 0x1p-52);
    double value = gcor_kth_smallest(x, n, below), rest = at - (double)below;
    if (below + 1 >= n || !(rest > 4 * 0x1p-52)) return value;
    double next = x[below + 1];
    for (int64_t k = below + 2; k < n; k++) next = x[k] < next ? x[k] : next;
    return value + rest * (next - value);
}

/* ---- moments --------------------------------------------------------------------------------------------- */

static double mean_of(const double *x, int64_t n) {
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += x[k];
    return sum / (double)n;
}

/* Returns the sum of squared deviations from the mean; 0 if these are rounding errors, as of equal values. */
static double squares_about(const double *x, int64_t n, double mean) {
    const double rounding = 1e-28;
    double sum = 0;
    for (int64_t k = 0; k < n; k++) sum += (x[k] - mean) * (x[k] - mean);
    return sum > rounding * (double)n * mean * mean ? sum : 0;
}

static double deviation(const gcor_combination *rule, double *x, int64_t n) {
    if (n < 2) return GCOR_NO_VALUE;
    return sqrt(squares_about(x, n, mean_of(x, n)) / (double)(n - 1)) / GCOR_SD_UNIT;
}

static void to_z(double *x, int64_t n) {
    for (int64_t k = 0; k < n; k++) x[k] = gcor_artanh(x[k]);
}

static double statistic(const gcor_combination *rule, double *x, int64_t n) {
    to_z(x, n);
    double mean = mean_of(x, n), squares = squares_about(x, n, mean);
    if (n < 2 || !(squares > 0)) return GCOR_NO_VALUE;
    return mean / sqrt(squares / (double)(n * (n - 1))) / GCOR_STATISTIC_UNIT;
}

/* Every subject has a coefficient. */
static double spread(const gcor_combination *rule, double *x, int64_t n) {
    double sum = 0, all = 0, squares = 0;
    to_z(x, n);
    for (int64_t s = 0; s < n; s++) {
        sum += rule->subjects[s].weight * x[s];
        all += rule->subjects[s].weight;
    }
    for (int64_t s = 0; s < n; s++) squares += rule->subjects[s].weight * (x[s] - sum / all) * (x[s] - sum / all);
    return gcor_tanh(sqrt(squares / all));
}

static double above(const gcor_combination *rule, double *x, int64_t n) {
    int64_t found = 0;
    for (int64_t k = 0; k < n; k++) found += x[k] > rule->level;
    return n > 0 ? (double)found / (double)n : GCOR_NO_VALUE;
}

/* ---- intraclass correlations ----------------------------------------------------------------------------- */

/* The mean squares of subjects, sessions and residuals. */
typedef struct {
    double subjects, sessions, rest;
} mean_squares;

static mean_squares analyze(const double *z, int64_t subjects, int64_t sessions) {
    const double n = (double)subjects, k = (double)sessions, mean = mean_of(z, subjects * sessions);
    const double all = squares_about(z, subjects * sessions, mean);
    double of_subjects = 0, of_sessions = 0;
    if (!(all > 0)) return (mean_squares){0, 0, 0};
    for (int64_t s = 0; s < subjects; s++) {
        double own = mean_of(z + s * sessions, sessions) - mean;
        of_subjects += k * own * own;
    }
    for (int64_t j = 0; j < sessions; j++) {
        double own = 0;
        for (int64_t s = 0; s < subjects; s++) own += z[s * sessions + j] - mean;
        of_sessions += own * own / n;
    }
    double rest = all - of_subjects - of_sessions;
    return (mean_squares){of_subjects / (n - 1), of_sessions / (k - 1), (rest > 0 ? rest : 0) / ((n - 1) * (k - 1))};
}

/* ICC(2,1) of Shrout and Fleiss (1979), absolute agreement, or ICC(3,1), consistency. A small sample can have values
 * below -1. */
static double icc(const gcor_combination *rule, double *x, int64_t n) {
    const int64_t sessions = rule->sessions, subjects = n / sessions;
    to_z(x, n);
    const mean_squares of = analyze(x, subjects, sessions);
    double whole = of.subjects + (double)(sessions - 1) * of.rest;
    if (rule->how == GCOR_ICC2) whole += (double)sessions * (of.sessions - of.rest) / (double)subjects;
    double value = (of.subjects - of.rest) / whole;
    return value != value ? GCOR_NO_VALUE : value < -1 ? -1 : value;
}

/* ---- any of these ---------------------------------------------------------------------------------------- */

/* Returns the value of n coefficients, one for each subject; may change them. */
typedef double (*combining)(const gcor_combination *rule, double *x, int64_t n);

static const combining VALUE[] = {
    [GCOR_QUANTILE] = quantile, [GCOR_SD] = deviation, [GCOR_STATISTIC] = statistic, [GCOR_FRACTION] = above,
    [GCOR_ICC2] = icc,          [GCOR_ICC3] = icc,     [GCOR_SPREAD] = spread};

double gcor_combined_unit(const gcor_combination *rule) {
    switch (rule->how) {
    case GCOR_SD: return GCOR_SD_UNIT;
    case GCOR_STATISTIC: return GCOR_STATISTIC_UNIT;
    default: return 1;
    }
}

double gcor_combined_diagonal(const gcor_combination *rule) {
    switch (rule->how) {
    case GCOR_SD: return 0;
    case GCOR_FRACTION: return rule->level < 1;
    case GCOR_STATISTIC:
    case GCOR_ICC2:
    case GCOR_ICC3: return GCOR_NO_VALUE;
    default: return 1;
    }
}

void gcor_each_end(const gcor_combination *rule, double *values, int64_t stride, int64_t n, double *scratch) {
    for (int64_t k = 0; k < n; k++) {
        double none = rule->skips ? 0 : gcor_reason_for_none(values + k, stride, rule->n);
        int64_t found = 0;
        for (int64_t s = 0; s < rule->n; s++)
            if (values[s * stride + k] <= 1) scratch[found++] = values[s * stride + k];
        if (none != 0) /* NaN, too */
            values[k] = none;
        else
            values[k] = found > 0 ? VALUE[rule->how](rule, scratch, found) : GCOR_NO_VALUE;
    }
}
