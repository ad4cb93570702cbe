/* Results that are made of the entries of a network that R has: a data frame and its names, a pruned network, counts of
 * edges, their values for single samples. */
#include "vector.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../sink/edges/store.h"
#include "../stats/upper.h"

#include <R_ext/Altrep.h>

/* Returns list(from, to, r) of the entries of compressed rows, from 1, in the order of gcor_sort_edges(). */
SEXP r_sorted_edges(SEXP p, SEXP i, SEXP x, SEXP rows_first, SEXP threads) {
    const char *names[] = {"from", "to", "r", ""};
    r_check_compressed(p, i, x, INT_MAX);
    r_call call;
    r_plain_call_parse(&call, threads);
    gcor_context *context = &call.context;
    const R_xlen_t n = Rf_xlength(x);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    r_collect_garbage(16 * n);
    for (int k = 0; k < 3; k++) SET_VECTOR_ELT(result, k, r_new_vector(context, k < 2 ? INTSXP : REALSXP, n));
    if (!context->error.status)
        (void)gcor_sort_edges(context, Rf_xlength(p) - 1, INTEGER(p), INTEGER(i), REAL(x), Rf_asLogical(rows_first),
                              INTEGER(VECTOR_ELT(result, 0)), INTEGER(VECTOR_ELT(result, 1)),
                              REAL(VECTOR_ELT(result, 2)));
    UNPROTECT(1);
    return context->error.status ? r_failure(&context->error) : result;
}

/* Writes the numbers of p.adjust(p, "BH", tests) of n ascending p. */
static void rate_ascending(const double *p, int64_t n, double tests, double *rates) {
    double min = 1;
    for (int64_t k = n; k > 0; k--) {
        const double rate = tests / (double)k * p[k - 1];
        if (rate < min) min = rate;
        rates[k - 1] = min;
    }
}

/* Writes the same of n < 2^31 p values in any order; NaN stays as it is. They are sorted as a row of edges, the largest
 * first. */
static gcor_status rate_any(gcor_context *context, const double *p, int32_t n, double tests, double *rates) {
    const int32_t start[] = {0, n};
    int32_t *numbers = gcor_alloc(context, 3 * (int64_t)n, sizeof *numbers, "false discovery rates");
    double *sorted = gcor_alloc(context, n, sizeof *sorted, "false discovery rates"), min = 1;
    int32_t *from = numbers + n, known = n;
    for (int32_t k = 0; numbers && k < n; k++) numbers[k] = k;
    if (numbers && sorted && !gcor_sort_edges(context, 1, start, numbers, p, 0, from, from + n, sorted)) {
        while (known > 0 && sorted[known - 1] != sorted[known - 1]) known--;
        for (int32_t k = 0; k < n; k++) {
            const double rate = tests / (double)(known - k) * sorted[k];
            if (rate < min) min = rate;
            rates[from[k] - 1] = k < known ? min : p[from[k] - 1];
        }
    }
    gcor_free(sorted);
    gcor_free(numbers);
    return context->error.status;
}

/* Returns the numbers of p.adjust(p, "BH", n); if p does not ascend, of fewer than 2^31 values. */
SEXP r_rates(SEXP p, SEXP n, SEXP threads) {
    r_call call;
    r_plain_call_parse(&call, threads);
    const int64_t length = Rf_xlength(p);
    const double *own = REAL(p);
    int64_t k = 1;
    while (k < length && own[k - 1] <= own[k]) k++;
    SEXP result = PROTECT(r_new_vector(&call.context, REALSXP, length));
    if (!call.context.error.status && k >= length && (length == 0 || own[0] == own[0]))
        rate_ascending(own, length, Rf_asReal(n), REAL(result));
    else if (!call.context.error.status)
        (void)rate_any(&call.context, own, (int32_t)length, Rf_asReal(n), REAL(result));
    UNPROTECT(1);
    return call.context.error.status ? r_failure(&call.context.error) : result;
}

/* gpuPrune: returns for each entry of a symmetric network, given as compressed columns of its upper triangle, whether
 * the data processing inequality leaves it. */
