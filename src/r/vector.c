/* R vectors outside R's memory (ALTREP), of three forms:
 *
 *   plain     ordinary integers or doubles, such as the entries of a network or p values
 *   compact   all coefficients, in half the memory of doubles (measure/compact.h); copies, and distances of the same
 *             coefficients, share the memory, whose contents never change
 *   constant  one number repeated, which takes no memory: a compact form without values
 *
 * Compact vectors answer what R asks by element, by region, or as an extreme. When R asks for a pointer, they become
 * ordinary vectors once and for all, made by all threads, and the buffer is given back.
 *
 * data1: an external pointer to a `vector`, without an address after that; data2: the ordinary vector. */
#include "vector.h"

#include "../base/alloc.h"
#include "../base/triangle.h"

#include <R_ext/Altrep.h>

#include <stdlib.h>

typedef struct {
    gcor_buffer buffer; /* the values; behind compact ones the norms */
    int owners;         /* vectors that share it */
} shared_buffer;

typedef struct {
    R_xlen_t n;
    shared_buffer *shared;
    gcor_compact compact; /* unless is_plain */
    int is_plain, threads, has_no_missing;
} vector;

static R_altrep_class_t int_class, real_class;

static vector *vector_of(SEXP x) {
    return R_ExternalPtrAddr(R_altrep_data1(x));
}

static const vector *compact_vector_of(SEXP x) {
    const vector *v = vector_of(x);
    return v && !v->is_plain ? v : NULL;
}

static void release(void *address) {
    vector *v = address;
    if (v->shared && --v->shared->owners == 0) {
        gcor_buffer_give(&v->shared->buffer);
        free(v->shared);
    }
    free(v);
}

static void stop_without_memory(void) {
    r_raise(&(gcor_error){GCOR_NO_MEMORY, "no memory for the results; close other programs"});
}

/* A vector without a buffer. R's memory is allocated before ours, which a jump would leak. */
static SEXP new_vector(R_altrep_class_t class, R_xlen_t n) {
    SEXP pointer = PROTECT(r_new_owner(release, FALSE)), x = PROTECT(R_new_altrep(class, pointer, R_NilValue));
    vector *v = calloc(1, sizeof *v);
    if (!v) stop_without_memory();
    v->n = n;
    R_SetExternalPtrAddr(pointer, v);
    UNPROTECT(2);
    return x;
}

static void add_buffer(vector *v) {
    v->shared = calloc(1, sizeof *v->shared);
    if (!v->shared) stop_without_memory();
    v->shared->owners = 1;
}

static SEXP share(const vector *from) {
    SEXP x = new_vector(real_class, from->n);
    *vector_of(x) = *from;
    if (from->shared) from->shared->owners++;
    return x;
}

/* ---- methods of all forms --------------------------------------------------------------- */

static R_xlen_t length(SEXP x) {
    const vector *v = vector_of(x);
    return v ? v->n : Rf_xlength(R_altrep_data2(x));
}

static void expand(SEXP x, const vector *v) {
    r_check_doubles(v->n);
    SEXP all = PROTECT(Rf_allocVector(REALSXP, v->n));
    gcor_huge_pages(REAL(all), (size_t)v->n * sizeof(double));
    gcor_compact_widen(&v->compact, r_own_threads(v->threads), REAL(all));
    R_set_altrep_data2(x, all);
    (void)r_free(R_altrep_data1(x));
    UNPROTECT(1);
}

static void *data(SEXP x, Rboolean writable) {
    const vector *v = vector_of(x);
    if (v && v->is_plain) return v->shared->buffer.at;
    if (v) expand(x, v);
    return REAL(R_altrep_data2(x));
}

static const void *data_or_null(SEXP x) {
    return compact_vector_of(x) ? NULL : data(x, FALSE);
}

/* NULL lets R copy the values into its own memory. */
static SEXP duplicate(SEXP x, Rboolean deep) {
    const vector *v = compact_vector_of(x);
    return v ? share(v) : NULL;
}

