/* Statistics and p values of coefficients that gpuCor() has computed, and surrogates of inter-subject correlation. */
#include "job.h"
#include "vector.h"

#include "../base/alloc.h"
#include "../base/threads.h"
#include "../measure/measure.h"
#include "../base/triangle.h"
#include "../sink/dense.h"

enum { MIN_TABLE = 1000, BLOCK = 4096 }; /* coefficients from which on making a table pays; of a thread at a time */

typedef struct {
    double df;
    const gcor_t_table *table; /* NULL: none */
    const double *r;
    double *result;
} t_tests;

static void score_block(void *argument, int thread, int64_t from, int64_t end) {
    const t_tests *t = argument;
    (void)gcor_t_scores(t->df, t->df, t->r + from, end - from, t->result + from);
}

/* Returns t of coefficients; NA where the degrees of freedom, one for all or one each, are not positive. */
SEXP r_t_scores(SEXP coefficients, SEXP degrees, SEXP threads) {
    R_xlen_t length = Rf_xlength(coefficients), step = Rf_xlength(degrees) != 1;
    r_call call;
    r_plain_call_parse(&call, threads);
    SEXP result = PROTECT(r_new_vector(&call.context, REALSXP, length));
    t_tests t = {.df = REAL(degrees)[0], .r = REAL(coefficients), .result = REAL(result)};
    if (!step && t.df > 0 && t.result) gcor_for_blocks(call.context.threads, length, BLOCK, score_block, &t);
    for (R_xlen_t k = 0; t.result && (step || !(t.df > 0)) && k < length; k++) {
        double r = t.r[k], df = REAL(degrees)[k * step];
        t.result[k] = r != r ? r : df > 0 ? gcor_t_score(df, r) : NA_REAL;
    }
    UNPROTECT(1);
    return call.context.error.status ? r_failure(&call.context.error) : result;
}

static void test_block(void *argument, int thread, int64_t from, int64_t end) {
    const t_tests *t = argument;
    if (t->table) gcor_t_table_p(t->table, t->r + from, end - from, t->result + from);
    for (int64_t l = from; !t->table && l < end; l++)
        t->result[l] = gcor_tail_p(gcor_t_tail(t->df, t->r[l]), t->r[l], GCOR_TWO_SIDED, 0);
}

/* Returns two-sided p values of coefficients whose t has df degrees of freedom. */
SEXP r_t_p(SEXP coefficients, SEXP df, SEXP threads) {
    r_call call;
    r_plain_call_parse(&call, threads);
    gcor_context *context = &call.context;
    R_xlen_t length = Rf_xlength(coefficients);
    SEXP result = PROTECT(r_new_vector(context, REALSXP, length));
    gcor_t_table *table = length < MIN_TABLE ? NULL : gcor_t_table_new(context, Rf_asReal(df));
    t_tests t = {Rf_asReal(df), table, REAL(coefficients), REAL(result)};
    if (!context->error.status) gcor_for_blocks(context->threads, length, BLOCK, test_block, &t);
    gcor_free(table);
    UNPROTECT(1);
    return context->error.status ? r_failure(&context->error) : result;
}

static SEXP exact_distribution(const gcor_measure *measure, int64_t n) {
    const char *names[] = {"exact", "steps", ""};
    r_call call;
    r_plain_call_parse(&call, Rf_ScalarInteger(1));
    const int64_t steps = gcor_exact_steps(measure, n);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names)), p = Rf_allocVector(REALSXP, steps / 2 + 1);
    SET_VECTOR_ELT(result, 0, p);
    SET_VECTOR_ELT(result, 1, Rf_ScalarReal((double)steps));
    gcor_exact *exact = gcor_exact_new(&call.context, measure, n, n);
    for (int64_t k = 0; exact && k <= steps / 2; k++)
        REAL(p)[k] = fmin(1, 2 * gcor_exact_lower(exact, n, 2 * (double)k / (double)steps - 1));
    gcor_exact_free(exact);
    UNPROTECT(1);
    return exact ? result : r_failure(&call.context.error);
}

