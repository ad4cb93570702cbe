/* All coefficients as a vector of doubles for R that has them in half the memory, and outside of R's own (ALTREP):
 * single precision or numerators (measure/compact.h). What R asks for element by element, in pieces, or as an extreme
 * is read there. Who asks for a pointer gets an ordinary vector, made once by all threads, and what was compact is
 * given back.
 *
 * data1: a pointer of R's to a compact_values, nil when there is an ordinary vector: data2. Copies, and distances of
 * the same coefficients, share the memory, whose contents never change. */
#include "altrep.h"

#include "../base/alloc.h"
#include "../base/os.h"
#include "../base/pool.h"
#include "../base/triangle.h"

enum { CHECKED_BYTES = 64 << 20 }; /* from which on it is looked at whether there is memory */

typedef struct {
    gcor_block block; /* the values, and behind them the norms */
    int owners;
} shared_values;

/* A vector's own. */
typedef struct {
    gcor_compact compact;
    shared_values *shared;
    int threads, has_no_missing;
} compact_values;

static R_altrep_class_t compact_class;

static compact_values *values_of(SEXP x) {
    return R_ExternalPtrAddr(R_altrep_data1(x));
}

static void disown(SEXP pointer) {
    compact_values *values = R_ExternalPtrAddr(pointer);
    if (!values) return;
    R_ClearExternalPtr(pointer);
    if (values->shared && --values->shared->owners == 0) {
        gcor_pool_give(&values->shared->block);
        free(values->shared);
    }
    free(values);
}

/* A vector without values, which has its place for them: R's memory is had before any other. */
static SEXP new_vector(void) {
    SEXP pointer = PROTECT(R_MakeExternalPtr(NULL, R_NilValue, R_NilValue));
    R_RegisterCFinalizer(pointer, disown);
    SEXP x = PROTECT(R_new_altrep(compact_class, pointer, R_NilValue));
    compact_values *values = calloc(1, sizeof *values);
    if (!values) Rf_error("cannot allocate memory for the results");
    R_SetExternalPtrAddr(pointer, values);
    UNPROTECT(2);
    return x;
}

/* A further one of the same values. */
static SEXP share(const compact_values *from) {
    SEXP x = new_vector();
    compact_values *values = values_of(x);
    *values = *from;
    values->shared->owners++;
    return x;
}

/* ---- what R asks for ------------------------------------------------------------------------ */

static R_xlen_t length(SEXP x) {
    const compact_values *values = values_of(x);
    return values ? values->compact.n : Rf_xlength(R_altrep_data2(x));
}

/* An error of R's if there is no memory for n doubles. */
static void check_widened(int64_t n) {
    int64_t bytes = n * (int64_t)sizeof(double);
    if (bytes < CHECKED_BYTES || bytes <= gcor_available_memory()) return;
    (void)r_reclaim();
    if (bytes <= gcor_available_memory()) return;
    Rf_errorcall(R_NilValue,
                 "%.0f coefficients as doubles take %.0f MB; %.0f MB of memory are free; r[i, j], summary() and 1 - r "
                 "do without them",
                 (double)n, (double)bytes / 1e6, (double)gcor_available_memory() / 1e6);
}

static void *data_pointer(SEXP x, Rboolean writable) {
    const compact_values *values = values_of(x);
    (void)writable;
    if (values) {
        check_widened(values->compact.n);
        SEXP all = PROTECT(Rf_allocVector(REALSXP, values->compact.n));
        gcor_huge_pages(REAL(all), (size_t)values->compact.n * sizeof(double));
        gcor_compact_widen(&values->compact, r_own_threads(values->threads), REAL(all));
        R_set_altrep_data2(x, all);
        disown(R_altrep_data1(x));
        UNPROTECT(1);
    }
    return REAL(R_altrep_data2(x));
}

static const void *data_pointer_or_null(SEXP x) {
    return values_of(x) ? NULL : REAL(R_altrep_data2(x));
}