static Rboolean inspect(SEXP x, int before, int deep, int from, void (*subtree)(SEXP, int, int, int)) {
    const vector *v = vector_of(x);
    if (!v) {
        Rprintf(" coefficients (expanded)\n");
        subtree(R_altrep_data2(x), before, deep, from);
    } else if (v->is_plain) {
        Rprintf(" ordinary values (%.0f bytes of its own)\n", (double)v->shared->buffer.bytes);
    } else if (!v->shared) {
        Rprintf(" %g, %.0f times (compact)\n", v->compact.missing, (double)v->n);
    } else {
        Rprintf(" coefficients (compact: %s%s, owners %d)\n",
                v->compact.form == GCOR_AS_FLOATS ? "single precision" : "numerators",
                v->compact.is_distance ? ", distances" : "", v->shared->owners);
    }
    return TRUE;
}

static int int_element(SEXP x, R_xlen_t k) {
    return ((const int *)data_or_null(x))[k];
}

/* ---- methods of doubles ----------------------------------------------------------------- */

static double element(SEXP x, R_xlen_t k) {
    const vector *v = compact_vector_of(x);
    return v ? gcor_compact_at(&v->compact, k) : ((const double *)data_or_null(x))[k];
}

static R_xlen_t get_region(SEXP x, R_xlen_t first, R_xlen_t n, double *out) {
    const vector *v = compact_vector_of(x);
    R_xlen_t rest = length(x) - first;
    if (n > rest) n = rest;
    if (n <= 0) return 0;
    if (v)
        gcor_compact_read(&v->compact, first, n, out);
    else
        memcpy(out, (const double *)data_or_null(x) + first, (size_t)n * sizeof *out);
    return n;
}

/* Positions are from 1, integers or not; NA and positions beyond the end give NA. NULL lets R do it. */
static SEXP extract(SEXP x, SEXP positions, SEXP call) {
    const vector *v = compact_vector_of(x);
    R_xlen_t n = Rf_xlength(positions);
    if (!v || (TYPEOF(positions) != INTSXP && TYPEOF(positions) != REALSXP)) return NULL;
    SEXP extracted = PROTECT(Rf_allocVector(REALSXP, n));
    double *out = REAL(extracted), last = (double)v->n;
    for (R_xlen_t k = 0; k < n; k++) {
        double at = TYPEOF(positions) == REALSXP ? REAL_ELT(positions, k) : INTEGER_ELT(positions, k);
        out[k] = at >= 1 && at < last + 1 ? gcor_compact_at(&v->compact, (R_xlen_t)at - 1) : NA_REAL;
    }
    UNPROTECT(1);
    return extracted;
}

/* NULL lets R do it, which it must where a value is missing. */
static SEXP extreme(SEXP x, int is_max) {
    const vector *v = compact_vector_of(x);
    if (!v || v->n == 0) return NULL;
    double found = gcor_compact_extreme(&v->compact, is_max, r_own_threads(v->threads));
    return found == found ? Rf_ScalarReal(found) : NULL;
}

static SEXP min(SEXP x, Rboolean without_missing) {
    return extreme(x, 0);
}

static SEXP max(SEXP x, Rboolean without_missing) {
    return extreme(x, 1);
}

/* 0: unknown. */
static int has_no_missing(SEXP x) {
    return vector_of(x) && vector_of(x)->has_no_missing;
}

static void set_methods(R_altrep_class_t class) {
    R_set_altrep_Length_method(class, length);
    R_set_altrep_Duplicate_method(class, duplicate);
    R_set_altrep_Inspect_method(class, inspect);
    R_set_altvec_Dataptr_method(class, data);
    R_set_altvec_Dataptr_or_null_method(class, data_or_null);
}

/* R saves such vectors as ordinary ones, and sums them up itself: as long doubles, in the order of the values. */
void r_define_vectors(void) {
    int_class = R_make_altinteger_class("integers", "gpucor", NULL);
    real_class = R_make_altreal_class("doubles", "gpucor", NULL);
    set_methods(int_class);
    set_methods(real_class);
    R_set_altinteger_Elt_method(int_class, int_element);
    R_set_altreal_Elt_method(real_class, element);
    R_set_altreal_Get_region_method(real_class, get_region);
    R_set_altvec_Extract_subset_method(real_class, extract);
    R_set_altreal_Min_method(real_class, min);
    R_set_altreal_Max_method(real_class, max);
    R_set_altreal_No_NA_method(real_class, has_no_missing);
}

/* ---- plain and constant vectors ------------------------------------------------------------ */

