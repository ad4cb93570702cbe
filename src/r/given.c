/* Coefficients that a user has: checks and copies a matrix in one pass, summarizes values and finds the strongest. */
#include "vector.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../base/triangle.h"
#include "../stats/summary.h"

#include <math.h>

enum { BLOCK = 64 }; /* rows and columns that stay in the cache together with their mirror image */

/* What a block of columns has found: sums over pairs whose two values differ, and the largest size. */
typedef struct {
    double difference, size, pairs, largest;
} findings;

typedef struct {
    const double *x;
    double *copy;
    int64_t n;
    findings *found; /* of each block */
} task;

static void compare_pair(double a, double b, findings *found) {
    const double size = fmax(fabs(a), fabs(b)); /* a NaN counts for nothing */
    if (size > found->largest) found->largest = size;
    if (a == b || (a != a && b != b)) return;
    found->difference += a == a && b == b ? fabs(a - b) : INFINITY;
    found->size += fabs(a);
    found->pairs++;
}

static void copy_block(void *argument, int thread, int64_t first, int64_t end) {
    const task *t = argument;
    findings found = {0};
    for (int64_t from = 0; from < end; from += BLOCK)
        for (int64_t j = first; j < end; j++)
            for (int64_t i = from; i < gcor_min(from + BLOCK, j); i++) {
                const double a = t->x[j * t->n + i], b = t->x[i * t->n + j];
                compare_pair(a, b, &found);
                t->copy[j * t->n + i] = a;
                t->copy[i * t->n + j] = b;
            }
    for (int64_t j = first; j < end; j++) t->copy[j * t->n + j] = 1;
    t->found[first / BLOCK] = found;
}

/* x: a square matrix of doubles. Returns list(values: a copy with ones on its diagonal; largest: the max size off the
 * diagonal; is_symmetric: as isSymmetric() has it, of pairs whose values differ, by their mean relative difference). */
SEXP r_given(SEXP x, SEXP dimnames, SEXP threads) {
    const char *names[] = {"values", "largest", "is_symmetric", ""};
    const double tolerance = 100 * DBL_EPSILON;
    r_call call;
    r_plain_call_parse(&call, threads);
    const int64_t n = Rf_ncols(x), n_blocks = gcor_blocks(n, BLOCK);
    r_collect_garbage(n * n * (int64_t)sizeof(double));
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SEXP values = PROTECT(r_new_vector(&call.context, REALSXP, n * n));
    task t = {REAL_RO(x), NULL, n, (findings *)R_alloc((size_t)n_blocks, sizeof(findings))};
    if (!call.context.error.status) {
        t.copy = REAL(values);
        gcor_for_blocks(call.context.threads, n, BLOCK, copy_block, &t);
        SEXP dim = PROTECT(Rf_allocVector(INTSXP, 2));
        INTEGER(dim)[0] = INTEGER(dim)[1] = (int)n;
        Rf_setAttrib(values, R_DimSymbol, dim);
        if (!Rf_isNull(dimnames)) Rf_setAttrib(values, R_DimNamesSymbol, dimnames);
        findings all = {0};
        for (int64_t k = 0; k < n_blocks; k++) {
            all.difference += t.found[k].difference;
            all.size += t.found[k].size;
            all.pairs += t.found[k].pairs;
            all.largest = fmax(all.largest, t.found[k].largest);
        }
        const double scale = all.size > tolerance * all.pairs ? all.size : all.pairs;
        SET_VECTOR_ELT(result, 0, values);
        SET_VECTOR_ELT(result, 1, Rf_ScalarReal(all.largest));
        SET_VECTOR_ELT(result, 2, Rf_ScalarLogical(all.difference < INFINITY && all.difference <= tolerance * scale));
        UNPROTECT(1);
    }
    UNPROTECT(2);
    return call.context.error.status ? r_failure(&call.context.error) : result;
}

/* ---- summaries -------------------------------------------------------------------------------------- */

/* Begins the call and returns its values. */
static gcor_values begin(r_call *call, SEXP x, SEXP threads) {
    if (TYPEOF(x) != REALSXP) r_error("values must be doubles, not of type %s", Rf_type2char(TYPEOF(x)));
    r_plain_call_parse(call, threads);
    return r_values(x);
}

static void write_positions(const gcor_strong *best, int64_t n, double *position) {
    for (int64_t k = 0; k < n; k++) position[k] = (double)best[k].position + 1;
}

/* Positions are allocated before the engine acquires anything; those that are not needed are cut off. */
static int64_t max_positions(SEXP max, SEXP x) {
    double wanted = Rf_asReal(max), n = (double)Rf_xlength(x);
    return (int64_t)(wanted < n ? wanted : n);
}

/* Returns list(missing: how many are NaN; and of the others mean, quantiles at these probabilities, and strongest: the
 * positions, from 1, of the `max` largest |x|, in descending order and of equal ones the first). */
SEXP r_summary(SEXP x, SEXP probabilities, SEXP max, SEXP threads) {
    const char *names[] = {"missing", "mean", "quantiles", "strongest", ""};
    r_call call;
    gcor_summary summary;
    gcor_values values = begin(&call, x, threads);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names)),
         positions = PROTECT(Rf_allocVector(REALSXP, max_positions(max, x)));
    SET_VECTOR_ELT(result, 2, Rf_allocVector(REALSXP, Rf_xlength(probabilities)));
    gcor_status status = gcor_summarise(&call.context, &values, Rf_xlength(x), REAL(probabilities),
                                        (int)Rf_xlength(probabilities), Rf_xlength(positions),
                                        REAL(VECTOR_ELT(result, 2)), &summary);
    if (!status) {
        write_positions(summary.strongest, summary.n_strongest, REAL(positions));
        gcor_free(summary.strongest);
        SET_VECTOR_ELT(result, 0, Rf_ScalarReal((double)summary.missing));
        SET_VECTOR_ELT(result, 1, Rf_ScalarReal(summary.mean));
        SET_VECTOR_ELT(result, 3, Rf_xlengthgets(positions, summary.n_strongest));
    }
    UNPROTECT(2);
    return status ? r_failure(&call.context.error) : result;
}
