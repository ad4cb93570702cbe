/* Many subjects: an object of class gpuCorSubjects (R/subjects.R) in the place of a matrix. */
#include "r.h"

#include "../core/available.h"
#include "../sink/maximum.h"

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
                                        .share = Rf_asReal(r_element(x, "share")),
                                        .skips = Rf_asLogical(r_element(x, "skips")),
                                        .total = Rf_asReal(r_element(x, "total")),
                                        .n = n,
                                        .subjects = subjects};
    q->x = of_x[0];
    if (of_y) q->y = of_y[0];
}

/* The largest weight of all pairs' combined coefficients. */
static gcor_status run_maximum(r_job *q, gcor_side side, SEXP result, double *largest) {
    int64_t n_var = q->job.x->n_var;
    gcor_maximum *maximum;
    gcor_status status = gcor_maximum_new(&q->call.context, GCOR_LOWER, n_var, n_var, side, &maximum);
    if (!status) status = r_job_run(q, &maximum->sink, result);
    if (!status) *largest = gcor_maximum_of(maximum);
    gcor_sink_free(maximum ? &maximum->sink : NULL);
    return status;
}

SEXP r_subject_maxima(SEXP x, SEXP method, SEXP use, SEXP side, SEXP weights, SEXP settings) {
    const char *names[] = {"n_obs", "x_flags", "y_flags", "maxima", ""};
    r_job q;
    r_job_parse(&q, x, R_NilValue, method, use, Rf_ScalarLogical(0), settings);
    gcor_subject *subjects = (gcor_subject *)q.combination.subjects; /* r_subjects_parse()'s, and this call's */
    int64_t n = q.combination.n, times = Rf_ncols(weights);
    gcor_status status = GCOR_OK;
    if (!q.job.combination || Rf_nrows(weights) != n) Rf_error("a weight is needed for each subject");
    SEXP result = PROTECT(r_job_result(&q, names)), maxima = Rf_allocVector(REALSXP, times);
    SET_VECTOR_ELT(result, 3, maxima);
    for (int64_t b = 0; b < times && !status; b++) {
        q.call.progress.before = (double)b / (double)times;
        q.call.progress.width = 1 / (double)times;
        for (int64_t s = 0; s < n; s++) subjects[s].weight = REAL(weights)[b * n + s];
        status = run_maximum(&q, (gcor_side)Rf_asInteger(side), result, REAL(maxima) + b);
        if (!status && gcor_stop(&q.call.context)) status = q.call.context.error.status;
    }
    result = r_job_end(&q, status, result);
    UNPROTECT(1);
    return result;
}

SEXP r_available(void) {
    return Rf_ScalarReal((double)gcor_available_memory());
}

void r_subjects_memory(r_job *q) {
    int64_t part = gcor_available_memory() / PART_OF_FREE;
    if (q->backend == &gcor_cpu && q->call.context.memory == 0 && part > gcor_cpu.memory(NULL))
        q->call.context.memory = part;
}
