/* Sources from R objects in memory. */
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
    default: r_error("'x' must be numeric, not of type %s", Rf_type2char(TYPEOF(x)));
    }
    return matrix;
}

r_source r_source_of(SEXP x, int by_row) {
    int is_file = Rf_inherits(x, "gpuCorFile");
    if (!is_file && (TYPEOF(x) != S4SXP || Rf_inherits(x, "dgCMatrix")))
        return (r_source){.matrix = r_matrix(x, by_row)};
    if (by_row) r_error("data outside memory are read by columns only");
    if (is_file && strcmp(CHAR(Rf_asChar(r_element(x, "kind"))), "raw") == 0)
        return (r_source){.raw = gcor_raw_source_of(r_raw_file(x))};
    return (r_source){.asked = r_asked_source(x)};
}
