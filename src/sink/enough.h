/* A sink before another one that leaves out pairs of too few pairwise-complete observations: they have no coefficient.
 */
#pragma once

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

/* Takes each tile once for each of n_sets data sets, in their order. */
typedef struct {
    gcor_sink sink; /* first */
    gcor_sink *to;  /* the caller's */
    const gcor_presence *presence;
    int64_t min_obs, n_sets, set; /* the set of the next tile */
} gcor_enough;

/* *enough is the caller's, to free with gcor_sink_free(), which leaves `to` alone; NULL after an error. */
gcor_status gcor_enough_new(gcor_context *context, gcor_sink *to, int in_double, int64_t min_obs,
                            const gcor_presence *presence, int64_t n_sets, gcor_sink **enough);

GCOR_END_C
