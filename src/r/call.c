#include "call.h"

#include "../base/alloc.h"

SEXP r_element(SEXP list, const char *name) {
    SEXP names = Rf_getAttrib(list, R_NamesSymbol);
    for (R_xlen_t k = 0; k < Rf_xlength(names); k++)
        if (strcmp(CHAR(STRING_ELT(names, k)), name) == 0) return VECTOR_ELT(list, k);
    Rf_error("setting '%s' is missing", name);
}

double *r_new_doubles(SEXP list, int k, R_xlen_t length) {
    SEXP values = Rf_allocVector(REALSXP, length);
    SET_VECTOR_ELT(list, k, values);
    gcor_huge_pages(REAL(values), (size_t)length * sizeof(double));
    return REAL(values);
}

void r_set_attributes(SEXP values, SEXP attributes) {
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    for (R_xlen_t k = 0; k < Rf_xlength(attributes); k++)
        Rf_setAttrib(values, Rf_installTrChar(STRING_ELT(names, k)), VECTOR_ELT(attributes, k));
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

/* ---- calls ---------------------------------------------------------------------------------- */

SEXP r_failure(const gcor_error *error) {
    const char *names[] = {"status", "message", ""};
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_ScalarInteger(error->status));
    SET_VECTOR_ELT(result, 1, Rf_mkString(error->message));
    UNPROTECT(1);
    return result;
}

void r_call_parse(r_call *call, SEXP settings) {
    double interval = Rf_asReal(r_element(settings, "progress"));
    r_monitor(&call->monitor, &call->progress, interval > 0 ? settings : NULL, interval);
    call->context = (gcor_context){
        .threads = r_threads(r_element(settings, "threads")),
        .memory = (int64_t)Rf_asReal(r_element(settings, "memory")),
        .monitor = &call->monitor,
    };
}

void r_quiet_call_parse(r_call *call, SEXP settings) {
    r_call_parse(call, settings);
    call->progress.settings = NULL;
}

void r_plain_call_parse(r_call *call, SEXP threads) {
    r_monitor(&call->monitor, &call->progress, NULL, 0);
    call->context = (gcor_context){.threads = r_threads(threads), .monitor = &call->monitor};
}
