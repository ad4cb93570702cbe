/* The product of columns that the back end prepares: coefficients, of one data set or of several. */
#include "../base/alloc.h"
#include "../measure/measure.h"
#include "session.h"
#include "../base/triangle.h"
#include "worker.h"

enum {
    SMALL_BYTES = 64 << 20, /* operands of this size fit anywhere */
    SHARD_PANEL = 16384     /* variables of a panel where a run does not see all of them */
};

static const gcor_columns *columns_of(const gcor_coefficients *p, const gcor_panel *panel) {
    const gcor_data *data = &p->work->data[panel->set];
    return panel->is_row_side ? &data->rows : &data->cols;
}

/* ---- sizes ---------------------------------------------------------------------------- */

int64_t gcor_coefficients_memory(const gcor_coefficients *p) {
    return p->context->memory > 0 ? p->context->memory : p->backend->memory(p->state);
}

/* Bytes of a variable's operands in all data sets. */
static int64_t variable_bytes(const gcor_coefficients *p) {
    int64_t bytes = 0;
    for (const gcor_data *data = p->work->data; data < p->work->data + p->work->n_data; data++)
        bytes += p->backend->column_bytes(p->state, data->kind, data->cols.n_obs);
    return bytes;
}

/* The number of variables whose operands fit; `variables` if all of them do. */
static int64_t count_fitting(const gcor_coefficients *p, int64_t variables) {
    int64_t each = variable_bytes(p);
    if (each < 1 || (p->context->memory == 0 && variables * each <= SMALL_BYTES)) return variables;
    return gcor_coefficients_memory(p) / each;
}

int gcor_coefficients_fit(const gcor_coefficients *p, int64_t side) {
    int64_t sides = 2 * gcor_min(side, p->work->grid.n_col);
    return count_fitting(p, sides) >= sides;
}

/* The largest tile that the back end accepts for every data set. */
static void plan_tiles(gcor_coefficients *p) {
    p->tile_rows = p->tile_cols = INT64_MAX;
    for (const gcor_data *data = p->work->data; data < p->work->data + p->work->n_data; data++) {
        int64_t rows, cols;
        p->backend->tile_size(p->state, data->kind, data->cols.n_obs, &rows, &cols);
        p->tile_rows = gcor_min(p->tile_rows, rows);
        p->tile_cols = gcor_min(p->tile_cols, cols);
    }
}

/* One panel of all variables, if they fit and the run needs all of them. Otherwise panels are as wide as possible while
 * two of them fit, at least as wide as a tile; as many are kept as fit. */
static gcor_tiling plan_panels(const gcor_coefficients *p) {
    const gcor_grid *grid = &p->work->grid;
    int is_part = p->work->job->shard.of > 1;
    int64_t sides = grid->shape == GCOR_FULL ? 2 : 1, longest = gcor_max(grid->n_row, grid->n_col);
    int64_t all = grid->shape == GCOR_FULL ? grid->n_row + grid->n_col : grid->n_col, fit = count_fitting(p, all);
    int64_t n = p->work->n_data, panel = p->tile_cols;
    while (panel < longest && (all <= fit ? !is_part || panel < SHARD_PANEL : 2 * (2 * panel) <= fit)) panel *= 2;
    int64_t n_panels = n * sides * (longest / panel + 1);
    if (all > fit) n_panels = gcor_max(2, gcor_min(n_panels, n * fit / panel));
    return (gcor_tiling){p->tile_rows, p->tile_cols, panel, n_panels, p->tile_cols};
}

/* ---- the product ---------------------------------------------------------------------- */

/* The writes are atomic, because several workers share the job's arrays. */
static void report_variables(const gcor_work *work, const gcor_panel *panel, const gcor_operand *operand) {
    unsigned char *flags = panel->is_row_side ? work->row_flags : work->col_flags;
    for (int64_t j = 0; j < operand->n_var; j++) {
        __atomic_fetch_or(&flags[panel->first + j], operand->flags[j], __ATOMIC_RELAXED);
        if (work->col_norm) __atomic_store(&work->col_norm[panel->first + j], &operand->norm[j], __ATOMIC_RELAXED);
    }
}

static gcor_status prepare(void *product, const gcor_panel *panel, int64_t n_var, gcor_operand **operand) {
    const gcor_coefficients *p = product;
    double started = gcor_seconds();
    gcor_status status = p->backend->prepare(p->state, columns_of(p, panel), p->work->job->measure,
                                             p->work->data[panel->set].kind, panel->first, n_var, operand);
    p->context->seconds_preparing += gcor_seconds() - started;
    if (!status) report_variables(p->work, panel, *operand);
    return status;
}

static void release(void *product, gcor_operand *operand) {
    const gcor_coefficients *p = product;
    p->backend->release(p->state, operand);
}

static gcor_status multiply(void *product, const gcor_operand *rows, const gcor_operand *cols, const gcor_tile *tile) {
    const gcor_coefficients *p = product;
    return p->backend->multiply(p->state, rows, cols, tile);
}

static gcor_status finish(void *product) {
    const gcor_coefficients *p = product;
    return p->backend->finish(p->state);
}

static void free_product(gcor_coefficients *p) {
    if (p->owns_sink) gcor_sink_free(p->sink);
    gcor_free(p);
}

static void close_product(void *product) {
    gcor_coefficients *p = product;
    p->backend->end(p->state);
    free_product(p);
}

static const gcor_product_type coefficients_type = {prepare, release, multiply, finish, close_product};

gcor_status gcor_coefficients_begin(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                                    gcor_coefficients **product) {
    gcor_coefficients *p = *product = gcor_alloc(context, 1, sizeof *p, "a worker");
    if (!p) return GCOR_NO_MEMORY;
    *p = (gcor_coefficients){
        .backend = work->session->backend, .context = context, .work = work, .state = state, .sink = sink};
    gcor_status status = p->backend->begin(state, context, sink);
    if (!status) {
        plan_tiles(p); /* only now: the back end's sizes may depend on the sink */
        return GCOR_OK;
    }
    gcor_free(p);
    *product = NULL;
    return status;
}

gcor_status gcor_coefficients_start(gcor_coefficients *p, gcor_worker **worker) {
    gcor_tiling tiling = plan_panels(p);
    gcor_status status = gcor_worker_new(p->context, p->work, p->sink->shape, &coefficients_type, p, &tiling, worker);
    if (status) close_product(p);
    return status;
}

gcor_status gcor_open_coefficients(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                                   gcor_worker **worker) {
    gcor_coefficients *product;
    *worker = NULL;
    gcor_status status = gcor_coefficients_begin(context, work, state, sink, &product);
    return status ? status : gcor_coefficients_start(product, worker);
}
