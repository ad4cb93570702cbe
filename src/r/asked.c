/* The source that asks R for columns of an object that R/data-outside.R can read. Only R's thread reads it, and no
 * error or interrupt jumps out of R through the engine. */
#include "job.h"

typedef struct {
    r_asked *asked;
    gcor_context *context;
    int64_t first, n;
    double *out;
} request;

static const char *range_text(const request *q, char *text, size_t size) {
    snprintf(text, size, q->n > 1 ? "columns %.0f to %.0f" : "column %.0f", (double)q->first + 1,
             (double)(q->first + q->n));
    return text;
}

static void fail(const request *q, const char *why) {
    const gcor_status status = Rf_inherits(q->asked->x, "gpuCorFile") ? GCOR_BAD_FILE : GCOR_BAD_INPUT;
    char range[80];
    (void)gcor_fail(q->context, status, "%s of %s cannot be read: %s", range_text(q, range, sizeof range),
                    q->asked->class, why);
}

static void copy_integers(const int *value, int64_t n, double *out) {
    for (int64_t k = 0; k < n; k++) out[k] = value[k] == NA_INTEGER ? R_NaN : (double)value[k];
}

/* value: what ask_columns() of R returned: a matrix, the text of an error, or NULL for an interrupt. */
static void take(const request *q, SEXP value) {
    int64_t n_obs = q->asked->source.n_obs, length = n_obs * q->n;
    char why[256];
    if (Rf_isNull(value)) {
        (void)gcor_fail(q->context, GCOR_INTERRUPTED, "interrupted");
    } else if (Rf_isString(value) && Rf_xlength(value) == 1) {
        fail(q, Rf_translateChar(STRING_ELT(value, 0)));
    } else if (TYPEOF(value) != REALSXP && TYPEOF(value) != INTSXP && TYPEOF(value) != LGLSXP) {
        snprintf(why, sizeof why, "they came as values of type %s; convert them to numbers",
                 Rf_type2char(TYPEOF(value)));
        fail(q, why);
    } else if (!Rf_isMatrix(value) || Rf_nrows(value) != n_obs || Rf_ncols(value) != q->n) {
        snprintf(why, sizeof why, "%.0f values came for %.0f x %.0f; has it changed meanwhile?",
                 (double)Rf_xlength(value), (double)n_obs, (double)q->n);
        fail(q, why);
    } else if (length > 0 && TYPEOF(value) == REALSXP) {
        memcpy(q->out, REAL(value), (size_t)length * sizeof *q->out);
    } else {
        copy_integers(TYPEOF(value) == INTSXP ? INTEGER(value) : LOGICAL(value), length, q->out);
    }
}

static void ask_columns(void *user) {
    const request *q = user;
    SEXP first = PROTECT(Rf_ScalarReal((double)q->first + 1)), n = PROTECT(Rf_ScalarReal((double)q->n));
    SEXP call = PROTECT(Rf_lang4(Rf_install("ask_columns"), q->asked->x, first, n));
    SEXP value = PROTECT(r_eval(call));
    take(q, value);
    UNPROTECT(4);
}

/* ask_columns() of R catches errors and interrupts; only an interrupt before that can still jump. */
static gcor_status read_columns(gcor_source *source, gcor_context *context, int64_t first, int64_t n, double *out) {
    request q = {(r_asked *)source, context, first, n, out};
    if (!R_ToplevelExec(ask_columns, &q)) return gcor_fail(context, GCOR_INTERRUPTED, "interrupted");
    return context->error.status;
}

r_asked r_asked_source(SEXP x) {
    SEXP call = PROTECT(Rf_lang2(Rf_install("ask_size"), x)), size = PROTECT(r_eval(call));
    int sound = TYPEOF(size) == REALSXP && Rf_xlength(size) == 3;
    for (int k = 0; sound && k < 3; k++) sound = REAL(size)[k] >= (k == 2) && REAL(size)[k] <= INT_MAX;
    if (!sound) r_error("the data must have dimensions from 0 to 2^31 - 1");
    r_asked asked = {
        .source = {.n_obs = (int64_t)REAL(size)[0],
                   .n_var = (int64_t)REAL(size)[1],
                   .grain = (int64_t)REAL(size)[2],
                   .read = read_columns},
        .x = x,
        .class = CHAR(STRING_ELT(Rf_getAttrib(x, R_ClassSymbol), 0)),
    };
    UNPROTECT(2);
    return asked;
}
