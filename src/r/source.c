/* Sources from R objects in memory. */
#include "job.h"

static gcor_matrix sparse_matrix(SEXP x) {
    const int *dim = INTEGER(R_do_slot(x, Rf_install("Dim")));
    return (gcor_matrix){
        .source = gcor_matrix_source(dim[0], dim[1]),
        .storage = GCOR_SPARSE,
        .values = REAL(R_do_slot(x, Rf_install("x"))),
        .sparse_row = INTEGER(R_do_slot(x, Rf_install("i"))),
        .sparse_start = INTEGER(R_do_slot(x, Rf_install("p"))),
    };
}

/* A dgCMatrix has nothing but slots. An object of a class that contains "matrix" is S4 in R, too, but has a matrix's
 * data and dim, and another TYPEOF(). */
gcor_matrix r_matrix(SEXP x, int by_row) {
    if (TYPEOF(x) == S4SXP) return sparse_matrix(x);
    int64_t n_row = Rf_nrows(x), n_col = Rf_ncols(x);
    gcor_matrix matrix = {.source = gcor_matrix_source(n_row, n_col), .obs_stride = 1, .var_stride = n_row};
    if (by_row)
        matrix = (gcor_matrix){.source = gcor_matrix_source(n_col, n_row), .obs_stride = n_row, .var_stride = 1};
    switch (TYPEOF(x)) {
    case REALSXP: matrix.values = REAL(x); break;
    case INTSXP: matrix.storage = GCOR_INTEGERS, matrix.values = INTEGER(x); break;
    case LGLSXP: matrix.storage = GCOR_INTEGERS, matrix.values = LOGICAL(x); break;
    default: Rf_error("'x' must be numeric, not of type %s", Rf_type2char(TYPEOF(x)));
    }
    return matrix;
}

r_source r_source_of(SEXP x, int by_row) {
    int is_file = Rf_inherits(x, "gpuCorFile");
    if (!is_file && (TYPEOF(x) != S4SXP || Rf_inherits(x, "dgCMatrix")))
        return (r_source){.matrix = r_matrix(x, by_row)};
    if (by_row) Rf_error("data outside memory are read by columns only");
    if (is_file && strcmp(CHAR(Rf_asChar(r_element(x, "kind"))), "raw") == 0)
        return (r_source){.raw = gcor_raw_source_of(r_raw_file(x))};
    return (r_source){.asked = r_asked_source(x)};
}
