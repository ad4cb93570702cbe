/* gpuCor and its relatives: an R matrix in, all coefficients out. */
#include "r.h"

#include "../core/triangle.h"
#include "../core/threads.h"

typedef struct {
    gcor_matrix x, y;
    gcor_job job;
    gcor_layout layout;
    const gcor_backend *backend;
    gcor_context context;
    double *values;
    int distance; /* 1 - coefficient is wanted */
} request;

static const gcor_backend *backend_named(const char *name) {
    if (strcmp(name, "cpu") == 0) return &gcor_cpu;
#ifdef GPUCOR_CUDA
    if (strcmp(name, "cuda") == 0) return &gcor_cuda;
#endif
    Rf_error("back end \"%s\" is not part of this build", name);
}

static void parse_settings(SEXP settings, request *q, r_progress *progress) {
    q->backend = backend_named(CHAR(STRING_ELT(r_element(settings, "backend"), 0)));
    q->context.threads = r_threads(r_element(settings, "threads"));
    q->context.memory = (int64_t)Rf_asReal(r_element(settings, "memory"));
    q->context.device = Rf_asInteger(r_element(settings, "device"));
    q->distance = Rf_asLogical(r_element(settings, "distance"));
    q->context.monitor = r_monitor(progress, Rf_asLogical(r_element(settings, "progress")));
}

static SEXP allocate_values(const request *q) {
    R_xlen_t n = q->x.n_var;
    switch (q->layout) {
    case GCOR_SQUARE: return Rf_allocMatrix(REALSXP, (int)n, (int)n);
    case GCOR_RECTANGLE: return Rf_allocMatrix(REALSXP, (int)n, (int)q->y.n_var);
    default: return Rf_allocVector(REALSXP, n * (n - 1) / 2);
    }
}

static SEXP allocate_flags(const gcor_matrix *matrix) {
    SEXP flags = Rf_allocVector(RAWSXP, matrix->n_var);
    if (matrix->n_var > 0) memset(RAW(flags), 0, (size_t)matrix->n_var);
    return flags;
}

/* A variable with itself, as stats::cor has it: looked at only where pairs are. */
static double diagonal(const request *q, int64_t j, int64_t n_obs) {
    int flags = q->job.x_flags[j];
    if (q->job.use != GCOR_PAIRWISE) return n_obs >= 2 ? 1 : NA_REAL;
    if (flags & (GCOR_CONSTANT | GCOR_FEW)) return NA_REAL;
    return flags & GCOR_INFINITE && q->job.method == GCOR_PEARSON ? R_NaN : 1;
}

static void to_distance(request *q, int64_t length) {
    const int64_t piece = 1 << 20;
#pragma omp parallel for num_threads(q->context.threads) schedule(static)
    for (int64_t from = 0; from < length; from += piece) {
        if (gcor_stop(&q->context, omp_get_thread_num())) continue;
        for (int64_t k = from; k < length && k < from + piece; k++) q->values[k] = 1 - q->values[k];
    }
}

/* What remains to do on all coefficients; like the run it can be interrupted. */
static gcor_status complete(request *q, int64_t length, int64_t n_obs) {
    if (q->layout == GCOR_SQUARE) {
        (void)gcor_mirror(&q->context, q->values, q->x.n_var);
        for (int64_t j = 0; j < q->x.n_var; j++) q->values[j + q->x.n_var * j] = diagonal(q, j, n_obs);
    }
    if (q->distance) to_distance(q, length);
    return q->context.error.status;
}

/* Set here because R would copy the values first; "n_obs" becomes what was used. */
static void set_attributes(SEXP values, SEXP attributes, SEXP n_obs) {
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    for (R_xlen_t k = 0; k < Rf_xlength(attributes); k++) {
        const char *name = CHAR(STRING_ELT(names, k));
        SEXP value = strcmp(name, "n_obs") == 0 ? n_obs : VECTOR_ELT(attributes, k);
        Rf_setAttrib(values, Rf_install(name), value);
    }
}

static SEXP failure(const gcor_error *error) {
    const char *names[] = {"status", "message", ""};
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_ScalarInteger(error->status));
    SET_VECTOR_ELT(result, 1, Rf_mkString(error->message));
    UNPROTECT(1);
    return result;
}

SEXP r_cor(SEXP x, SEXP y, SEXP method, SEXP use, SEXP layout, SEXP by_row, SEXP settings,
           SEXP attributes) {
    request q = {0};
    r_progress progress;
    q.x = r_matrix(x, Rf_asLogical(by_row));
    if (!Rf_isNull(y)) q.y = r_matrix(y, 0);
    q.layout = (gcor_layout)Rf_asInteger(layout);
    parse_settings(settings, &q, &progress);

    const char *names[] = {"values", "n_obs", "x_flags", "y_flags", "zero_sd", ""};
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, allocate_values(&q));
    SET_VECTOR_ELT(result, 1, Rf_allocVector(REALSXP, 1));
    SET_VECTOR_ELT(result, 2, allocate_flags(&q.x));
    SET_VECTOR_ELT(result, 3, allocate_flags(&q.y));
    SET_VECTOR_ELT(result, 4, Rf_allocVector(REALSXP, 1));
    q.values = REAL(VECTOR_ELT(result, 0));

    gcor_dense dense = gcor_dense_sink(q.layout, q.x.n_var, q.values, Rf_xlength(VECTOR_ELT(result, 0)), NA_REAL);
    q.job = (gcor_job){&q.x, Rf_isNull(y) ? NULL : &q.y, (gcor_method)Rf_asInteger(method),
                       (gcor_use)Rf_asInteger(use), &dense.sink,
                       RAW(VECTOR_ELT(result, 2)), RAW(VECTOR_ELT(result, 3))};
    int64_t n_obs = 0;
    gcor_status status = gcor_run(q.backend, &q.context, &q.job, &n_obs);
    if (!status) status = complete(&q, Rf_xlength(VECTOR_ELT(result, 0)), n_obs);
    r_progress_end(&progress);
    if (status) {
        UNPROTECT(1);
        return failure(&q.context.error);
    }
    REAL(VECTOR_ELT(result, 1))[0] = (double)n_obs;
    REAL(VECTOR_ELT(result, 4))[0] = (double)dense.zero_sd;
    set_attributes(VECTOR_ELT(result, 0), attributes, VECTOR_ELT(result, 1));
    UNPROTECT(1);
    return result;
}

SEXP r_unfold(SEXP values, SEXP n_var, SEXP threads) {
    int64_t n = Rf_asInteger(n_var);
    r_progress progress;
    gcor_context context = {.threads = r_threads(threads), .monitor = r_monitor(&progress, 0)};
    SEXP result = PROTECT(Rf_allocMatrix(REALSXP, (int)n, (int)n));
    double *out = REAL(result);
    const double *from = REAL(values);
    for (int64_t i = 0; i < n && !gcor_stop(&context, 0); from += n - 1 - i, i++) {
        out[i + n * i] = 1;
        if (i + 1 < n) memcpy(out + n * i + i + 1, from, (size_t)(n - 1 - i) * sizeof *out);
    }
    if (gcor_mirror(&context, out, n)) result = failure(&context.error);
    UNPROTECT(1);
    return result;
}
