/* Panels of columns, which the back end prepares: for coefficients, of one data set or of several. */
#include "../base/alloc.h"
#include "../measure/measure.h"
#include "../base/triangle.h"
#include "work.h"
#include "../sink/combine.h"

#include <math.h>

enum {
    SMALL_BYTES = 64 << 20, /* operands of this size fit anywhere */
    SHARD_PANEL = 16384     /* variables of a panel where a run does not see all of them */
};

/* ---- sizes ---------------------------------------------------------------------------- */

int64_t gcor_coefficients_memory(const gcor_coefficients *c) {
    int64_t given = c->head.context->memory;
    return given > 0 ? given : gcor_backend_of(&c->head)->memory(c->head.state);
}

/* Bytes of a variable's operands in all data sets. */
static int64_t variable_bytes(const gcor_panel_maker *maker) {
    const gcor_work *work = maker->work;
    int64_t bytes = 0;
    for (const gcor_data *data = work->data; data < work->data + work->n_data; data++)
        bytes += gcor_backend_of(maker)->column_bytes(maker->state, data->kind, data->length);
    return bytes;
}

/* The number of variables whose operands fit; `variables` if all of them do. */
static int64_t count_fitting(const gcor_coefficients *c, int64_t variables) {
    int64_t each = variable_bytes(&c->head);
    if (each < 1 || (c->head.context->memory == 0 && variables * each <= SMALL_BYTES)) return variables;
    return gcor_coefficients_memory(c) / each;
}

int gcor_coefficients_fit(const gcor_coefficients *c, int64_t side) {
    int64_t sides = 2 * gcor_min(side, c->head.work->grid.n_col);
    return count_fitting(c, sides) >= sides;
}

/* The largest tile that the back end accepts for every data set. */
static void plan_tiles(gcor_coefficients *c) {
    const gcor_work *work = c->head.work;
    c->tile_rows = c->tile_cols = INT64_MAX;
    for (const gcor_data *data = work->data; data < work->data + work->n_data; data++) {
        int64_t rows, cols;
        gcor_backend_of(&c->head)->tile_size(c->head.state, data->kind, data->length, &rows, &cols);
        c->tile_rows = gcor_min(c->tile_rows, rows);
        c->tile_cols = gcor_min(c->tile_cols, cols);
    }
}

/* One panel of all variables, if they fit and the run needs all of them. Otherwise panels are as wide as possible while
 * two of them fit, at least as wide as a tile; as many are kept as fit. */
static gcor_tiling plan_panels(const gcor_coefficients *c) {
    const gcor_work *work = c->head.work;
    const gcor_grid *grid = &work->grid;
    int is_part = work->job->shard.of > 1;
    int64_t sides = grid->shape == GCOR_FULL ? 2 : 1, longest = gcor_max(grid->n_row, grid->n_col);
    int64_t all = grid->shape == GCOR_FULL ? grid->n_row + grid->n_col : grid->n_col, fit = count_fitting(c, all);
    int64_t n = work->n_data, panel = c->tile_cols;
    while (panel < longest && (all <= fit ? !is_part || panel < SHARD_PANEL : 2 * (2 * panel) <= fit)) panel *= 2;
    int64_t n_panels = n * sides * (longest / panel + 1);
    if (all > fit) n_panels = gcor_max(2, gcor_min(n_panels, n * fit / panel));
    return (gcor_tiling){c->tile_rows, c->tile_cols, panel, n_panels, c->tile_cols};
}

/* ---- panels ---------------------------------------------------------------------------- */

/* The writes are atomic, because several workers share the job's arrays. */
static void report_variables(const gcor_work *work, const gcor_panel *panel, const gcor_operand *operand) {
    unsigned char *flags = panel->is_row_side ? work->row_flags : work->col_flags;
    for (int64_t j = 0; j < operand->n_var; j++) {
        if (operand->flags[j]) __atomic_fetch_or(&flags[panel->first + j], operand->flags[j], __ATOMIC_RELAXED);
        if (work->col_norm) __atomic_store(&work->col_norm[panel->first + j], &operand->norm[j], __ATOMIC_RELAXED);
    }
}

static gcor_status prepare(gcor_panel_maker *maker, const gcor_panel *panel, int64_t n_var, gcor_operand **operand) {
    const gcor_data *data = &maker->work->data[panel->set];
    double started = gcor_seconds();
    gcor_status status = gcor_backend_of(maker)->prepare(maker->state, panel->is_row_side ? &data->rows : &data->cols,
                                                         maker->work->job->measure, data->kind, panel->first, n_var,
                                                         operand);
    maker->context->seconds_preparing += gcor_seconds() - started;
    if (!status) report_variables(maker->work, panel, *operand);
    return status;
}

static void release(gcor_panel_maker *maker, gcor_operand *operand) {
    gcor_backend_of(maker)->release(maker->state, operand);
}

