/* Panels of columns, which the back end prepares: for coefficients, of one data set or of several. */
#include "../base/alloc.h"
#include "../measure/measure.h"
#include "../base/triangle.h"
#include "work.h"

#include <math.h>

enum {
    SMALL_BYTES = 64 << 20, /* operands of this size fit anywhere */
    SHARD_PANEL = 16384     /* variables of a panel where a run does not see all of them */
};

/* A maker of panels of columns. */
typedef struct {
    gcor_panel_maker head;
    gcor_sink *owned[4];            /* sinks before the run's; NULL: none */
    gcor_combine *combine;          /* of these the last one that combines; NULL: none */
    gcor_combination blocks, parts; /* how blocks of complex columns and their parts are combined */
    gcor_subject *ones;             /* as many as there are parts, of weight 1; owned */
    int64_t tile_rows, tile_cols;   /* what the back end asks for, or less */
} coefficients;

/* ---- sizes ---------------------------------------------------------------------------- */

static int64_t memory_of(const coefficients *c) {
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
static int64_t count_fitting(const coefficients *c, int64_t variables) {
    int64_t each = variable_bytes(&c->head);
    if (each < 1 || (c->head.context->memory == 0 && variables * each <= SMALL_BYTES)) return variables;
    return memory_of(c) / each;
}

/* Returns non-zero if two panels of `side` variables of every data set fit in the memory for operands. */
static int do_fit(const coefficients *c, int64_t side) {
    int64_t sides = 2 * gcor_min(side, c->head.work->grid.n_col);
    return count_fitting(c, sides) >= sides;
}

/* The largest tile that the back end accepts for every data set. */
static void plan_tiles(coefficients *c) {
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
static gcor_tiling plan_panels(const coefficients *c) {
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
        if (work->col_norm && panel->set == 0)
            __atomic_store(&work->col_norm[panel->first + j], &operand->norm[j], __ATOMIC_RELAXED);
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

static void free_maker(gcor_panel_maker *maker) {
    for (int k = 0; k < 4; k++) gcor_sink_free(((coefficients *)maker)->owned[k]);
    gcor_free(((coefficients *)maker)->ones);
    gcor_free(maker);
}

static void close_maker(gcor_panel_maker *maker) {
    gcor_backend_of(maker)->end(maker->state);
    free_maker(maker);
}

static const gcor_panel_type coefficients_type = {prepare, release, close_maker};

/* ---- sinks before the run's ----------------------------------------------------------------------- */

/* The worker multiplies each tile for one data set after another. Each of these sinks takes it from the back end or
 * from the sink before it, and passes it on to the next one when all of its parts have come:
 *
 *   enough observations -> agreement, or combination of both parts of complex products and of blocks
 *     -> combination of subjects -> the run's
 */

enum { DEVICE_BYTES = 256 << 20 }; /* host memory for all subjects' values of a device's tile */

static int are_all_real(const gcor_work *work) {
    for (int64_t s = 0; s < work->n_data; s++)
        if (work->data[s].kind != GCOR_REAL) return 0;
    return 1;
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

/* Puts a combination before the maker's sink, as number k of the owned. */
static gcor_status combine_before(coefficients *c, const gcor_combination *rule, int k) {
    gcor_panel_maker *maker = &c->head;
    gcor_combine *combine;
    gcor_status status = gcor_combine_new(maker->context, rule, gcor_backend_of(maker), maker->sink,
                                          maker->work->job->in_double, &combine);
    if (status) return status;
    c->owned[k] = maker->sink = &combine->sink;
    if (!c->combine) c->combine = combine;
    return GCOR_OK;
}

/* Both parts of complex products become a coefficient, and those of blocks their mean. Squares are added in one step.
 */
static gcor_status combine_parts(coefficients *c) {
    static const gcor_subject IMAGINARY[] = {{.weight = 0}, {.weight = 1}};
    const gcor_work *work = c->head.work;
    const gcor_job *job = work->job;
    const gcor_size size = gcor_complex_size(job->measure, work->data->cols.design);
    const int64_t n = work->n_data / (job->combination ? job->combination->n : 1), blocks = n / 2;
    gcor_status status = GCOR_OK;
    c->ones = gcor_alloc(c->head.context, n, sizeof *c->ones, "weights of frequencies");
    if (!c->ones) return GCOR_NO_MEMORY;
    for (int64_t k = 0; k < n; k++) c->ones[k] = (gcor_subject){.weight = 1};
    if (size == GCOR_SQUARED_SIZE) {
        c->parts = (gcor_combination){
            .how = GCOR_SQUARES, .total = (double)blocks, .n = n, .n_first = n, .subjects = c->ones};
    } else {
        c->blocks = (gcor_combination){
            .how = GCOR_MEAN, .total = (double)blocks, .n = blocks, .n_first = blocks, .subjects = c->ones};
        c->parts = (gcor_combination){.how = GCOR_SIZE,
                                      .total = 1,
                                      .n = 2,
                                      .n_first = 2,
                                      .subjects = size == GCOR_IMAGINARY_SIZE ? IMAGINARY : c->ones};
        if (blocks > 1) status = combine_before(c, &c->blocks, 1);
    }
    return status ? status : combine_before(c, &c->parts, 2);
}

static gcor_status combine_all(coefficients *c) {
    gcor_panel_maker *maker = &c->head;
    const gcor_work *work = maker->work;
    const gcor_job *job = work->job;
    gcor_sink *to = maker->sink;
    gcor_status status = GCOR_OK;
    if (job->combination) {
        status = combine_before(c, job->combination, 0);
        if (status) return status;
        c->combine->sink.approximate = gcor_combine_may_be_approx(c->combine) && are_all_real(work) &&
                                       job->measure->last_step == GCOR_AS_PRODUCT && !work->presence;
        c->combine->sink.coarse = c->combine->sink.approximate && needs_few(to, work);
    }
    if (job->measure->last_step == GCOR_COMPLEX) return combine_parts(c);
    if (!work->spreads) return GCOR_OK;
    status = gcor_agreement_new(maker->context, maker->sink, job->in_double,
                                gcor_option_of(job->measure, work->data->cols.design, 0) != 0, work->spreads,
                                work->n_data, &maker->sink);
    if (!status) c->owned[1] = maker->sink;
    return status;
}

static gcor_status put_before(coefficients *c) {
    gcor_panel_maker *maker = &c->head;
    const gcor_work *work = maker->work;
    gcor_status status = combine_all(c);
    if (status || !work->presence) return status;
    status = gcor_enough_new(maker->context, maker->sink, work->job->in_double, work->job->min_obs, work->presence,
                             work->n_data, &maker->sink);
    if (!status) c->owned[3] = maker->sink;
    return status;
}

/* The combining sink determines the size of a tile, at most the problem's. If two panels of that size do not fit for
 * all subjects, operands are prepared again for each tile. Tiles are then larger, and values are exact, because
 * approximate values refer to operands, which are not kept. */
static void plan_combined_tiles(coefficients *c, gcor_combine *combine) {
    const gcor_work *work = c->head.work;
    const int threads = c->head.context->threads;
    /* A device delivers tiles of its own size. */
    int64_t side = gcor_combine_side(combine, threads, gcor_backend_of(&c->head)->pairs ? 0 : DEVICE_BYTES);
    int64_t longest = gcor_max(work->grid.n_row, work->grid.n_col);
    while (side / 2 >= longest && side > 64) side /= 2;
    if (!do_fit(c, side)) {
        combine->sink.approximate = 0;
        side = gcor_combine_side(combine, threads, memory_of(c) / 4);
        c->tile_rows = c->tile_cols = gcor_max(c->tile_cols, side);
    }
    c->tile_cols = gcor_min(c->tile_cols, side);
    c->tile_rows = gcor_min(c->tile_rows, c->tile_cols);
}

/* ---- the worker --------------------------------------------------------------------------------- */

gcor_status gcor_open_coefficients(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                                   gcor_worker **worker) {
    coefficients *c = gcor_alloc(context, 1, sizeof *c, "a worker");
    *worker = NULL;
    if (!c) return GCOR_NO_MEMORY;
    *c = (coefficients){.head = {&coefficients_type, context, work, state, sink}};
    gcor_status status = put_before(c);
    if (!status) status = gcor_backend_of(&c->head)->begin(state, context, c->head.sink, work->data->kind);
    if (status) {
        free_maker(&c->head);
        return status;
    }
    plan_tiles(c); /* only now: the back end's sizes may depend on the sink */
    if (c->combine) plan_combined_tiles(c, c->combine);
    gcor_tiling tiling = plan_panels(c);
    status = gcor_worker_new(&c->head, &tiling, worker);
    if (status) close_maker(&c->head);
    return status;
}
