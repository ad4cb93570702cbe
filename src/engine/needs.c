/* Performs a run on a back end that prepares and multiplies nothing, but counts. The sizes of memory and tiles come
 * from the real back end. */
#include "session.h"

#include "../base/alloc.h"
#include "../measure/measure.h"
#include "work.h"

/* Replaces the data. */
typedef struct {
    gcor_source source; /* dimensions only; never read */
    gcor_needs *needs;
    int64_t *held, each; /* bytes of operands held now, by all sources; bytes per column */
} counting_source;

typedef struct {
    gcor_operand operand; /* must be first */
    int64_t *held, bytes;
} counted_operand;

static gcor_status begin(gcor_state *state, gcor_context *context, gcor_sink *sink, gcor_kind kind) {
    return GCOR_OK;
}

static void end(gcor_state *state) {}

static gcor_status prepare(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure, gcor_kind kind,
                           int64_t first, int64_t n_var, gcor_operand **operand) {
    counting_source *from = (counting_source *)columns->source;
    gcor_context none = {0};
    counted_operand *counted = gcor_alloc(&none, 1, sizeof *counted, "an operand");
    if (counted)
        *counted = (counted_operand){
            .operand = {.kind = kind, .n_var = n_var}, .held = from->held, .bytes = n_var * from->each};
    if (counted) counted->operand.flags = gcor_alloc(&none, n_var, 1, "an operand");
    if (!counted || !counted->operand.flags) {
        gcor_free(counted);
        return GCOR_NO_MEMORY;
    }
    from->needs->columns += n_var;
    *from->held += counted->bytes;
    if (*from->held > from->needs->bytes) from->needs->bytes = *from->held;
    *operand = &counted->operand;
    return GCOR_OK;
}

static void release(gcor_state *state, gcor_operand *operand) {
    counted_operand *counted = (counted_operand *)operand;
    *counted->held -= counted->bytes;
    gcor_free(operand->flags);
    gcor_free(counted);
}

static gcor_status multiply(gcor_state *state, const gcor_operand *rows, const gcor_operand *cols,
                            const gcor_tile *tile) {
    return GCOR_OK;
}

static gcor_status finish(gcor_state *state) {
    return GCOR_OK;
}

/* A copy of the real back end's table whose sizes come from the real state, and whose work is counted. */
static gcor_backend counting_backend(const gcor_backend *real) {
    gcor_backend counting = *real;
    counting.begin = begin;
    counting.end = end;
    counting.prepare = prepare;
    counting.release = release;
    counting.multiply = multiply;
    counting.finish = finish;
    return counting;
}

static gcor_status walk_tiles(gcor_work *work, gcor_context *context, gcor_state *state) {
    gcor_worker *worker = NULL;
    gcor_status status = gcor_queue_fill(&work->queue, context, &work->grid, &work->job->shard);
    if (!status) status = gcor_open_coefficients(context, work, state, work->job->sink, &worker);
    if (!status) status = gcor_worker_drain(worker);
    gcor_worker_close(worker);
    gcor_queue_free(&work->queue);
    return status;
}

/* Walks tiles and panels as in a run of the job, with a session of its own. */
static gcor_status count(gcor_session *session, gcor_context *context, gcor_job *job, gcor_state *state) {
    gcor_backend backend = counting_backend(session->backend);
    gcor_session counting = {.backend = &backend, .n_devices = 1};
    const gcor_sink *sink = job->sink;
    gcor_data data = {.rows = {.source = job->y ? job->y : job->x, .n_obs = job->x->n_obs},
                      .cols = {.source = job->x, .n_obs = job->x->n_obs}};
    gcor_work work = {.session = &counting,
                      .job = job,
                      .data = &data,
                      .n_data = 1,
                      .pair_weight = 1,
                      .grid = gcor_grid_of(sink->shape, sink->n_row, sink->n_col)};
    gcor_status status = gcor_kind_of(context, job->measure, NULL, job->x->n_obs, 0, job->in_double, &data.kind);
    if (status) return status;
    data.length = gcor_operand_length(job->measure, data.kind, job->x->n_obs);
    work.row_flags = gcor_alloc(context, sink->n_row, 1, "flags");
    work.col_flags = gcor_alloc(context, sink->n_col, 1, "flags");
    int64_t each = backend.column_bytes(state, data.kind, data.length);
    ((counting_source *)data.rows.source)->each = ((counting_source *)data.cols.source)->each = each;
    status = work.row_flags && work.col_flags ? walk_tiles(&work, context, state) : GCOR_NO_MEMORY;
    gcor_free(work.row_flags);
    gcor_free(work.col_flags);
    return status;
}

gcor_status gcor_needs_of(gcor_session *session, gcor_context *context, const gcor_job *job, gcor_needs *needs) {
    int64_t held = 0;
    counting_source x = {.source = {.n_obs = job->x->n_obs, .n_var = job->x->n_var}, .needs = needs, .held = &held};
    counting_source y = x;
    if (job->y) y.source.n_var = job->y->n_var;
    gcor_sink sink = {.shape = job->y ? GCOR_FULL : GCOR_LOWER, .n_row = y.source.n_var, .n_col = x.source.n_var};
    gcor_job counted = {
        .x = &x.source, .measure = job->measure, .in_double = job->in_double, .sink = &sink, .shard = job->shard};
    gcor_state *state;
    if (job->y) counted.y = &y.source;
    *needs = (gcor_needs){0};
    gcor_status status = gcor_session_any_state(session, context, &state);
    return status ? status : count(session, context, &counted, state);
}
