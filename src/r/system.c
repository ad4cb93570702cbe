/* What R asks of the operating system, where R itself has no function that does it on all of them. */
#include "r.h"

#include "../base/os.h"

SEXP r_sync(SEXP path) {
    return Rf_ScalarLogical(gcor_os_sync(CHAR(STRING_ELT(path, 0))) == 0);
}

SEXP r_are_running(SEXP processes) {
    R_xlen_t n = Rf_xlength(processes);
    SEXP are_running = PROTECT(Rf_allocVector(LGLSXP, n));
    for (R_xlen_t k = 0; k < n; k++) LOGICAL(are_running)[k] = gcor_os_is_running(INTEGER(processes)[k]);
    UNPROTECT(1);
    return are_running;
}

SEXP r_random(SEXP bytes) {
    SEXP random = PROTECT(Rf_allocVector(RAWSXP, Rf_asInteger(bytes)));
    if (gcor_os_random(RAW(random), (size_t)Rf_xlength(random)) != 0) Rf_error("the system has no random numbers");
    UNPROTECT(1);
    return random;
}
