/* A run: selects the observations, lists the squares of pairs, and lets one worker or several do them. */
#include "../base/alloc.h"
#include "session.h"
#include "../sink/groups/combine.h"
#include "../measure/measure.h"
#include "../source/source.h"
#include "../measure/overlap.h"
#include "work.h"

#include <stdio.h>
#include <string.h>

/* Jobs with fewer steps are faster on one thread, or one device: about 0.1 ms of CPU time, a few ms of GPU time. */
static const double STEPS_OF_A_THREAD = 1 << 20, STEPS_OF_A_DEVICE = 274877906944.0;

/* If every value is kept, one device fills the host's memory as fast as it can be written, up to this many steps per
 * pair; a second device would wait. */
static const double STEPS_OF_A_VALUE = 16384;

/* Returns the steps of a pair: multiplications, or 64 pairs of observations each. */
static double steps_of_pair(gcor_kind kind, int64_t n_obs) {
    double n = (double)n_obs;
    switch (kind) {
    case GCOR_SIGN: return n * n / 128 + 1;
    case GCOR_SIGN_COMMON: return n * n / 32 + 1;
    case GCOR_REAL_COMMON: return 4 * n + 100;
    case GCOR_RANK_COMMON: return 160 * n + 1;
    case GCOR_BINNED:
    case GCOR_BINNED_COMMON: return 4 * n + 1000;
    case GCOR_PAIR_COMMON: return 640 * n + 1;
    case GCOR_GIVEN: return 1;
    case GCOR_DISTANCE:
    case GCOR_DISTANCE_COMMON: return 256 * n + 1;
    default: return n + 1;
    }
}

static gcor_status fill_work(gcor_work *work, gcor_context *context) {
    gcor_job *job = work->job;
    gcor_shape shape = job->sink->shape;
    if ((shape == GCOR_FULL) != (job->y != NULL))
        return gcor_fail(context, GCOR_BAD_INPUT, "pairs of x and y where there is only one of them, or the other way");
    if (job->sink->n_row != work->data->rows.source->n_var || job->sink->n_col != work->data->cols.source->n_var)
        return gcor_fail(context, GCOR_BAD_INPUT, "a sink for %.0f x %.0f variables, and there are %.0f x %.0f",
                         (double)job->sink->n_row, (double)job->sink->n_col, (double)work->data->rows.source->n_var,
                         (double)work->data->cols.source->n_var);
    work->grid = job->overlap
                     ? gcor_grid_of_side(shape, job->x->n_var, work->session->backend->overlap_side(job->x->n_var))
                     : gcor_grid_of(shape, work->data->rows.source->n_var, work->data->cols.source->n_var);
    return gcor_queue_fill(&work->queue, context, &work->grid, &job->shard);
}

/* True if a job of this many steps is faster on several devices. */
static int is_shared(const gcor_work *work, double steps) {
    double min = work->session->shared_steps;
    if (min > 0) return steps >= min;
    if (work->job->sink->type->keeps_all && steps < STEPS_OF_A_VALUE * (double)work->queue.pairs) return 0;
    return steps >= STEPS_OF_A_DEVICE;
}

static gcor_status run_work(gcor_work *work, gcor_context *context) {
    double variables = (double)(work->grid.n_row + work->grid.n_col), length = (double)work->data->length;
    double each = steps_of_pair(work->data->kind, work->data->length);
    if (work->job->overlap) each += (double)work->grid.n_col;
    double steps = (double)work->queue.pairs * each + 8 * variables * length;
    int threads = context->threads;
    steps *= (double)work->n_data;
    if (steps < STEPS_OF_A_THREAD) context->threads = 1;
    context->monitor->pairs = work->queue.pairs * work->n_data * work->pair_weight;
    context->monitor->pairs_done = 0;
    gcor_status status = gcor_distribute(work, context, is_shared(work, steps) ? work->session->n_devices : 1);
    context->threads = threads;
    return status;
}

int gcor_is_sparse(const gcor_job *job) {
    const gcor_measure *measure = job->measure;
    if (job->combination || job->overlap || job->pairs || job->design || job->shuffle) return 0;
    if (measure->kind == GCOR_REAL && (measure->angle == GCOR_OWN_WAY || !gcor_has_double(measure))) return 0;
    if (measure->kind != GCOR_REAL && measure->kind != GCOR_SIGN) return 0;
    double max = measure->kind == GCOR_SIGN ? GCOR_MAX_SPARSE_SIGNS : GCOR_MAX_SPARSE;
    return gcor_sparse_of(job->x, max) && (!job->y || gcor_sparse_of(job->y, max));
}

