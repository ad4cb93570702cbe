/* How many pairs have which coefficient. */
#ifndef GPUCOR_HISTOGRAM_H
#define GPUCOR_HISTOGRAM_H

#include "weight.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Coefficients in bins of equal width over [-1, 1]: bin b holds r with b <= (r + 1) BINS / 2 < b + 1,
 * the last one 1, too. A tenth of a permille wide: fine enough to find a quantile's neighbourhood,
 * few enough for a GPU's shared memory. */
enum { GCOR_BINS = 10000 };

GCOR_INLINE int gcor_bin(double r) {
    int bin = (int)((r + 1) * (GCOR_BINS / 2));
    return bin < 0 ? 0 : bin < GCOR_BINS ? bin : GCOR_BINS - 1;
}

/* Bins for each of some threads, cleared. gcor_bins_sum() adds all to the first ones. */
typedef struct {
    int64_t *counts; /* threads x GCOR_BINS, owned */
    int threads;
} gcor_bins;
gcor_status gcor_bins_new(gcor_context *context, gcor_bins *bins);
void gcor_bins_free(gcor_bins *bins);
void gcor_bins_sum(gcor_bins *bins);
/* Add GCOR_BINS counts to the first ones. */
void gcor_bins_add(gcor_bins *bins, const int64_t *counts);
/* Count those of n values that are at most `most`. Any thread, with its own number. */
void gcor_bins_count(gcor_bins *bins, int thread, const double *values, int64_t n, double max);
/* As a sink's save() and load(); there are at most so many pairs. */
gcor_status gcor_bins_save(gcor_bins *bins, gcor_context *context, FILE *file);
gcor_status gcor_bins_load(gcor_bins *bins, gcor_context *context, int64_t max, FILE *file);

typedef struct {
    gcor_sink sink; /* first */
    gcor_bins bins;
    double error; /* what was counted may be off by as much */
} gcor_histogram;

extern const gcor_sink_type gcor_histogram_type;

/* approximate: cheap values will do, with an error. *histogram is the caller's, to end with gcor_sink_free();
 * NULL after an error. */
gcor_status gcor_histogram_new(gcor_context *context, gcor_shape shape, int64_t n_row, int64_t n_col, int approximate,
                               gcor_histogram **histogram);

#ifdef __cplusplus
}
#endif
#endif
