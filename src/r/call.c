#include "call.h"

#include "../base/alloc.h"

#include <stdarg.h>
#include <stdio.h>

SEXP r_element(SEXP list, const char *name) {
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t k = 0; k < Rf_xlength(names); k++)
        if (strcmp(CHAR(STRING_ELT(names, k)), name) == 0) return VECTOR_ELT(list, k);
    r_error("setting '%s' is missing", name);
}

double *r_new_doubles(SEXP list, int k, R_xlen_t length) {
    SEXP values = Rf_allocVector(REALSXP, length);
    SET_VECTOR_ELT(list, k, values);
    gcor_huge_pages(REAL(values), (size_t)length * sizeof(double));
    return REAL(values);
}

void r_arguments(SEXP list, int n, SEXP *own) {
    if (Rf_xlength(list) != n) r_error("there must be %d arguments, not %.0f", n, (double)Rf_xlength(list));
    for (int k = 0; k < n; k++) own[k] = VECTOR_ELT(list, k);
}

void r_check_compressed(SEXP p, SEXP i, SEXP x, int64_t n) {
    const R_xlen_t columns = Rf_xlength(p) - 1, entries = Rf_xlength(i);
    int sound = TYPEOF(p) == INTSXP && TYPEOF(i) == INTSXP && columns >= 0 && INTEGER(p)[0] == 0 &&
                INTEGER(p)[columns] == entries;
    if (x) sound = sound && TYPEOF(x) == REALSXP && Rf_xlength(x) == entries;
    for (R_xlen_t j = 0; sound && j < columns; j++) sound = INTEGER(p)[j] <= INTEGER(p)[j + 1];
    for (R_xlen_t e = 0; sound && e < entries; e++) sound = INTEGER(i)[e] >= 0 && INTEGER(i)[e] < n;
    if (!sound) r_error("the slots p, i and x of a sparse matrix do not belong together; make the matrix again");
}

void r_set_attributes(SEXP values, SEXP attributes, SEXP n_obs, SEXP diagonal) {
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    for (R_xlen_t k = 0; k < Rf_xlength(attributes); k++) {
        const char *name = CHAR(STRING_ELT(names, k));
        SEXP value = VECTOR_ELT(attributes, k);
        if (n_obs && strcmp(name, "n_obs") == 0) value = n_obs;
        if (diagonal && strcmp(name, "diagonal") == 0) value = diagonal;
        Rf_setAttrib(values, Rf_installTrChar(STRING_ELT(names, k)), value);
    }
}

/* ---- external pointers: the tag points to release() --------------------------------------- */

static void finalize(SEXP pointer) {
    void *address = R_ExternalPtrAddr(pointer);
    if (address) {
        void (*release)(void *) = (void (*)(void *))(void (*)(void))R_ExternalPtrAddrFn(R_ExternalPtrTag(pointer));
        release(address);
    }
    R_ClearExternalPtr(pointer);
}

SEXP r_new_owner(void (*release)(void *), Rboolean at_exit) {
    SEXP tag = PROTECT(R_MakeExternalPtrFn((DL_FUNC)(void (*)(void))release, R_NilValue, R_NilValue));
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, tag, R_NilValue));
    R_RegisterCFinalizerEx(pointer, finalize, at_exit);
    UNPROTECT(2);
    return pointer;
}

/* Frees what a pointer of r_new_owner() owns before R collects it. */
SEXP r_free(SEXP pointer) {
    finalize(pointer);
    return R_NilValue;
}

/* ---- calls of R, and errors ------------------------------------------------------------------ */

SEXP r_eval(SEXP call) {
    SEXP name = PROTECT(Rf_mkString("gpucor")), namespace = PROTECT(R_FindNamespace(name));
    SEXP value = Rf_eval(call, namespace);
    UNPROTECT(2);
    return value;
}

SEXP r_failure(const gcor_error *error) {
    const char *names[] = {"status", "message", ""};
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_ScalarInteger(error->status));
    SET_VECTOR_ELT(result, 1, Rf_mkString(error->message));
    UNPROTECT(1);
    return result;
}

void r_raise(const gcor_error *error) {
    SEXP failure = PROTECT(r_failure(error)), call = PROTECT(Rf_lang2(Rf_install("stop_run"), failure));
    (void)r_eval(call);
    Rf_error("%s", error->message); /* not reached */
}

void r_error(const char *format, ...) {
    gcor_error error = {.status = GCOR_BAD_INPUT};
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error.message, sizeof error.message, format, arguments);
    va_end(arguments);
    r_raise(&error);
}
