/* Sources from R objects: in memory, in raw files, and those that only R can read. */
#include "job.h"

static gcor_matrix sparse_matrix(SEXP x) {
    SEXP dim = R_do_slot(x, Rf_install("Dim")), values = R_do_slot(x, Rf_install("x"));
    SEXP i = R_do_slot(x, Rf_install("i")), p = R_do_slot(x, Rf_install("p"));
    if (TYPEOF(dim) != INTSXP || Rf_xlength(dim) != 2 || INTEGER(dim)[0] < 0 || Rf_xlength(p) != INTEGER(dim)[1] + 1.)
        r_error("the slot Dim of a sparse matrix does not fit its slot p; make the matrix again");
    r_check_compressed(p, i, values, INTEGER(dim)[0]);
    return (gcor_matrix){
        .source = gcor_matrix_source(INTEGER(dim)[0], INTEGER(dim)[1]),
        .storage = GCOR_SPARSE,
        .values = REAL(values),
        .sparse_row = INTEGER(i),
        .sparse_start = INTEGER(p),
    };
}

/* A dgCMatrix has nothing but slots. An object of a class that contains "matrix" is S4 in R, too, but has a matrix's
 * data and dim, and another TYPEOF(). */
gcor_matrix r_matrix(SEXP x) {
    if (TYPEOF(x) == S4SXP) return sparse_matrix(x);
    gcor_matrix matrix = {.source = gcor_matrix_source(Rf_nrows(x), Rf_ncols(x))};
    switch (TYPEOF(x)) {
    case REALSXP: matrix.values = REAL(x); break;
    case INTSXP: matrix.storage = GCOR_INTEGERS, matrix.values = INTEGER(x); break;
    case LGLSXP: matrix.storage = GCOR_INTEGERS, matrix.values = LOGICAL(x); break;
    default: r_error("'x' must be numeric, not of type %s", Rf_type2char(TYPEOF(x)));
    }
    return matrix;
}

r_source r_source_of(SEXP x) {
    int is_file = Rf_inherits(x, "gpuCorFile");
    if (!is_file && (TYPEOF(x) != S4SXP || Rf_inherits(x, "dgCMatrix"))) return (r_source){.matrix = r_matrix(x)};
    if (is_file && strcmp(CHAR(Rf_asChar(r_element(x, "kind"))), "raw") == 0)
        return (r_source){.raw = gcor_raw_source_of(r_raw_file(x))};
    return (r_source){.asked = r_asked_source(x)};
}

/* ---- raw files ---------------------------------------------------------------------------------- */

/* gpuCorFile: raw files that R owns through an external pointer, which has no address until the file is open. */

static void close_file(void *file) {
    gcor_raw_close(file);
}

static int64_t integer_at(SEXP value, R_xlen_t k) {
    return (int64_t)(TYPEOF(value) == INTSXP ? INTEGER(value)[k] : REAL(value)[k]);
}

/* x: list(offset, dim, storage, ...), which gpuCorFile() checked; but users may change any R object. */
static gcor_file_shape parse_shape(SEXP x) {
    const char *types[] = {"double", "float", "integer"};
    SEXP dim = r_element(x, "dim"), offset = r_element(x, "offset"), storage = r_element(x, "storage");
    int t = 0;
    if (!Rf_isNumeric(dim) || Rf_xlength(dim) != 2 || !Rf_isNumeric(offset) || Rf_xlength(offset) != 1 ||
        !Rf_isString(storage) || Rf_xlength(storage) != 1)
        r_error("a gpuCorFile must have a dim, an offset and a storage; make it again with gpuCorFile()");
    while (t < 3 && strcmp(types[t], CHAR(STRING_ELT(storage, 0))) != 0) t++;
    gcor_file_shape shape = {.offset = integer_at(offset, 0),
                             .n_obs = integer_at(dim, 0),
                             .n_var = integer_at(dim, 1),
                             .type = (gcor_file_type)t};
    if (t == 3 || shape.offset < 0 || shape.n_obs < 0 || shape.n_obs > INT_MAX || shape.n_var < 0 ||
        shape.n_var > INT_MAX)
        r_error("this gpuCorFile was changed since gpuCorFile() made it; make it again");
    return shape;
}