static double element(SEXP x, R_xlen_t k) {
    const compact_values *values = values_of(x);
    return values ? gcor_compact_at(&values->compact, k) : REAL(R_altrep_data2(x))[k];
}

static R_xlen_t get_region(SEXP x, R_xlen_t first, R_xlen_t n, double *out) {
    const compact_values *values = values_of(x);
    R_xlen_t rest = length(x) - first;
    if (n > rest) n = rest;
    if (n <= 0) return 0;
    if (values)
        gcor_compact_read(&values->compact, first, n, out);
    else
        memcpy(out, REAL(R_altrep_data2(x)) + first, (size_t)n * sizeof *out);
    return n;
}

/* Positions from 1, whole or not, some of them NA; beyond the end there is NA, too. NULL: as R does it. */
static SEXP extract(SEXP x, SEXP at, SEXP call) {
    const compact_values *values = values_of(x);
    R_xlen_t n = Rf_xlength(at);
    (void)call;
    if (!values || (TYPEOF(at) != INTSXP && TYPEOF(at) != REALSXP)) return NULL;
    SEXP picked = PROTECT(Rf_allocVector(REALSXP, n));
    double *out = REAL(picked), last = (double)values->compact.n;
    for (R_xlen_t k = 0; k < n; k++) {
        double position = TYPEOF(at) == REALSXP ? REAL_ELT(at, k) : INTEGER_ELT(at, k);
        out[k] = position >= 1 && position < last + 1 ? gcor_compact_at(&values->compact, (R_xlen_t)position - 1)
                                                      : NA_REAL;
    }
    UNPROTECT(1);
    return picked;
}

/* NULL: as R does it, that is of all where one is missing. */
static SEXP extreme(SEXP x, int greatest) {
    const compact_values *values = values_of(x);
    if (!values || values->compact.n == 0) return NULL;
    double found = gcor_compact_extreme(&values->compact, greatest, r_own_threads(values->threads));
    return found == found ? Rf_ScalarReal(found) : NULL;
}

static SEXP min(SEXP x, Rboolean without_missing) {
    (void)without_missing;
    return extreme(x, 0);
}

static SEXP greatest(SEXP x, Rboolean without_missing) {
    (void)without_missing;
    return extreme(x, 1);
}

/* 1: certainly. */
static int has_no_missing(SEXP x) {
    return values_of(x) && values_of(x)->has_no_missing;
}

static SEXP duplicate(SEXP x, Rboolean deep) {
    (void)deep;
    return values_of(x) ? share(values_of(x)) : NULL;
}

static Rboolean inspect(SEXP x, int before, int deep, int from, void (*subtree)(SEXP, int, int, int)) {
    const compact_values *values = values_of(x);
    if (!values) {
        Rprintf(" coefficients (expanded)\n");
        subtree(R_altrep_data2(x), before, deep, from);
        return TRUE;
    }
    Rprintf(" coefficients (compact: %s%s, owners %d)\n",
            values->compact.form == GCOR_AS_FLOATS ? "single precision" : "numerators",
            values->compact.is_distance ? ", distances" : "", values->shared->owners);
    return TRUE;
}

/* What is saved is a vector like any other: that is what R does without methods for it. Sums are R's own, too: they are
 * long doubles, in the order of the values. */
void r_define_compact(DllInfo *dll) {
    const r_vector_methods methods = {length, duplicate, inspect, data_pointer, data_pointer_or_null};
    compact_class = R_make_altreal_class("compact", "gpucor", dll);
    r_set_methods(compact_class, &methods);
    R_set_altvec_Extract_subset_method(compact_class, extract);
    R_set_altreal_Elt_method(compact_class, element);
    R_set_altreal_Get_region_method(compact_class, get_region);
    R_set_altreal_Min_method(compact_class, min);
    R_set_altreal_Max_method(compact_class, greatest);
    R_set_altreal_No_NA_method(compact_class, has_no_missing);
}

/* ---- made and read here ------------------------------------------------------------------------- */