static void close_maker(gcor_panel_maker *maker) {
    gcor_backend_of(maker)->end(maker->state);
    if (((gcor_coefficients *)maker)->owns_sink) gcor_sink_free(maker->sink);
    gcor_free(maker);
}

static const gcor_panel_type coefficients_type = {prepare, release, close_maker};

gcor_status gcor_coefficients_begin(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                                    gcor_coefficients **maker) {
    gcor_coefficients *c = *maker = gcor_alloc(context, 1, sizeof *c, "a worker");
    if (!c) return GCOR_NO_MEMORY;
    *c = (gcor_coefficients){.head = {&coefficients_type, context, work, state, sink}};
    gcor_status status = gcor_backend_of(&c->head)->begin(state, context, sink, work->data->kind);
    if (!status) {
        plan_tiles(c); /* only now: the back end's sizes may depend on the sink */
        return GCOR_OK;
    }
    gcor_free(c);
    *maker = NULL;
    return status;
}

gcor_status gcor_coefficients_start(gcor_coefficients *c, gcor_worker **worker) {
    gcor_tiling tiling = plan_panels(c);
    gcor_status status = gcor_worker_new(&c->head, &tiling, worker);
    if (status) close_maker(&c->head);
    return status;
}

gcor_status gcor_open_coefficients(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                                   gcor_worker **worker) {
    gcor_coefficients *c;
    *worker = NULL;
    gcor_status status = gcor_coefficients_begin(context, work, state, sink, &c);
    return status ? status : gcor_coefficients_start(c, worker);
}

/* ---- several subjects --------------------------------------------------------------------------- */

/* The worker multiplies each tile for one subject after another, into the sink that combines them. After the last
 * subject, that sink passes the finished tile to the sink of the run. */

enum { DEVICE_BYTES = 256 << 20 }; /* host memory for all subjects' values of a device's tile */

static int are_all_real(const gcor_work *work) {
    for (int64_t s = 0; s < work->n_data; s++)
        if (work->data[s].kind != GCOR_REAL) return 0;
    return 1;
}

/* The combining sink determines the size of a tile, at most the problem's. If two panels of that size do not fit for
 * all subjects, operands are prepared again for each tile. Tiles are then larger, and values are exact, because
 * approximate values refer to operands, which are not kept. */
static void plan_combined_tiles(gcor_coefficients *c, gcor_combine *combine) {
    const gcor_work *work = c->head.work;
    const int threads = c->head.context->threads;
    /* A device delivers tiles of its own size. */
    int64_t side = gcor_combine_side(combine, threads, gcor_backend_of(&c->head)->pairs ? 0 : DEVICE_BYTES);
    int64_t longest = gcor_max(work->grid.n_row, work->grid.n_col);
    while (side / 2 >= longest && side > 64) side /= 2;
    if (!gcor_coefficients_fit(c, side)) {
        combine->sink.approximate = 0;
        side = gcor_combine_side(combine, threads, gcor_coefficients_memory(c) / 4);
        c->tile_rows = c->tile_cols = gcor_max(c->tile_cols, side);
    }
    c->tile_cols = gcor_min(c->tile_cols, side);
    c->tile_rows = gcor_min(c->tile_rows, c->tile_cols);
}

/* Returns 1 if the sink, as it is, needs few sums of coarse values: those of uncorrelated columns are mostly smaller.
 * The errors of subjects add up; a maximum grows, and soon rules out most pairs. */
static int needs_few(const gcor_sink *sink, const gcor_work *work) {
    const gcor_combination *rule = work->job->combination;
    double error = 0, variance = 0, min = sink->type->min ? sink->type->min(sink) : 0;
    if (!sink->coarse || work->n_data > 2) return 0;
    if (sink->type->role == GCOR_MAXIMUM) return 1;
    for (int64_t s = 0; s < work->n_data; s++) {
        double weight = rule->subjects[s].weight / rule->total;
        error += fabs(weight) * GCOR_COARSE_ERROR;
        variance += weight * weight / (double)work->data[s].length;
    }
    return min > error + 3 * sqrt(variance);
}

gcor_status gcor_open_subjects(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                               gcor_worker **worker) {
    const gcor_job *job = work->job;
    gcor_combine *combine;
    gcor_coefficients *c;
    *worker = NULL;
    gcor_status status = gcor_combine_new(context, job->combination, work->session->backend, sink, job->in_double,
                                          &combine);
    if (status) return status;
    combine->sink.approximate = gcor_combine_may_be_approx(combine) && are_all_real(work);
    combine->sink.coarse = needs_few(sink, work);
    status = gcor_coefficients_begin(context, work, state, &combine->sink, &c);
    if (status) {
        gcor_sink_free(&combine->sink);
        return status;
    }
    c->owns_sink = 1;
    plan_combined_tiles(c, combine);
    return gcor_coefficients_start(c, worker);
}