/* Complex columns are multiplied twice for each block of their basis: x's are multiplied by i before the second time,
 * so that the products are the imaginary parts. */
static int64_t parts_of(const gcor_job *job) {
    const gcor_design *design = job->combination ? job->combination->subjects->design : job->design;
    return job->measure->last_step == GCOR_COMPLEX ? 2 * gcor_blocks_of(design) : 1;
}

/* Pick the block of a part from the design. */
static gcor_status pick_design(gcor_context *context, const gcor_job *job, int64_t part,
                               const gcor_observations *observations, gcor_design **picked) {
    const int64_t blocks = gcor_blocks_of(job->design);
    if (blocks == 1) return gcor_design_pick(context, job->design, observations->observed, observations->n_obs, picked);
    gcor_design own = *job->design;
    own.n_basis /= blocks;
    own.basis += part / 2 * gcor_basis_values(&own);
    return gcor_design_pick(context, &own, observations->observed, observations->n_obs, picked);
}

/* Select the observations of a subject, for one of the parts. The caller ends *data with forget_data(), also after an
 * error. */
static gcor_status look_at_data(gcor_work *work, gcor_context *context, const gcor_subject *subject, int64_t part,
                                gcor_data *data) {
    gcor_job *job = work->job;
    gcor_observations observations;
    gcor_design *design;
    gcor_job own = *job;
    own.x = subject->x;
    own.y = subject->y;
    own.design = subject->design;
    gcor_status status = gcor_observations_of(context, &own, &observations);
    if (status) return status;
    status = pick_design(context, &own, part, &observations, &design);
    data->cols = data->rows = (gcor_columns){.source = own.x,
                                             .observed = observations.observed,
                                             .n_obs = observations.n_obs,
                                             .design = design,
                                             .shuffle = job->shuffle};
    if (own.y) {
        data->rows.source = own.y;
        data->cols.shuffle = NULL;
    }
    if (part == 0) job->n_obs_used += gcor_observations_in(job->measure, observations.n_obs);
    if (status) return status;
    if (parts_of(job) > 1 && design) {
        if (gcor_complex_size(job->measure, design) == GCOR_PHASE_SIZE) design->complex |= GCOR_PHASES;
        if (part % 2) design->complex |= GCOR_TURNED;
    }
    status = gcor_kind_of(context, job->measure, design, observations.n_obs, observations.common, job->in_double,
                          &data->kind);
    if (gcor_is_sparse(job) && work->session->backend->is_host && !observations.observed && !observations.common)
        data->kind = data->kind == GCOR_SIGN ? GCOR_SIGN_SPARSE : GCOR_REAL_SPARSE;
    data->length = gcor_column_length(job->measure, design, data->kind, observations.n_obs);
    return status;
}

static void forget_data(gcor_data *data) {
    gcor_free((void *)data->cols.observed);
    gcor_design_free((gcor_design *)data->cols.design);
}

/* Add the subject's number to an error message. */
static gcor_status in_subject(gcor_context *context, gcor_status status, int64_t s) {
    char message[sizeof context->error.message];
    if (status != GCOR_BAD_INPUT && status != GCOR_BAD_FILE) return status;
    memcpy(message, context->error.message, sizeof message);
    snprintf(context->error.message, sizeof message, "subject %.0f: %.450s", (double)s + 1, message);
    return status;
}

/* Look at every subject's data, or at the only data set. Entries that are not reached are cleared. */
static gcor_status look_at_all(gcor_work *work, gcor_context *context, gcor_data *data) {
    gcor_job *job = work->job;
    int64_t n = work->n_data;
    const gcor_combination *all = job->combination;
    const int64_t parts = parts_of(job);
    gcor_status status = GCOR_OK;
    job->n_obs_used = 0;
    memset(data, 0, (size_t)n * sizeof *data);
    const gcor_subject one = {.x = job->x, .y = job->y, .design = job->design};
    for (int64_t s = 0; !status && s < n; s++) {
        status = look_at_data(work, context, all ? &all->subjects[s / parts] : &one, s % parts, data + s);
        data[s].rows_set = parts > 1 ? s - s % 2 : s;
        if (!all) continue;
        status = in_subject(context, status, s / parts);
        if (!status && gcor_blocks_of(all->subjects[s / parts].design) != gcor_blocks_of(all->subjects->design))
            status = gcor_fail(context, GCOR_BAD_INPUT,
                               "subject %.0f has other frequencies than the first one; give all "
                               "segments the same size, options = list(segment = )",
                               (double)(s / parts) + 1);
        if (!status && (data[s].cols.source->n_var != data[0].cols.source->n_var ||
                        data[s].rows.source->n_var != data[0].rows.source->n_var))
            status = gcor_fail(context, GCOR_BAD_INPUT, "subject %.0f has other variables than the first one",
                               (double)(s / parts) + 1);
    }
    return status;
}

