/* What many values are like: how many there are, their mean, quantiles and strongest. */
#ifndef GPUCOR_SUMMARY_H
#define GPUCOR_SUMMARY_H

#include "strongest.h"

typedef struct {
    int64_t missing;        /* NaN; all else is of the others */
    double mean;            /* of exact sums; NaN of none */
    gcor_strong *strongest; /* the strongest first, n_strongest; gcor_free() */
    int64_t n_strongest;
} gcor_summary;

/* Of n values, which are read where they are. shares: from 0 to 1, each with its quantile, as
 * stats::quantile() has it by default: exactly; NaN of none. most: how many of the strongest. Uses context->threads
 * threads, whose number makes no difference, and can be interrupted. After an error there is nothing to free. */
gcor_status gcor_summarise(gcor_context *context, const gcor_values *values, int64_t n, const double *fractions,
                           int n_fractions, int64_t max, double *quantile, gcor_summary *summary);

#endif
