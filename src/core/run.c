/* The tile loop: the only loop over pairs in the package.
 *
 * All pairs form an upper triangle, a lower triangle or a rectangle. It is cut into tiles of a
 * fixed grid. The variables are prepared in panels, whole tiles wide: one panel where all
 * operands fit the back end's memory, otherwise two at a time, in rounds. */
#include "gpucor.h"

#include "alloc.h"
#include "missing.h"
#include "triangle.h"


typedef struct {
    const gcor_backend *backend;
    gcor_context *context;
    gcor_state *state;
    const gcor_job *job;
    gcor_kind kind;
    gcor_columns row_columns, col_columns;
    unsigned char *row_flags, *col_flags; /* the job's */
    int64_t tile_rows, tile_cols;
    int64_t panel; /* variables in a panel, a multiple of tile_cols */
    int64_t kept;  /* first variable of the column operand at hand, -1: none */
    gcor_operand *rows, *cols;
} run;

static gcor_kind kind_of(gcor_method method, int common) {
    if (!common) return method == GCOR_KENDALL ? GCOR_SIGN : GCOR_REAL;
    return method == GCOR_KENDALL ? GCOR_SIGN_COMMON : method == GCOR_SPEARMAN ? GCOR_RANK_COMMON : GCOR_REAL_COMMON;
}

static int64_t smaller(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Whether rows a .. and columns b .. (n of each) hold a pair that counts. */
static int holds_pairs(gcor_shape shape, int64_t row, int64_t n_row, int64_t col, int64_t n_col) {
    gcor_tile tile = {row, n_row, col, n_col};
    return gcor_tile_pairs(&tile, shape) > 0;
}

static void plan(run *r) {
    const gcor_backend *backend = r->backend;
    int64_t per_column = backend->column_bytes(r->state, r->kind, r->row_columns.n_obs);
    int64_t memory = r->context->memory > 0 ? r->context->memory : backend->memory(r->state);
    int64_t fit = memory / (per_column > 0 ? per_column : 1);
    int64_t n_row = r->row_columns.matrix->n_var, n_col = r->col_columns.matrix->n_var;
    int64_t needed = r->job->sink->shape == GCOR_FULL ? n_row + n_col : n_row;

    backend->tile_size(r->state, r->kind, r->row_columns.n_obs, &r->tile_rows, &r->tile_cols);
    r->panel = needed <= fit ? needed : fit / 2;
    if (needed <= fit) r->panel += r->tile_cols - 1;
    r->panel = r->panel / r->tile_cols * r->tile_cols;
    if (r->panel < r->tile_cols) r->panel = r->tile_cols;
}

static gcor_status prepare(run *r, const gcor_columns *columns, unsigned char *flags, int64_t first,
                           gcor_operand **operand) {
    int64_t n_var = smaller(r->panel, columns->matrix->n_var - first);
    double started = gcor_seconds();
    gcor_status status =
        r->backend->prepare(r->state, columns, r->job->method, r->kind, first, n_var, operand);
    r->context->seconds_preparing += gcor_seconds() - started;
    if (status) return status;
    for (int64_t j = 0; j < n_var; j++) flags[first + j] = (*operand)->flags[j];
    return GCOR_OK;
}

static void release_cols(run *r) {
    if (r->cols && r->cols != r->rows) r->backend->release(r->state, r->cols);
    r->cols = NULL;
    r->kept = -1;
}

/* The column operand from `first`: the row operand itself on the diagonal, the one at hand
 * where it is still the right one, otherwise a new one. */
static gcor_status fetch_cols(run *r, int64_t first) {
    if (r->cols && r->kept == first) return GCOR_OK;
    release_cols(r);
    if (r->job->sink->shape != GCOR_FULL && r->rows->first == first) {
        r->cols = r->rows;
        return GCOR_OK;
    }
    gcor_status status = prepare(r, &r->col_columns, r->col_flags, first, &r->cols);
    if (!status) r->kept = first;
    return status;
}

static gcor_status multiply_tiles(run *r) {
    gcor_shape shape = r->job->sink->shape;
    gcor_monitor *monitor = &r->context->monitor;
    const gcor_operand *rows = r->rows, *cols = r->cols;
    int64_t row_end = rows->first + rows->n_var, col_end = cols->first + cols->n_var;
    for (int64_t row = rows->first; row < row_end; row += r->tile_rows) {
        for (int64_t col = cols->first; col < col_end; col += r->tile_cols) {
            gcor_tile tile = {row, smaller(r->tile_rows, row_end - row), col, smaller(r->tile_cols, col_end - col)};
            int64_t pairs = gcor_tile_pairs(&tile, shape);
            if (pairs == 0) continue;
            if (gcor_stop(r->context, 0)) return r->context->error.status;
            monitor->tile_pairs = (double)pairs;
            monitor->tile_share = 0;
            gcor_status status = r->backend->multiply(r->state, rows, cols, &tile);
            if (status) return status;
            monitor->pairs_done += (double)pairs;
            monitor->tile_pairs = 0;
        }
    }
    return GCOR_OK;
}

static gcor_status multiply_panels(run *r) {
    gcor_shape shape = r->job->sink->shape;
    int64_t n_row = r->row_columns.matrix->n_var, n_col = r->col_columns.matrix->n_var;
    gcor_status status = GCOR_OK;
    for (int64_t row = 0; !status && row < n_row; row += r->panel) {
        status = prepare(r, &r->row_columns, r->row_flags, row, &r->rows);
        for (int64_t col = 0; !status && col < n_col; col += r->panel) {
            if (!holds_pairs(shape, row, smaller(r->panel, n_row - row), col, smaller(r->panel, n_col - col))) continue;
            status = fetch_cols(r, col);
            double started = gcor_seconds();
            if (!status) status = multiply_tiles(r);
            if (!status) status = r->backend->finish(r->state);
            r->context->seconds_multiplying += gcor_seconds() - started;
        }
        if (r->cols == r->rows) release_cols(r);
        if (r->rows) r->backend->release(r->state, r->rows);
        r->rows = NULL;
    }
    return status;
}

static double total_pairs(const run *r) {
    gcor_tile all = {0, r->row_columns.matrix->n_var, 0, r->col_columns.matrix->n_var};
    return (double)gcor_tile_pairs(&all, r->job->sink->shape);
}

/* A single variable has no pair and no tile, but what is known of it is still asked for. */
static gcor_status run_open(run *r) {
    gcor_status status = r->backend->open(r->context, r->job->sink, &r->state);
    if (status) return status;
    plan(r);
    status = multiply_panels(r);
    release_cols(r);
    r->backend->close(r->state);
    return status;
}

gcor_status gcor_run(const gcor_backend *backend, gcor_context *context, const gcor_job *job, int64_t *n_obs_used) {
    gcor_observations observations;
    gcor_status status = gcor_observations_of(context, job, &observations);
    if (status) return status;
    *n_obs_used = observations.n_obs;

    gcor_columns x = {job->x, observations.rows, observations.n_obs};
    gcor_columns y = x;
    if (job->y) y.matrix = job->y;
    run r = {.backend = backend, .context = context, .job = job, .kept = -1, .row_columns = y, .col_columns = x,
             .kind = kind_of(job->method, observations.common),
             .row_flags = job->y ? job->y_flags : job->x_flags, .col_flags = job->x_flags};
    context->monitor.pairs = total_pairs(&r);
    context->monitor.pairs_done = 0;
    context->monitor.last_check = gcor_seconds();
    status = run_open(&r);
    gcor_free(observations.rows);
    return status;
}
