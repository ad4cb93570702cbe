/* A run of which some pairs count: its variables are put in an order in which most tiles have none of them, a filter
 * keeps the others from the sink, and in the end the sink and the flags are as if there had been no order. */
#include "chosen.h"

#include "alloc.h"
#include "filter.h"
#include "picked.h"

#include <string.h>

/* A job like another, with what is its own. */
typedef struct {
    gcor_pairs *pairs;
    gcor_picked x, y;
    unsigned char *x_flags, *y_flags;
    gcor_filter filter;
    gcor_job job;
} chosen;

static gcor_status check(gcor_context *context, const gcor_job *job) {
    if (job->sink->type->keeps_all || job->x_norm)
        return gcor_fail(context, GCOR_BAD_INPUT, "a sink that keeps all pairs, and only some count");
    if (job->share.of > 1) return gcor_fail(context, GCOR_BAD_INPUT, "a share of pairs, and only some count");
    return GCOR_OK;
}

static unsigned char *new_flags(gcor_context *context, int64_t n_var) {
    unsigned char *flags = gcor_alloc(context, n_var, 1, "flags");
    if (flags) memset(flags, 0, (size_t)n_var);
    return flags;
}

static gcor_status prepare(gcor_context *context, const gcor_job *job, chosen *c) {
    const gcor_sink *sink = job->sink;
    int any_x = job->x->any_thread, any_y = job->y ? job->y->any_thread : any_x;
    gcor_status status = gcor_pairs_new(context, job->pairs, sink->shape, sink->n_row, sink->n_col, any_y, any_x,
                                        &c->pairs);
    if (!status) c->x_flags = new_flags(context, sink->n_col);
    if (!status && job->y) c->y_flags = new_flags(context, sink->n_row);
    if (status) return status;
    if (!c->x_flags || (job->y && !c->y_flags)) return GCOR_NO_MEMORY;
    c->x = gcor_picked_source(job->x, gcor_pairs_cols(c->pairs));
    if (job->y) c->y = gcor_picked_source(job->y, gcor_pairs_rows(c->pairs));
    c->filter = gcor_filter_of(job->sink, c->pairs);
    c->job = *job;
    c->job.pairs = NULL;
    c->job.x = &c->x.source;
    if (job->y) c->job.y = &c->y.source;
    c->job.x_flags = c->x_flags;
    c->job.y_flags = c->y_flags;
    c->job.sink = &c->filter.sink;
    return GCOR_OK;
}

static void copy_flags(const unsigned char *flags, const int32_t *number, int64_t n_var, unsigned char *to) {
    for (int64_t v = 0; v < n_var; v++) to[number ? number[v] : v] = flags[v];
}

/* What the run has found, by the names that variables have outside of it. */
static gcor_status name(gcor_context *context, const chosen *c, gcor_job *job) {
    const int32_t *rows = gcor_pairs_rows(c->pairs), *cols = gcor_pairs_cols(c->pairs);
    gcor_sink *sink = job->sink;
    copy_flags(c->x_flags, cols, sink->n_col, job->x_flags);
    if (job->y) copy_flags(c->y_flags, rows, sink->n_row, job->y_flags);
    return sink->type->rename && (rows || cols) ? sink->type->rename(sink, context, rows, cols) : GCOR_OK;
}

gcor_status gcor_run_chosen(gcor_session *session, gcor_context *context, gcor_job *job) {
    chosen c = {0};
    gcor_status status = check(context, job);
    if (!status) status = prepare(context, job, &c);
    if (!status) status = gcor_run_all(session, context, &c.job);
    job->n_obs_used = c.job.n_obs_used;
    job->devices_lost = c.job.devices_lost;
    job->lost = c.job.lost;
    if (!status) status = name(context, &c, job);
    job->sink->pairs = NULL;
    gcor_pairs_free(c.pairs);
    gcor_free(c.x_flags);
    gcor_free(c.y_flags);
    return status;
}
