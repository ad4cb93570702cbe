/* Which edges of a network another network has. */
#include "call.h"

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