SEXP r_prune(SEXP p, SEXP i, SEXP x, SEXP tolerance, SEXP threads) {
    r_check_compressed(p, i, x, Rf_xlength(p) - 1);
    r_call call;
    r_plain_call_parse(&call, threads);
    SEXP result = PROTECT(Rf_allocVector(LGLSXP, Rf_xlength(x)));
    const gcor_upper network = {.n = Rf_xlength(p) - 1, .start = INTEGER(p), .row = INTEGER(i), .r = REAL(x)};
    gcor_status status = gcor_prune(&call.context, &network, Rf_asReal(tolerance), LOGICAL(result));
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}

/* Returns the counts plus 1 for the entries of compressed rows p and i that rows p2 and i2, of as many variables, have,
 * too. The columns of each row ascend. */
SEXP r_count_edges(SEXP counts, SEXP p, SEXP i, SEXP p2, SEXP i2) {
    R_xlen_t n_row = Rf_xlength(p) - 1;
    if (Rf_xlength(counts) != Rf_xlength(i) || Rf_xlength(p2) != n_row + 1)
        r_error("counts of %.0f entries, and networks of %.0f and %.0f rows", (double)Rf_xlength(counts), (double)n_row,
                (double)Rf_xlength(p2) - 1);
    SEXP result = PROTECT(Rf_duplicate(counts));
    const int *start = INTEGER(p), *start2 = INTEGER(p2), *column = INTEGER(i), *column2 = INTEGER(i2);
    int *count = INTEGER(result);
    for (R_xlen_t row = 0; row < n_row; row++) {
        int other = start2[row];
        for (int e = start[row]; e < start[row + 1]; e++) {
            while (other < start2[row + 1] && column2[other] < column[e]) other++;
            count[e] += other < start2[row + 1] && column2[other] == column[e];
        }
    }
    UNPROTECT(1);
    return result;
}

/* ---- values of single samples -------------------------------------------------------------------- */

enum { EDGES = 4096 }; /* of a thread at a time, for all samples */

typedef struct {
    double taken, factor;
} sample_part;

/* Vectors have an element for each of n_edge edges, whose columns' numbers are from 1. x, y: for each sample the parts
 * of n_x and n_y columns. values: n_edge for each sample. */
typedef struct {
    int64_t n_edge, n_sample, n_x, n_y;
    const int *from, *to;
    const double *r;
    const sample_part *x, *y;
    double n, *values;
} sample_values;

static void fill_edges_of_samples(void *argument, int thread, int64_t from, int64_t end) {
    const sample_values *s = argument;
    for (int64_t k = 0; k < s->n_sample; k++) {
        const sample_part *x = s->x + k * s->n_x - 1, *y = s->y + k * s->n_y - 1;
        double *values = s->values + k * s->n_edge;
        for (int64_t e = from; e < end; e++) {
            const sample_part u = x[s->from[e]], v = y[s->to[e]];
            const double r = s->r[e], without = (r - u.taken * v.taken) * (u.factor * v.factor);
            values[e] = s->n * r - (s->n - 1) * without;
        }
    }
}

/* Returns n r - (n - 1) r' of edges with coefficients r, for each sample: r' is (r - a b) f g of the edge's columns,
 * whose a and f are x[1, from, sample] and x[2, from, sample], b and g those of y. */
