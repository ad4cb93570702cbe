/* gpuCorFile: raw files that R owns through a pointer. */
#include "r.h"

static void finalize(SEXP pointer) {
    gcor_unmap(R_ExternalPtrAddr(pointer));
    R_ClearExternalPtr(pointer);
}

static int64_t whole(SEXP value, R_xlen_t k) {
    return (int64_t)(TYPEOF(value) == INTSXP ? INTEGER(value)[k] : REAL(value)[k]);
}

/* list(offset, dim, type), which gpuCorFile() has checked, but any R object may have been changed meanwhile. */
static gcor_file_shape parse_shape(SEXP x) {
    const char *types[] = {"double", "float", "integer"};
    SEXP dim = r_element(x, "dim"), offset = r_element(x, "offset"), type = r_element(x, "type");
    int t = 0;
    if (!Rf_isNumeric(dim) || Rf_xlength(dim) != 2 || !Rf_isNumeric(offset) || Rf_xlength(offset) != 1 ||
        !Rf_isString(type) || Rf_xlength(type) != 1)
        Rf_error("a gpuCorFile without a dim, an offset and a type; make it anew");
    while (t < 3 && strcmp(types[t], CHAR(STRING_ELT(type, 0))) != 0) t++;
    gcor_file_shape shape = {
        .offset = whole(offset, 0), .n_obs = whole(dim, 0), .n_var = whole(dim, 1), .type = (gcor_file_type)t};
    if (t == 3 || shape.offset < 0 || shape.n_obs < 0 || shape.n_obs > INT_MAX || shape.n_var < 0 ||
        shape.n_var > INT_MAX)
        Rf_error("a gpuCorFile that was changed since gpuCorFile() made it; make it anew");
    return shape;
}

static gcor_status map(gcor_context *context, SEXP pointer, const char *path, const gcor_file_shape *shape) {
    gcor_mapping *mapping;
    gcor_status status = gcor_map(context, path, shape, &mapping);
    if (status) return status;
    R_SetExternalPtrAddr(pointer, mapping);
    R_RegisterCFinalizerEx(pointer, finalize, TRUE);
    return GCOR_OK;
}

static int is_same(const gcor_file_shape *a, const gcor_file_shape *b) {
    return a->offset == b->offset && a->n_obs == b->n_obs && a->n_var == b->n_var && a->type == b->type;
}

/* A pointer is nil after readRDS(), and the file is mapped again. */
gcor_mapping *r_mapping(SEXP x) {
    SEXP pointer = r_element(x, "pointer"), file = r_element(x, "file");
    gcor_file_shape shape = parse_shape(x);
    gcor_context context = {.threads = 1};
    if (TYPEOF(pointer) != EXTPTRSXP || !Rf_isString(file) || Rf_xlength(file) != 1)
        Rf_error("a gpuCorFile without its file; make it anew");
    gcor_mapping *mapping = R_ExternalPtrAddr(pointer);
    gcor_status status;
    if (mapping && !is_same(gcor_map_shape(mapping), &shape))
        Rf_error("a gpuCorFile that was changed since gpuCorFile() made it; make it anew");
    if (mapping)
        status = gcor_map_check(&context, mapping);
    else
        status = map(&context, pointer, Rf_translateChar(STRING_ELT(file, 0)), &shape);
    if (status) Rf_errorcall(R_NilValue, "%s", context.error.message);
    return R_ExternalPtrAddr(pointer);
}

SEXP r_new_pointer(void) {
    return R_MakeExternalPtr(NULL, R_NilValue, R_NilValue);
}

SEXP r_map(SEXP x) {
    (void)r_mapping(x);
    return R_NilValue;
}

SEXP r_map_columns(SEXP x, SEXP columns) {
    gcor_mapping *mapping = r_mapping(x);
    gcor_mapped mapped = gcor_mapped_source(mapping);
    const gcor_file_shape *shape = gcor_map_shape(mapping);
    gcor_context context = {.threads = 1};
    if (TYPEOF(columns) != INTSXP || Rf_xlength(columns) > INT_MAX) Rf_error("columns are numbers from 1");
    int n = (int)Rf_xlength(columns), whole_numbers = shape->type == GCOR_FILE_INTEGER;
    for (int k = 0; k < n; k++)
        if (INTEGER(columns)[k] < 1 || INTEGER(columns)[k] > shape->n_var)
            Rf_error("there is no column %d of %.0f", INTEGER(columns)[k], (double)shape->n_var);
    SEXP values = PROTECT(Rf_allocMatrix(whole_numbers ? INTSXP : REALSXP, (int)shape->n_obs, n));
    for (R_xlen_t k = 0; k < n && shape->n_obs > 0; k++) {
        int64_t j = INTEGER(columns)[k] - 1, at = k * shape->n_obs;
        if (whole_numbers)
            gcor_map_column(mapping, j, INTEGER(values) + at);
        else
            (void)mapped.source.read(&mapped.source, &context, j, 1, REAL(values) + at);
    }
    UNPROTECT(1);
    return values;
}
