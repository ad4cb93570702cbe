/* Names of many, each by its number: a character vector that keeps the numbers and the names, 4 bytes an element, until
 * somebody wants to have all elements in memory or to change one. */
#include "altrep.h"

static R_altrep_class_t numbered_names;

/* Before that: numbers, from 1, and names. After it nil and all elements. */
static SEXP numbers_of(SEXP x) {
    return R_altrep_data1(x);
}

static SEXP names_of(SEXP x) {
    return R_altrep_data2(x);
}

static R_xlen_t length(SEXP x) {
    return Rf_xlength(Rf_isNull(numbers_of(x)) ? names_of(x) : numbers_of(x));
}

static SEXP element(SEXP x, R_xlen_t k) {
    SEXP numbers = numbers_of(x);
    return STRING_ELT(names_of(x), Rf_isNull(numbers) ? k : INTEGER_RO(numbers)[k] - 1);
}

static SEXP all_elements(SEXP x) {
    if (Rf_isNull(numbers_of(x))) return names_of(x);
    R_xlen_t n = length(x);
    SEXP all = PROTECT(Rf_allocVector(STRSXP, n));
    for (R_xlen_t k = 0; k < n; k++) SET_STRING_ELT(all, k, element(x, k));
    R_set_altrep_data2(x, all);
    R_set_altrep_data1(x, R_NilValue);
    UNPROTECT(1);
    return all;
}

static void set_element(SEXP x, R_xlen_t k, SEXP value) {
    SET_STRING_ELT(all_elements(x), k, value);
}

static void *data(SEXP x, Rboolean writable) {
    (void)writable;
    return (void *)STRING_PTR_RO(all_elements(x));
}

static const void *data_or_null(SEXP x) {
    return Rf_isNull(numbers_of(x)) ? STRING_PTR_RO(names_of(x)) : NULL;
}

/* Numbers and names are never changed, so that a copy has the same. */
static SEXP duplicate(SEXP x, Rboolean deep) {
    if (!Rf_isNull(numbers_of(x))) return R_new_altrep(numbered_names, numbers_of(x), names_of(x));
    return deep ? Rf_duplicate(names_of(x)) : Rf_shallow_duplicate(names_of(x));
}

/* 1: certainly. */
static int has_no_missing(SEXP x) {
    SEXP names = names_of(x);
    if (Rf_isNull(numbers_of(x))) return 0;
    for (R_xlen_t k = 0; k < Rf_xlength(names); k++)
        if (STRING_ELT(names, k) == NA_STRING) return 0;
    return 1;
}

static Rboolean inspect(SEXP x, int before, int deep, int from, void (*subtree)(SEXP, int, int, int)) {
    (void)before, (void)deep, (void)from, (void)subtree;
    Rprintf(" names by their numbers (%s)\n", Rf_isNull(numbers_of(x)) ? "expanded" : "compact");
    return TRUE;
}

SEXP r_names_at(SEXP numbers, SEXP names) {
    if (TYPEOF(numbers) != INTSXP || TYPEOF(names) != STRSXP) Rf_error("names are chosen by whole numbers");
    const int *number = INTEGER_RO(numbers);
    R_xlen_t n_names = Rf_xlength(names);
    for (R_xlen_t k = 0; k < Rf_xlength(numbers); k++)
        if (number[k] < 1 || number[k] > n_names) Rf_error("there is no name %d of %.0f", number[k], (double)n_names);
    MARK_NOT_MUTABLE(numbers);
    MARK_NOT_MUTABLE(names);
    return R_new_altrep(numbered_names, numbers, names);
}

/* What is saved is a character vector like any other: that is what R does without methods for it. */
void r_define_names(DllInfo *dll) {
    const r_vector_methods methods = {length, duplicate, inspect, data, data_or_null};
    numbered_names = R_make_altstring_class("numbered_names", "gpucor", dll);
    r_set_methods(numbered_names, &methods);
    R_set_altstring_Elt_method(numbered_names, element);
    R_set_altstring_Set_elt_method(numbered_names, set_element);
    R_set_altstring_No_NA_method(numbered_names, has_no_missing);
}
