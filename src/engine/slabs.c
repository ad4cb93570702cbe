/* A worker's overlaps: of its device it has slabs of the matrix of adjacencies, each the columns of some variables,
 * which it makes by a first product of its own, and of pairs of slabs the second product. One slab where all fits;
 * otherwise two, of which the one that was not wanted for longest makes room for the next. */
#include "workers.h"

#include "../sink/adjacency.h"
#include "../base/alloc.h"
#include "session.h"
#include "../base/triangle.h"

enum { SLABS = 2 };

typedef struct {
    gcor_adjacency *adjacency; /* NULL: empty */
    int64_t wanted;            /* when it last was */
} slab;

struct gcor_slabs {
    const gcor_backend *backend;
    gcor_context *context;
    gcor_work *work;
    gcor_state *state;
    gcor_sink *sink;
    gcor_overlap_plan plan;
    int64_t n_var, width; /* variables of a slab, so many of the grid's sides as a power of two */
    int64_t clock;        /* counts what is wanted */
    int is_begun;         /* the back end's run that ends in `sink` */
    slab slabs[SLABS];
};

static int is_whole(const gcor_slabs *s) {
    return s->width >= s->n_var;
}

int64_t gcor_overlap_weight(const gcor_work *work) {
    return work->of_overlaps ? gcor_max(1, work->grid.n_col / gcor_max(1, work->cols.n_obs)) : 1;
}

int64_t gcor_slabs_min_side(const gcor_slabs *s) {
    return is_whole(s) ? s->work->grid.side : s->width;
}

/* Pairs of the first product that are still to come, for the progress bar: every slab meets every other one. */
static void expect(const gcor_slabs *s) {
    int64_t n = (s->n_var + s->width - 1) / s->width, pairs = gcor_triangular(s->n_var - 1);
    if (n > 1) pairs = gcor_triangular(n) * s->width * s->n_var / gcor_max(1, gcor_min(n, s->work->session->n_devices));
    __atomic_fetch_add(&s->context->monitor->pairs, pairs, __ATOMIC_RELAXED);
}

/* All variables in one slab if they fit; otherwise as many as two fit. Of who says how much memory there is, two of the
 * narrowest are taken to fit. */
static gcor_status plan(gcor_slabs *s) {
    gcor_status status = s->backend->plan_overlap(s->state, s->context, s->n_var, &s->plan);
    if (status) return status;
    s->width = s->work->grid.side;
    while (s->width < s->n_var &&
           (s->n_var * s->plan.bytes <= s->plan.memory || SLABS * 2 * s->width * s->plan.bytes <= s->plan.memory))
        s->width *= 2;
    if (is_whole(s) || s->context->memory > 0 || SLABS * s->width * s->plan.bytes <= s->plan.memory) return GCOR_OK;
    return gcor_fail(s->context, s->backend->keeps_adjacency ? GCOR_NO_DEVICE_MEMORY : GCOR_NO_MEMORY,
                     "there is no memory for the adjacencies of %.0f pairs of columns at a time: %.1f GB wanted, %.1f "
                     "GB free; take fewer columns, or close other programs",
                     (double)(SLABS * s->width) * (double)s->n_var,
                     (double)(SLABS * s->width) * (double)s->plan.bytes / 1e9, (double)s->plan.memory / 1e9);
}

gcor_status gcor_slabs_open(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                            gcor_slabs **slabs) {
    gcor_slabs *s = *slabs = gcor_alloc(context, 1, sizeof *s, "the adjacencies");
    if (!s) return GCOR_NO_MEMORY;
    *s = (gcor_slabs){.backend = work->session->backend,
                      .context = context,
                      .work = work,
                      .state = state,
                      .sink = sink,
                      .n_var = work->cols.source->n_var};
    gcor_status status = plan(s);
    if (!status) {
        sink->of_overlaps = 1;
        expect(s);
        return GCOR_OK;
    }
    gcor_free(s);
    *slabs = NULL;
    return status;
}

/* Nothing of the second product is in flight then, and there may be a first one. */
static void end(gcor_slabs *s) {
    if (s->is_begun) s->backend->end(s->state);
    s->is_begun = 0;
}