SEXP r_plain_vector(SEXPTYPE type, R_xlen_t n) {
    SEXP x = PROTECT(new_vector(type == INTSXP ? int_class : real_class, n));
    vector_of(x)->is_plain = 1;
    add_buffer(vector_of(x));
    UNPROTECT(1);
    return x;
}

gcor_buffer *r_vector_buffer(SEXP x) {
    return &vector_of(x)->shared->buffer;
}

SEXP r_new_vector(gcor_context *context, SEXPTYPE type, R_xlen_t n) {
    const int64_t bytes = n * (int64_t)(type == INTSXP ? sizeof(int) : sizeof(double));
    if (bytes < R_MIN_BUFFER) {
        SEXP x = Rf_allocVector(type, n);
        gcor_huge_pages(type == INTSXP ? (void *)INTEGER(x) : REAL(x), (size_t)bytes);
        return x;
    }
    SEXP x = PROTECT(r_plain_vector(type, n));
    *r_vector_buffer(x) = gcor_buffer_take(context, bytes, "the results");
    UNPROTECT(1);
    return x;
}

SEXP r_constant_vector(double value, R_xlen_t n) {
    SEXP x = new_vector(real_class, n);
    vector *v = vector_of(x);
    v->compact = (gcor_compact){.form = GCOR_AS_FLOATS, .n = n, .missing = value};
    v->threads = 1;
    return x;
}

/* ---- compact vectors -------------------------------------------------------------------------- */

/* The norms follow the values. */
static int64_t norm_offset(int64_t n_var) {
    return (gcor_triangular(n_var - 1) * GCOR_COMPACT_BYTES + 63) / 64 * 64;
}

int64_t r_compact_bytes(int64_t n_var) {
    return norm_offset(n_var) + n_var * (int64_t)sizeof(double);
}

SEXP r_compact_vector(gcor_context *context, gcor_form form, gcor_shape shape, int64_t n_var, int is_distance) {
    int64_t n = gcor_triangular(n_var - 1), bytes = r_compact_bytes(n_var);
    r_collect_garbage(bytes);
    SEXP x = PROTECT(new_vector(real_class, n));
    vector *v = vector_of(x);
    add_buffer(v);
    const gcor_buffer buffer = v->shared->buffer = gcor_buffer_take(context, bytes, "the results");
    if (buffer.at) {
        double *norm = (double *)(void *)((char *)buffer.at + norm_offset(n_var));
        v->compact = (gcor_compact){form, shape, n_var, n, buffer.at, norm, NA_REAL, is_distance, buffer.is_recycled};
        for (int64_t j = 0; j < n_var; j++) norm[j] = -1;
        v->threads = context->threads;
    } else {
        r_compact_drop(x);
    }
    UNPROTECT(1);
    return x;
}

/* Returns 1 - x with the attributes of a named list, which takes no memory; NULL: x is not compact, or is a distance
 * already. R would wrap the vector to set them, and a wrapper hides that it is compact. */
SEXP r_distances(SEXP x, SEXP attributes) {
    const gcor_compact *compact = r_compact_of(x);
    if (!compact || compact->is_distance) return R_NilValue;
    SEXP distances = PROTECT(share(vector_of(x)));
    vector_of(distances)->compact.is_distance = 1;
    r_set_attributes(distances, attributes, NULL, NULL);
    UNPROTECT(1);
    return distances;
}

const gcor_compact *r_compact_of(SEXP x) {
    if (!ALTREP(x) || !R_altrep_inherits(x, real_class)) return NULL;
    const vector *v = compact_vector_of(x);
    return v && v->compact.values ? &v->compact : NULL;
}

void r_compact_drop(SEXP x) {
    (void)r_free(R_altrep_data1(x));
    R_set_altrep_data2(x, Rf_allocVector(REALSXP, 0));
}

void r_compact_complete(SEXP x) {
    vector *v = vector_of(x);
    v->has_no_missing = 1;
    for (int64_t j = 0; j < v->compact.n_var; j++) v->has_no_missing &= v->compact.norm[j] > 0;
}

/* Returns whether x keeps coefficients in half the memory of doubles. */
SEXP r_is_compact(SEXP x) {
    return Rf_ScalarLogical(r_compact_of(x) != NULL);
}

gcor_values r_values(SEXP x) {
    const gcor_compact *compact = r_compact_of(x);
    return (gcor_values){compact ? NULL : REAL(x), compact};
}
