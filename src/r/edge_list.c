/* A network's edges for a data frame. */
#include "r.h"

#include "../sink/edges/sort.h"

/* Any R object may have been changed: the starts say what is read. */
static void check_rows(SEXP p, SEXP i, SEXP x) {
    int sound = TYPEOF(p) == INTSXP && TYPEOF(i) == INTSXP && TYPEOF(x) == REALSXP && Rf_xlength(p) > 0;
    R_xlen_t n_row = Rf_xlength(p) - 1, n = Rf_xlength(x);
    sound = sound && Rf_xlength(i) == n && INTEGER(p)[0] == 0 && INTEGER(p)[n_row] == n;
    for (R_xlen_t row = 0; sound && row < n_row; row++) sound = INTEGER(p)[row] <= INTEGER(p)[row + 1];
    if (!sound) Rf_error("this network's slots p, i and x do not belong together");
}

SEXP r_sorted_edges(SEXP p, SEXP i, SEXP x, SEXP threads) {
    const char *names[] = {"from", "to", "r", ""};
    check_rows(p, i, x);
    r_progress progress;
    gcor_monitor monitor;
    r_monitor(&monitor, &progress, NULL);
    gcor_context context = {.threads = r_threads(threads), .monitor = &monitor};
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_allocVector(INTSXP, Rf_xlength(x)));
    SET_VECTOR_ELT(result, 1, Rf_allocVector(INTSXP, Rf_xlength(x)));
    SET_VECTOR_ELT(result, 2, Rf_allocVector(REALSXP, Rf_xlength(x)));
    gcor_status status = gcor_sort_edges(&context, Rf_xlength(p) - 1, INTEGER(p), INTEGER(i), REAL(x),
                                         INTEGER(VECTOR_ELT(result, 0)), INTEGER(VECTOR_ELT(result, 1)),
                                         REAL(VECTOR_ELT(result, 2)));
    UNPROTECT(1);
    return status ? r_failure(&context.error) : result;
}
