/* Several subjects: an object of class gpuCorSubjects (R/data-subjects.R) in place of a matrix. */
#include "job.h"

#include "../base/os.h"

/* By default all subjects' prepared columns may take a quarter of the free memory. */
enum { FREE_DIVISOR = 4 };

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

/* Returns subject s's design, or NULL; designs: a list with an element for each subject, or NULL. */
static const gcor_design *design_of(SEXP designs, R_xlen_t s, int64_t n_obs) {
    SEXP element = Rf_isNull(designs) ? designs : VECTOR_ELT(designs, s);
    if (Rf_isNull(element)) return NULL;
    gcor_design *design = (gcor_design *)R_alloc(1, sizeof *design);
    *design = r_design_parse(element, n_obs);
    return design;
}

/* Returns list(basis: NULL, or a column of weights of the subjects for each value; effect, scale, df), or NULL. */
static const gcor_linear_model *model_of(SEXP model, R_xlen_t n) {
    if (Rf_isNull(model)) return NULL;
    gcor_linear_model *parsed = (gcor_linear_model *)R_alloc(1, sizeof *parsed);
    SEXP basis = r_element(model, "basis"), effect = r_element(model, "effect");
    if (!Rf_isNull(basis) && Rf_xlength(basis) != n * Rf_xlength(effect))
        r_error("%.0f subjects do not fit the model's basis", (double)n);
    *parsed = (gcor_linear_model){.basis = Rf_isNull(basis) ? NULL : REAL(basis),
                                  .effect = REAL(effect),
                                  .scale = Rf_asReal(r_element(model, "scale")),
                                  .df = Rf_asReal(r_element(model, "df")),
                                  .n_values = Rf_xlength(effect)};
    return parsed;
}

void r_subjects_parse(r_job *q, SEXP x, SEXP y) {
    SEXP designs = r_element(x, "designs");
    SEXP weights = r_element(x, "weights");
    R_xlen_t n = Rf_xlength(r_element(x, "data"));
    r_source *of_x = sources_of(x), *of_y = Rf_isNull(y) ? NULL : sources_of(y);
    gcor_subject *subjects = (gcor_subject *)R_alloc((size_t)n, sizeof *subjects);
    if (n < 1 || Rf_xlength(weights) != n || (of_y && Rf_xlength(r_element(y, "data")) != n))
        r_error("%.0f subjects of x need as many weights and matrices of y", (double)n);
    for (R_xlen_t s = 0; s < n; s++)
        subjects[s] = (gcor_subject){.x = &of_x[s].source,
                                     .y = of_y ? &of_y[s].source : NULL,
                                     .weight = REAL(weights)[s],
                                     .design = design_of(designs, s, of_x[s].source.n_obs)};
    q->combination = (gcor_combination){.how = (gcor_combining)Rf_asInteger(r_element(x, "how")),
                                        .level = Rf_asReal(r_element(x, "level")),
                                        .sessions = (int64_t)Rf_asReal(r_element(x, "sessions")),
                                        .skips = Rf_asLogical(r_element(x, "skips")),
                                        .total = Rf_asReal(r_element(x, "total")),
                                        .n = n,
                                        .n_first = (int64_t)Rf_asReal(r_element(x, "n_first")),
                                        .subjects = subjects,
                                        .model = model_of(r_element(x, "model"), n)};
    q->x = of_x[0];
    if (of_y) q->y = of_y[0];
}

/* Only the processor's memory is divided here, and only if a fraction of the free memory exceeds its default. */
void r_subjects_memory(r_job *q) {
    int64_t part = (gcor_available_memory() - q->call.context.result_bytes) / FREE_DIVISOR;
    if (q->backend->is_host && q->call.context.memory == 0 && part > q->backend->memory(NULL))
        q->call.context.memory = part;
}
