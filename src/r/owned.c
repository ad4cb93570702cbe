/* Whole numbers and doubles of R's in memory of the pool's, where large results are put together (ALTREP): vectors like
 * any other but for who frees them.
 *
 * data1: a pointer of R's to the memory; data2: the length. */
#include "altrep.h"

#include "../base/pool.h"

#include <stdlib.h>

static R_altrep_class_t int_class, real_class;

typedef struct {
    gcor_block block; /* first */
    int stays;
} owned_memory;

static gcor_block *block_of(SEXP x) {
    return R_ExternalPtrAddr(R_altrep_data1(x));
}

static void finalize(SEXP pointer) {
    owned_memory *memory = R_ExternalPtrAddr(pointer);
    if (!memory) return;
    R_ClearExternalPtr(pointer);
    if (memory->stays)
        gcor_pool_give(&memory->block);
    else
        gcor_pool_return(&memory->block);
    free(memory);
}

static R_xlen_t length(SEXP x) {
    return (R_xlen_t)REAL(R_altrep_data2(x))[0];
}

static void *data_pointer(SEXP x, Rboolean writable) {
    (void)writable;
    return block_of(x)->at;
}

static const void *data_pointer_or_null(SEXP x) {
    return block_of(x)->at;
}

static int int_element(SEXP x, R_xlen_t k) {
    return ((const int *)block_of(x)->at)[k];
}

static double real_element(SEXP x, R_xlen_t k) {
    return ((const double *)block_of(x)->at)[k];
}

/* NULL: as R does it, a copy in its own memory. */
static SEXP duplicate(SEXP x, Rboolean deep) {
    (void)x, (void)deep;
    return NULL;
}

static Rboolean inspect(SEXP x, int before, int deep, int from, void (*subtree)(SEXP, int, int, int)) {
    (void)before, (void)deep, (void)from, (void)subtree;
    Rprintf(" entries of a network (%.0f bytes of its own)\n", (double)block_of(x)->capacity);
    return TRUE;
}

void r_define_owned(DllInfo *dll) {
    const r_vector_methods methods = {length, duplicate, inspect, data_pointer, data_pointer_or_null};
    int_class = R_make_altinteger_class("owned_integer", "gpucor", dll);
    real_class = R_make_altreal_class("owned_real", "gpucor", dll);
    r_set_methods(int_class, &methods);
    r_set_methods(real_class, &methods);
    R_set_altinteger_Elt_method(int_class, int_element);
    R_set_altreal_Elt_method(real_class, real_element);
}

SEXP r_owned_new(SEXPTYPE type, R_xlen_t n, int stays) {
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    SEXP size = PROTECT(Rf_ScalarReal((double)n));
    owned_memory *memory = calloc(1, sizeof *memory);
    if (!memory) Rf_error("cannot allocate memory for the results");
    memory->stays = stays;
    R_SetExternalPtrAddr(pointer, memory);
    R_RegisterCFinalizer(pointer, finalize);
    SEXP x = R_new_altrep(type == INTSXP ? int_class : real_class, pointer, size);
    UNPROTECT(2);
    return x;
}

gcor_block *r_owned_block(SEXP x) {
    return block_of(x);
}
