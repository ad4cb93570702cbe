/* A vector of one number that is repeated: R's vectors have a class for that (ALTREP), and become ordinary ones when
 * somebody writes to them or wants their memory. data1: the number and how often; data2: the ordinary vector. */
#include "altrep.h"

static R_altrep_class_t constant_class;

static double value_of(SEXP x) {
    return REAL(R_altrep_data1(x))[0];
}

static R_xlen_t length(SEXP x) {
    return (R_xlen_t)REAL(R_altrep_data1(x))[1];
}

static int is_constant(SEXP x) {
    return Rf_isNull(R_altrep_data2(x));
}

static void *data_pointer(SEXP x, Rboolean writable) {
    (void)writable;
    if (is_constant(x)) {
        SEXP all = PROTECT(Rf_allocVector(REALSXP, length(x)));
        for (R_xlen_t k = 0; k < length(x); k++) REAL(all)[k] = value_of(x);
        R_set_altrep_data2(x, all);
        UNPROTECT(1);
    }
    return REAL(R_altrep_data2(x));
}

static const void *data_pointer_or_null(SEXP x) {
    return is_constant(x) ? NULL : REAL(R_altrep_data2(x));
}

static double element(SEXP x, R_xlen_t k) {
    return is_constant(x) ? value_of(x) : REAL(R_altrep_data2(x))[k];
}

/* What was written to is copied as R copies vectors. */
static SEXP duplicate(SEXP x, Rboolean deep) {
    (void)deep;
    return is_constant(x) ? r_constant_vector(value_of(x), length(x)) : NULL;
}

static Rboolean inspect(SEXP x, int before, int deep, int after, void (*inspect_subtree)(SEXP, int, int, int)) {
    (void)before, (void)deep, (void)after, (void)inspect_subtree;
    Rprintf(" %g, %.0f times (%s)\n", value_of(x), (double)length(x), is_constant(x) ? "compact" : "expanded");
    return TRUE;
}

void r_define_constant_vectors(DllInfo *dll) {
    const r_vector_methods methods = {length, duplicate, inspect, data_pointer, data_pointer_or_null};
    constant_class = R_make_altreal_class("constant", "gpucor", dll);
    r_set_methods(constant_class, &methods);
    R_set_altreal_Elt_method(constant_class, element);
}

SEXP r_constant_vector(double value, R_xlen_t n) {
    SEXP state = PROTECT(Rf_allocVector(REALSXP, 2));
    REAL(state)[0] = value;
    REAL(state)[1] = (double)n;
    SEXP x = R_new_altrep(constant_class, state, R_NilValue);
    UNPROTECT(1);
    return x;
}
