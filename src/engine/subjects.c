/* Several subjects: the worker multiplies each tile for one subject after another, into the sink that combines them.
 * After the last subject, that sink passes the finished tile to the sink of the run. */
#include "../sink/combine.h"
#include "../base/alloc.h"
#include "session.h"
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
static void plan_tiles(gcor_coefficients *p, gcor_combine *c) {
    const int threads = p->context->threads;
    c->sink.approximate = gcor_combine_may_be_approx(c) && is_real(p->work);
    /* A device delivers tiles of its own size. */
    int64_t side = gcor_combine_side(c, threads, p->backend->pairs ? 0 : DEVICE_BYTES);
    int64_t longest = gcor_max(p->work->grid.n_row, p->work->grid.n_col);
    while (side / 2 >= longest && side > 64) side /= 2;
    if (!gcor_coefficients_fit(p, side)) {
        c->sink.approximate = 0;
        side = gcor_combine_side(c, threads, gcor_coefficients_memory(p) / 4);
        p->tile_rows = p->tile_cols = gcor_max(p->tile_cols, side);
    }
    p->tile_cols = gcor_min(p->tile_cols, side);
    p->tile_rows = gcor_min(p->tile_rows, p->tile_cols);
}

gcor_status gcor_open_subjects(gcor_context *context, gcor_work *work, gcor_state *state, gcor_sink *sink,
                               gcor_worker **worker) {
    const gcor_job *job = work->job;
    gcor_combine *combine;
    gcor_coefficients *product;
    *worker = NULL;
    gcor_status status = gcor_combine_new(context, job->combination, work->session->backend, sink, job->in_double,
                                          &combine);
    if (status) return status;
    status = gcor_coefficients_begin(context, work, state, &combine->sink, &product);
    if (status) {
        gcor_sink_free(&combine->sink);
        return status;
    }
    product->owns_sink = 1;
    plan_tiles(product, combine);
    return gcor_coefficients_start(product, worker);
}
