/* Many subjects: an object of class gpuCorSubjects (R/subjects.R) in the place of a matrix. */
#include "r.h"

#include "../core/available.h"

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

void r_subjects_parse(r_job *q, SEXP x, SEXP y) {
    SEXP weights = r_element(x, "weights");
    R_xlen_t n = Rf_xlength(r_element(x, "data"));
    r_source *of_x = sources_of(x), *of_y = Rf_isNull(y) ? NULL : sources_of(y);
    gcor_subject *subjects = (gcor_subject *)R_alloc((size_t)n, sizeof *subjects);
    if (n < 1 || Rf_xlength(weights) != n || (of_y && Rf_xlength(r_element(y, "data")) != n))
        Rf_error("%.0f subjects of x do not go with as many weights and matrices of y", (double)n);
    for (R_xlen_t s = 0; s < n; s++)
        subjects[s] = (gcor_subject){&of_x[s].source, of_y ? &of_y[s].source : NULL, REAL(weights)[s]};
    q->combination = (gcor_combination){.how = (gcor_combining)Rf_asInteger(r_element(x, "how")),
                                        .share = Rf_asReal(r_element(x, "share")),
                                        .skips = Rf_asLogical(r_element(x, "skips")),
                                        .total = Rf_asReal(r_element(x, "total")),
                                        .n = n,
                                        .subjects = subjects};
    q->x = of_x[0];
    if (of_y) q->y = of_y[0];
}

SEXP r_available(void) {
    return Rf_ScalarReal((double)gcor_available_memory());
}

void r_subjects_memory(r_job *q) {
    int64_t part = gcor_available_memory() / PART_OF_FREE;
    if (q->backend == &gcor_cpu && q->call.context.memory == 0 && part > gcor_cpu.memory(NULL))
        q->call.context.memory = part;
}
