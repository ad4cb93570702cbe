/* Many subjects: an object of class gpuCorSubjects (R/subjects.R) in the place of a matrix. */
#include "r.h"

#include "../base/os.h"
#include "../sink/group_tests.h"
#include "../sink/label_maxima.h"

/* Of what is free, the part that all subjects' prepared columns may take, where nobody says how much. */
enum { PART_OF_FREE = 4 };

int r_is_subjects(SEXP x) {
    return Rf_inherits(x, "gpuCorSubjects");
}

static r_source *sources_of(SEXP x) {
    SEXP data = r_element(x, "data");
    R_xlen_t n = Rf_xlength(data);
    r_source *sources = (r_source *)R_alloc((size_t)n, sizeof *sources);
    for (R_xlen_t s = 0; s < n; s++) sources[s] = r_source_of(VECTOR_ELT(data, s), 0);
    return sources;
}

/* Each subject's, or NULL; `designs` is a list of as many, or NULL. */
static const gcor_design *design_of(SEXP designs, R_xlen_t s, int64_t n_obs) {
    SEXP own = Rf_isNull(designs) ? designs : VECTOR_ELT(designs, s);
    if (Rf_isNull(own)) return NULL;
    gcor_design *design = (gcor_design *)R_alloc(1, sizeof *design);
    *design = r_design_parse(own, n_obs);
    return design;
}

void r_subjects_parse(r_job *q, SEXP x, SEXP y) {
    SEXP designs = r_element(x, "designs");
    SEXP weights = r_element(x, "weights");
    R_xlen_t n = Rf_xlength(r_element(x, "data"));
    r_source *of_x = sources_of(x), *of_y = Rf_isNull(y) ? NULL : sources_of(y);
    gcor_subject *subjects = (gcor_subject *)R_alloc((size_t)n, sizeof *subjects);
    if (n < 1 || Rf_xlength(weights) != n || (of_y && Rf_xlength(r_element(y, "data")) != n))
        Rf_error("%.0f subjects of x do not go with as many weights and matrices of y", (double)n);
    for (R_xlen_t s = 0; s < n; s++)
        subjects[s] = (gcor_subject){.x = &of_x[s].source,
                                     .y = of_y ? &of_y[s].source : NULL,
                                     .weight = REAL(weights)[s],
                                     .design = design_of(designs, s, of_x[s].source.n_obs)};
    q->combination = (gcor_combination){.how = (gcor_combining)Rf_asInteger(r_element(x, "how")),
                                        .fraction = Rf_asReal(r_element(x, "share")),
                                        .skips = Rf_asLogical(r_element(x, "skips")),
                                        .total = Rf_asReal(r_element(x, "total")),
                                        .n = n,
                                        .n_first = (int64_t)Rf_asReal(r_element(x, "n_first")),
                                        .subjects = subjects};
    q->x = of_x[0];
    if (of_y) q->y = of_y[0];
}

/* ---- maxima over all pairs ------------------------------------------------------------------------------- */

SEXP r_label_maxima(SEXP x, SEXP method, SEXP use, SEXP side, SEXP weights, SEXP is_t, SEXP settings) {
    const char *names[] = {"n_obs", "x_flags", "y_flags", "maxima", ""};
    r_job q;
    gcor_label_maxima *maxima;
    r_job_parse(&q, x, R_NilValue, method, use, Rf_ScalarLogical(0), settings);
    if (!q.job.combination || Rf_nrows(weights) != q.combination.n) Rf_error("a weight is needed for each subject");
    const gcor_label_permutations permutations = {REAL(weights), q.combination.n, Rf_ncols(weights),
                                                  Rf_asLogical(is_t)};
    q.combination.how = GCOR_EACH;
    SEXP result = PROTECT(r_job_result(&q, names)), of_each = Rf_allocVector(REALSXP, permutations.n);
    SET_VECTOR_ELT(result, 3, of_each);
    gcor_status status = gcor_label_maxima_new(&q.call.context, q.job.x->n_var, (gcor_side)Rf_asInteger(side),
                                               &permutations, &maxima);
    if (!status) status = r_job_run(&q, &maxima->sink, result);
    for (int64_t k = 0; !status && k < permutations.n; k++) REAL(of_each)[k] = gcor_label_maxima_of(maxima, k);
    gcor_sink_free(maxima ? &maxima->sink : NULL);
    result = r_job_end(&q, status, result);
    UNPROTECT(1);
    return result;
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

SEXP r_group_tests(SEXP x, SEXP y, SEXP method, SEXP use, SEXP rows, SEXP settings) {
    const char *names[] = {"n_obs", "x_flags", "y_flags", "difference", "error", "df", ""};
    r_job q;
    gcor_sink *sink;
    r_job_parse(&q, x, y, method, use, Rf_ScalarLogical(0), settings);
    if (!q.job.combination) Rf_error("subjects are needed");
    const gcor_groups groups = {q.combination.n, q.combination.n_first, q.combination.skips};
    const gcor_listed_pairs listed = listed_pairs(rows);
    const gcor_shape shape = q.job.y ? GCOR_FULL : listed.start ? GCOR_LOWER : GCOR_UPPER;
    R_xlen_t length = count_results(&q, rows);
    q.combination.how = GCOR_EACH;
    SEXP result = PROTECT(r_job_result(&q, names));
    gcor_group_results results = {.difference = r_new_element(result, 3, length), .missing = NA_REAL};
    results.error = r_new_element(result, 4, length);
    results.df = r_new_element(result, 5, length);
    gcor_status status = gcor_group_sink_new(&q.call.context, shape, q.job.y ? q.job.y->n_var : q.job.x->n_var,
                                             q.job.x->n_var, &groups, &listed, &results, &sink);
    if (!status) status = r_job_run(&q, sink, result);
    gcor_sink_free(sink);
    result = r_job_end(&q, status, result);
    UNPROTECT(1);
    return result;
}

void r_subjects_memory(r_job *q) {
    int64_t part = (gcor_available_memory() - q->call.context.result_bytes) / PART_OF_FREE;
    if (q->backend->is_host && q->call.context.memory == 0 && part > q->backend->memory(NULL))
        q->call.context.memory = part;
}
