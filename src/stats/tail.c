#include "tail.h"

#include "../base/alloc.h"
#include "../base/elementary.h"
#include "../base/isa.h"
#include "../base/threads.h"
#include "../measure/measure.h"

#include <math.h>

#define PI 3.14159265358979323846
#define LOG_2 0.69314718055994530942

/* ---- Student's t ------------------------------------------------------------------------------ */

/* With x = 1 - r^2 and a = df / 2, the two-sided p is the incomplete beta function I_x(a, 1/2). It equals x^a times
 * a quotient that decreases smoothly from 1, at r = 0, to about 1 / sqrt(pi a). The power carries the magnitude; the
 * quotient can be tabulated. */

/* log(1 - r^2), without cancellation for small and for large r. */
static double log_x(double r) {
    return r * r < 0.5 ? gcor_log1p(-r * r) : gcor_log((1 - r) * (1 + r));
}

/* gamma(a + 1/2) / gamma(a + 1): an asymptotic series for large a, reached by gamma's recursion. */
static double gamma_ratio(double a) {
    double steps = 1;
    for (; a < 64; a++) steps *= (a + 1) / (a + 0.5);
    double u = 1 / a;
    double series = 1 + u * (-1.0 / 8 +
                             u * (1.0 / 128 +
                                  u * (5.0 / 1024 +
                                       u * (-21.0 / 32768 + u * (-399.0 / 262144 +
                                                                 u * (869.0 / 4194304 + u * (39325.0 / 33554432)))))));
    return steps * series * sqrt(u);
}

/* For r near 0: computed from the complement 1 - p, a series of positive terms. ratio: gamma_ratio(a). */
static double quotient_by_series(double a, double ratio, double r) {
    double square = r * r, term = 1, sum = 1;
    for (int k = 0; term > sum * 0x1p-55; k++) {
        term *= (a + 0.5 + k) / (1.5 + k) * square;
        sum += term;
    }
    return gcor_exp(-a * log_x(r)) - 2 * a * ratio / sqrt(PI) * r * sum;
}

/* For other r: a continued fraction of I_x(a, b), b = 1/2 (DiDonato and Morris 1992), by Lentz's method; written in
 * r^2 where x would cancel. */
static double quotient_by_fraction(double a, double ratio, double r) {
    const double y = r * r, x = (1 - r) * (1 + r), more = (a + 0.5) * y + 0.5; /* 1 + a - (a + b) x */
    double fraction = a / (a + 1) * more, c = fraction, d = 0, change = 0;
    for (double n = 1; fabs(change - 1) > 0x1p-53; n++) {
        double w = n * (0.5 - n) * x, s = a + 2 * n - 1;
        double alpha = (a + n - 1) / s * ((a + n - 0.5) / s) * w * x;
        double beta = n + w / s + (a + n) / (s + 2) * (more + n * (1 + y));
        d = 1 / (beta + alpha * d);
        c = beta + alpha / c;
        change = c * d;
        fraction *= change;
    }
    return a * ratio / sqrt(PI) * r / fraction;
}

/* r >= 0 */
static double quotient(double a, double ratio, double r) {
    return r * r * (a + 1) < 1 ? quotient_by_series(a, ratio, r) : quotient_by_fraction(a, ratio, r);
}

gcor_tail gcor_t_tail(double df, double r) {
    double a = df / 2, size = fabs(r);
    return (gcor_tail){a * log_x(size), quotient(a, gamma_ratio(a), size)};
}

/* ---- a table of the quotient ---------------------------------------------------------------------- */

enum { INTERVALS = GCOR_T_INTERVALS, TERMS = GCOR_T_TERMS };

/* Computes the polynomial through the values at the nodes: divided differences, then coefficients of powers. */
static void interpolate(const double *node, const double *value, double *coefficient) {
    double difference[TERMS];
    for (int k = 0; k < TERMS; k++) difference[k] = value[k], coefficient[k] = 0;
    for (int order = 1; order < TERMS; order++)
        for (int k = TERMS - 1; k >= order; k--)
            difference[k] = (difference[k] - difference[k - 1]) / (node[k] - node[k - order]);
    for (int k = TERMS - 1; k >= 0; k--) { /* multiply by (u - node) and add the difference */
        for (int p = TERMS - 1; p > 0; p--) coefficient[p] = coefficient[p - 1] - node[k] * coefficient[p];
        coefficient[0] = difference[k] - node[k] * coefficient[0];
    }
}

/* Chebyshev nodes: cos(pi (k + 1/2) / TERMS). */
static const double NODES[TERMS] = {
    0.984807753012208,   0.8660254037844387,  0.6427876096865394,  0.3420201433256688, 0,
    -0.3420201433256688, -0.6427876096865394, -0.8660254037844387, -0.984807753012208};

typedef struct {
    gcor_t_table *table;
    double ratio;
} intervals;

static void fill_interval(void *argument, int thread, int64_t interval) {
    const intervals *all = argument;
    gcor_t_table *table = all->table;
    double value[TERMS];
    for (int k = 0; k < TERMS; k++) {
        double y = table->low + ((double)interval + (NODES[k] + 1) / 2) / table->per_y;
        double r = (1 / y - 1) / table->scale;
        value[k] = quotient(table->half_df, all->ratio, r < 0 ? 0 : r > 1 ? 1 : r);
    }
    interpolate(NODES, value, table->coefficient[interval]);
}

gcor_t_table *gcor_t_table_new(gcor_context *context, double df) {
    gcor_t_table *table = gcor_alloc(context, 1, sizeof *table, "a table of p values");
    if (!table) return NULL;
    table->half_df = df / 2;
    table->scale = sqrt(table->half_df) / 3;
    table->low = 1 / (1 + table->scale);
    table->per_y = INTERVALS / (1 - table->low);
    intervals all = {table, gamma_ratio(table->half_df)};
    gcor_for_each(context->threads, INTERVALS, fill_interval, &all);
    return table;
}

