/* Pairwise-complete biweight midcorrelation, with the bits of measure/bicor.c: order statistics come from the columns'
 * orders, as in cuda/product/pairwise_bicor.cu. */
#include "cpu.h"

#include "../measure/bicor.h"
#include "../measure/coefficient.h"
#include "../measure/design.h"
#include "../measure/measure.h"

/* Elements behind a column's last one: of a whole vector. */
enum { BEHIND = CPU_ALIGNMENT / sizeof(double) };

int cpu_has_biweights(const gcor_measure *measure, const gcor_design *design) {
    return measure->prepare_double == gcor_prepare_bicor_double && !gcor_is_designed(design) &&
           gcor_option_of(measure, design, GCOR_BICOR_FALLBACK) != GCOR_BICOR_ALL_PEARSON;
}

int64_t cpu_bicor_bytes(int64_t n_obs) {
    return (3 * n_obs + 2 * BEHIND) * (int64_t)sizeof(double);
}

/* Gathers values of column i where `other` has one, too, in ascending order. */
static void gather_sorted(const cpu_operand *o, int64_t i, const double *other, double *sorted) {
    const double *x = o->values + i * o->head.n_obs;
    const int32_t *order = o->order + i * o->head.n_obs;
    int64_t n = 0, last = o->n_present[i];
    for (int64_t p = 0; p < last; p++) {
        sorted[n] = x[order[p]];
        n += other[order[p]] == other[order[p]];
    }
}

/* Gathers the values that both columns have, in the order of observations. Returns their number. */
static int64_t gather_pair(const double *x, const double *y, int64_t n_obs, double *own, double *other) {
    int64_t n = 0;
    for (int64_t k = 0; k < n_obs; k++) {
        own[n] = x[k];
        other[n] = y[k];
        n += (x[k] == x[k]) & (y[k] == y[k]);
    }
    for (int64_t k = n; k < n + BEHIND; k++) own[k] = other[k] = 0;
    return n;
}

/* Difference number k, from 0, in ascending order. */
static double difference(const double *sorted, const cpu_biweight *w, int64_t k) {
    return sorted[k] * w->scale - w->median;
}

static double quantile(const double *sorted, int64_t n, const cpu_biweight *w, double fraction) {
    double part;
    int64_t k = gcor_quantile_index(n, fraction, &part);
    double value = difference(sorted, w, k);
    return part > 0 ? value + part * (difference(sorted, w, k + 1) - value) : value;
}

/* Size of the larger of the first and the last one of `count` neighbouring differences. */
static double size_of(const double *sorted, const cpu_biweight *w, int64_t first, int64_t count) {
    return fmax(-difference(sorted, w, first), difference(sorted, w, first + count - 1));
}

/* The size that `count` of n differences do not exceed. They are neighbours; from window to window their lower end
 * comes nearer to 0, and their upper end gets farther. */
static double smallest_size(const double *sorted, int64_t n, const cpu_biweight *w, int64_t count) {
    int64_t low = 0;
    GCOR_SEARCH(low, n - count, k, difference(sorted, w, k + count - 1) >= -difference(sorted, w, k));
    double size = size_of(sorted, w, low, count);
    return low > 0 ? fmin(size, size_of(sorted, w, low - 1, count)) : size;
}

static double median_size(const double *sorted, int64_t n, const cpu_biweight *w) {
    double part;
    int64_t k = gcor_quantile_index(n, 0.5, &part);
    double value = smallest_size(sorted, n, w, k + 1);
    return part > 0 ? value + part * (smallest_size(sorted, n, w, k + 2) - value) : value;
}

/* Sets how n ascending values are weighted. Returns false if some are infinite, or the median absolute deviation is
 * 0. */
static int find_biweight(const double *sorted, int64_t n, double max_outliers, cpu_biweight *w) {
    const double largest = fmax(fabs(sorted[0]), fabs(sorted[n - 1]));
    if (isinf(largest)) return 0;
    *w = (cpu_biweight){.scale = gcor_scale(largest)};
    w->median = quantile(sorted, n, w, 0.5);
    double deviation = median_size(sorted, n, w);
    w->below = gcor_bicor_reach(deviation, -quantile(sorted, n, w, max_outliers));
    w->above = gcor_bicor_reach(deviation, quantile(sorted, n, w, 1 - max_outliers));
    return deviation > 0;
}

int cpu_bicor_pair(const cpu_operand *rows, int64_t i, const cpu_operand *cols, int64_t j, void *work, double *r) {
    const int64_t n_obs = rows->head.n_obs;
    const double *x = rows->values + i * n_obs, *y = cols->values + j * n_obs;
    const double max_outliers = gcor_option_of(rows->measure, rows->design, GCOR_BICOR_MAX_OUTLIERS);
    double *own = work, *other = own + n_obs + BEHIND, *sorted = other + n_obs + BEHIND, sums[3];
    cpu_biweight of_x, of_y;
    const int64_t n = gather_pair(x, y, n_obs, own, other);
    if (n < gcor_min_obs(rows->measure)) return 0;
    gather_sorted(rows, i, y, sorted);
    if (!find_biweight(sorted, n, max_outliers, &of_x)) return 0;
    gather_sorted(cols, j, x, sorted);
    if (!find_biweight(sorted, n, max_outliers, &of_y)) return 0;
    rows->kernels->biweights(own, other, n, &of_x, &of_y, sums);
    *r = gcor_coefficient(sums[2], sums[0], sums[1]);
    return 1;
}
