/* A network's edges for a data frame. */
#include "call.h"

#include "../sink/edges/sort.h"

/* Returns list(from, to, r) of the entries of compressed rows, from 1, in the order of gcor_sort_edges(). */
SEXP r_sorted_edges(SEXP p, SEXP i, SEXP x, SEXP threads) {
    const char *names[] = {"from", "to", "r", ""};
    r_check_compressed(p, i, x, INT_MAX);
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
