/* Edges whose p values depend on more than their coefficients: scores that rise as p falls, how many are large enough,
 * and the network of those. Vectors of R's, an element for each entry of compressed rows. */
#include "r.h"

#include "../core/alloc.h"
#include "../core/test.h"

SEXP r_kendall_deviation(SEXP n, SEXP q, SEXP other) {
    return Rf_ScalarReal(gcor_kendall_deviation(Rf_asReal(n), Rf_asReal(q), Rf_asReal(other)));
}

/* One side's, NA where a variable has no coefficient. */
static void set_quotients(const gcor_observed *observed, double *quotient) {
    for (int64_t j = 0; j < observed->n_var; j++) {
        double q = observed->quotient[j];
        quotient[j] = observed->n_present[j] == observed->n_obs && q == q ? q : NA_REAL;
    }
}

static gcor_status find_quotients(gcor_context *context, gcor_source *source, const gcor_observations *counted,
                                  SEXP result) {
    gcor_columns columns = {.source = source, .observed = counted->observed, .n_obs = counted->n_obs};
    gcor_observed *observed = gcor_observed_new(context, &columns, 0, 1);
    if (observed) set_quotients(observed, REAL(result));
    gcor_observed_free(observed);
    return context->error.status;
}

SEXP r_tie_quotients(SEXP x, SEXP y, SEXP method, SEXP use, SEXP counted, SEXP settings) {
    r_job q;
    const gcor_observations observations = r_counted(counted);
    r_job_parse(&q, x, y, method, use, Rf_ScalarLogical(0), settings);
    gcor_context *context = &q.call.context;
    SEXP result = PROTECT(Rf_allocVector(VECSXP, 2));
    SET_VECTOR_ELT(result, 0, Rf_allocVector(REALSXP, q.job.x->n_var));
    SET_VECTOR_ELT(result, 1, Rf_allocVector(REALSXP, q.job.y ? q.job.y->n_var : 0));
    gcor_status status = find_quotients(context, q.job.x, &observations, VECTOR_ELT(result, 0));
    if (!status && q.job.y) status = find_quotients(context, q.job.y, &observations, VECTOR_ELT(result, 1));
    if (!status && !q.job.y) SET_VECTOR_ELT(result, 1, VECTOR_ELT(result, 0));
    result = r_job_end(&q, status, result);
    UNPROTECT(1);
    return result;
}

SEXP r_edge_scores(SEXP p, SEXP i, SEXP x, SEXP q_col, SEXP q_row, SEXP n_obs, SEXP threads) {
    SEXP result = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(x)));
    const int *start = INTEGER(p), *col = INTEGER(i);
    const double *r = REAL(x), *of_col = REAL(q_col), *of_row = REAL(q_row), n = Rf_asReal(n_obs);
    double *score = REAL(result);
    int64_t n_row = Rf_xlength(p) - 1;
    int n_threads = r_threads(threads);
    (void)n_threads; /* without OpenMP */
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 64)
    for (int64_t row = 0; row < n_row; row++)
        for (int e = start[row]; e < start[row + 1]; e++)
            score[e] = fabs(r[e]) / gcor_kendall_deviation(n, of_col[col[e]], of_row[row]);
    UNPROTECT(1);
    return result;
}

/* Columns of the entries are variables of x, rows those of y, or of x. */
static void score_entries(gcor_context *context, const gcor_test *test, SEXP rows, double *score) {
    const int *start = INTEGER(r_element(rows, "p")), *col = INTEGER(r_element(rows, "i"));
    const double *r = REAL(r_element(rows, "x"));
#pragma omp parallel for num_threads(context->threads) schedule(dynamic, 64)
    for (int64_t row = 0; row < test->y->n_var; row++) {
        if (gcor_stop(context)) continue;
        for (int e = start[row]; e < start[row + 1]; e++) score[e] = -gcor_test_pair(test, col[e], row, r[e]).p;
    }
}

/* An error is in the context. */
static void score_rows(r_job *q, const gcor_observations *counted, SEXP rows, double *score) {
    gcor_context *context = &q->call.context;
    gcor_test_rule rule = {q->job.measure, GCOR_TWO_SIDED, 1, 0, NA_REAL, q->df};
    gcor_columns x = {.source = q->job.x, .observed = counted->observed, .n_obs = counted->n_obs}, y;
    int64_t n = Rf_xlength(r_element(rows, "x"));
    gcor_design *design;
    gcor_test test;
    if (gcor_design_pick(context, q->job.design, counted->observed, counted->n_obs, &design)) return;
    x.design = design;
    y = x;
    y.source = q->job.y;
    if (!gcor_test_open(context, &rule, &x, q->job.y ? &y : NULL, counted->common, n, &test)) {
        score_entries(context, &test, rows, score);
        gcor_test_close(&test);
    }
    gcor_design_free(design);
}

SEXP r_pair_scores(SEXP rows, SEXP x, SEXP y, SEXP method, SEXP use, SEXP settings) {
    r_job q;
    gcor_observations counted;
    r_job_parse(&q, x, y, method, use, Rf_ScalarLogical(0), settings);
    gcor_context *context = &q.call.context;
    q.call.progress.settings = NULL;
    SEXP result = PROTECT(Rf_allocVector(REALSXP, Rf_xlength(r_element(rows, "x"))));
    if (!gcor_observations_of(context, &q.job, &counted)) {
        score_rows(&q, &counted, rows, REAL(result));
        gcor_free(counted.observed);
    }
    UNPROTECT(1);
    return context->error.status ? r_failure(&context->error) : result;
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

/* score NULL: sizes of the coefficients are the scores. side 0: either sign; otherwise coefficients that have this one,
 * or are 0. */
static int is_kept(const double *score, double least, const double *r, int e, int side) {
    return (score ? score[e] : fabs(r[e])) >= least && r[e] * side >= 0;
}

SEXP r_keep_scores(SEXP p, SEXP i, SEXP x, SEXP scores, SEXP least, SEXP side, SEXP threads) {
    const char *names[] = {"p", "i", "x", ""};
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names)), kept = Rf_allocVector(INTSXP, Rf_xlength(p));
    SET_VECTOR_ELT(result, 0, kept);
    const int *start = INTEGER(p), *col = INTEGER(i), sign = Rf_asInteger(side), n_threads = r_threads(threads);
    const double *r = REAL(x), *score = Rf_isNull(scores) ? NULL : REAL(scores), bound = Rf_asReal(least);
    int *first = INTEGER(kept);
    int64_t n_row = Rf_xlength(p) - 1;
    first[0] = 0;
    (void)n_threads;
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 64)
    for (int64_t row = 0; row < n_row; row++) {
        first[row + 1] = 0;
        for (int e = start[row]; e < start[row + 1]; e++) first[row + 1] += is_kept(score, bound, r, e, sign);
    }
    for (int64_t row = 0; row < n_row; row++) first[row + 1] += first[row];
    SET_VECTOR_ELT(result, 1, Rf_allocVector(INTSXP, first[n_row]));
    SET_VECTOR_ELT(result, 2, Rf_allocVector(REALSXP, first[n_row]));
    int *to_col = INTEGER(VECTOR_ELT(result, 1));
    double *to_r = REAL(VECTOR_ELT(result, 2));
#pragma omp parallel for num_threads(n_threads) schedule(dynamic, 64)
    for (int64_t row = 0; row < n_row; row++)
        for (int e = start[row], at = first[row]; e < start[row + 1]; e++)
            if (is_kept(score, bound, r, e, sign)) {
                to_col[at] = col[e];
                to_r[at++] = r[e];
            }
    UNPROTECT(1);
    return result;
}
