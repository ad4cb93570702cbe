/* Matrices of coefficients that a user has: checks and copies them in one pass. */
#include "vector.h"

#include "../base/threads.h"
#include "../base/triangle.h"

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
