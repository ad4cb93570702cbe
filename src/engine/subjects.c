/* Several subjects: the worker multiplies each tile for one subject after another, into the sink that combines them.
 * After the last subject, that sink passes the finished tile to the sink of the run. */
#include "../sink/combine.h"
#include "../sink/maximum.h"
#include "../base/alloc.h"
#include "../base/triangle.h"
#include "worker.h"

enum { DEVICE_BYTES = 256 << 20 }; /* host memory for all subjects' values of a device's tile */

static int is_real(const gcor_work *work) {
    for (int64_t s = 0; s < work->n_data; s++)
        if (work->data[s].kind != GCOR_REAL) return 0;
    return 1;
}

/* The combining sink determines the size of a tile, at most the problem's. If two panels of that size do not fit for
 * all subjects, operands are prepared again for each tile. Tiles are then larger, and values are exact, because
 * approximate values refer to operands, which are not kept. */
static void plan_tiles(gcor_coefficients *c, gcor_combine *combine) {
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

gcor_status gcor_open_subjects(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                               gcor_worker **worker) {
    const gcor_job *job = work->job;
    gcor_combine *combine;
    gcor_coefficients *c;
    *worker = NULL;
    gcor_status status = gcor_combine_new(context, job->combination, work->session->backend, sink, job->in_double,
                                          &combine);
    if (status) return status;
    combine->sink.approximate = gcor_combine_may_be_approx(combine) && is_real(work);
    /* The errors of subjects add up; then only a maximum, which grows, rules out most pairs. */
    combine->sink.coarse = sink->type == &gcor_maximum_type && work->n_data <= 2;
    status = gcor_coefficients_begin(context, work, state, &combine->sink, &c);
    if (status) {
        gcor_sink_free(&combine->sink);
        return status;
    }
    c->owns_sink = 1;
    plan_tiles(c, combine);
    return gcor_coefficients_start(c, worker);
}
