/* The largest coefficients of permuted observations, for p values that are adjusted for all pairs. */
#include "r.h"

#include "../core/alloc.h"
#include "../core/missing.h"
#include "../core/permuted.h"
#include "../sink/maximum.h"

/* Two whole numbers below 2^32, of R's generator. */
static uint64_t parse_seed(SEXP seed) {
    return (uint64_t)REAL(seed)[0] << 32 | (uint64_t)REAL(seed)[1];
}

typedef struct {
    r_job job;
    gcor_side side;
    uint64_t seed;
    gcor_columns permuted; /* of x, or of y where there is one */
    SEXP result;
} request;

static gcor_status run_permutation(request *q, int64_t number, double *largest) {
    gcor_job *job = &q->job.job;
    gcor_permuted source = gcor_permuted_source(&q->permuted, q->seed, (uint64_t)number, job->y != NULL);
    gcor_source **place = job->y ? &job->y : &job->x;
    gcor_maximum *maximum;
    gcor_status status = gcor_maximum_new(&q->job.call.context, job->y ? GCOR_FULL : GCOR_LOWER,
                                          q->permuted.source->n_var, job->x->n_var, q->side, &maximum);
    *place = &source.source;
    if (!status) status = r_job_run(&q->job, &maximum->sink, q->result);
    *place = q->permuted.source;
    if (!status) *largest = gcor_maximum_of(maximum);
    gcor_sink_free(maximum ? &maximum->sink : NULL);
    return status;
}

static gcor_status run_permutations(request *q, R_xlen_t n, double *largest) {
    gcor_observations counted;
    gcor_context *context = &q->job.call.context;
    gcor_status status = gcor_observations_of(context, &q->job.job, &counted);
    if (status) return status;
    q->permuted.observed = counted.observed;
    q->permuted.n_obs = counted.n_obs;
    for (R_xlen_t k = 0; k < n && !status; k++) {
        q->job.call.progress.before = (double)k / (double)n;
        q->job.call.progress.width = 1 / (double)n;
        status = run_permutation(q, k, largest + k);
        if (!status && gcor_stop(context)) status = context->error.status;
    }
    gcor_free(counted.observed);
    return status;
}

SEXP r_maxima(SEXP x, SEXP y, SEXP method, SEXP use, SEXP side, SEXP n, SEXP seed, SEXP settings) {
    const char *names[] = {"n_obs", "x_flags", "y_flags", "maxima", ""};
    request q = {.side = (gcor_side)Rf_asInteger(side), .seed = parse_seed(seed)};
    r_job_parse(&q.job, x, y, method, use, Rf_ScalarLogical(0), settings);
    q.result = PROTECT(r_job_result(&q.job, names));
    q.permuted.source = q.job.job.y ? q.job.job.y : q.job.job.x;
    SEXP maxima = Rf_allocVector(REALSXP, (R_xlen_t)Rf_asReal(n));
    SET_VECTOR_ELT(q.result, 3, maxima);
    gcor_status status = run_permutations(&q, Rf_xlength(maxima), REAL(maxima));
    SEXP result = r_job_end(&q.job, status, q.result);
    UNPROTECT(1);
    return result;
}

SEXP r_permute(SEXP x, SEXP seed, SEXP number, SEXP jointly) {
    gcor_matrix matrix = r_matrix(x, 0);
    gcor_columns columns = {&matrix.source, NULL, matrix.source.n_obs};
    gcor_permuted source = gcor_permuted_source(&columns, parse_seed(seed), (uint64_t)Rf_asReal(number),
                                                Rf_asLogical(jointly));
    gcor_context context = {.threads = 1};
    SEXP result = PROTECT(Rf_allocMatrix(REALSXP, (int)matrix.source.n_obs, (int)matrix.source.n_var));
    (void)source.source.read(&source.source, &context, 0, matrix.source.n_var, REAL(result));
    UNPROTECT(1);
    return result;
}
