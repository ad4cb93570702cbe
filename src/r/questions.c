/* Questions that R asks about a run before it, and about its pairs. */
#include "job.h"

#include "../base/alloc.h"
#include "../engine/run.h"
#include "../base/shard.h"
#include "../measure/measure.h"

#include <math.h>

/* Returns list(n_obs: the number of selected observations, common: TRUE if each pair uses its pairwise-complete
 * observations, observed: the indices of the selected observations, or NULL for the first n_obs), for r_counted(). */
gcor_status r_observations(r_job *q, const SEXP *arguments, SEXP result) {
    (void)arguments;
    gcor_observations observations;
    SEXP observed = PROTECT(Rf_allocVector(INTSXP, q->job.x->n_obs));
    gcor_status status = gcor_observations_of(&q->call.context, &q->job, &observations);
    if (!status && observations.observed) {
        memcpy(INTEGER(observed), observations.observed, (size_t)observations.n_obs * sizeof(int));
        gcor_free(observations.observed);
        SET_VECTOR_ELT(result, 2, observed);
    }
    if (!status) {
        SET_VECTOR_ELT(result, 0, Rf_ScalarReal((double)observations.n_obs));
        SET_VECTOR_ELT(result, 1, Rf_ScalarLogical(observations.common));
    }
    UNPROTECT(1);
    return status;
}

/* Returns list(columns, memory): how many columns the settings' shard would read, and how many bytes it would hold. */
gcor_status r_needs(r_job *q, const SEXP *arguments, SEXP result) {
    (void)arguments;
    double *columns = r_new_doubles(result, 0, 1), *memory = r_new_doubles(result, 1, 1);
    gcor_session *session;
    gcor_needs needs;
    r_job_observations(q, q->job.x->n_obs);
    gcor_status status = r_session(&q->call.context, q->backend, q->devices, q->n_devices, &session);
    if (!status) status = gcor_needs_of(session, &q->call.context, &q->job, &needs);
    if (status) return status;
    *columns = (double)needs.columns;
    *memory = (double)needs.bytes;
    return GCOR_OK;
}

static gcor_shape parse_shape(SEXP is_full) {
    return Rf_asLogical(is_full) ? GCOR_FULL : GCOR_LOWER;
}

/* Returns how many of n_row x n_col pairs, or of a triangle's, count by the settings' `pairs`. */
SEXP r_count_pairs(SEXP n_row, SEXP n_col, SEXP is_full, SEXP settings) {
    r_call call;
    gcor_pair_rule rule;
    gcor_pairs *pairs;
    const int64_t rows = (int64_t)Rf_asReal(n_row), columns = (int64_t)Rf_asReal(n_col);
    const gcor_pair_rule *which = r_pairs_parse(&rule, r_element(settings, "pairs"), rows, columns,
                                                Rf_asLogical(is_full));
    if (!which) r_error("all pairs count");
    r_quiet_call_parse(&call, settings);
    gcor_status status = gcor_pairs_new(&call.context, which, parse_shape(is_full), rows, columns, 1, 1, &pairs);
    double count = status ? 0 : (double)gcor_pairs_count(pairs, &call.context);
    gcor_pairs_free(pairs);
    return status ? r_failure(&call.context.error) : Rf_ScalarReal(count);
}

/* Returns the max number of shards that such pairs can be divided into. */
SEXP r_count_shards(SEXP n_row, SEXP n_col, SEXP is_full) {
    gcor_grid grid = gcor_grid_of(parse_shape(is_full), (int64_t)Rf_asReal(n_row), (int64_t)Rf_asReal(n_col));
    return Rf_ScalarReal((double)gcor_count_shards(&grid));
}

/* Returns the smallest of Spearman's correlations between a matrix's columns of doubles; NA if a value is missing or a
 * column is constant. For short columns: it takes no setting and no interrupt. */
SEXP r_least_rho(SEXP values) {
    const int64_t n = Rf_nrows(values), n_column = Rf_ncols(values);
    gcor_ranks ranks = gcor_ranks_at(R_alloc(gcor_ranks_bytes(n), 1), n);
    double *scores = (double *)R_alloc((size_t)(n * n_column) + 1, sizeof *scores), least = 1;
    memcpy(scores, REAL(values), (size_t)(n * n_column) * sizeof *scores);
    for (int64_t j = 0; j < n_column; j++) {
        double *column = scores + j * n;
        int64_t tied, present = gcor_rank(column, n, &ranks, &tied);
        double squares = gcor_scores(&ranks, n, present, column);
        if (present < n || squares == 0) return Rf_ScalarReal(NA_REAL);
        for (int64_t i = 0; i < j; i++) {
            const double *other = scores + i * n;
            double product = gcor_double_dot(column, other, n);
            least = fmin(least, product / sqrt(squares * gcor_double_dot(other, other, n)));
        }
    }
    return Rf_ScalarReal(least);
}