static int is_same(const gcor_file_shape *a, const gcor_file_shape *b) {
    return a->offset == b->offset && a->n_obs == b->n_obs && a->n_var == b->n_var && a->type == b->type;
}

static void stop_if(gcor_status status, const gcor_context *context) {
    if (status) r_raise(&context->error);
}

/* Opens the file, or checks that its size has not changed. */
static const gcor_raw_file *open_raw(SEXP x, SEXP pointer) {
    SEXP path = r_element(x, "file");
    gcor_file_shape shape = parse_shape(x);
    gcor_context context = {.threads = 1};
    if (TYPEOF(pointer) != EXTPTRSXP || !Rf_isString(path) || Rf_xlength(path) != 1)
        r_error("a gpuCorFile must name its file; make it again with gpuCorFile()");
    const gcor_raw_file *file = R_ExternalPtrAddr(pointer);
    if (file && !is_same(gcor_raw_shape(file), &shape))
        r_error("this gpuCorFile was changed since gpuCorFile() made it; make it again");
    if (file) {
        stop_if(gcor_raw_check(&context, file), &context);
        return file;
    }
    gcor_raw_file *opened;
    stop_if(gcor_raw_open(&context, Rf_translateChar(STRING_ELT(path, 0)), &shape, &opened), &context);
    R_SetExternalPtrAddr(pointer, opened);
    r_own(pointer, close_file, TRUE);
    return opened;
}

/* After readRDS() the pointer has no address, and the file is opened again. */
const gcor_raw_file *r_raw_file(SEXP x) {
    return open_raw(x, r_element(x, "pointer"));
}

/* Opens the file and returns its pointer. */
SEXP r_file_open(SEXP x) {
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    (void)open_raw(x, pointer);
    UNPROTECT(1);
    return pointer;
}

/* Reads consecutive columns at once. */
static gcor_status read_file_columns(gcor_context *context, const gcor_raw_file *file, SEXP columns, SEXP values) {
    gcor_raw_source raw = gcor_raw_source_of(file);
    const int64_t n_obs = raw.source.n_obs;
    const int *number = INTEGER(columns);
    gcor_status status = GCOR_OK;
    for (R_xlen_t k = 0, n; !status && k < Rf_xlength(columns); k += n) {
        for (n = 1; k + n < Rf_xlength(columns) && number[k + n] == number[k + n - 1] + 1;) n++;
        if (TYPEOF(values) == INTSXP)
            status = gcor_raw_columns(context, file, number[k] - 1, n, INTEGER(values) + k * n_obs);
        else
            status = raw.source.read(&raw.source, context, number[k] - 1, n, REAL(values) + k * n_obs);
    }
    return status;
}

/* Returns some columns, by their numbers from 1, as a matrix. */
SEXP r_file_columns(SEXP x, SEXP columns) {
    const gcor_raw_file *file = r_raw_file(x);
    const gcor_file_shape *shape = gcor_raw_shape(file);
    gcor_context context = {.threads = 1};
    if (TYPEOF(columns) != INTSXP || Rf_xlength(columns) > INT_MAX) r_error("columns are numbers from 1");
    int n = (int)Rf_xlength(columns);
    for (int k = 0; k < n; k++)
        if (INTEGER(columns)[k] < 1 || INTEGER(columns)[k] > shape->n_var)
            r_error("there is no column %d of %.0f", INTEGER(columns)[k], (double)shape->n_var);
    SEXP values = PROTECT(Rf_allocMatrix(shape->type == GCOR_FILE_INTEGER ? INTSXP : REALSXP, (int)shape->n_obs, n));
    stop_if(read_file_columns(&context, file, columns, values), &context);
    UNPROTECT(1);
    return values;
}

/* ---- columns that R is asked for ---------------------------------------------------------------- */

/* The source that asks R for columns of an object that R/data-outside.R can read. Only R's thread reads it, and no
 * error or interrupt jumps out of R through the engine. */

typedef struct {
    r_asked *asked;
    gcor_context *context;
    int64_t first, n;
    double *out; /* NULL: the values are kept as R has them */
    SEXP kept;   /* a list of one; NULL with `out` */
} asked_request;

