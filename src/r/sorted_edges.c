/* A network's edges for a data frame. */
#include "call.h"

#include "../sink/edges/sort.h"

/* Users may change any R object, and the starts say what is read. */
static void check_rows(SEXP p, SEXP i, SEXP x) {
    int sound = TYPEOF(p) == INTSXP && TYPEOF(i) == INTSXP && TYPEOF(x) == REALSXP && Rf_xlength(p) > 0;
    R_xlen_t n_row = Rf_xlength(p) - 1, n = Rf_xlength(x);
    sound = sound && Rf_xlength(i) == n && INTEGER(p)[0] == 0 && INTEGER(p)[n_row] == n;
    for (R_xlen_t row = 0; sound && row < n_row; row++) sound = INTEGER(p)[row] <= INTEGER(p)[row + 1];
    if (!sound) Rf_error("this network's slots p, i and x do not belong together");
}

/* Returns list(from, to, r) of the entries of compressed rows, from 1, in the order of gcor_sort_edges(). */
SEXP r_sorted_edges(SEXP p, SEXP i, SEXP x, SEXP threads) {
    const char *names[] = {"from", "to", "r", ""};
    check_rows(p, i, x);
    r_call call;
    r_plain_call_parse(&call, threads);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_allocVector(INTSXP, Rf_xlength(x)));
    SET_VECTOR_ELT(result, 1, Rf_allocVector(INTSXP, Rf_xlength(x)));
    SET_VECTOR_ELT(result, 2, Rf_allocVector(REALSXP, Rf_xlength(x)));
    gcor_status status = gcor_sort_edges(&call.context, Rf_xlength(p) - 1, INTEGER(p), INTEGER(i), REAL(x),
                                         INTEGER(VECTOR_ELT(result, 0)), INTEGER(VECTOR_ELT(result, 1)),
                                         REAL(VECTOR_ELT(result, 2)));
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}
