/* Summarizes many values: number of missing ones, mean, quantiles and strongest. */
#ifndef GPUCOR_SUMMARY_H
#define GPUCOR_SUMMARY_H

#include "strongest.h"

typedef struct {
    int64_t missing;        /* number of NaN; all else is computed from the other values */
    double mean;            /* from exact sums; NaN if there are no values */
    gcor_strong *strongest; /* n_strongest, strongest first; the caller frees it with gcor_free() */
    int64_t n_strongest;
} gcor_summary;

/* Summarizes n values, read in place. fractions: probabilities from 0 to 1; quantile[q] is as by stats::quantile()'s
 * default, exactly; NaN if there are no values. max: max number of strongest values. Uses context->threads threads,
 * which do not affect the result; can be interrupted. After an error there is nothing to free. */
gcor_status gcor_summarise(gcor_context *context, const gcor_values *values, int64_t n, const double *fractions,
                           int n_fractions, int64_t max, double *quantile, gcor_summary *summary);

#endif
