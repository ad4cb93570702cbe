/* gpuCorTest: statistics and p values of coefficients that are there. */
#include "r.h"

#include "../base/alloc.h"
#include "../measure/measure.h"
#include "../stats/test.h"
#include "../base/triangle.h"

double *r_new_element(SEXP result, int element, R_xlen_t length) {
    SEXP values = Rf_allocVector(REALSXP, length);
    SET_VECTOR_ELT(result, element, values);
    gcor_huge_pages(REAL(values), (size_t)length * sizeof(double));
    return REAL(values);
}

SEXP r_t_scores(SEXP coefficients, SEXP degrees) {
    R_xlen_t length = Rf_xlength(coefficients), step = Rf_xlength(degrees) != 1;
    SEXP result = PROTECT(Rf_allocVector(REALSXP, length));
    for (R_xlen_t k = 0; k < length; k++) {
        double r = REAL_ELT(coefficients, k), df = REAL(degrees)[k * step];
        REAL(result)[k] = r != r ? r : df > 0 ? gcor_t_score(df, r) : NA_REAL;
    }
    UNPROTECT(1);
    return result;
}

/* From this many coefficients on, a table is worth its making. */
enum { TABLE_FROM = 1000 };

SEXP r_t_p(SEXP coefficients, SEXP df, SEXP threads) {
    r_progress progress;
    gcor_monitor monitor;
    r_monitor(&monitor, &progress, NULL);
    gcor_context context = {.threads = r_threads(threads), .monitor = &monitor};
    R_xlen_t length = Rf_xlength(coefficients);
    SEXP result = PROTECT(Rf_allocVector(REALSXP, length));
    const double *r = REAL(coefficients), degrees = Rf_asReal(df);
    double *p = REAL(result);
    gcor_t_table *table = length < TABLE_FROM ? NULL : gcor_t_table_new(&context, degrees);
    if (!context.error.status) {
#pragma omp parallel for num_threads(context.threads)
        for (R_xlen_t k = 0; k < length; k++) {
            gcor_tail tail = table ? gcor_t_table_tail(table, r[k]) : gcor_t_tail(degrees, r[k]);
            p[k] = gcor_tail_p(tail, r[k], GCOR_TWO_SIDED, 0);
        }
    }
    gcor_free(table);
    UNPROTECT(1);
    return context.error.status ? r_failure(&context.error) : result;
}

SEXP r_exact_p(SEXP method, SEXP n_obs) {
    r_progress progress;
    gcor_monitor monitor;
    r_monitor(&monitor, &progress, NULL);
    gcor_context context = {.threads = 1, .monitor = &monitor};
    const gcor_measure *measure = gcor_measure_at(Rf_asInteger(method));
    int64_t n = (int64_t)Rf_asReal(n_obs), steps = gcor_exact_steps(measure, n);
    SEXP result = PROTECT(Rf_allocVector(REALSXP, steps / 2 + 1));
    gcor_exact *exact = gcor_exact_new(&context, measure, n, n);
    for (int64_t k = 0; exact && k <= steps / 2; k++)
        REAL(result)[k] = fmin(1, 2 * gcor_exact_lower(exact, n, 2 * (double)k / (double)steps - 1));
    gcor_exact_free(exact);
    UNPROTECT(1);
    return exact ? result : r_failure(&context.error);
}

SEXP r_rho_beta(SEXP n) {
    const char *names[] = {"df", "scale", ""};
    gcor_rho_beta beta = gcor_rho_beta_of(Rf_asReal(n));
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    SET_VECTOR_ELT(result, 0, Rf_ScalarReal(beta.df));
    SET_VECTOR_ELT(result, 1, Rf_ScalarReal(beta.scale));
    UNPROTECT(1);
    return result;
}

/* The two-sided rule that R's list(exact, min_obs) and the settings of the call say. */
gcor_test_rule r_test_rule(const r_job *q, SEXP rule) {
    return (gcor_test_rule){.measure = q->job.measure,
                            .alternative = GCOR_TWO_SIDED,
                            .max_exact = (int64_t)fmin(Rf_asReal(r_element(rule, "exact")), INT_MAX),
                            .min_obs = (int64_t)Rf_asReal(r_element(rule, "min_obs")),
                            .in_double = q->job.in_double,
                            .missing = NA_REAL,
                            .df = q->df};
}

