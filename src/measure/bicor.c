/* Biweight midcorrelation (Wilcox 2005, section 9.3.8): differences from the median, with weights that decrease with
 * distance and are zero from nine median absolute deviations on. The options are those of WGCNA::bicor(). */
#include "bicor.h"

#include "pearson.h"

#include <string.h>

/* `quick` is accepted and ignored: pairs are always exact. */
static const char *const fallbacks[] = {"none", "individual", "all", NULL};
const gcor_option gcor_bicor_options[] = {
    [GCOR_BICOR_MAX_OUTLIERS] = {.name = "maxPOutliers", .value = 1, .max = 1},
    [GCOR_BICOR_QUICK] = {.name = "quick", .max = 1},
    [GCOR_BICOR_FALLBACK] = {.name = "pearsonFallback", .value = GCOR_BICOR_INDIVIDUAL, .max = 2, .choices = fallbacks},
    {.name = NULL},
};

/* ---- order statistics ----------------------------------------------------------------------------------- */

static void swap(double *a, double *b) {
    double value = *a;
    *a = *b;
    *b = value;
}

static double median_of_three(double a, double b, double c) {
    double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

double gcor_kth_smallest(double *x, int64_t n, int64_t k) {
    int64_t low = 0, high = n - 1;
    while (low < high) {
        double pivot = median_of_three(x[low], x[low + (high - low) / 2], x[high]);
        int64_t i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot) i++;
            while (x[j] > pivot) j--;
            if (i <= j) swap(x + i++, x + j--);
        }
        if (k <= j)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return x[k];
}

/* At 1/2 the mean of both middle values. Reorders x. */
static double quantile(double *x, int64_t n, double fraction) {
    double part;
    int64_t k = gcor_quantile_index(n, fraction, &part);
    double value = gcor_kth_smallest(x, n, k), next = value;
    if (!(part > 0)) return value;
    next = x[k + 1];
    for (int64_t q = k + 2; q < n; q++)
        if (x[q] < next) next = x[q];
    return value + part * (next - value);
}

static double quantile_of(const double *x, int64_t n, double fraction, double *scratch) {
    memcpy(scratch, x, (size_t)n * sizeof *x);
    return quantile(scratch, n, fraction);
}

/* ---- a column ------------------------------------------------------------------------------------------------- */

/* Replaces values by scaled differences from their median; the scale keeps squares in range. Returns the median
 * absolute deviation. */
static double deviate(double *x, int64_t n, double *scratch) {
    double scale = gcor_scale_of(x, n);
    for (int64_t k = 0; k < n; k++) x[k] *= scale;
    double median = quantile_of(x, n, 0.5, scratch);
    for (int64_t k = 0; k < n; k++) scratch[k] = fabs(x[k] -= median);
    return quantile(scratch, n, 0.5);
}

/* Applies the biweight to differences, given their median absolute deviation. Returns the sum of squares. */
static double weigh(double *x, int64_t n, double deviation, double max_outliers, double *scratch) {
    const double below = gcor_bicor_reach(deviation, -quantile_of(x, n, max_outliers, scratch));
    const double above = gcor_bicor_reach(deviation, quantile_of(x, n, 1 - max_outliers, scratch));
    double squares = 0;
    for (int64_t k = 0; k < n; k++) {
        x[k] = gcor_bicor_weighted(x[k], below, above);
        squares += x[k] * x[k];
    }
    return squares;
}

static double transform(double *x, int64_t n, gcor_preparing *with) {
    int fallback = (int)with->option[GCOR_BICOR_FALLBACK];
    double deviation = deviate(x, n, with->scratch);
    if (deviation > 0 && fallback != GCOR_BICOR_ALL_PEARSON)
        return weigh(x, n, deviation, with->option[GCOR_BICOR_MAX_OUTLIERS], with->scratch);
    if (fallback == GCOR_BICOR_NO_FALLBACK) return 0;
    double squares = gcor_centre(x, n);
    with->fell_back = squares > 0;
    return squares;
}

double gcor_prepare_bicor(double *x, int64_t n, gcor_preparing *with, float *out) {
    return gcor_unit(x, transform(x, n, with), n, out);
}

double gcor_prepare_bicor_double(double *x, int64_t n, gcor_preparing *with, double *out) {
    return gcor_double_unit(x, transform(x, n, with), n, out);
}
