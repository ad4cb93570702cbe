/* Settings that are not arguments of a call: R options and environment variables. */
#include "call.h"

#include <stdlib.h>

static SEXP option_of(const char *name) {
    return *name ? Rf_GetOption1(Rf_install(name)) : R_NilValue;
}

/* Returns a list of the values of options; an option that is not set, or has the name "", takes the text of the
 * environment variable at its position, or else NULL. Attributes: "variables", the positions, from 1, of values from
 * the environment, if there are any; "cores", from r_cores(). */
SEXP r_settings(SEXP options, SEXP variables, SEXP names) {
    R_xlen_t n = Rf_xlength(options), n_variables = 0;
    SEXP found = PROTECT(Rf_allocVector(VECSXP, n));
    Rf_setAttrib(found, R_NamesSymbol, names);
    int *position = (int *)R_alloc((size_t)n, sizeof *position);
    for (R_xlen_t k = 0; k < n; k++) {
        SEXP value = option_of(CHAR(STRING_ELT(options, k)));
        const char *text = Rf_isNull(value) ? getenv(CHAR(STRING_ELT(variables, k))) : NULL;
        if (text && *text) {
            position[n_variables++] = (int)k + 1;
            value = Rf_mkString(text);
        }
        SET_VECTOR_ELT(found, k, value);
    }
    SEXP cores = PROTECT(Rf_ScalarInteger(r_cores()));
    Rf_setAttrib(found, Rf_install("cores"), cores);
    if (n_variables > 0) {
        SEXP positions = PROTECT(Rf_allocVector(INTSXP, n_variables));
        memcpy(INTEGER(positions), position, (size_t)n_variables * sizeof *position);
        Rf_setAttrib(found, Rf_install("variables"), positions);
        UNPROTECT(1);
    }
    UNPROTECT(2);
    return found;
}
