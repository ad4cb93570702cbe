/* Panels of adjacencies, for topological overlap. A panel is a slab of the adjacency matrix: the columns of some
 * variables, with all variables as rows. Preparing it is a run of coefficients into the adjacency sink. There is one
 * slab if the whole matrix fits in memory; otherwise two at a time. A device does one run at a time, so the run of
 * overlaps ends before a slab is prepared, and begins again afterwards. */
#include "../measure/overlap.h"

#include "../sink/adjacency.h"
#include "../base/alloc.h"
#include "../measure/measure.h"
#include "../base/triangle.h"
#include "work.h"

enum { SLABS = 2 };

typedef struct {
    gcor_panel_maker head;
    gcor_overlap_plan plan;
    int64_t n_var, width; /* variables of a slab: the grid's side times a power of two */
    int is_begun;         /* the back end's run into the sink */
} overlaps;

static int is_whole(const overlaps *o) {
    return o->width >= o->n_var;
}

/* ---- the run of coefficients ---------------------------------------------------------------------- */

/* Names the first variable without coefficients. With pairwise-complete observations there may be none. */
static gcor_status fail_missing(const overlaps *o, int64_t missing) {
    const char *hint =
        "leave such columns out, see 'use', or have them count as 0 with replaceMissingAdjacencies = TRUE";
    const char *at_least = is_whole(o) ? "" : "at least ";
    for (int64_t j = 0; j < o->n_var; j++) {
        const unsigned char flags = o->head.work->col_flags[j];
        const char *what = flags & GCOR_CONSTANT   ? "is constant"
                           : flags & GCOR_FEW      ? "has too few values"
                           : flags & GCOR_MISSING  ? "has missing values"
                           : flags & GCOR_INFINITE ? "has infinite values"
                                                   : NULL;
        if (what)
            return gcor_fail(o->head.context, GCOR_BAD_INPUT,
                             "%s%.0f pairs have no coefficient, and thus no adjacency: column %.0f %s; %s", at_least,
                             (double)missing, (double)j + 1, what, hint);
    }
    return gcor_fail(o->head.context, GCOR_BAD_INPUT, "%s%.0f pairs have no coefficient, and thus no adjacency; %s",
                     at_least, (double)missing, hint);
}

static gcor_status drain_coefficients(gcor_worker *worker, const overlaps *o, const gcor_adjacency *slab) {
    gcor_tile columns = {0, o->n_var, slab->head.first, slab->head.n_var};
    if (is_whole(o)) return gcor_worker_drain(worker);
    gcor_status status = gcor_worker_multiply(worker, &columns);
    return status ? status : gcor_worker_finish(worker);
}

/* Runs all pairs of the slab's columns on this worker's device alone. */
static gcor_status run_coefficients(overlaps *o, gcor_adjacency *slab) {
    gcor_context *context = o->head.context;
    const gcor_work *work = o->head.work;
    gcor_job job = *work->job;
    gcor_work first = {.session = work->session,
                       .job = &job,
                       .data = work->data,
                       .n_data = work->n_data,
                       .spreads = work->spreads,
                       .presence = work->presence,
                       .row_flags = work->col_flags,
                       .col_flags = work->col_flags,
                       .pair_weight = 1,
                       .grid = gcor_grid_of(slab->sink.shape, o->n_var, o->n_var)};
    gcor_worker *worker = NULL;
    const int64_t memory = context->memory;
    job.sink = &slab->sink;
    job.shard = (gcor_shard){0, 1};
    context->memory = memory > 0 ? gcor_min(memory, o->plan.operands) : o->plan.operands;
    gcor_status status = gcor_queue_fill(&first.queue, context, &first.grid, &job.shard);
    if (!status) status = gcor_open_coefficients(context, &first, o->head.state, job.sink, &worker);
    if (!status) status = drain_coefficients(worker, o, slab);
    gcor_worker_close(worker);
    gcor_queue_free(&first.queue);
    context->memory = memory;
    return status;
}

static gcor_status fill_slab(overlaps *o, gcor_adjacency *slab) {
    gcor_status status = run_coefficients(o, slab);
    if (!status && slab->missing > 0 && !slab->rule.replaces_missing) status = fail_missing(o, slab->missing);
    return status || gcor_backend_of(&o->head)->keeps_adjacency ? status
                                                                : gcor_adjacency_complete(slab, o->head.context);
}

/* ---- panels ---------------------------------------------------------------------------------------- */

static void end(overlaps *o) {
    if (o->is_begun) gcor_backend_of(&o->head)->end(o->head.state);
    o->is_begun = 0;
}

static gcor_status finish(overlaps *o) {
    gcor_status status = o->is_begun ? gcor_backend_of(&o->head)->finish(o->head.state) : GCOR_OK;
    end(o);
    return status;
}

