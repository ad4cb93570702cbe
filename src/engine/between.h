/* Sinks between a worker and the run's sink, which change coefficients. They take each tile once for each data set, in
 * their order, belong to one worker and keep no results. */
#pragma once

#include "../source/source.h"
#include "../stats/test.h"

GCOR_BEGIN_C

/* Which observations a data set's variables have, owned; rows and cols are the same if the sides have the same
 * variables. */
typedef struct {
    gcor_observed *rows, *cols;
} gcor_presence;

/* Looks at the columns of a data set. common: pairs are pairwise-complete. gcor_presence_free(): also after an error,
 * and if both are NULL. */
gcor_status gcor_presence_of(gcor_context *context, const gcor_columns *rows, const gcor_columns *cols, int common,
                             gcor_presence *presence);
void gcor_presence_free(gcor_presence *presence);

/* A column's mean, its standard deviation with the number of observations as divisor, and 1 / sd. */
typedef struct {
    double mean, sd, inverse;
} gcor_spread;

/* Those of a data set's variables, owned; rows and cols are the same array if the sides have the same variables. */
typedef struct {
    gcor_spread *rows, *cols;
} gcor_spreads;

/* Sets the spreads of a data set's columns; those of columns with missing or infinite values are undefined.
 * gcor_spreads_free(): also after an error, and if all are NULL. */
gcor_status gcor_spreads_of(gcor_context *context, const gcor_columns *rows, const gcor_columns *cols,
                            gcor_spreads *spreads);
void gcor_spreads_free(gcor_spreads *spreads);

/* How far two columns have the same spread and, with has_means, the same mean; at most 1. Rounding may make the sum of
 * a ratio and its inverse smaller than 2. */
GCOR_INLINE double gcor_agreement_of(gcor_spread row, gcor_spread col, int has_means) {
    const double apart = has_means ? row.mean - col.mean : 0;
    const double ratios = row.sd * col.inverse + col.sd * row.inverse;
    return 2 / ((ratios < 2 ? 2 : ratios) + apart * row.inverse * (apart * col.inverse));
}

/* Such a sink. */
typedef struct {
    gcor_sink sink;      /* first */
    gcor_sink *to;       /* the caller's */
    int64_t n_sets, set; /* the set of the next tile */
    const gcor_presence *presence;
    int64_t min_obs;
    const gcor_spreads *spreads; /* of each set */
    int has_means;               /* whether different means count */
} gcor_between;

/* They pass each tile of n_sets data sets on to `to`: pairs of too few pairwise-complete observations without a
 * coefficient; and each correlation multiplied by the agreement of its columns. *enough and *agreement are the
 * caller's, to free with gcor_sink_free(), which leaves `to` alone; NULL after an error. */
gcor_status gcor_enough_new(gcor_context *context, gcor_sink *to, int in_double, int64_t min_obs,
                            const gcor_presence *presence, int64_t n_sets, gcor_sink **enough);
gcor_status gcor_agreement_new(gcor_context *context, gcor_sink *to, int in_double, int has_means,
                               const gcor_spreads *spreads, int64_t n_sets, gcor_sink **agreement);

GCOR_END_C
