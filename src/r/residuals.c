/* Residuals of columns, as runs correlate them (measure/design.h). */
#include "job.h"

#include "../base/alloc.h"
#include "../measure/coefficient.h"

#include <string.h>

typedef struct {
    const gcor_columns *columns;
    double *scratch; /* n_obs for each thread */
    double *out;     /* n_obs for each column */
} residuals;

static void find_residuals(void *user, int thread, int64_t j, double *x, int flags) {
    const residuals *r = user;
    const int64_t n = r->columns->n_obs;
    double *out = r->out + j * n;
    if (flags & (GCOR_MISSING | GCOR_INFINITE)) {
        for (int64_t k = 0; k < n; k++) out[k] = NA_REAL;
        return;
    }
    const double scale = gcor_scale_of(x, n); /* gcor_design_column() multiplies by it, a power of two */
    const int is_left = gcor_design_column(r->columns->design, 1, x, n, r->scratch + thread * n) > 0;
    for (int64_t k = 0; k < n; k++) out[k] = is_left ? x[k] / scale : 0;
}

static gcor_status write_residuals(gcor_context *context, gcor_columns *columns, const gcor_design *design,
                                   double *out) {
    gcor_design *picked;
    if (gcor_design_pick(context, design, columns->observed, columns->n_obs, &picked)) return context->error.status;
    residuals r = {.columns = columns, .out = out};
    r.scratch = gcor_alloc(context, context->threads * columns->n_obs, sizeof *r.scratch, "residuals");
    columns->design = picked;
    if (r.scratch && picked) gcor_for_columns(context, columns, 0, columns->source->n_var, find_residuals, &r);
    gcor_free(r.scratch);
    gcor_design_free(picked);
    return context->error.status;
}

/* Returns a matrix of the centered residuals of all columns, and NA for those with missing or infinite values. rows:
 * the indices of the observations in use, or NULL for all. design: as for r_design_parse(), with weights of 0 and 1, or
 * NULL. */
SEXP r_residuals(SEXP x, SEXP rows, SEXP design, SEXP place) {
    r_call call;
    r_source source = r_source_of(x);
    const int64_t n_obs = source.source.n_obs;
    const gcor_design given = Rf_isNull(design) ? (gcor_design){.n_rows = n_obs} : r_design_parse(design, n_obs);
    gcor_columns columns = {.source = &source.source,
                            .observed = Rf_isNull(rows) ? NULL : INTEGER(rows),
                            .n_obs = Rf_isNull(rows) ? n_obs : Rf_xlength(rows)};
    SEXP result = PROTECT(Rf_allocMatrix(REALSXP, (int)columns.n_obs, (int)source.source.n_var));
    r_quiet_call_parse(&call, place);
    gcor_status status = write_residuals(&call.context, &columns, &given, REAL(result));
    r_progress_end(&call.progress);
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}
