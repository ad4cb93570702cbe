/* A run with a pair mask. Variables are permuted so that most tiles have no pair of the mask, a filter hides the other
 * pairs from the sink, and at the end the permutation is undone in the sink and the flags. */
#include "session.h"

#include "../base/alloc.h"
#include "../sink/groups/combine.h"
#include "../source/source.h"
#include "../mask/pairs.h"

#include <string.h>

/* A copy of a job, with its own sources, flags and sink. */
typedef struct {
    gcor_pairs *pairs;
    gcor_picked x, y;
    gcor_shuffle shuffle;
    gcor_picked *of_subjects; /* x and y of each; NULL: one subject */
    gcor_subject *subjects;
    gcor_combination combination;
    unsigned char *x_flags, *y_flags;
    gcor_filter filter;
    gcor_job job;
} masked;

static unsigned char *new_flags(gcor_context *context, int64_t n_var) {
    unsigned char *flags = gcor_alloc(context, n_var, 1, "flags");
    if (flags) memset(flags, 0, (size_t)n_var);
    return flags;
}

/* True if any thread may read y (of_y) or x of every subject; only then can their columns be read in another order.
 * Coefficients that are looked up keep theirs. */
static int any_thread_reads(const gcor_job *job, int of_y) {
    const gcor_combination *all = job->combination;
    if (job->measure->kind == GCOR_GIVEN) return 0;
    if (!all) return (of_y ? job->y : job->x)->any_thread;
    for (int64_t s = 0; s < all->n; s++)
        if (!(of_y ? all->subjects[s].y : all->subjects[s].x)->any_thread) return 0;
    return 1;
}

/* Gives all subjects permuted sources, in the order of the pair mask. */
static gcor_status pick_subjects(gcor_context *context, const gcor_combination *all, masked *c) {
    c->of_subjects = gcor_alloc(context, 2 * all->n, sizeof *c->of_subjects, "the subjects");
    c->subjects = gcor_alloc(context, all->n, sizeof *c->subjects, "the subjects");
    if (!c->of_subjects || !c->subjects) return GCOR_NO_MEMORY;
    for (int64_t s = 0; s < all->n; s++) {
        gcor_picked *x = c->of_subjects + 2 * s, *y = x + 1;
        gcor_subject *subject = &c->subjects[s];
        *subject = all->subjects[s];
        *x = gcor_picked_source(subject->x, gcor_pairs_cols(c->pairs));
        if (subject->y) *y = gcor_picked_source(subject->y, gcor_pairs_rows(c->pairs));
        subject->x = &x->source;
        if (subject->y) subject->y = &y->source;
    }
    c->combination = *all;
    c->combination.subjects = c->subjects;
    c->job.combination = &c->combination;
    return GCOR_OK;
}

static gcor_status prepare(gcor_context *context, const gcor_job *job, masked *c) {
    const gcor_sink *sink = job->sink;
    int any_x = any_thread_reads(job, 0), any_y = any_thread_reads(job, job->y != NULL);
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
    if (job->shuffle) {
        c->shuffle = *job->shuffle;
        c->shuffle.variable = job->y ? gcor_pairs_rows(c->pairs) : gcor_pairs_cols(c->pairs);
        c->job.shuffle = &c->shuffle;
    }
    c->job.x_flags = c->x_flags;
    c->job.y_flags = c->y_flags;
    c->job.sink = &c->filter.sink;
    return job->combination ? pick_subjects(context, job->combination, c) : GCOR_OK;
}

static void copy_flags(const unsigned char *flags, const int32_t *number, int64_t n_var, unsigned char *to) {
    for (int64_t v = 0; v < n_var; v++) to[number ? number[v] : v] = flags[v];
}

/* Undoes the permutation in the flags and the sink. */
static gcor_status unpermute(gcor_context *context, const masked *c, gcor_job *job) {
    const int32_t *rows = gcor_pairs_rows(c->pairs), *cols = gcor_pairs_cols(c->pairs);
    gcor_sink *sink = job->sink;
    copy_flags(c->x_flags, cols, sink->n_col, job->x_flags);
    if (job->y) copy_flags(c->y_flags, rows, sink->n_row, job->y_flags);
    return rows || cols ? gcor_sink_unpermute(sink, context, rows, cols) : GCOR_OK;
}

static gcor_status run_masked(gcor_session *session, gcor_context *context, gcor_job *job) {
    masked c = {0};
    if (job->sink->type->keeps_all || job->x_norm)
        return gcor_fail(context, GCOR_BAD_INPUT, "a sink that keeps all pairs, and only some count");
    gcor_status status = prepare(context, job, &c);
    if (!status) status = gcor_run_all(session, context, &c.job);
    job->n_obs_used = c.job.n_obs_used;
    job->devices_lost = c.job.devices_lost;
    job->lost = c.job.lost;
    if (!status) status = unpermute(context, &c, job);
    job->sink->pairs = NULL;
    gcor_pairs_free(c.pairs);
    gcor_free(c.of_subjects);
    gcor_free(c.subjects);
    gcor_free(c.x_flags);
    gcor_free(c.y_flags);
    return status;
}

gcor_status gcor_run(gcor_session *session, gcor_context *context, gcor_job *job) {
    return (job->pairs && !job->overlap ? run_masked : gcor_run_all)(session, context, job);
}