/* Memory outside of R's does not make R look for what nobody has any more. So it is asked to where results have taken a
 * good part of what is left since it was last asked, where a result of this size may be had without new pages, and
 * where there is no memory for it. */
void r_collect_garbage(int64_t bytes) {
    const int64_t worth = (int64_t)2 << 30; /* as long to touch as R takes to look */
    static int64_t since;
    int64_t used = gcor_pool_used();
    if (used == 0) since = 0;
    since += bytes;
    if (gcor_pool_has(bytes)) return;
    int64_t available = gcor_available_memory();
    int is_worth = used > 0 && ((bytes >= worth && used >= bytes) || since >= available / 4);
    if (!is_worth && bytes <= available) return;
    R_gc();
    since = gcor_pool_used();
}

SEXP r_available(void) {
    return Rf_ScalarReal((double)gcor_available_memory());
}

SEXP r_reclaim(void) {
    R_gc();
    gcor_pool_drop();
    return R_NilValue;
}

/* Of all values; norms are behind them. */
static int64_t bytes_of_values(int64_t n_var) {
    return (gcor_triangular(n_var - 1) * GCOR_COMPACT_BYTES + 63) / 64 * 64;
}

int64_t r_compact_bytes(int64_t n_var) {
    return bytes_of_values(n_var) + n_var * (int64_t)sizeof(double);
}

SEXP r_compact_new(gcor_context *context, gcor_form form, gcor_shape shape, int64_t n_var, int is_distance) {
    int64_t n = gcor_triangular(n_var - 1), all = r_compact_bytes(n_var);
    if (all >= CHECKED_BYTES) r_collect_garbage(all);
    SEXP x = PROTECT(new_vector());
    compact_values *values = values_of(x);
    values->shared = calloc(1, sizeof *values->shared);
    if (!values->shared) Rf_error("cannot allocate memory for the results");
    values->shared->owners = 1;
    values->shared->block = gcor_pool_take(context, all, "the results");
    void *at = values->shared->block.at;
    if (at) {
        double *norm = (double *)((char *)at + bytes_of_values(n_var));
        values->compact = (gcor_compact){
            form, shape, n_var, n, at, norm, NA_REAL, is_distance, values->shared->block.is_touched};
        for (int64_t j = 0; j < n_var; j++) norm[j] = -1;
        values->threads = context->threads;
    } else {
        r_compact_drop(x);
    }
    UNPROTECT(1);
    return x;
}

SEXP r_distances(SEXP x) {
    const gcor_compact *compact = r_compact_of(x);
    if (!compact || compact->is_distance) return R_NilValue;
    SEXP distances = PROTECT(share(values_of(x)));
    values_of(distances)->compact.is_distance = 1;
    SHALLOW_DUPLICATE_ATTRIB(distances, x);
    UNPROTECT(1);
    return distances;
}

const gcor_compact *r_compact_of(SEXP x) {
    if (!ALTREP(x) || !R_altrep_inherits(x, compact_class)) return NULL;
    return values_of(x) ? &values_of(x)->compact : NULL;
}

void r_compact_drop(SEXP x) {
    disown(R_altrep_data1(x));
    R_set_altrep_data2(x, Rf_allocVector(REALSXP, 0));
}

void r_compact_complete(SEXP x) {
    compact_values *values = values_of(x);
    values->has_no_missing = 1;
    for (int64_t j = 0; j < values->compact.n_var; j++) values->has_no_missing &= values->compact.norm[j] > 0;
}

SEXP r_is_compact(SEXP x) {
    return Rf_ScalarLogical(r_compact_of(x) != NULL);
}

gcor_values r_values(SEXP x) {
    const gcor_compact *compact = r_compact_of(x);
    return (gcor_values){compact ? NULL : REAL(x), compact};
}

SEXP r_pool(void) {
    const char *names[] = {"used", "kept", ""};
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_ScalarReal((double)gcor_pool_used()));
    SET_VECTOR_ELT(result, 1, Rf_ScalarReal((double)gcor_pool_kept()));
    UNPROTECT(1);
    return result;
}