SEXP r_sample_values(SEXP from, SEXP to, SEXP r, SEXP n, SEXP x, SEXP y, SEXP threads) {
    r_call call;
    r_plain_call_parse(&call, threads);
    const int *dim_x = INTEGER(Rf_getAttrib(x, R_DimSymbol)), *dim_y = INTEGER(Rf_getAttrib(y, R_DimSymbol));
    sample_values s = {.n_edge = Rf_xlength(r),
                       .n_sample = dim_x[2],
                       .n_x = dim_x[1],
                       .n_y = dim_y[1],
                       .from = INTEGER(from),
                       .to = INTEGER(to),
                       .r = REAL(r),
                       .x = (const sample_part *)REAL(x),
                       .y = (const sample_part *)REAL(y),
                       .n = Rf_asReal(n)};
    const R_xlen_t length = s.n_edge * s.n_sample;
    r_collect_garbage(length * (int64_t)sizeof(double));
    SEXP result = PROTECT(r_new_vector(&call.context, REALSXP, length));
    if (!call.context.error.status) {
        s.values = REAL(result);
        gcor_for_blocks(call.context.threads, s.n_edge, EDGES, fill_edges_of_samples, &s);
    }
    UNPROTECT(1);
    return call.context.error.status ? r_failure(&call.context.error) : result;
}

/* ---- names -------------------------------------------------------------------------------------- */

/* Names by their numbers (ALTREP): the text names[numbers], whose elements are looked up when R asks for them. A name
 * in a table of millions of pairs takes four bytes, and R does not visit it when it collects garbage.
 *
 * data1: an owner (call.h) that protects the numbers, from 1; NULL once R has asked for a pointer to all. data2: the
 * names, then all text. */

static R_altrep_class_t names_class;

static SEXP new_names(SEXP numbers, SEXP names) {
    SEXP owner = PROTECT(r_new_owner(NULL, FALSE));
    R_SetExternalPtrProtected(owner, numbers);
    SEXP x = R_new_altrep(names_class, owner, names);
    UNPROTECT(1);
    return x;
}

static SEXP numbers_of(SEXP x) {
    return R_ExternalPtrProtected(R_altrep_data1(x));
}

static R_xlen_t names_length(SEXP x) {
    SEXP numbers = numbers_of(x);
    return Rf_xlength(Rf_isNull(numbers) ? R_altrep_data2(x) : numbers);
}

static SEXP name_at(SEXP x, R_xlen_t k) {
    SEXP numbers = numbers_of(x);
    return STRING_ELT(R_altrep_data2(x), Rf_isNull(numbers) ? k : INTEGER_RO(numbers)[k] - 1);
}

static SEXP expanded_names(SEXP x) {
    R_xlen_t n = names_length(x);
    if (Rf_isNull(numbers_of(x))) return R_altrep_data2(x);
    SEXP all = PROTECT(Rf_allocVector(STRSXP, n));
    for (R_xlen_t k = 0; k < n; k++) SET_STRING_ELT(all, k, name_at(x, k));
    R_set_altrep_data2(x, all);
    R_SetExternalPtrProtected(R_altrep_data1(x), R_NilValue);
    UNPROTECT(1);
    return all;
}

static void set_name(SEXP x, R_xlen_t k, SEXP value) {
    SET_STRING_ELT(expanded_names(x), k, value);
}

static void *names_data(SEXP x, Rboolean writable) {
    return (void *)(intptr_t)STRING_PTR_RO(expanded_names(x));
}

static const void *names_data_or_null(SEXP x) {
    return Rf_isNull(numbers_of(x)) ? STRING_PTR_RO(R_altrep_data2(x)) : NULL;
}

/* NULL lets R copy the text. */
static SEXP duplicate_names(SEXP x, Rboolean deep) {
    return Rf_isNull(numbers_of(x)) ? NULL : new_names(numbers_of(x), R_altrep_data2(x));
}

/* R extracts and saves such vectors by element, as ordinary text. */
void r_define_names(void) {
    names_class = R_make_altstring_class("names", "gpucor", NULL);
    R_set_altrep_Length_method(names_class, names_length);
    R_set_altrep_Duplicate_method(names_class, duplicate_names);
    R_set_altvec_Dataptr_method(names_class, names_data);
    R_set_altvec_Dataptr_or_null_method(names_class, names_data_or_null);
    R_set_altstring_Elt_method(names_class, name_at);
    R_set_altstring_Set_elt_method(names_class, set_name);
}

/* Returns names[numbers]. All numbers, integers from 1, have a name. */
SEXP r_names_at(SEXP numbers, SEXP names) {
    return new_names(numbers, names);
}