void gcor_slabs_close(gcor_slabs *s) {
    if (!s) return;
    end(s);
    s->sink->of_overlaps = 0;
    for (int k = 0; k < SLABS; k++) gcor_sink_free(s->slabs[k].adjacency ? &s->slabs[k].adjacency->sink : NULL);
    gcor_free(s);
}

/* ---- the first product ------------------------------------------------------------------------------ */

/* The variable whose coefficients are missing; of pairs with observations of their own there may be none. */
static gcor_status fail_missing(const gcor_slabs *s, int64_t missing) {
    const char *way_out =
        "leave such columns out, see 'use', or have them count as 0 with replaceMissingAdjacencies = TRUE";
    const char *min = is_whole(s) ? "" : "at least ";
    for (int64_t j = 0; j < s->n_var; j++) {
        const unsigned char flags = s->work->col_flags[j];
        const char *what = flags & GCOR_CONSTANT   ? "is constant"
                           : flags & GCOR_FEW      ? "has fewer than two values"
                           : flags & GCOR_MISSING  ? "has missing values"
                           : flags & GCOR_INFINITE ? "has infinite values"
                                                   : NULL;
        if (what)
            return gcor_fail(s->context, GCOR_BAD_INPUT,
                             "%s%.0f pairs have no coefficient, and thus no adjacency: column %.0f %s; %s", min,
                             (double)missing, (double)j + 1, what, way_out);
    }
    return gcor_fail(s->context, GCOR_BAD_INPUT, "%s%.0f pairs have no coefficient, and thus no adjacency; %s", min,
                     (double)missing, way_out);
}

static gcor_status multiply_first(gcor_worker *worker, const gcor_slabs *s, const gcor_adjacency *adjacency) {
    gcor_tile columns = {0, s->n_var, adjacency->first, adjacency->n};
    if (is_whole(s)) return gcor_worker_multiply_all(worker);
    gcor_status status = gcor_worker_multiply_tile(worker, &columns);
    return status ? status : gcor_worker_finish(worker);
}

/* All pairs of a slab's columns: a run by this worker's device, of which nothing is shared. */
static gcor_status find_adjacencies(gcor_slabs *s, gcor_adjacency *adjacency) {
    const gcor_work *work = s->work;
    gcor_job job = *work->job;
    gcor_work first = {.session = work->session,
                       .job = &job,
                       .rows = work->cols,
                       .cols = work->cols,
                       .row_flags = work->col_flags,
                       .col_flags = work->col_flags,
                       .kind = work->kind,
                       .grid = gcor_grid_of(adjacency->sink.shape, s->n_var, s->n_var)};
    gcor_worker *worker = NULL;
    const int64_t memory = s->context->memory;
    job.sink = &adjacency->sink;
    job.shard = (gcor_shard){0, 1};
    s->context->memory = memory > 0 ? gcor_min(memory, s->plan.operands) : s->plan.operands;
    gcor_status status = gcor_queue_fill(&first.queue, s->context, &first.grid, &job.shard);
    if (!status) status = gcor_worker_open(s->context, &first, s->state, job.sink, &worker);
    if (!status) status = multiply_first(worker, s, adjacency);
    gcor_worker_close(worker);
    gcor_queue_free(&first.queue);
    s->context->memory = memory;
    if (!status && adjacency->missing > 0 && !adjacency->rule.replaces_missing)
        status = fail_missing(s, adjacency->missing);
    if (!status && !s->backend->keeps_adjacency) status = gcor_adjacency_complete(adjacency, s->context);
    return status;
}

/* What the second product has in flight uses slabs. */
static gcor_status pause(gcor_slabs *s) {
    gcor_status status = gcor_slabs_finish(s);
    end(s);
    return status;
}

static gcor_status make(gcor_slabs *s, slab *slot, int64_t first) {
    gcor_status status = pause(s);
    gcor_sink_free(slot->adjacency ? &slot->adjacency->sink : NULL);
    slot->adjacency = NULL;
    if (!status)
        status = gcor_adjacency_new(s->context, s->work->job->overlap, is_whole(s) ? s->sink->shape : GCOR_FULL,
                                    s->n_var, first, gcor_min(s->width, s->n_var - first), !s->backend->keeps_adjacency,
                                    &slot->adjacency);
    return status ? status : find_adjacencies(s, slot->adjacency);
}

