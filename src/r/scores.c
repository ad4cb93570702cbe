/* Edges whose p values depend on their variables' ties: what the ties of a variable amount to; and of edges, in vectors
 * of R's with an element for each entry of compressed rows, standard normal scores, how many are large enough, and the
 * network of those. */
#include "r.h"

#include "../core/alloc.h"
#include "../core/missing.h"
#include "../core/quotient.h"

#include <math.h>

SEXP r_quotients(SEXP x, SEXP y, SEXP method, SEXP use, SEXP settings) {
    r_job q;
    gcor_observations found;
    r_job_parse(&q, x, y, method, use, Rf_ScalarLogical(0), settings);
    gcor_context *context = &q.call.context;
    gcor_source *sources[] = {q.job.x, q.job.y};
    SEXP result = PROTECT(Rf_allocVector(VECSXP, 2));
    for (int side = 0; side < 2; side++)
        SET_VECTOR_ELT(result, side, Rf_allocVector(REALSXP, sources[side] ? sources[side]->n_var : 0));
    gcor_status status = gcor_observations_of(context, &q.job, &found);
    if (!status) {
        for (int side = 0; side < 2 && !status; side++) {
            gcor_columns columns = {sources[side], found.observed, found.n_obs};
            if (sources[side]) status = gcor_tie_quotients(context, &columns, REAL(VECTOR_ELT(result, side)));
        }
        gcor_free(found.observed);
    }
    UNPROTECT(1);
    return status ? r_failure(&context->error) : result;
}

/* What Kendall's tau-b is divided by: its variance is a product of a number of each variable, and what it would be
 * without ties. */
typedef struct {
    double product, constant;
} variance;

static variance variance_of(double n) {
    return (variance){4 / (n * (n - 1) * (n - 2)), 2 / (n * (n - 1))};
}

SEXP r_edge_scores(SEXP p, SEXP i, SEXP x, SEXP q_col, SEXP q_row, SEXP n_obs, SEXP threads) {
    SEXP result = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(x)));
    const int *start = INTEGER(p), *col = INTEGER(i);
    const double *r = REAL(x), *of_col = REAL(q_col), *of_row = REAL(q_row);
    double *score = REAL(result);
    int64_t n_row = Rf_xlength(p) - 1;
    const variance v = variance_of(Rf_asReal(n_obs));
    int n_threads = r_threads(threads);
    (void)n_threads; /* without OpenMP */
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 64)
    for (int64_t row = 0; row < n_row; row++)
        for (int e = start[row]; e < start[row + 1]; e++)
            score[e] = fabs(r[e]) / sqrt(v.product * of_col[col[e]] * of_row[row] + v.constant);
    UNPROTECT(1);
    return result;
}

SEXP r_count_scores(SEXP scores, SEXP least, SEXP threads) {
    const double *score = REAL(scores), bound = Rf_asReal(least);
    int64_t n = Rf_xlength(scores), count = 0;
    int n_threads = r_threads(threads);
    (void)n_threads; /* without OpenMP */
#pragma omp parallel for num_threads(n_threads) reduction(+ : count)
    for (int64_t e = 0; e < n; e++) count += score[e] >= bound;
    return Rf_ScalarReal((double)count);
}

/* side 0: either sign; otherwise coefficients that have this one, or are 0. */
static int is_kept(double score, double least, double r, int side) {
    return score >= least && r * side >= 0;
}

SEXP r_keep_scores(SEXP p, SEXP i, SEXP x, SEXP scores, SEXP least, SEXP side, SEXP threads) {
    const char *names[] = {"p", "i", "x", ""};
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names)), kept = Rf_allocVector(INTSXP, Rf_xlength(p));
    SET_VECTOR_ELT(result, 0, kept);
    const int *start = INTEGER(p), *col = INTEGER(i), sign = Rf_asInteger(side), n_threads = r_threads(threads);
    const double *r = REAL(x), *score = REAL(scores), bound = Rf_asReal(least);
    int *first = INTEGER(kept);
    int64_t n_row = Rf_xlength(p) - 1;
    first[0] = 0;
    (void)n_threads;
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 64)
    for (int64_t row = 0; row < n_row; row++) {
        first[row + 1] = 0;
        for (int e = start[row]; e < start[row + 1]; e++) first[row + 1] += is_kept(score[e], bound, r[e], sign);
    }
    for (int64_t row = 0; row < n_row; row++) first[row + 1] += first[row];
    SET_VECTOR_ELT(result, 1, Rf_allocVector(INTSXP, first[n_row]));
    SET_VECTOR_ELT(result, 2, Rf_allocVector(REALSXP, first[n_row]));
    int *to_col = INTEGER(VECTOR_ELT(result, 1));
    double *to_r = REAL(VECTOR_ELT(result, 2));
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 64)
    for (int64_t row = 0; row < n_row; row++)
        for (int e = start[row], at = first[row]; e < start[row + 1]; e++)
            if (is_kept(score[e], bound, r[e], sign)) {
                to_col[at] = col[e];
                to_r[at++] = r[e];
            }
    UNPROTECT(1);
    return result;
}
