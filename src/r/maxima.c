/* The largest coefficients of permuted observations, for p values that are adjusted for all pairs. */
#include "job.h"

#include "../base/alloc.h"
#include "../base/elementary.h"
#include "../source/derived.h"
#include "../sink/maximum.h"

/* seed: two integers below 2^32, of R's generator. */
static uint64_t parse_seed(SEXP seed) {
    return (uint64_t)REAL(seed)[0] << 32 | (uint64_t)REAL(seed)[1];
}

typedef struct {
    r_job job;
    gcor_side side;
    uint64_t seed;
    gcor_columns permuted; /* y's, or x's if there is no y */
    SEXP result;
} request;

static gcor_status find_largest(r_job *q, gcor_side side, SEXP result, double *largest) {
    const gcor_job *job = &q->job;
    gcor_maximum *maximum;
    gcor_status status = gcor_maximum_new(&q->call.context, r_shape(q), r_n_row(q), job->x->n_var, side, &maximum);
    if (!status) status = r_job_run(q, &maximum->sink, result);
    if (!status) *largest = gcor_maximum_of(maximum);
    gcor_sink_free(maximum ? &maximum->sink : NULL);
    return status;
}

static gcor_status run_permutation(request *q, int64_t number, double *largest) {
    gcor_job *job = &q->job.job;
    gcor_shuffled source = gcor_shuffled_source(&q->permuted, q->seed, (uint64_t)number, job->y != NULL);
    gcor_source **permuted = job->y ? &job->y : &job->x;
    *permuted = &source.source;
    gcor_status status = find_largest(&q->job, q->side, q->result, largest);
    *permuted = q->permuted.source;
    return status;
}

static gcor_status run_permutations(request *q, R_xlen_t n, double *largest) {
    gcor_context *context = &q->job.call.context;
    gcor_status status = GCOR_OK;
    if (!q->permuted.observed)
        q->job.job.use = GCOR_EVERYTHING; /* nothing is missing: the runs need not look for it again */
    for (R_xlen_t k = 0; k < n && !status; k++) {
        q->job.call.progress.before = (double)k / (double)n;
        q->job.call.progress.part = 1 / (double)n;
        status = run_permutation(q, k, largest + k);
        if (!status && gcor_stop(context)) status = context->error.status;
    }
    return status;
}

/* Returns list(n_obs, x_flags, y_flags, maxima: the largest weight (gcor_weight) of all pairs after each of n
 * permutations). Each column of x is permuted by itself, or, if there is a y, the rows of y. */
SEXP r_maxima(SEXP x, SEXP y, SEXP method, SEXP use, SEXP counted, SEXP side, SEXP n, SEXP seed, SEXP settings) {
    const gcor_observations observations = r_counted(counted);
    const char *names[] = {"n_obs", "x_flags", "y_flags", "maxima", ""};
    request q = {.side = (gcor_side)Rf_asInteger(side), .seed = parse_seed(seed)};
    r_job_parse(&q.job, x, y, method, use, Rf_ScalarLogical(0), settings);
    q.result = PROTECT(r_job_result(&q.job, names));
    q.permuted = (gcor_columns){.source = q.job.job.y ? q.job.job.y : q.job.job.x,
                                .observed = observations.observed,
                                .n_obs = observations.n_obs};
    SEXP maxima = Rf_allocVector(REALSXP, (R_xlen_t)Rf_asReal(n));
    SET_VECTOR_ELT(q.result, 3, maxima);
    gcor_status status = run_permutations(&q, Rf_xlength(maxima), REAL(maxima));
    SEXP result = r_job_end(&q.job, status, q.result);
    UNPROTECT(1);
    return result;
}

/* Returns list(n_obs, x_flags, y_flags, maximum) of the data as they are. x may be several subjects, whose coefficients
 * are combined. */
SEXP r_maximum(SEXP x, SEXP y, SEXP method, SEXP use, SEXP side, SEXP settings) {
    const char *names[] = {"n_obs", "x_flags", "y_flags", "maximum", ""};
    double largest = 0;
    r_job q;
    r_job_parse(&q, x, y, method, use, Rf_ScalarLogical(0), settings);
    SEXP result = PROTECT(r_job_result(&q, names));
    gcor_status status = find_largest(&q, (gcor_side)Rf_asInteger(side), result, &largest);
    if (!status) SET_VECTOR_ELT(result, 3, Rf_ScalarReal(largest));
    result = r_job_end(&q, status, result);
    UNPROTECT(1);
    return result;
}

/* Returns how many of n ascending numbers are below x. */
static R_xlen_t count_below(const double *sorted, R_xlen_t n, double x) {
    R_xlen_t low = 0;
    while (n > 0) {
        R_xlen_t half = n / 2;
        low += sorted[low + half] < x ? n - half : 0;
        n = half;
    }
    return low;
}

/* Returns adjusted p values, with the attributes of p: for each coefficient r, the fraction of the permutations and the
 * data whose largest weight is at least that of r, less the margin; NA where p is. maxima: ascending. is_log: returns
 * logarithms. */
SEXP r_adjusted(SEXP p, SEXP r, SEXP maxima, SEXP side, SEXP margin, SEXP is_log, SEXP threads) {
    R_xlen_t length = Rf_xlength(p), n = Rf_xlength(maxima);
    SEXP result = PROTECT(Rf_allocVector(REALSXP, length)), by_count = PROTECT(Rf_allocVector(REALSXP, n + 1));
    double *adjusted = REAL(result), *of_count = REAL(by_count), same = Rf_asReal(margin);
    const double *p_value = REAL(p), *coefficient = REAL(r), *sorted = REAL(maxima);
    gcor_side kind = (gcor_side)Rf_asInteger(side);
    int n_threads = r_threads(threads);
    (void)n_threads; /* without OpenMP */
    if (Rf_xlength(r) != length)
        Rf_error("there must be a p value for each of %.0f coefficients, not %.0f", (double)Rf_xlength(r),
                 (double)length);
    for (R_xlen_t below = 0; below <= n; below++) {
        of_count[below] = (double)(1 + n - below) / (double)(1 + n);
        if (Rf_asLogical(is_log)) of_count[below] = gcor_log(of_count[below]);
    }
    gcor_huge_pages(adjusted, (size_t)length * sizeof *adjusted);
#pragma omp parallel for num_threads(n_threads) schedule(static)
    for (R_xlen_t k = 0; k < length; k++)
        adjusted[k] = p_value[k] != p_value[k]
                          ? NA_REAL
                          : of_count[count_below(sorted, n, gcor_raw_weight(kind, coefficient[k]) - same)];
    SHALLOW_DUPLICATE_ATTRIB(result, p);
    UNPROTECT(2);
    return result;
}

/* For tests: returns the matrix x as permutation number `number`, from 0, of r_maxima() has it. */
SEXP r_permute(SEXP x, SEXP seed, SEXP number, SEXP jointly) {
    gcor_matrix matrix = r_matrix(x, 0);
    gcor_columns columns = {.source = &matrix.source, .n_obs = matrix.source.n_obs};
    gcor_shuffled source = gcor_shuffled_source(&columns, parse_seed(seed), (uint64_t)Rf_asReal(number),
                                                Rf_asLogical(jointly));
    gcor_context context = {.threads = 1};
    SEXP result = PROTECT(Rf_allocMatrix(REALSXP, (int)matrix.source.n_obs, (int)matrix.source.n_var));
    (void)source.source.read(&source.source, &context, 0, matrix.source.n_var, REAL(result));
    UNPROTECT(1);
    return result;
}
