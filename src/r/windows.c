/* Runs over windows of consecutive observations, and all coefficients of each window. */
#include "windows.h"

#include "../base/alloc.h"
#include "../base/triangle.h"
#include "../sink/dense.h"

r_window_rule r_window_rule_of(SEXP rule) {
    return (r_window_rule){.criterion = (r_criterion)Rf_asInteger(r_element(rule, "criterion")),
                           .value = Rf_asReal(r_element(rule, "value")),
                           .side = (gcor_side)Rf_asInteger(r_element(rule, "side")),
                           .mutual = Rf_asLogical(r_element(rule, "mutual"))};
}

/* R has checked the plan; we check again what would make us read beyond the data. */
static void parse_plan(gcor_windows *windows, SEXP plan) {
    SEXP taper = r_element(plan, "taper");
    windows->width = (int64_t)Rf_asReal(r_element(plan, "width"));
    windows->step = (int64_t)Rf_asReal(r_element(plan, "step"));
    windows->n = (int64_t)Rf_asReal(r_element(plan, "n"));
    if (!Rf_isNull(taper)) windows->taper = REAL(taper);
    if (windows->taper && Rf_xlength(taper) != windows->width) r_error("the taper must be as wide as the windows");
    int64_t last = windows->n > 0 ? (windows->n - 1) * windows->step : 0;
    if (windows->width < 1 || windows->step < 1 || windows->n < 1 ||
        last + windows->width > windows->series->source.n_obs)
        r_error("windows must not extend beyond observation %.0f", (double)windows->series->source.n_obs);
}

/* Makes element k of a list notes of one flag, and returns where they are. */
static gcor_window_notes allocate_notes(SEXP list, int k, R_xlen_t n_var, R_xlen_t n) {
    const char *names[] = {"of_variable", "of_window", ""};
    SEXP notes = Rf_mkNamed(VECSXP, names);
    SET_VECTOR_ELT(list, k, notes);
    SEXP of_variable = Rf_allocVector(INTSXP, n_var);
    SET_VECTOR_ELT(notes, 0, of_variable);
    SEXP of_window = Rf_allocVector(RAWSXP, n);
    SET_VECTOR_ELT(notes, 1, of_window);
    if (n_var > 0) memset(INTEGER(of_variable), 0, (size_t)n_var * sizeof(int));
    memset(RAW(of_window), 0, (size_t)n);
    return (gcor_window_notes){INTEGER(of_variable), RAW(of_window)};
}

static void allocate_all_notes(gcor_windows *windows, SEXP result) {
    const char *names[] = {"missing", "infinite", "constant", "few", "fell_back", ""};
    gcor_window_notes *notes[] = {&windows->missing, &windows->infinite, &windows->constant, &windows->few,
                                  &windows->fell_back};
    SEXP list = Rf_mkNamed(VECSXP, names);
    SET_VECTOR_ELT(result, 1, list);
    for (int k = 0; k < 5; k++) *notes[k] = allocate_notes(list, k, windows->series->source.n_var, windows->n);
}

void r_windows_parse(r_windows_job *q, r_job *job, SEXP plan, SEXP result) {
    *q = (r_windows_job){.job = job, .result = result};
    if (TYPEOF(job->data) == S4SXP || !Rf_isMatrix(job->data)) r_error("windows need a matrix in memory");
    q->windows.series = &job->x.matrix;
    parse_plan(&q->windows, plan);
    SET_VECTOR_ELT(result, 0, Rf_allocVector(REALSXP, q->windows.n));
    allocate_all_notes(&q->windows, result);
    q->windows.job = job->job;
}

/* Finds the complete observations once for all windows. */
static gcor_status find_complete(r_windows_job *q) {
    gcor_job job = q->job->job;
    if (job.use == GCOR_EVERYTHING) return GCOR_OK;
    job.use = GCOR_NA_OR_COMPLETE;
    gcor_status status = gcor_observations_of(&q->job->call.context, &job, &q->complete);
    if (status) return status;
    q->windows.complete = q->complete.observed;
    q->windows.n_complete = q->complete.n_obs;
    return GCOR_OK;
}