static gcor_status begin(overlaps *o) {
    const gcor_panel_maker *own = &o->head;
    gcor_status status = gcor_backend_of(own)->begin(own->state, own->context, own->sink, GCOR_ADJACENCY);
    o->is_begun = !status;
    return status;
}

static void release(gcor_panel_maker *maker, gcor_operand *operand) {
    end((overlaps *)maker);
    gcor_sink_free(&gcor_adjacency_of_operand(operand)->sink);
}

static gcor_status prepare(gcor_panel_maker *maker, const gcor_panel *panel, int64_t n_var, gcor_operand **operand) {
    overlaps *o = (overlaps *)maker;
    gcor_adjacency *slab = NULL;
    gcor_status status = finish(o);
    if (!status)
        status = gcor_adjacency_new(maker->context, maker->work->job->overlap,
                                    is_whole(o) ? maker->sink->shape : GCOR_FULL, o->n_var, panel->first, n_var,
                                    !gcor_backend_of(maker)->keeps_adjacency, &slab);
    if (!status) status = fill_slab(o, slab);
    if (!status) status = begin(o);
    if (status && slab) gcor_sink_free(&slab->sink);
    *operand = status ? NULL : &slab->head;
    return status;
}

static void close_maker(gcor_panel_maker *maker) {
    end((overlaps *)maker);
    gcor_free(maker);
}

static const gcor_panel_type overlap_type = {prepare, release, close_maker};

/* ---- sizes ---------------------------------------------------------------------------------------- */

int64_t gcor_overlap_weight(const gcor_job *job, int64_t n_obs) {
    return job->overlap ? gcor_max(1, job->x->n_var / gcor_max(1, n_obs)) : 1;
}

/* Adds the pairs of the runs of coefficients to the monitor's total. Each pair of slabs needs both slabs. */
static void expect_coefficients(const overlaps *o) {
    int64_t n = (o->n_var + o->width - 1) / o->width, pairs = gcor_triangular(o->n_var - 1);
    if (n > 1)
        pairs = gcor_triangular(n) * o->width * o->n_var / gcor_max(1, gcor_min(n, o->head.work->session->n_devices));
    __atomic_fetch_add(&o->head.context->monitor->pairs, pairs, __ATOMIC_RELAXED);
}

/* One slab of all variables if they fit; otherwise slabs are as wide as possible while two fit. With a user-set limit
 * we assume that two minimum-width slabs fit. */
static gcor_status plan_slabs(overlaps *o) {
    gcor_context *context = o->head.context;
    const gcor_backend *backend = gcor_backend_of(&o->head);
    gcor_status status = backend->plan_overlap(o->head.state, context, o->n_var, &o->plan);
    if (status) return status;
    o->width = o->head.work->grid.side;
    while (o->width < o->n_var &&
           (o->n_var * o->plan.bytes <= o->plan.memory || SLABS * 2 * o->width * o->plan.bytes <= o->plan.memory))
        o->width *= 2;
    if (is_whole(o) || context->memory > 0 || SLABS * o->width * o->plan.bytes <= o->plan.memory) return GCOR_OK;
    return gcor_fail(context, backend->keeps_adjacency ? GCOR_NO_DEVICE_MEMORY : GCOR_NO_MEMORY,
                     "there is no memory for the adjacencies of %.0f pairs of columns at a time: %.1f GB wanted, %.1f "
                     "GB free; take fewer columns, or close other programs",
                     (double)(SLABS * o->width) * (double)o->n_var,
                     (double)(SLABS * o->width) * (double)o->plan.bytes / 1e9, (double)o->plan.memory / 1e9);
}

static gcor_status start(overlaps *o, gcor_worker **worker) {
    gcor_status status = plan_slabs(o);
    if (status) return status;
    const gcor_tiling tiling = {.tile_rows = o->plan.n_row,
                                .tile_cols = o->plan.n_col,
                                .panel = o->width,
                                .n_panels = SLABS,
                                .min_side = is_whole(o) ? o->head.work->grid.side : o->width};
    status = gcor_worker_new(&o->head, &tiling, worker);
    if (!status) expect_coefficients(o);
    return status;
}

gcor_status gcor_open_overlaps(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                               gcor_worker **worker) {
    *worker = NULL;
    overlaps *o = gcor_alloc(context, 1, sizeof *o, "the adjacencies");
    if (!o) return GCOR_NO_MEMORY;
    *o = (overlaps){.head = {&overlap_type, context, work, state, sink}, .n_var = work->grid.n_col};
    gcor_status status = start(o, worker);
    if (status) gcor_free(o);
    return status;
}