/* Measures that compare spreads need them of every data set. */
static gcor_status find_spreads(gcor_work *work, gcor_context *context) {
    gcor_status status = GCOR_OK;
    if (work->job->measure->last_step != GCOR_CONCORDANCE) return GCOR_OK;
    work->spreads = gcor_alloc(context, work->n_data, sizeof *work->spreads, "means of columns");
    if (!work->spreads) return GCOR_NO_MEMORY;
    memset(work->spreads, 0, (size_t)work->n_data * sizeof *work->spreads);
    for (int64_t s = 0; !status && s < work->n_data; s++)
        status = gcor_spreads_of(context, &work->data[s].rows, &work->data[s].cols, &work->spreads[s]);
    return status;
}

/* If a pair may have fewer than min_obs observations, says which observations each variable has. */
static gcor_status find_presence(gcor_work *work, gcor_context *context) {
    gcor_status status = GCOR_OK;
    int may_miss = 0;
    for (int64_t s = 0; s < work->n_data; s++)
        may_miss |= gcor_is_common(work->data[s].kind) || work->data[s].cols.n_obs < work->job->min_obs;
    if (work->job->min_obs < 1 || !may_miss) return GCOR_OK;
    work->presence = gcor_alloc(context, work->n_data, sizeof *work->presence, "observations of columns");
    if (!work->presence) return GCOR_NO_MEMORY;
    memset(work->presence, 0, (size_t)work->n_data * sizeof *work->presence);
    for (int64_t s = 0; !status && s < work->n_data; s++)
        status = gcor_presence_of(context, &work->data[s].rows, &work->data[s].cols, gcor_is_common(work->data[s].kind),
                                  &work->presence[s]);
    return status;
}

static gcor_status run_all(gcor_session *session, gcor_context *context, gcor_job *job) {
    int64_t n = (job->combination ? job->combination->n : 1) * parts_of(job);
    gcor_work work = {.session = session,
                      .job = job,
                      .row_flags = job->y ? job->y_flags : job->x_flags,
                      .col_flags = job->x_flags,
                      .col_norm = job->combination ? NULL : job->x_norm,
                      .open = job->overlap ? gcor_open_overlaps : gcor_open_coefficients,
                      .n_data = n};
    job->devices_lost = 0;
    gcor_data *data = gcor_alloc(context, n, sizeof *data, "what is known of the data");
    if (!data) return GCOR_NO_MEMORY;
    gcor_status status = look_at_all(&work, context, data);
    work.data = data;
    work.pair_weight = gcor_overlap_weight(job, data->cols.n_obs);
    if (!status) status = find_spreads(&work, context);
    if (!status) status = find_presence(&work, context);
    if (!status) status = fill_work(&work, context);
    if (!status) status = run_work(&work, context);
    gcor_queue_free(&work.queue);
    for (int64_t s = 0; s < n; s++) {
        forget_data(&data[s]);
        if (work.spreads) gcor_spreads_free(&work.spreads[s]);
        if (work.presence) gcor_presence_free(&work.presence[s]);
    }
    gcor_free(work.presence);
    gcor_free(work.spreads);
    gcor_free(data);
    return status;
}

/* A run of overlaps has columns in double. */
static gcor_status run_overlap(gcor_session *session, gcor_context *context, gcor_job *job) {
    gcor_job own = *job;
    own.in_double = gcor_has_double(job->measure);
    own.x_norm = NULL;
    for (int64_t j = 0; job->x_norm && j < job->x->n_var; j++) job->x_norm[j] = 1; /* all pairs have an overlap */
    gcor_status status = run_all(session, context, &own);
    job->n_obs_used = own.n_obs_used;
    job->devices_lost = own.devices_lost;
    job->lost = own.lost;
    return status;
}

gcor_status gcor_run_all(gcor_session *session, gcor_context *context, gcor_job *job) {
    return (job->overlap ? run_overlap : run_all)(session, context, job);
}
