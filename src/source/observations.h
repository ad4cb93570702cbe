/* Selects the observations in use, by their weights and the rule `use`. */
#pragma once

#include "../gpucor.h"

typedef struct {
    int32_t
        *observed; /* indices of the observations in use, ascending; NULL: all. The caller frees it with gcor_free() */
    int64_t n_obs; /* number of observations in use */
    int common;    /* non-zero: each pair uses its pairwise-complete observations */
} gcor_observations;

/* Searches x and y for missing values as far as `use` requires. After an error there is nothing to free.
 * GCOR_BAD_INPUT has the message of stats::cor. */
gcor_status gcor_observations_of(gcor_context *context, const gcor_job *job, gcor_observations *observations);
