/* A run of topological overlap: the first product into adjacencies, and the second one of these. */
#include "overlap.h"

#include "../sink/adjacency.h"
#include "measure.h"
#include "session.h"
#include "source.h"

/* Which part of the work the first product is, for the progress bar: its columns are n_obs long, the second one's as
 * long as there are variables. */
static double first_part(const gcor_job *job) {
    double n_obs = (double)job->x->n_obs, n_var = (double)job->x->n_var;
    return n_obs + n_var > 0 ? n_obs / (n_obs + n_var) : 0;
}

/* The variable whose coefficients are missing; of pairs with observations of their own there may be none. */
static gcor_status fail_missing(gcor_context *context, const gcor_job *job, int64_t missing) {
    const char *way_out =
        "leave such columns out, see 'use', or have them count as 0 with replaceMissingAdjacencies = TRUE";
    for (int64_t j = 0; j < job->x->n_var; j++) {
        const char *what = job->x_flags[j] & GCOR_CONSTANT   ? "is constant"
                           : job->x_flags[j] & GCOR_FEW      ? "has fewer than two values"
                           : job->x_flags[j] & GCOR_MISSING  ? "has missing values"
                           : job->x_flags[j] & GCOR_INFINITE ? "has infinite values"
                                                             : NULL;
        if (what)
            return gcor_fail(context, GCOR_BAD_INPUT,
                             "%.0f pairs have no coefficient, and thus no adjacency: column %.0f %s; %s",
                             (double)missing, (double)j + 1, what, way_out);
    }
    return gcor_fail(context, GCOR_BAD_INPUT, "%.0f pairs have no coefficient, and thus no adjacency; %s",
                     (double)missing, way_out);
}

static gcor_status find_adjacencies(gcor_session *session, gcor_context *context, gcor_job *job,
                                    gcor_adjacency *adjacency) {
    gcor_job own = *job;
    int devices = session->n_devices;
    own.overlap = NULL;
    own.sink = &adjacency->sink;
    own.in_double = gcor_has_double(job->measure);
    own.x_norm = NULL;
    if (!adjacency->values) session->n_devices = 1; /* the one that multiplies them then */
    gcor_status status = gcor_run(session, context, &own);
    session->n_devices = devices;
    job->n_obs_used = own.n_obs_used;
    job->devices_lost = own.devices_lost;
    job->lost = own.lost;
    if (!status && adjacency->missing > 0 && !job->overlap->replaces_missing)
        status = fail_missing(context, job, adjacency->missing);
    return status;
}

/* As the first one left it, but for where it stands in the progress bar. */
static void watch_part(gcor_context *context, double before, double part) {
    context->monitor->before = before;
    context->monitor->part = part;
}

static gcor_status multiply(gcor_session *session, gcor_context *context, gcor_job *job, gcor_adjacency *adjacency) {
    gcor_state *state;
    double started = gcor_seconds();
    context->monitor->pairs = gcor_triangular(job->x->n_var - 1);
    context->monitor->pairs_done = 0;
    gcor_status status = gcor_session_state(session, context, 0, &state);
    if (!status) status = session->backend->overlap(state, context, adjacency, job->sink);
    context->seconds_multiplying += gcor_seconds() - started;
    return status;
}

gcor_status gcor_run_overlap(gcor_session *session, gcor_context *context, gcor_job *job) {
    const double part = first_part(job);
    gcor_adjacency *adjacency;
    gcor_status status = gcor_adjacency_new(context, job->overlap, job->sink->shape, job->x->n_var,
                                            !session->backend->keeps_adjacency, &adjacency);
    if (status) return status;
    watch_part(context, 0, part);
    status = find_adjacencies(session, context, job, adjacency);
    watch_part(context, part, 1 - part);
    for (int64_t j = 0; !status && job->x_norm && j < job->x->n_var; j++) job->x_norm[j] = 1; /* all pairs have one */
    if (!status) status = multiply(session, context, job, adjacency);
    watch_part(context, 0, 1);
    gcor_sink_free(&adjacency->sink);
    return status;
}
