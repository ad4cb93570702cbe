#include "mutual.h"

#include "../base/elementary.h"

#include <math.h>
#include <string.h>

extern const gcor_option gcor_mutual_options[];

const gcor_option gcor_mutual_options[] = {
    {.name = "bins", .min = GCOR_MIN_BINS, .max = GCOR_MAX_BINS, .is_whole = 1}, /* 0: by the number of observations */
    {.name = NULL},
};

/* ---- bins --------------------------------------------------------------------------------------------- */

/* The cube root of n, rounded: (2 bins + 1)^3 > 8 n means that n is below (bins + 1/2)^3. */
static int default_bins(int64_t n) {
    int64_t bins = GCOR_MIN_BINS;
    while (bins < GCOR_MAX_BINS && (2 * bins + 1) * (2 * bins + 1) * (2 * bins + 1) <= 8 * n) bins++;
    return (int)bins;
}

int gcor_bin_count(const gcor_design *design, int64_t n_obs) {
    double given = design && design->option ? design->option[0] : 0;
    return given > 0 ? (int)given : default_bins(n_obs);
}

/* The average of `begin` and `end` is the average rank of tied values, less 1/2. Bins are thus the same from either end
 * of the order, except for values on a boundary, and a column with two values has two bins or more. */
int gcor_bin_column(const gcor_ranks *ranks, int64_t n, int64_t present, int bins, unsigned char *codes) {
    const int keeps_levels = gcor_count_levels(ranks, present, bins) > 0;
    int found = 0, last = GCOR_NO_BIN;
    memset(codes, GCOR_NO_BIN, (size_t)n);
    for (int64_t at = 0, end; at < present; at = end) {
        end = ranks->end[ranks->order[at]];
        int bin = keeps_levels ? found : (int)(bins * (at + end) / (2 * present));
        found += bin != last;
        last = bin;
        for (int64_t k = at; k < end; k++) codes[ranks->order[k]] = (unsigned char)bin;
    }
    return found;
}

double gcor_prepare_bins(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int *flags,
                         const gcor_ranks *ranks, unsigned char *codes) {
    int64_t tied, present = gcor_rank(x, n, ranks, &tied);
    return gcor_bin_column(ranks, n, present, gcor_bin_count(design, n), codes) > 1;
}

/* ---- information ---------------------------------------------------------------------------------------- */

enum { TERM_BITS = 61 };

double gcor_mutual_terms(int64_t n, int64_t *terms) {
    int exponent = TERM_BITS;
    (void)frexp((double)n * gcor_log((double)n), &exponent);
    const double scale = n > 1 ? ldexp(1, TERM_BITS - exponent) : 1;
    terms[0] = 0;
    for (int64_t c = 1; c <= n; c++) terms[c] = (int64_t)((double)c * gcor_log((double)c) * scale + 0.5);
    return 1 / scale;
}
