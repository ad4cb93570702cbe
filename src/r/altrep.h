/* What R's vectors of our own classes (ALTREP) have in common. */
#ifndef GPUCOR_R_ALTREP_H
#define GPUCOR_R_ALTREP_H

#include "r.h"

#include <R_ext/Altrep.h>

typedef struct {
    R_xlen_t (*length)(SEXP x);
    SEXP (*duplicate)(SEXP x, Rboolean deep);
    Rboolean (*inspect)(SEXP x, int before, int deep, int after, void (*inspect_subtree)(SEXP, int, int, int));
    void *(*data)(SEXP x, Rboolean writable);
    const void *(*data_or_null)(SEXP x);
} r_vector_methods;

static inline void r_set_methods(R_altrep_class_t class, const r_vector_methods *methods) {
    R_set_altrep_Length_method(class, methods->length);
    R_set_altrep_Duplicate_method(class, methods->duplicate);
    R_set_altrep_Inspect_method(class, methods->inspect);
    R_set_altvec_Dataptr_method(class, methods->data);
    R_set_altvec_Dataptr_or_null_method(class, methods->data_or_null);
}

#endif
