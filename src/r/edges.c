/* Results that are made of the entries of a network that R has: a data frame, a pruned network, counts of edges. */
#include "call.h"

#include "../sink/edges/sort.h"
#include "../stats/prune.h"

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

/* gpuPrune: returns for each entry of a symmetric network, given as compressed columns of its upper triangle, whether
 * the data processing inequality leaves it. */
SEXP r_prune(SEXP p, SEXP i, SEXP x, SEXP tolerance, SEXP threads) {
    r_check_compressed(p, i, x, Rf_xlength(p) - 1);
    r_call call;
    r_plain_call_parse(&call, threads);
    SEXP result = PROTECT(Rf_allocVector(LGLSXP, Rf_xlength(x)));
    const gcor_upper network = {.n = Rf_xlength(p) - 1, .start = INTEGER(p), .row = INTEGER(i), .r = REAL(x)};
    gcor_status status = gcor_prune(&call.context, &network, Rf_asReal(tolerance), LOGICAL(result));
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}

/* Returns the counts plus 1 for the entries of compressed rows p and i that rows p2 and i2, of as many variables, have,
 * too. The columns of each row ascend. */
SEXP r_count_edges(SEXP counts, SEXP p, SEXP i, SEXP p2, SEXP i2) {
    R_xlen_t n_row = Rf_xlength(p) - 1;
    if (Rf_xlength(counts) != Rf_xlength(i) || Rf_xlength(p2) != n_row + 1)
        r_error("counts of %.0f entries, and networks of %.0f and %.0f rows", (double)Rf_xlength(counts), (double)n_row,
                (double)Rf_xlength(p2) - 1);
    SEXP result = PROTECT(Rf_duplicate(counts));
    const int *start = INTEGER(p), *start2 = INTEGER(p2), *column = INTEGER(i), *column2 = INTEGER(i2);
    int *count = INTEGER(result);
    for (R_xlen_t row = 0; row < n_row; row++) {
        int other = start2[row];
        for (int e = start[row]; e < start[row + 1]; e++) {
            while (other < start2[row + 1] && column2[other] < column[e]) other++;
            count[e] += other < start2[row + 1] && column2[other] == column[e];
        }
    }
    UNPROTECT(1);
    return result;
}