/* Returns a rank coefficient's distribution for n untied observations, as R/step-significance.R has it: list(exact: the
 * two-sided p values of all coefficients up to 0, in ascending order, steps: gcor_exact_steps()); or the approximate
 * one, list(deviation) of tau-b, with a tie quotient of both variables, or list(df, scale) of rho. */
SEXP r_distribution(SEXP method, SEXP n_obs, SEXP is_exact, SEXP quotient) {
    const char *of_rho[] = {"df", "scale", ""}, *of_tau[] = {"deviation", ""};
    const gcor_measure *measure = r_measure(method);
    const double n = Rf_asReal(n_obs), q = Rf_asReal(quotient);
    if (Rf_asLogical(is_exact)) return exact_distribution(measure, (int64_t)n);
    const int is_tau = measure->distribution == GCOR_NORMAL_WITH_TIES;
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, is_tau ? of_tau : of_rho));
    if (is_tau) {
        SET_VECTOR_ELT(result, 0, Rf_ScalarReal(gcor_kendall_deviation(n, q, q)));
    } else {
        const gcor_rho_beta beta = gcor_rho_beta_of(n);
        SET_VECTOR_ELT(result, 0, Rf_ScalarReal(beta.df));
        SET_VECTOR_ELT(result, 1, Rf_ScalarReal(beta.scale));
    }
    UNPROTECT(1);
    return result;
}

typedef struct {
    r_job *job;
    gcor_test_rule rule;
    gcor_observations counted;
    int is_triangle;
    gcor_values r;
    gcor_tested_pairs results; /* n NULL: the same for all; df NULL: not wanted */
    double tied;               /* number of pairs that have no exact p value because of ties */
    double few;                /* number of pairs that are 1 or -1 with very few observations */
} request;

static int64_t count_pairs(const request *q) {
    int64_t n = q->job->job.x->n_var;
    return q->is_triangle ? gcor_triangular(n - 1) : n * (q->job->job.y ? q->job->job.y->n_var : n);
}

/* Completes the matrices of a test of x against itself. */
static gcor_status mirror_results(request *q) {
    double *const all[] = {q->results.n, q->results.df,  q->results.statistic,
                           q->results.p, q->results.low, q->results.high};
    gcor_status status = GCOR_OK;
    for (int k = 0; !status && k < 6; k++)
        if (all[k]) status = gcor_mirror(&q->job->call.context, all[k], q->job->job.x->n_var);
    return status;
}

static gcor_status test_all(request *q, const gcor_design *design) {
    const gcor_observations *counted = &q->counted;
    const gcor_job *job = &q->job->job;
    gcor_context *context = &q->job->call.context;
    gcor_columns x = {.source = job->x, .observed = counted->observed, .n_obs = counted->n_obs, .design = design},
                 y = x;
    gcor_test test;
    y.source = job->y;
    if (gcor_test_open(context, &q->rule, &x, job->y ? &y : NULL, counted->common, count_pairs(q), &test))
        return context->error.status;
    gcor_status status = gcor_test_pairs(context, &test, q->is_triangle, &q->r, &q->results);
    if (!status && !q->is_triangle && !job->y) status = mirror_results(q);
    q->tied = (double)test.tied;
    q->few = (double)test.few;
    gcor_test_close(&test);
    return status;
}

static gcor_status test_designed(request *q) {
    gcor_design *design;
    gcor_status status = gcor_design_pick(&q->job->call.context, q->job->job.design, q->counted.observed,
                                          q->counted.n_obs, &design);
    if (!status) status = test_all(q, design);
    gcor_design_free(design);
    return status;
}

/* Allocates `length` doubles as element k of the result, or returns NULL if they are not wanted. */
static double *new_values(request *q, SEXP result, int k, R_xlen_t length, int is_wanted) {
    if (!is_wanted) return NULL;
    SET_VECTOR_ELT(result, k, r_new_vector(&q->job->call.context, REALSXP, length));
    return q->job->call.context.error.status ? NULL : REAL(VECTOR_ELT(result, k));
}

