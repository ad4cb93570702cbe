#include "source.h"

#include "../base/alloc.h"
#include "../measure/design.h"

#include <string.h>

typedef struct {
    int64_t n_obs;             /* observations in use */
    unsigned char *incomplete; /* n_obs, shared by the threads */
    int any;
} missing_marks;

static void mark_column(void *user, int thread, int64_t j, double *x, int flags) {
    missing_marks *marks = user;
    if (!(flags & GCOR_MISSING)) return;
    __atomic_store_n(&marks->any, 1, __ATOMIC_RELAXED);
    for (int64_t k = 0; k < marks->n_obs; k++)
        if (x[k] != x[k]) __atomic_store_n(&marks->incomplete[k], 1, __ATOMIC_RELAXED);
}

/* Marks incomplete observations among those in use by their weight. */
static gcor_status mark_missing(gcor_context *context, gcor_source *source, const gcor_observations *observations,
                                missing_marks *marks) {
    gcor_columns all = {.source = source, .observed = observations->observed, .n_obs = observations->n_obs};
    return gcor_for_columns(context, &all, 0, source->n_var, mark_column, marks);
}

static gcor_status allocate_list(gcor_context *context, int64_t n_obs, gcor_observations *observations) {
    if (!observations->observed)
        observations->observed = gcor_alloc(context, n_obs, sizeof(int32_t), "the list of complete observations");
    return observations->observed ? GCOR_OK : GCOR_NO_MEMORY;
}

/* Reduces the list to complete observations, in place. */
static gcor_status list_complete(gcor_context *context, const missing_marks *marks, gcor_observations *observations) {
    int is_all = !observations->observed;
    if (allocate_list(context, marks->n_obs, observations)) return GCOR_NO_MEMORY;
    observations->n_obs = 0;
    for (int64_t k = 0; k < marks->n_obs; k++)
        if (!marks->incomplete[k])
            observations->observed[observations->n_obs++] = is_all ? (int32_t)k : observations->observed[k];
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
        if (!status && observations->n_obs == 0 && use == GCOR_COMPLETE_OBS)
            status = gcor_fail(context, GCOR_BAD_INPUT, "no complete element pairs");
        break;
    default: status = gcor_fail(context, GCOR_BAD_INPUT, "a rule for missing values of number %d", (int)use);
    }
    return status;
}

/* An observation of weight 0 is not used, so its missing values do not matter. */
static gcor_status list_weighted(gcor_context *context, const gcor_design *design, int64_t n_obs,
                                 gcor_observations *observations) {
    int64_t counts = 0;
    *observations = (gcor_observations){NULL, n_obs, 0};
    for (int64_t k = 0; design && design->weight && k < n_obs; k++) counts += design->weight[k] > 0;
    if (!design || !design->weight || counts == n_obs) return GCOR_OK;
    if (allocate_list(context, n_obs, observations)) return GCOR_NO_MEMORY;
    observations->n_obs = 0;
    for (int64_t k = 0; k < n_obs; k++)
        if (design->weight[k] > 0) observations->observed[observations->n_obs++] = (int32_t)k;
    return GCOR_OK;
}

static gcor_status look_for_missing(gcor_context *context, const gcor_job *job, gcor_observations *observations) {
    missing_marks marks = {.n_obs = observations->n_obs};
    marks.incomplete = gcor_alloc(context, marks.n_obs, 1, "the list of incomplete observations");
    if (!marks.incomplete) return GCOR_NO_MEMORY;
    memset(marks.incomplete, 0, (size_t)marks.n_obs);
    gcor_status status = mark_missing(context, job->x, observations, &marks);
    if (!status && job->y) status = mark_missing(context, job->y, observations, &marks);
    if (!status) status = apply_use(context, job->use, &marks, observations);
    gcor_free(marks.incomplete);
    return status;
}

gcor_status gcor_observations_of(gcor_context *context, const gcor_job *job, gcor_observations *observations) {
    gcor_status status = list_weighted(context, job->design, job->x->n_obs, observations);
    if (status || job->use == GCOR_EVERYTHING) return status;
    status = look_for_missing(context, job, observations);
    if (status) {
        gcor_free(observations->observed);
        observations->observed = NULL;
    }
    return status;
}
