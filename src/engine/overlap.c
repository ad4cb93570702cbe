/* A run of topological overlap: as any other, but that of a square of pairs there are two products (slabs.c). */
#include "overlap.h"

#include "masked_run.h"
#include "../measure/measure.h"
#include "workers.h"

gcor_status gcor_run_overlap(gcor_session *session, gcor_context *context, gcor_job *job) {
    gcor_job own = *job;
    own.in_double = gcor_has_double(job->measure);
    own.x_norm = NULL;
    for (int64_t j = 0; job->x_norm && j < job->x->n_var; j++) job->x_norm[j] = 1; /* all pairs have an overlap */
    gcor_status status = gcor_run_all(session, context, &own);
    job->n_obs_used = own.n_obs_used;
    job->devices_lost = own.devices_lost;
    job->lost = own.lost;
    return status;
}