/* The slab that begins at a variable, ready. */
static gcor_status fetch(gcor_slabs *s, int64_t first, const gcor_adjacency **adjacency) {
    slab *oldest = s->slabs, *found = NULL;
    for (slab *at = s->slabs; at < s->slabs + SLABS; at++) {
        if (at->adjacency && at->adjacency->first == first) found = at;
        if (at->wanted < oldest->wanted) oldest = at;
    }
    gcor_status status = found ? GCOR_OK : make(s, oldest, first);
    if (!found) found = oldest;
    found->wanted = ++s->clock;
    *adjacency = found->adjacency;
    return status;
}

gcor_status gcor_slabs_prepare(gcor_slabs *s) {
    const gcor_adjacency *adjacency;
    return s->n_var > 0 ? fetch(s, 0, &adjacency) : GCOR_OK;
}

/* ---- the second product ----------------------------------------------------------------------------- */

static gcor_status begin(gcor_slabs *s) {
    if (s->is_begun) return GCOR_OK;
    gcor_status status = s->backend->begin(s->state, s->context, s->sink);
    s->is_begun = !status;
    return status;
}

static gcor_status multiply_tile(gcor_slabs *s, const gcor_adjacency *rows, const gcor_adjacency *cols,
                                 const gcor_tile *tile) {
    int64_t pairs = gcor_tile_pairs(tile, s->sink->shape) * gcor_overlap_weight(s->work);
    if (pairs == 0) return GCOR_OK;
    gcor_status status = gcor_begin_pairs(s->context, pairs);
    if (!status) status = s->backend->overlap(s->state, rows, cols, tile);
    if (!status) gcor_end_pairs(s->context);
    return status;
}

static gcor_status multiply_tiles(gcor_slabs *s, const gcor_adjacency *rows, const gcor_adjacency *cols,
                                  const gcor_tile *all) {
    int64_t row_end = all->row + all->n_row, col_end = all->col + all->n_col;
    double started = gcor_seconds();
    gcor_status status = begin(s);
    for (int64_t row = all->row; !status && row < row_end; row += s->plan.n_row)
        for (int64_t col = all->col; !status && col < col_end; col += s->plan.n_col) {
            gcor_tile tile = {row, gcor_min(s->plan.n_row, row_end - row), col, gcor_min(s->plan.n_col, col_end - col)};
            status = multiply_tile(s, rows, cols, &tile);
        }
    s->context->seconds_multiplying += gcor_seconds() - started;
    return status;
}

/* What a rectangle has of two slabs. */
static gcor_status multiply_slabs(gcor_slabs *s, const gcor_tile *all, int64_t row, int64_t col) {
    const gcor_adjacency *rows, *cols;
    int64_t first_row = gcor_max(row, all->row), first_col = gcor_max(col, all->col);
    gcor_tile part = {first_row, gcor_min(row + s->width, all->row + all->n_row) - first_row, first_col,
                      gcor_min(col + s->width, all->col + all->n_col) - first_col};
    if (gcor_tile_pairs(&part, s->sink->shape) == 0) return GCOR_OK;
    gcor_status status = fetch(s, row, &rows);
    if (!status) status = fetch(s, col, &cols);
    return status ? status : multiply_tiles(s, rows, cols, &part);
}

/* Every other row of slabs is done from the right: its first columns are those that the row before had last. */
gcor_status gcor_slabs_multiply(gcor_slabs *s, const gcor_tile *all) {
    int64_t first = all->col / s->width, n = (all->col + all->n_col - 1) / s->width - first + 1, turn = 0;
    gcor_status status = GCOR_OK;
    for (int64_t row = all->row / s->width * s->width; !status && row < all->row + all->n_row;
         row += s->width, turn ^= 1)
        for (int64_t k = 0; !status && k < n; k++)
            status = multiply_slabs(s, all, row, (first + (turn ? n - 1 - k : k)) * s->width);
    return status;
}

gcor_status gcor_slabs_finish(gcor_slabs *s) {
    double started = gcor_seconds();
    if (!s->is_begun) return GCOR_OK;
    gcor_status status = s->backend->finish(s->state);
    s->context->seconds_multiplying += gcor_seconds() - started;
    return status;
}
