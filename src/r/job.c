/* What every call into the engine has in common: its arguments, its result's first elements, its end. */
#include "r.h"

#include "../core/alloc.h"
#include "../core/missing.h"

static const gcor_backend *backend_named(const char *name) {
    if (strcmp(name, "cpu") == 0) return &gcor_cpu;
#ifdef GPUCOR_CUDA
    if (strcmp(name, "cuda") == 0) return &gcor_cuda;
#endif
    Rf_error("back end \"%s\" is not part of this build", name);
}

gcor_context r_context(SEXP settings, r_progress *progress) {
    const double *pass = REAL(r_element(settings, "pass"));
    gcor_context context = {
        .threads = r_threads(r_element(settings, "threads")),
        .memory = (int64_t)Rf_asReal(r_element(settings, "memory")),
        .device = Rf_asInteger(r_element(settings, "device")),
        .monitor = r_monitor(progress, Rf_asLogical(r_element(settings, "progress"))),
    };
    progress->before = pass[0];
    progress->width = pass[1];
    return context;
}

gcor_context r_quiet_context(SEXP settings, r_progress *progress) {
    gcor_context context = r_context(settings, progress);
    progress->show = 0;
    return context;
}

void r_job_parse(r_job *q, SEXP x, SEXP y, SEXP method, SEXP use, SEXP by_row, SEXP settings) {
    *q = (r_job){.x = r_matrix(x, Rf_asLogical(by_row))};
    if (!Rf_isNull(y)) q->y = r_matrix(y, 0);
    q->backend = backend_named(CHAR(STRING_ELT(r_element(settings, "backend"), 0)));
    q->context = r_context(settings, &q->progress);
    q->job = (gcor_job){.x = &q->x, .y = Rf_isNull(y) ? NULL : &q->y, .method = (gcor_method)Rf_asInteger(method),
                        .use = (gcor_use)Rf_asInteger(use)};
}

static SEXP allocate_flags(const gcor_matrix *matrix) {
    SEXP flags = Rf_allocVector(RAWSXP, matrix->n_var);
    if (matrix->n_var > 0) memset(RAW(flags), 0, (size_t)matrix->n_var);
    return flags;
}

SEXP r_job_result(r_job *q, const char **names) {
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_allocVector(REALSXP, 1));
    SET_VECTOR_ELT(result, 1, allocate_flags(&q->x));
    SET_VECTOR_ELT(result, 2, allocate_flags(&q->y));
    q->job.x_flags = RAW(VECTOR_ELT(result, 1));
    q->job.y_flags = RAW(VECTOR_ELT(result, 2));
    UNPROTECT(1);
    return result;
}

static double last_stages[4]; /* seconds: preparing, multiplying, all of the run; bytes */

SEXP r_stages(void) {
    SEXP result = Rf_allocVector(REALSXP, 4);
    for (int k = 0; k < 4; k++) REAL(result)[k] = last_stages[k];
    return result;
}

gcor_status r_job_run(r_job *q, gcor_sink *sink, SEXP result) {
    int64_t n_obs = 0;
    double started = gcor_seconds();
    (void)gcor_device_peak(1);
    q->job.sink = sink;
    gcor_status status = gcor_run(q->backend, &q->context, &q->job, &n_obs);
    last_stages[0] = q->context.seconds_preparing;
    last_stages[1] = q->context.seconds_multiplying;
    last_stages[2] = gcor_seconds() - started;
    last_stages[3] = (double)gcor_device_peak(0);
    REAL(VECTOR_ELT(result, 0))[0] = (double)n_obs;
    return status;
}

SEXP r_observations(SEXP x, SEXP y, SEXP method, SEXP use, SEXP settings) {
    const char *names[] = {"n_obs", "common", ""};
    r_job q;
    gcor_observations observations;
    r_job_parse(&q, x, y, method, use, Rf_ScalarLogical(0), settings);
    if (gcor_observations_of(&q.context, &q.job, &observations)) return r_failure(&q.context.error);
    double n_obs = (double)observations.n_obs;
    gcor_free(observations.rows);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_ScalarReal(n_obs));
    SET_VECTOR_ELT(result, 1, Rf_ScalarLogical(observations.common));
    UNPROTECT(1);
    return result;
}

SEXP r_failure(const gcor_error *error) {
    const char *names[] = {"status", "message", ""};
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_ScalarInteger(error->status));
    SET_VECTOR_ELT(result, 1, Rf_mkString(error->message));
    UNPROTECT(1);
    return result;
}