gcor_tail gcor_t_table_tail(const gcor_t_table *table, double r) {
    double size = fabs(r), at = (1 / (1 + size * table->scale) - table->low) * table->per_y;
    return (gcor_tail){table->half_df * log_x(size), gcor_t_quotient(table, at)};
}

/* ---- the normal distribution --------------------------------------------------------------------- */

gcor_tail gcor_normal_tail(double z) {
    const double root = 0.70710678118654752440, rest = -4.8336466567264566e-17; /* their sum is sqrt(1/2) */
    double size = fabs(z);
    if (size < GCOR_FAR_NORMAL) {
        double w = size * root, lost = gcor_fma(size, root, -w) +
                                       size * rest; /* rounding error of the argument, which erfc() magnifies */
        return (gcor_tail){0, gcor_erfc(w) * (1 - 2 * w * lost)};
    }
    double u = 1 / (size * size), sum = 1;
    for (int k = 6; k > 0; k--) sum = 1 - (2 * k - 1) * u * sum;
    return (gcor_tail){-size * size / 2, sqrt(2 / PI) / size * sum};
}

/* The variable is the square of a standard normal one. */
gcor_tail gcor_chi_squared_tail(double x) {
    return gcor_normal_tail(x > 0 ? sqrt(x) : 0);
}

/* ---- p -------------------------------------------------------------------------------------- */

double gcor_tail_log(gcor_tail tail) {
    double p = tail.exponent + gcor_log(tail.factor);
    return p > 0 ? 0 : p; /* positive only by rounding */
}

static double two_sided(gcor_tail tail) {
    double p = tail.factor * gcor_exp(tail.exponent);
    return p > 1 ? 1 : p;
}

double gcor_tail_p(gcor_tail tail, double statistic, gcor_alternative alternative, int is_log) {
    if (alternative == GCOR_TWO_SIDED) return is_log ? gcor_tail_log(tail) : two_sided(tail);
    if (alternative == GCOR_LESS ? statistic <= 0 : statistic >= 0)
        return is_log ? gcor_tail_log(tail) - LOG_2 : two_sided(tail) / 2;
    double other = two_sided(tail) / 2;
    return is_log ? gcor_log1p(-other) : 1 - other;
}

/* ---- many statistics ------------------------------------------------------------------------------ */

double gcor_one_p(const gcor_t_table *table, double x) {
    if (x != x) return x;
    return two_sided(table ? gcor_t_table_tail(table, x) : gcor_normal_tail(x));
}

/* Vectors take coefficients for which 1 - r^2 is above this power of 1 / half_df, so that no exponent underflows. */
static const double MIN_EXPONENT = -739;

void gcor_t_table_p(const gcor_t_table *table, const double *r, int64_t n, double *p) {
    const double limit = sqrt(1 - gcor_exp(MIN_EXPONENT / table->half_df));
    gcor_best_loops()->tail->all_p(table, r, n, limit, p);
}

void gcor_normal_p(const double *z, int64_t n, double *p) {
    gcor_best_loops()->tail->all_p(NULL, z, n, GCOR_FAR_NORMAL, p);
}

int64_t gcor_t_scores(double df, double max_df, const double *r, int64_t n, double *t) {
    return gcor_best_loops()->tail->all_t(df, max_df, r, n, t);
}

/* ---- confidence intervals ----------------------------------------------------------------------- */

/* Infinite for r of 1 or -1. gcor_artanh() would replace coefficients near 1 by the next ones in single precision. */
static double unlimited_z(double r) {
    double size = fabs(r), z = size < 1 ? 0.5 * (gcor_log1p(size) - gcor_log1p(-size)) : INFINITY;
    return r < 0 ? -z : z;
}

/* Kendall: Fieller, Hartley and Pearson (1957), times a factor for strong coefficients of few observations, by
 * simulation. Spearman: Bonett and Wright (2000). Otherwise: Fisher (1921). Not positive, or infinite, if df is too
 * small. */
static double variance_of_z(const gcor_measure *measure, double df, double r) {
    if (measure->distribution == GCOR_NORMAL_WITH_TIES) return 0.437 * (1 + 8 * r * r / df) / (df - 4);
    return (measure->ranked ? 1 + r * r / 2 : 1) / (df - 1);
}

enum { MIN_RANKS = 10 };

gcor_interval gcor_interval_of(const gcor_measure *measure, gcor_alternative alternative, double quantile, double df,
                               double r, double missing) {
    const int is_kendall = measure->distribution == GCOR_NORMAL_WITH_TIES, is_ranked = is_kendall || measure->ranked;
    const double n = is_kendall ? df : df + 2;
    /* The largest coefficient of ranks that are not all in the same order: beyond it the true one may still be less. */
    const double limit = is_ranked ? 1 - (is_kendall ? 4 / (n * (n - 1)) : 12 / (n * (n * n - 1))) : 1;
    const double within = fmax(-limit, fmin(limit, r)), z = unlimited_z(within);
    const double variance = variance_of_z(measure, df, within), width = quantile * sqrt(variance);
    if (!(variance > 0 && variance < INFINITY) || (is_ranked && n < MIN_RANKS))
        return (gcor_interval){missing, missing};
    return (gcor_interval){alternative == GCOR_LESS || r <= -1 ? -1 : gcor_tanh(z - width),
                           alternative == GCOR_GREATER || r >= 1 ? 1 : gcor_tanh(z + width)};
}