typedef struct {
    r_job job;
    gcor_test_rule rule;
    gcor_observations counted;
    int is_triangle;
    const double *r;
    double *n, *df, *statistic, *p; /* n NULL: the same for all; df NULL: not asked for */
    double tied;                    /* how many pairs have no exact p value for their ties */
    double few;                     /* and how many are 1 or -1 by very few observations */
} request;

static int64_t count_pairs(const request *q) {
    int64_t n = q->job.job.x->n_var;
    return q->is_triangle ? gcor_triangular(n - 1) : n * (q->job.job.y ? q->job.job.y->n_var : n);
}

static gcor_status test_all(request *q, const gcor_design *design) {
    const gcor_observations *counted = &q->counted;
    const gcor_job *job = &q->job.job;
    gcor_context *context = &q->job.call.context;
    gcor_columns x = {.source = job->x, .observed = counted->observed, .n_obs = counted->n_obs, .design = design},
                 y = x;
    gcor_test test;
    y.source = job->y;
    if (gcor_test_open(context, &q->rule, &x, job->y ? &y : NULL, counted->common, count_pairs(q), &test))
        return context->error.status;
    gcor_status status = gcor_test_pairs(context, &test, q->is_triangle, q->r, q->n, q->df, q->statistic, q->p);
    q->tied = (double)test.tied;
    q->few = (double)test.few;
    gcor_test_close(&test);
    return status;
}

static gcor_status test_designed(request *q) {
    gcor_design *design;
    gcor_status status = gcor_design_pick(&q->job.call.context, q->job.job.design, q->counted.observed,
                                          q->counted.n_obs, &design);
    if (!status) status = test_all(q, design);
    gcor_design_free(design);
    return status;
}

static void set_attributes(SEXP values, SEXP attributes) {
    SEXP names = Rf_getAttrib(attributes, R_NamesSymbol);
    for (R_xlen_t k = 0; k < Rf_xlength(attributes); k++)
        Rf_setAttrib(values, Rf_installTrChar(STRING_ELT(names, k)), VECTOR_ELT(attributes, k));
}

SEXP r_test(SEXP r, SEXP x, SEXP y, SEXP method, SEXP use, SEXP counted, SEXP rule, SEXP attributes, SEXP settings) {
    const char *names[] = {"n", "statistic", "p.value", "tied", "df", "few", ""};
    const gcor_compact *compact = r_compact_of(r);
    request q = {.r = compact ? NULL : REAL(r), .counted = r_counted(counted)};
    r_job_parse(&q.job, x, y, method, use, Rf_ScalarLogical(0), settings);
    q.rule = r_test_rule(&q.job, rule);
    q.rule.alternative = (gcor_alternative)Rf_asInteger(r_element(rule, "alternative"));
    q.rule.is_log = Rf_asLogical(r_element(rule, "log"));
    q.is_triangle = Rf_asLogical(r_element(rule, "triangle"));
    R_xlen_t length = Rf_xlength(r);
    if (length != count_pairs(&q)) Rf_error("%.0f coefficients are not those of all pairs", (double)length);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names));
    if (q.counted.common) q.n = r_new_element(result, 0, length);
    if (gcor_df_is_own(&q.rule.df, q.counted.common)) q.df = r_new_element(result, 4, length);
    q.statistic = r_new_element(result, 1, length);
    q.p = r_new_element(result, 2, length);
    if (compact) gcor_compact_widen(compact, q.job.call.context.threads, q.statistic); /* in its place */
    if (compact) q.r = q.statistic;
    gcor_status status = test_designed(&q);
    if (!status && !q.counted.common) SET_VECTOR_ELT(result, 0, r_constant_vector((double)q.counted.n_obs, length));
    for (int k = 0; !status && k < 3; k++) set_attributes(VECTOR_ELT(result, k), attributes);
    if (!status && q.df) set_attributes(VECTOR_ELT(result, 4), attributes);
    SET_VECTOR_ELT(result, 3, Rf_ScalarReal(q.tied));
    SET_VECTOR_ELT(result, 5, Rf_ScalarReal(q.few));
    result = r_job_end(&q.job, status, result);
    UNPROTECT(1);
    return result;
}
