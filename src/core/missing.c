#include "missing.h"

#include "alloc.h"
#include "source.h"

#include <string.h>

typedef struct {
    int64_t n_obs;
    unsigned char *incomplete; /* n_obs, shared by the threads */
    int any;
} missing_marks;

static void mark_column(void *user, int thread, int64_t j, double *x, int flags) {
    missing_marks *marks = user;
    (void)thread, (void)j;
    if (!(flags & GCOR_MISSING)) return;
    __atomic_store_n(&marks->any, 1, __ATOMIC_RELAXED);
    for (int64_t k = 0; k < marks->n_obs; k++)
        if (x[k] != x[k]) __atomic_store_n(&marks->incomplete[k], 1, __ATOMIC_RELAXED);
}

static gcor_status mark_missing(gcor_context *context, gcor_source *source, missing_marks *marks) {
    gcor_columns all = {source, NULL, source->n_obs};
    return gcor_for_columns(context, &all, 0, source->n_var, mark_column, marks);
}

static gcor_status list_complete(gcor_context *context, const missing_marks *marks, gcor_observations *observations) {
    observations->observed = gcor_alloc(context, marks->n_obs, sizeof(int32_t), "the list of complete observations");
    if (!observations->observed) return GCOR_NO_MEMORY;
    observations->n_obs = 0;
    for (int64_t k = 0; k < marks->n_obs; k++)
        if (!marks->incomplete[k]) observations->observed[observations->n_obs++] = (int32_t)k;
    return GCOR_OK;
}

static gcor_status apply_use(gcor_context *context, gcor_use use, const missing_marks *marks,
                             gcor_observations *observations) {
    gcor_status status = GCOR_OK;
    switch (use) {
    case GCOR_EVERYTHING: break;
    case GCOR_ALL_OBS:
        if (marks->any) status = gcor_fail(context, GCOR_BAD_INPUT, "missing observations in cov/cor");
        break;
    case GCOR_PAIRWISE: observations->common = marks->any; break;
    case GCOR_COMPLETE_OBS:
    case GCOR_NA_OR_COMPLETE:
        if (marks->any) status = list_complete(context, marks, observations);
        if (!status && observations->n_obs == 0 && use == GCOR_COMPLETE_OBS) {
            gcor_free(observations->observed);
            status = gcor_fail(context, GCOR_BAD_INPUT, "no complete element pairs");
        }
        break;
    default: status = gcor_fail(context, GCOR_BAD_INPUT, "a rule for missing values of number %d", (int)use);
    }
    return status;
}

gcor_status gcor_observations_of(gcor_context *context, const gcor_job *job, gcor_observations *observations) {
    int64_t n_obs = job->x->n_obs;
    *observations = (gcor_observations){NULL, n_obs, 0};
    if (job->use == GCOR_EVERYTHING) return GCOR_OK;

    missing_marks marks = {.n_obs = n_obs};
    marks.incomplete = gcor_alloc(context, n_obs, 1, "the list of incomplete observations");
    if (!marks.incomplete) return GCOR_NO_MEMORY;
    memset(marks.incomplete, 0, (size_t)n_obs);
    gcor_status status = mark_missing(context, job->x, &marks);
    if (!status && job->y) status = mark_missing(context, job->y, &marks);
    if (!status) status = apply_use(context, job->use, &marks, observations);
    gcor_free(marks.incomplete);
    return status;
}