static void fail_asked(const asked_request *q, const char *why) {
    const gcor_status status = Rf_inherits(q->asked->x, "gpuCorFile") ? GCOR_BAD_FILE : GCOR_BAD_INPUT;
    char range[80];
    snprintf(range, sizeof range, q->n > 1 ? "columns %.0f to %.0f" : "column %.0f", (double)q->first + 1,
             (double)(q->first + q->n));
    (void)gcor_fail(q->context, status, "%s of %s cannot be read: %s", range, q->asked->class, why);
}

/* value: what ask_columns() of R returned: a matrix, the text of an error, or NULL for an interrupt. */
static void take_asked(const asked_request *q, SEXP value) {
    int64_t n_obs = q->asked->source.n_obs, length = n_obs * q->n;
    char why[256];
    if (Rf_isNull(value)) {
        (void)gcor_fail(q->context, GCOR_INTERRUPTED, "interrupted");
    } else if (Rf_isString(value) && Rf_xlength(value) == 1) {
        fail_asked(q, Rf_translateChar(STRING_ELT(value, 0)));
    } else if (TYPEOF(value) != REALSXP && TYPEOF(value) != INTSXP && TYPEOF(value) != LGLSXP) {
        snprintf(why, sizeof why, "they came as values of type %s; convert them to numbers",
                 Rf_type2char(TYPEOF(value)));
        fail_asked(q, why);
    } else if (!Rf_isMatrix(value) || Rf_nrows(value) != n_obs || Rf_ncols(value) != q->n) {
        snprintf(why, sizeof why, "%.0f values came for %.0f x %.0f; has it changed meanwhile?",
                 (double)Rf_xlength(value), (double)n_obs, (double)q->n);
        fail_asked(q, why);
    } else if (!q->out) {
        SET_VECTOR_ELT(q->kept, 0, value);
    } else if (length > 0 && TYPEOF(value) == REALSXP) {
        memcpy(q->out, REAL(value), (size_t)length * sizeof *q->out);
    } else {
        const int *integer = TYPEOF(value) == INTSXP ? INTEGER(value) : LOGICAL(value);
        for (int64_t k = 0; k < length; k++) q->out[k] = integer[k] == NA_INTEGER ? R_NaN : (double)integer[k];
    }
}

static void ask_columns(void *user) {
    const asked_request *q = user;
    SEXP first = PROTECT(Rf_ScalarReal((double)q->first + 1)), n = PROTECT(Rf_ScalarReal((double)q->n));
    SEXP call = PROTECT(Rf_lang4(Rf_install("ask_columns"), q->asked->x, first, n));
    SEXP value = PROTECT(r_eval(call));
    take_asked(q, value);
    UNPROTECT(4);
}

/* ask_columns() of R catches errors and interrupts; an interrupt before that, or a reader that invokes the restart
 * "abort", can still jump. */
static gcor_status run_request(asked_request *q) {
    if (!R_ToplevelExec(ask_columns, q)) return gcor_fail(q->context, GCOR_INTERRUPTED, "interrupted");
    return q->context->error.status;
}

static gcor_status read_asked_columns(gcor_source *source, gcor_context *context, int64_t first, int64_t n,
                                      double *out) {
    asked_request q = {(r_asked *)source, context, first, n, out, NULL};
    return run_request(&q);
}

static const char *class_of(SEXP x) {
    return CHAR(STRING_ELT(Rf_getAttrib(x, R_ClassSymbol), 0));
}

/* Returns consecutive columns as R has them, for computations of R's. They are read as the engine reads them: errors
 * name the columns, and an interrupt is R's condition. first: from 1. */
SEXP r_ask_columns(SEXP x, SEXP n_obs, SEXP first, SEXP n) {
    gcor_context context = {.threads = 1};
    r_asked asked = {.source = {.n_obs = (int64_t)Rf_asReal(n_obs)}, .x = x, .class = class_of(x)};
    SEXP kept = PROTECT(Rf_allocVector(VECSXP, 1));
    asked_request q = {&asked, &context, (int64_t)Rf_asReal(first) - 1, (int64_t)Rf_asReal(n), NULL, kept};
    stop_if(run_request(&q), &context);
    UNPROTECT(1);
    return VECTOR_ELT(kept, 0);
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
                   .read = read_asked_columns},
        .x = x,
        .class = class_of(x),
    };
    UNPROTECT(2);
    return asked;
}
