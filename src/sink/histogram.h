/* Histograms of coefficients. */
#pragma once

#include "weight.h"

GCOR_BEGIN_C

/* Bins of equal width over [-1, 1]: bin b holds r with b <= (r + 1) BINS / 2 < b + 1; the last bin also holds 1.
 * They are fine enough to locate a quantile, and few enough for a GPU's shared memory. */
enum { GCOR_BINS = 10000 };

GCOR_INLINE int gcor_bin(double r) {
    int bin = (int)((r + 1) * (GCOR_BINS / 2));
    return bin < 0 ? 0 : bin < GCOR_BINS ? bin : GCOR_BINS - 1;
}

/* A set of bins for each thread, cleared by gcor_bins_new(). gcor_bins_sum() adds all sets to the first one and
 * clears the others. */
typedef struct {
    int64_t *counts; /* threads x GCOR_BINS, owned */
    int threads;
} gcor_bins;
gcor_status gcor_bins_new(gcor_context *context, gcor_bins *bins);
void gcor_bins_free(gcor_bins *bins);
void gcor_bins_sum(gcor_bins *bins);
/* Adds GCOR_BINS counts to the first set. */
void gcor_bins_add(gcor_bins *bins, const int64_t *counts);
/* Adds the counts of all sets of `from`, which are cleared, to the first set. */
void gcor_bins_move(gcor_bins *bins, gcor_bins *from);
/* Counts the values that are at most `max`. Any thread, with its own index. */
void gcor_bins_count(gcor_bins *bins, int thread, const double *values, int64_t n, double max);
/* For a sink's save() and load(). max: the max number of pairs, to detect damaged files. */
gcor_status gcor_bins_save(gcor_bins *bins, gcor_context *context, FILE *file);
gcor_status gcor_bins_load(gcor_bins *bins, gcor_context *context, int64_t max, FILE *file);

typedef struct {
    gcor_sink sink; /* must be first; `of`, which accepts approximate values if this sink does, takes the same ones */
    gcor_bins bins;
    int exact;    /* the counts are those of exact values */
    double error; /* max error of the counted values */
    double min;   /* coefficients of smaller size may count as 0, or not at all, which takes less time */
} gcor_histogram;

/* exact: otherwise it counts approximate values, with an error. *histogram is the caller's, to free with
 * gcor_sink_free(); NULL after an error. */
gcor_status gcor_histogram_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, int exact,
                               gcor_histogram **histogram);

GCOR_END_C
