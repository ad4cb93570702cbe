/* A store of the k strongest edges: of those that came the k-th largest weight is one that the k-th largest of all is
 * not below, so that weaker ones are of no use, and none need come any more. */
#include "run.h"

#include "../../base/alloc.h"
#include "../../base/threads.h"

#include <string.h>

/* Fewer are not worth a look. */
enum { MIN_EDGES = 1 << 16 };

/* The weaker ones go when half as many more have come as stay then: so the work grows with what comes. */
static void set_limit(gcor_store *store) {
    int64_t kept = store->count > store->wanted ? store->count : store->wanted;
    store->limit = (kept > MIN_EDGES ? kept : MIN_EDGES) / 2 * 3;
}

void gcor_store_want(gcor_store *store, int64_t k) {
    store->wanted = k;
    set_limit(store);
}

static int64_t count_kept(const gcor_edge_run *run, gcor_side side, double min) {
    int64_t n = 0;
    for (int64_t e = 0; e < run->n; e++) n += gcor_raw_weight(side, run->r[e]) >= min;
    return n;
}

/* The same rows with fewer edges. */
static void copy_kept(const gcor_edge_run *run, gcor_side side, double min, gcor_edge_run *fresh) {
    int32_t at = 0;
    for (int64_t i = 0; i < run->n_row; i++) {
        fresh->start[i] = at;
        for (int32_t e = run->start[i]; e < run->start[i + 1]; e++) {
            if (gcor_raw_weight(side, run->r[e]) < min) continue;
            fresh->r[at] = run->r[e];
            fresh->col[at++] = run->col[e];
        }
    }
    fresh->start[run->n_row] = at;
}

/* What stays of a run in memory, to *fresh, which has none where that is nothing or all. */
static void thin_out(const gcor_edge_run *run, gcor_context *context, gcor_side side, double min,
                     gcor_edge_run *fresh) {
    *fresh = *run;
    fresh->r = NULL;
    if (run->file || gcor_stop(context)) return;
    fresh->n = count_kept(run, side, min);
    if (fresh->n == 0 || fresh->n == run->n || gcor_run_allocate(context, fresh)) return;
    copy_kept(run, side, min, fresh);
}

/* Each run's place is taken by what stays of it. */
static void replace_runs(gcor_store *store, const gcor_edge_run *fresh) {
    int64_t n_runs = store->n_runs, count = 0;
    store->n_runs = 0;
    for (int64_t k = 0; k < n_runs; k++) {
        gcor_edge_run *run = &store->runs[k];
        if (fresh[k].n < run->n) {
            gcor_store_drop_run(store, run);
            *run = fresh[k];
            gcor_store_note_held(store, run, 1);
        }
        count += run->n;
        if (run->n > 0) store->runs[store->n_runs++] = *run;
    }
    store->count = count;
}

static gcor_status drop_from_runs(gcor_store *store, gcor_context *context) {
    const gcor_edge_rule *rule = &store->edges.rule;
    gcor_edge_run *fresh = gcor_alloc(context, store->n_runs, sizeof *fresh, "edges of the network");
    if (!fresh) return GCOR_NO_MEMORY;
#pragma omp parallel for num_threads(context->threads) schedule(dynamic)
    for (int64_t k = 0; k < store->n_runs; k++) thin_out(&store->runs[k], context, rule->side, rule->min, &fresh[k]);
    if (!context->error.status) replace_runs(store, fresh);
    for (int64_t k = 0; context->error.status && k < store->n_runs; k++) gcor_free(fresh[k].r);
    gcor_free(fresh);
    return context->error.status;
}

static gcor_status drop_weaker(gcor_store *store, gcor_context *context) {
    gcor_keeper *keeper = store->keeper;
    return keeper ? keeper->type->drop(keeper, context, store->edges.rule.min, &store->count)
                  : drop_from_runs(store, context);
}

gcor_status gcor_store_prune(gcor_store *store, gcor_context *context) {
    double weight;
    gcor_status status = gcor_store_rank(store, context, store->wanted, &weight);
    if (!status && weight > store->edges.rule.min) {
        store->edges.rule.min = weight;
        status = drop_weaker(store, context);
    }
    set_limit(store);
    return status;
}
