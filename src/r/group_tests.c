/* Tests over several subjects: permutations, and Student's t. */
#include "job.h"

#include "../base/triangle.h"
#include "../sink/permuted_tests.h"

/* ---- permutations ---------------------------------------------------------------------------------------- */

/* weights: a column for each permutation (sink/permuted_tests.h). */
static gcor_permutations parse_permutations(const r_job *q, SEXP weights, int is_t) {
    const gcor_permutations permutations = {.weight = REAL(weights),
                                            .n_weights = Rf_nrows(weights),
                                            .n = Rf_ncols(weights),
                                            .n_subjects = q->combination.n,
                                            .is_t = is_t,
                                            .model = q->combination.model};
    const int64_t unit = permutations.model ? permutations.model->n_values : permutations.n_subjects;
    if (!q->job.combination || permutations.n_weights < unit || permutations.n_weights % unit != 0)
        r_error("there must be subjects, and weights for each of them");
    return permutations;
}

/* arguments: side, weights, is_t. Returns list(n_obs, x_flags, y_flags, maxima: the largest weight of all pairs for
 * each column of weights). See gcor_label_maxima_of(). */
gcor_status r_label_maxima(r_job *q, const SEXP *arguments, SEXP result) {
    gcor_label_maxima *maxima;
    const gcor_permutations permutations = parse_permutations(q, arguments[1], Rf_asLogical(arguments[2]));
    double *largest = r_new_doubles(result, 3, permutations.n);
    q->combination.how = GCOR_EACH;
    gcor_status status = gcor_label_maxima_new(&q->call.context, q->job.x->n_var, (gcor_side)Rf_asInteger(arguments[0]),
                                               &permutations, &maxima);
    if (!status) status = r_job_run(q, &maxima->sink, result);
    for (int64_t k = 0; !status && k < permutations.n; k++) largest[k] = gcor_label_maxima_of(maxima, k);
    gcor_sink_free(maxima ? &maxima->sink : NULL);
    return status;
}

/* arguments: rule: list(side, min, sums_weights) of gcor_component_rule, weights. Returns list(n_obs, x_flags, y_flags,
 * maxima: the largest component's size for each column of weights; size, first: of each variable's component for the
 * first column). */
gcor_status r_components(r_job *q, const SEXP *arguments, SEXP result) {
    const gcor_component_rule components = {(gcor_side)Rf_asInteger(r_element(arguments[0], "side")),
                                            Rf_asReal(r_element(arguments[0], "min")),
                                            Rf_asLogical(r_element(arguments[0], "sums_weights"))};
    const gcor_permutations permutations = parse_permutations(q, arguments[1], 1);
    const R_xlen_t n_var = (R_xlen_t)q->job.x->n_var;
    gcor_sink *sink;
    q->combination.how = GCOR_EACH;
    double *maxima = r_new_doubles(result, 3, permutations.n), *size = r_new_doubles(result, 4, n_var);
    SEXP first = Rf_allocVector(INTSXP, n_var);
    SET_VECTOR_ELT(result, 5, first);
    gcor_status status = gcor_components_new(&q->call.context, n_var, &components, &permutations, &sink);
    if (!status) status = r_job_run(q, sink, result);
    for (int64_t k = permutations.n - 1; !status && k >= 0; k--)
        maxima[k] = gcor_components_of(sink, k, size, INTEGER(first)); /* the first permutation's sizes stay */
    gcor_sink_free(sink);
    return status;
}

/* ---- tests of groups ------------------------------------------------------------------------------------- */

static gcor_listed_pairs listed_pairs(SEXP rows) {
    if (Rf_isNull(rows)) return (gcor_listed_pairs){NULL, NULL};
    return (gcor_listed_pairs){INTEGER(r_element(rows, "p")), INTEGER(r_element(rows, "i"))};
}

static R_xlen_t count_results(const r_job *q, SEXP rows) {
    if (!Rf_isNull(rows)) return Rf_xlength(r_element(rows, "i"));
    return q->job.y ? q->job.x->n_var * q->job.y->n_var : gcor_triangular(q->job.x->n_var - 1);
}

/* Student's t of the subjects' Fisher z (sink/group_tests.h). arguments: rows: list(p, i), compressed rows of pairs;
 * NULL: all pairs, in the order of a dist or a matrix. Returns list(n_obs, x_flags, y_flags, difference, error, df), NA
 * without a test. */
gcor_status r_group_tests(r_job *q, const SEXP *arguments, SEXP result) {
    gcor_sink *sink;
    if (!q->job.combination) r_error("'x' must be several subjects; see ?subjects");
    const gcor_groups groups = gcor_groups_of(&q->combination);
    const gcor_listed_pairs listed = listed_pairs(arguments[0]);
    const gcor_shape shape = q->job.y ? GCOR_FULL : listed.start ? GCOR_LOWER : GCOR_UPPER;
    R_xlen_t length = count_results(q, arguments[0]);
    q->combination.how = GCOR_EACH;
    gcor_group_results results = {.difference = r_new_doubles(result, 3, length), .missing = NA_REAL};
    results.error = r_new_doubles(result, 4, length);
    results.df = r_new_doubles(result, 5, length);
    gcor_status status = gcor_group_sink_new(&q->call.context, shape, r_n_row(q), q->job.x->n_var, &groups, &listed,
                                             &results, &sink);
    if (!status) status = r_job_run(q, sink, result);
    gcor_sink_free(sink);
    return status;
}
