/* gpuPrune: which edges of a network the data processing inequality leaves. */
#include "call.h"

#include "../stats/prune.h"

/* Returns for each entry of a symmetric network, given as compressed columns of its upper triangle, whether it is
 * kept. */
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
