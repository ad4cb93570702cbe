/* What the ties of a column do to the variance of Kendall's tau-b (R/significance.R). */
#include "quotient.h"

#include "alloc.h"
#include "measure.h"
#include "source.h"

#include <math.h>

typedef struct {
    int64_t n_obs;
    size_t bytes; /* to rank a column */
    char *room;   /* of each thread */
    double *quotient;
} work;

/* Whole numbers, and thus exact, up to the division. */
static void find_quotient(void *user, int thread, int64_t j, double *x, int flags) {
    const work *w = user;
    int64_t tied, pairs = w->n_obs * (w->n_obs - 1) / 2;
    w->quotient[j] = NAN;
    if (flags & GCOR_MISSING) return;
    gcor_ranks ranks = gcor_ranks_at(w->room + (size_t)thread * w->bytes, w->n_obs);
    int64_t present = gcor_rank(x, w->n_obs, &ranks, &tied);
    if (tied < pairs) w->quotient[j] = gcor_scores(&ranks, w->n_obs, present, x) / (2 * (double)(pairs - tied)) - 1;
}

gcor_status gcor_tie_quotients(gcor_context *context, const gcor_columns *columns, double *quotient) {
    work w = {.n_obs = columns->n_obs, .quotient = quotient};
    w.bytes = (gcor_ranks_bytes(w.n_obs) + 63) / 64 * 64;
    w.room = gcor_alloc(context, context->threads, w.bytes, "the ties of columns");
    if (!w.room) return GCOR_NO_MEMORY;
    gcor_status status = gcor_for_columns(context, columns, 0, columns->source->n_var, find_quotient, &w);
    gcor_free(w.room);
    return status;
}
