/* Which observations count, by their weights and the rule of `use`. */
#ifndef GPUCOR_MISSING_H
#define GPUCOR_MISSING_H

#include "../gpucor.h"

typedef struct {
    int32_t *observed; /* those that count, ascending; NULL: all. gcor_free() */
    int64_t n_obs;     /* how many count */
    int common;        /* each pair has its own common observations */
} gcor_observations;

/* Look for missing values in x and y as far as `use` needs it. Frees nothing that it returns;
 * after an error there is nothing to free. GCOR_BAD_INPUT bears the message of stats::cor. */
gcor_status gcor_observations_of(gcor_context *context, const gcor_job *job, gcor_observations *observations);

#endif
