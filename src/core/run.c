/* A run: which observations count, which pairs there are, and then all of them, by one worker or several. */
#include "alloc.h"
#include "chosen.h"
#include "measure.h"
#include "missing.h"
#include "session.h"
#include "workers.h"

/* A job of fewer steps is sooner done by one thread, and by one device: about 0.1 ms of a processor, a few of a GPU. */
static const double STEPS_OF_A_THREAD = 1 << 20, STEPS_OF_A_DEVICE = 274877906944.0;

/* Where every value is kept, a device computes faster than the host's memory can be filled up to so many steps a pair,
 * and a second one would wait. */
static const double STEPS_OF_A_VALUE = 16384;

/* How many steps a pair takes: multiplications, or 64 pairs of observations each. */
static double steps_of_pair(gcor_kind kind, int64_t n_obs) {
    double n = (double)n_obs;
    switch (kind) {
    case GCOR_SIGN: return n * n / 128 + 1;
    case GCOR_SIGN_COMMON: return n * n / 32 + 1;
    case GCOR_REAL_COMMON:
    case GCOR_RANK_COMMON: return 160 * n + 1;
    default: return n + 1;
    }
}

static gcor_status fill_work(gcor_work *work, gcor_context *context) {
    gcor_job *job = work->job;
    gcor_shape shape = job->sink->shape;
    if ((shape == GCOR_FULL) != (job->y != NULL))
        return gcor_fail(context, GCOR_BAD_INPUT, "pairs of x and y where there is only one of them, or the other way");
    if (job->sink->n_row != work->rows.source->n_var || job->sink->n_col != work->cols.source->n_var)
        return gcor_fail(context, GCOR_BAD_INPUT, "a sink for %.0f x %.0f variables, and there are %.0f x %.0f",
                         (double)job->sink->n_row, (double)job->sink->n_col, (double)work->rows.source->n_var,
                         (double)work->cols.source->n_var);
    work->grid = gcor_grid_of(shape, work->rows.source->n_var, work->cols.source->n_var);
    return gcor_queue_fill(&work->queue, context, &work->grid, &job->share);
}

/* Whether several devices are to share so many steps. */
static int is_shared(const gcor_work *work, double steps) {
    double least = work->session->shared_steps;
    if (least > 0) return steps >= least;
    if (work->job->sink->type->keeps_all && steps < STEPS_OF_A_VALUE * (double)work->queue.pairs) return 0;
    return steps >= STEPS_OF_A_DEVICE;
}

static gcor_status run_work(gcor_work *work, gcor_context *context) {
    double variables = (double)(work->grid.n_row + work->grid.n_col), n_obs = (double)work->cols.n_obs;
    double steps = (double)work->queue.pairs * steps_of_pair(work->kind, work->cols.n_obs) + 8 * variables * n_obs;
    int threads = context->threads;
    if (steps < STEPS_OF_A_THREAD) context->threads = 1;
    context->monitor->pairs = work->queue.pairs;
    context->monitor->pairs_done = 0;
    gcor_status status = gcor_share_out(work, context, is_shared(work, steps) ? work->session->n_devices : 1);
    context->threads = threads;
    return status;
}

gcor_status gcor_run(gcor_session *session, gcor_context *context, gcor_job *job) {
    return job->pairs ? gcor_run_chosen(session, context, job) : gcor_run_all(session, context, job);
}

gcor_status gcor_run_all(gcor_session *session, gcor_context *context, gcor_job *job) {
    gcor_observations observations;
    gcor_work work = {.session = session,
                      .job = job,
                      .row_flags = job->y ? job->y_flags : job->x_flags,
                      .col_flags = job->x_flags,
                      .col_norm = job->x_norm};
    job->devices_lost = 0;
    gcor_status status = gcor_observations_of(context, job, &observations);
    if (status) return status;
    job->n_obs_used = observations.n_obs;
    work.cols = (gcor_columns){job->x, observations.observed, observations.n_obs};
    work.rows = work.cols;
    if (job->y) work.rows.source = job->y;
    status = gcor_kind_of(context, job->measure, observations.common, job->in_double, &work.kind);
    if (!status) status = fill_work(&work, context);
    if (!status) status = run_work(&work, context);
    gcor_queue_free(&work.queue);
    gcor_free(observations.observed);
    return status;
}
