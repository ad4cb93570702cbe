#include "missing.h"

#include "alloc.h"
#include "threads.h"

#include <string.h>

/* Mark in incomplete[] (n_obs, shared by the threads) every row with a missing value; column
 * is scratch, n_obs doubles for each thread. Returns whether there is any. */
static int mark_missing(gcor_context *context, const gcor_matrix *matrix, unsigned char *incomplete, double *column) {
    gcor_columns columns = {matrix, NULL, matrix->n_obs};
    int any = 0;
#pragma omp parallel num_threads(context->threads)
    {
        int thread = omp_get_thread_num();
        double *mine = column + thread * matrix->n_obs;
#pragma omp for schedule(dynamic, 64) reduction(| : any)
        for (int64_t j = 0; j < matrix->n_var; j++) {
            if (gcor_stop(context, thread) || !(gcor_gather(&columns, j, mine) & GCOR_MISSING)) continue;
            any = 1;
            for (int64_t k = 0; k < matrix->n_obs; k++)
                if (mine[k] != mine[k]) __atomic_store_n(&incomplete[k], 1, __ATOMIC_RELAXED);
        }
    }
    return any;
}

static gcor_status list_complete(gcor_context *context, const unsigned char *incomplete, int64_t n_obs,
                                 gcor_observations *observations) {
    observations->rows = gcor_alloc(context, n_obs, sizeof(int32_t), "the list of complete observations");
    if (!observations->rows) return GCOR_NO_MEMORY;
    observations->n_obs = 0;
    for (int64_t k = 0; k < n_obs; k++)
        if (!incomplete[k]) observations->rows[observations->n_obs++] = (int32_t)k;
    return GCOR_OK;
}

static gcor_status apply_use(gcor_context *context, const gcor_job *job, const unsigned char *incomplete, int any,
                             gcor_observations *observations) {
    switch (job->use) {
    case GCOR_EVERYTHING: break;
    case GCOR_ALL_OBS:
        if (any) return gcor_fail(context, GCOR_BAD_INPUT, "missing observations in cov/cor");
        break;
    case GCOR_PAIRWISE: observations->common = any; break;
    case GCOR_COMPLETE_OBS:
    case GCOR_NA_OR_COMPLETE:
        if (any) {
            gcor_status status = list_complete(context, incomplete, job->x->n_obs, observations);
            if (status) return status;
        }
        if (observations->n_obs == 0 && job->use == GCOR_COMPLETE_OBS) {
            gcor_free(observations->rows);
            return gcor_fail(context, GCOR_BAD_INPUT, "no complete element pairs");
        }
    }
    return GCOR_OK;
}

gcor_status gcor_observations_of(gcor_context *context, const gcor_job *job, gcor_observations *observations) {
    int64_t n_obs = job->x->n_obs;
    *observations = (gcor_observations){NULL, n_obs, 0};
    if (job->use == GCOR_EVERYTHING) return GCOR_OK;

    gcor_status status = GCOR_NO_MEMORY;
    unsigned char *incomplete = gcor_alloc(context, n_obs, 1, "the list of incomplete observations");
    double *column = gcor_alloc(context, n_obs * context->threads, sizeof(double), "a column for each thread");
    if (incomplete && column) {
        memset(incomplete, 0, (size_t)n_obs);
        int any = mark_missing(context, job->x, incomplete, column);
        if (job->y) any |= mark_missing(context, job->y, incomplete, column);
        status = gcor_stop(context, 0) ? context->error.status
                                       : apply_use(context, job, incomplete, any, observations);
    }
    gcor_free(column);
    gcor_free(incomplete);
    return status;
}