/* Allocates what each of `length` pairs has a value of. */
static gcor_status allocate_results(request *q, SEXP result, R_xlen_t length) {
    int common = q->counted.common, has_own_df = gcor_df_is_own(&q->rule.df, common), is_wide = q->rule.has_interval;
    r_collect_garbage((2 + common + has_own_df + 2 * is_wide) * length * (int64_t)sizeof(double));
    q->results = (gcor_tested_pairs){.n = new_values(q, result, 0, length, common),
                                     .statistic = new_values(q, result, 1, length, 1),
                                     .p = new_values(q, result, 2, length, 1),
                                     .df = new_values(q, result, 3, length, has_own_df),
                                     .low = new_values(q, result, 4, length, is_wide),
                                     .high = new_values(q, result, 5, length, is_wide)};
    return q->job->call.context.error.status;
}

/* arguments: coefficients r; counted (r_observations()); rule: list(alternative, log, quantile: of
 * gcor_interval_of(), or NA; triangle: whether r are a triangle by rows; and what r_test_rule() takes); attributes.
 * Returns list(n, statistic, p.value, df, conf.low, conf.high, tied, few), the first six with those attributes or NULL:
 * n, the number of observations; df, those of each pair, if they are estimated; conf.low and conf.high, bounds of
 * confidence intervals, if the quantile is not NA; tied, the number of pairs without an exact p value because of ties;
 * few, the number of pairs that are 1 or -1 with very few observations. */
gcor_status r_test(r_job *job, const SEXP *arguments, SEXP result) {
    SEXP r = arguments[0], rule = arguments[2];
    request q = {.job = job,
                 .r = r_values(r),
                 .counted = r_counted(arguments[1]),
                 .rule = r_test_rule(job, rule),
                 .is_triangle = Rf_asLogical(r_element(rule, "triangle"))};
    q.rule.alternative = (gcor_alternative)Rf_asInteger(r_element(rule, "alternative"));
    q.rule.is_log = Rf_asLogical(r_element(rule, "log"));
    q.rule.quantile = Rf_asReal(r_element(rule, "quantile"));
    q.rule.has_interval = !ISNAN(q.rule.quantile);
    R_xlen_t length = Rf_xlength(r);
    if (length != count_pairs(&q))
        r_error("there must be %.0f coefficients, one for each pair, not %.0f", (double)count_pairs(&q),
                (double)length);
    gcor_status status = allocate_results(&q, result, length);
    if (!status) status = test_designed(&q);
    if (!status && !q.counted.common) SET_VECTOR_ELT(result, 0, r_constant_vector((double)q.counted.n_obs, length));
    for (int k = 0; !status && k < 6; k++)
        if (!Rf_isNull(VECTOR_ELT(result, k))) r_set_attributes(VECTOR_ELT(result, k), arguments[3], NULL, NULL);
    SET_VECTOR_ELT(result, 6, Rf_ScalarReal(q.tied));
    SET_VECTOR_ELT(result, 7, Rf_ScalarReal(q.few));
    return status;
}

/* Returns gcor_isc_maxima(). spectra: a list of complex matrices; factors: n_freq x (n_subject x n_perm). */
SEXP r_isc_maxima(SEXP spectra, SEXP factors, SEXP is_fisher, SEXP place) {
    r_call call;
    const int64_t n = Rf_xlength(spectra);
    gcor_isc isc = {.n_subject = n,
                    .n_freq = Rf_nrows(factors),
                    .n_col = Rf_ncols(VECTOR_ELT(spectra, 0)),
                    .n_perm = Rf_ncols(factors) / n,
                    .spectra = (const double **)R_alloc((size_t)n, sizeof *isc.spectra),
                    .factors = (const double *)COMPLEX(factors),
                    .is_fisher = Rf_asLogical(is_fisher)};
    for (int64_t k = 0; k < n; k++) isc.spectra[k] = (const double *)COMPLEX(VECTOR_ELT(spectra, k));
    SEXP result = PROTECT(Rf_allocVector(REALSXP, isc.n_perm));
    r_quiet_call_parse(&call, place);
    gcor_status status = gcor_isc_maxima(&call.context, &isc, REAL(result));
    r_progress_end(&call.progress);
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}
