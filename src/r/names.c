/* Names by their numbers (ALTREP): the text names[numbers], whose elements are looked up when R asks for them. A name
 * in a table of millions of pairs takes four bytes, and R does not visit it when it collects garbage.
 *
 * data1: the numbers, from 1, and NULL once R has asked for a pointer to all; data2: the names, then all text. */
#include "vector.h"

#include <R_ext/Altrep.h>

static R_altrep_class_t class;

static R_xlen_t length(SEXP x) {
    return Rf_xlength(Rf_isNull(R_altrep_data1(x)) ? R_altrep_data2(x) : R_altrep_data1(x));
}

static SEXP element(SEXP x, R_xlen_t k) {
    SEXP numbers = R_altrep_data1(x);
    return STRING_ELT(R_altrep_data2(x), Rf_isNull(numbers) ? k : INTEGER_RO(numbers)[k] - 1);
}

static SEXP expanded(SEXP x) {
    R_xlen_t n = length(x);
    if (Rf_isNull(R_altrep_data1(x))) return R_altrep_data2(x);
    SEXP all = PROTECT(Rf_allocVector(STRSXP, n));
    for (R_xlen_t k = 0; k < n; k++) SET_STRING_ELT(all, k, element(x, k));
    R_set_altrep_data2(x, all);
    R_set_altrep_data1(x, R_NilValue);
    UNPROTECT(1);
    return all;
}

static void set_element(SEXP x, R_xlen_t k, SEXP value) {
    SET_STRING_ELT(expanded(x), k, value);
}

static void *data(SEXP x, Rboolean writable) {
    (void)writable;
    return (void *)(intptr_t)STRING_PTR_RO(expanded(x));
}

static const void *data_or_null(SEXP x) {
    return Rf_isNull(R_altrep_data1(x)) ? STRING_PTR_RO(R_altrep_data2(x)) : NULL;
}

/* NULL lets R copy the text. */
static SEXP duplicate(SEXP x, Rboolean deep) {
    (void)deep;
    return Rf_isNull(R_altrep_data1(x)) ? NULL : R_new_altrep(class, R_altrep_data1(x), R_altrep_data2(x));
}

/* R extracts and saves such vectors by element, as ordinary text. */
void r_define_names(DllInfo *dll) {
    class = R_make_altstring_class("names", "gpucor", dll);
    R_set_altrep_Length_method(class, length);
    R_set_altrep_Duplicate_method(class, duplicate);
    R_set_altvec_Dataptr_method(class, data);
    R_set_altvec_Dataptr_or_null_method(class, data_or_null);
    R_set_altstring_Elt_method(class, element);
    R_set_altstring_Set_elt_method(class, set_element);
}

/* Returns names[numbers]. All numbers, integers from 1, have a name. */
SEXP r_names_at(SEXP numbers, SEXP names) {
    return R_new_altrep(class, numbers, names);
}