gcor_status r_windows_begin(r_windows_job *q) {
    gcor_context *context = &q->job->call.context;
    r_job_observations(q->job, q->windows.width);
    gcor_status status = r_session(context, q->job->backend, q->job->devices, q->job->n_devices, &q->session);
    if (!status) status = find_complete(q);
    if (status) return status;
    q->windows.n_obs = gcor_alloc(context, q->windows.n, sizeof *q->windows.n_obs, "the windows");
    return q->windows.n_obs ? GCOR_OK : GCOR_NO_MEMORY;
}

gcor_status r_windows_end(r_windows_job *q, gcor_status status) {
    for (int64_t w = 0; !status && w < q->windows.n; w++)
        REAL(VECTOR_ELT(q->result, 0))[w] = (double)q->windows.n_obs[w];
    r_session_end(q->job->backend, status);
    gcor_free(q->windows.n_obs);
    gcor_free(q->complete.observed);
    q->job->job.devices_lost = q->windows.job.devices_lost;
    q->job->job.lost = q->windows.job.lost;
    return status;
}

/* Returns the number of observations of each window, or one number if they are equal. */
static SEXP counted(const r_windows_job *q) {
    SEXP all = VECTOR_ELT(q->result, 0);
    for (R_xlen_t w = 1; w < Rf_xlength(all); w++)
        if (REAL(all)[w] != REAL(all)[0]) return all;
    return Rf_ScalarReal(REAL(all)[0]);
}

void r_windows_attributes(const r_windows_job *q, SEXP values, SEXP attributes) {
    r_set_attributes(values, attributes, PROTECT(counted(q)), NULL);
    UNPROTECT(1);
}

gcor_status r_windows_run(r_windows_job *q, gcor_window_work work, void *user) {
    gcor_context *context = &q->job->call.context;
    int64_t n_var = q->windows.series->source.n_var, n = q->windows.n;
    gcor_tile all = {0, n_var, 0, n_var};
    gcor_window_crew crew;
    gcor_status status = gcor_window_crew_open(&crew, q->session, context, &q->windows, gcor_triangular(n_var - 1), n);
    context->monitor->pairs = n;
    if (!status) status = gcor_for_windows(&q->windows, &crew, &all, 0, n, work, user);
    gcor_window_crew_close(&crew);
    return status;
}

/* ---- all coefficients --------------------------------------------------------------------- */

typedef struct {
    r_windows_job job;
    double *values;
} request;

static gcor_status run_window(void *user, gcor_session *session, gcor_context *context, gcor_job *job, int64_t window) {
    request *q = user;
    int64_t n = job->x->n_var, pairs = gcor_triangular(n - 1);
    gcor_dense *dense;
    gcor_status status = gcor_dense_new(context, GCOR_TRIANGLE_ROWS, n, n, q->values + window * pairs, pairs, NA_REAL,
                                        &dense);
    if (status) return status;
    dense->sink.form = job->in_double ? GCOR_AS_DOUBLES : GCOR_AS_FLOATS;
    job->sink = &dense->sink;
    status = gcor_run(session, context, job);
    if (!status && dense->zero_sd > 0) q->job.windows.constant.of_window[window] = 1;
    gcor_sink_free(&dense->sink);
    return status;
}

/* arguments: windows (r_windows_parse()), attributes. Returns list(n_obs, notes, values: a matrix, pairs x windows,
 * whose columns are triangles by rows). */
gcor_status r_windows(r_job *job, const SEXP *arguments, SEXP result) {
    request q;
    r_windows_parse(&q.job, job, arguments[0], result);
    int64_t pairs = gcor_triangular(job->x.source.n_var - 1);
    if (pairs > INT_MAX) r_error("a matrix cannot have %.0f rows", (double)pairs);
    SET_VECTOR_ELT(result, 2, Rf_allocMatrix(REALSXP, (int)pairs, (int)q.job.windows.n));
    q.values = REAL(VECTOR_ELT(result, 2));
    gcor_huge_pages(q.values, (size_t)(pairs * q.job.windows.n) * sizeof(double));
    gcor_status status = r_windows_begin(&q.job);
    if (!status) status = r_windows_run(&q.job, run_window, &q);
    status = r_windows_end(&q.job, status);
    if (!status) r_windows_attributes(&q.job, VECTOR_ELT(result, 2), arguments[1]);
    return status;
}
