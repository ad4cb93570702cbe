/* gpuCorFile: raw files that R owns through an external pointer, which has no address until the file is open. */
#include "job.h"

static void finalize(SEXP pointer) {
    gcor_raw_close(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
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

static gcor_status open_file(gcor_context *context, SEXP pointer, const char *path, const gcor_file_shape *shape) {
    gcor_raw_file *file;
    gcor_status status = gcor_raw_open(context, path, shape, &file);
    if (status) return status;
    R_SetExternalPtrAddr(pointer, file);
    R_RegisterCFinalizerEx(pointer, finalize, TRUE);
    return GCOR_OK;
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
    if (file)
        stop_if(gcor_raw_check(&context, file), &context);
    else
        stop_if(open_file(&context, pointer, Rf_translateChar(STRING_ELT(path, 0)), &shape), &context);
    return R_ExternalPtrAddr(pointer);
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

/* Returns how many of the n numbers ascend by 1, from the first one on. */
static R_xlen_t count_consecutive(const int *columns, R_xlen_t n) {
    R_xlen_t k = 1;
    while (k < n && columns[k] == columns[k - 1] + 1) k++;
    return k;
}

/* Reads consecutive columns at once. */
static gcor_status read_columns(gcor_context *context, const gcor_raw_file *file, SEXP columns, SEXP values) {
    gcor_raw_source raw = gcor_raw_source_of(file);
    const int64_t n_obs = raw.source.n_obs;
    const int *number = INTEGER(columns);
    gcor_status status = GCOR_OK;
    for (R_xlen_t k = 0, n; !status && k < Rf_xlength(columns); k += n) {
        n = count_consecutive(number + k, Rf_xlength(columns) - k);
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
    stop_if(read_columns(&context, file, columns, values), &context);
    UNPROTECT(1);
    return values;
}
