#include "combine.h"

#include "group_tests.h"

#include <math.h>

#define NO_VALUE GCOR_SUM_NO_VALUE
#define ZERO_SD GCOR_SUM_ZERO_SD

/* Adds values one by one, as some pairs have no coefficient. */
static void add_any(const gcor_combine *c, double *sum, double *taken, const double *value, double w, int64_t n) {
    const gcor_combination *rule = c->rule;
    for (int64_t k = 0; k < n; k++) {
        double v = value[k], none = v == GCOR_ZERO_SD ? ZERO_SD : NO_VALUE;
        if (v <= 1 && taken) taken[k] += w;
        if (v <= 1 && rule->how == GCOR_MIN)
            c->loops->add_min(sum + k, &v, 1);
        else if (v <= 1)
            (rule->how == GCOR_FISHER ? c->loops->add_fisher : c->loops->add_mean)(sum + k, &v, w, 1);
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
    switch (c->rule->how) {
    case GCOR_FISHER: c->loops->add_fisher(sum, value, w, n); break;
    case GCOR_MIN: c->loops->add_min(sum, value, n); break;
    default: c->loops->add_mean(sum, value, w, n);
    }
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
        else if (rule->how == GCOR_FISHER)
            c->loops->end_fisher(sum + k, 1);
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
    else if (c->rule->how == GCOR_FISHER)
        c->loops->end_fisher(sum, n);
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
        gcor_group_coefficients(&groups, &tests, some, r);
        for (int64_t k = 0; k < some; k++) {
            double none = r[k] == r[k] ? 0 : gcor_reason_for_none(values + from + k, stride, rule->n);
            values[from + k] = r[k] == r[k] ? r[k] : none == 0 ? GCOR_NO_VALUE : none;
        }
    }
}

int64_t gcor_combine_scratch(const gcor_combination *rule) {
    const gcor_groups groups = gcor_groups_of(rule);
    return rule->how == GCOR_T ? gcor_group_scratch(&groups) : rule->n;
}
