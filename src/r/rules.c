/* Rules of a run, and its subjects, from lists of R's. Their vectors stay R's. */
#include "job.h"

#include "../base/os.h"

/* ---- which pairs count --------------------------------------------------------------------- */

/* Returns the traits of n variables. */
static gcor_traits parse_traits(SEXP side, int64_t n, int dims) {
    SEXP label = r_element(side, "label"), position = r_element(side, "place");
    if ((!Rf_isNull(label) && (TYPEOF(label) != INTSXP || Rf_xlength(label) != n)) || Rf_isNull(position) != !dims ||
        (dims && (TYPEOF(position) != REALSXP || Rf_xlength(position) != n * dims)))
        r_error("'pairs' does not fit the columns of the data; make it again with pairMask()");
    return (gcor_traits){Rf_isNull(label) ? NULL : INTEGER(label), Rf_isNull(position) ? NULL : REAL(position)};
}

/* pairs: NULL, all pairs count; or list(relation, dims, distance, x, y), where x and y are list(label, place), of n_col
 * and n_row variables; is_full: there is a y. */
const gcor_pair_rule *r_pairs_parse(gcor_pair_rule *rule, SEXP pairs, int64_t n_row, int64_t n_col, int is_full) {
    if (Rf_isNull(pairs)) return NULL;
    const int relation = Rf_asInteger(r_element(pairs, "relation")), dims = Rf_asInteger(r_element(pairs, "dims"));
    if (relation < GCOR_WITHIN || relation > GCOR_FARTHER || dims < 0 || dims > GCOR_MAX_DIMS)
        r_error("'pairs' was changed since pairMask() made it; make it again");
    *rule = (gcor_pair_rule){.relation = (gcor_relation)relation,
                             .dims = dims,
                             .distance = Rf_asReal(r_element(pairs, "distance")),
                             .x = parse_traits(r_element(pairs, "x"), n_col, dims)};
    if (is_full) rule->y = parse_traits(r_element(pairs, "y"), n_row, dims);
    return rule;
}

/* ---- topological overlap --------------------------------------------------------------------- */

/* overlap: NULL, coefficients are wanted; or a list with the members of the rule below. */
const gcor_overlap_rule *r_overlap_parse(gcor_overlap_rule *rule, SEXP overlap) {
    if (Rf_isNull(overlap)) return NULL;
    *rule = (gcor_overlap_rule){.similarity = (gcor_similarity)Rf_asInteger(r_element(overlap, "similarity")),
                                .power = Rf_asReal(r_element(overlap, "power")),
                                .keeps_sign = Rf_asLogical(r_element(overlap, "keeps_sign")),
                                .is_halved = Rf_asLogical(r_element(overlap, "is_halved")),
                                .is_mean = Rf_asLogical(r_element(overlap, "is_mean")),
                                .replaces_missing = Rf_asLogical(r_element(overlap, "replaces_missing"))};
    return rule;
}

/* ---- information ------------------------------------------------------------------------------- */

/* rule: NULL, a run of coefficients; or list(mean, unit), numbers for each variable, or both NULL. Returns whether it
 * is a run of information. See gcor_information; its sink is set with the run. */
int r_information_parse(gcor_information *information, SEXP rule) {
    if (Rf_isNull(rule)) return 0;
    SEXP mean = r_element(rule, "mean"), unit = r_element(rule, "unit");
    information->mean = Rf_isNull(mean) ? NULL : REAL(mean);
    information->unit = Rf_isNull(unit) ? NULL : REAL(unit);
    return 1;
}

/* ---- weights, covariates, degrees of freedom --------------------------------------------------- */

static const double *parse_numbers(SEXP values, const char *name, int64_t n) {
    if (Rf_isNull(values)) return NULL;
    if (TYPEOF(values) != REALSXP || Rf_xlength(values) < n)
        r_error("'%s' must be at least %.0f numbers, not %.0f of type %s", name, (double)n, (double)Rf_xlength(values),
                Rf_type2char(TYPEOF(values)));
    return REAL(values);
}

static int64_t count_columns(SEXP matrix) {
    return Rf_isNull(matrix) ? 0 : Rf_ncols(matrix);
}

/* design: list(weights: a number for each observation, or NULL; basis and raw: matrices with a row for each, or NULL;
 * removed and map: such matrices, or NULL; first: NULL, or the rows, from 0, at which the basis, of fewer rows then, is
 * repeated; keeps; ranked; option: numbers, or NULL; and what r_df_parse() takes). See gcor_design. */
gcor_design r_design_parse(SEXP design, int64_t n_obs) {
    SEXP basis = r_element(design, "basis"), raw = r_element(design, "raw");
    SEXP map = r_element(design, "map"), removed = r_element(design, "removed");
    SEXP first = r_element(design, "first");
    const int64_t n_first = Rf_isNull(first) ? 0 : Rf_xlength(first), span = n_first ? Rf_nrows(basis) : n_obs;
    int64_t n_basis = count_columns(basis), n_raw = count_columns(raw), n_map = count_columns(map);
    return (gcor_design){.n_rows = n_obs,
                         .weight = parse_numbers(r_element(design, "weights"), "weights", n_obs),
                         .basis = parse_numbers(basis, "covariates", span * n_basis),
                         .n_basis = n_first ? n_basis * n_first : n_basis,
                         .n_first = n_first,
                         .span = span,
                         .first = parse_numbers(first, "first", n_first),
                         .blocks = Rf_asInteger(r_element(design, "blocks")),
                         .removed = parse_numbers(removed, "protect", n_obs * n_basis),
                         .keeps = Rf_asLogical(r_element(design, "keeps")),
                         .raw = parse_numbers(raw, "covariates", n_obs * n_raw),
                         .n_raw = n_raw,
                         .n_ranked = (int64_t)Rf_asReal(r_element(design, "ranked")),
                         .map = parse_numbers(map, "shrinkage", n_obs * n_map),
                         .n_map = n_map,
                         .option = parse_numbers(r_element(design, "option"), "options", 1)};
}

static const gcor_worth worths[] = {GCOR_WORTH_KISH, GCOR_WORTH_COUNT,
                                    GCOR_WORTH_SUM}; /* in the order of R's choices */

/* calibration: NULL, or list(n, sums, counts). */
static gcor_calibration parse_calibration(SEXP calibration) {
    if (Rf_isNull(calibration)) return (gcor_calibration){0};
    SEXP sums = r_element(calibration, "sums");
    return (gcor_calibration){
        .n_points = Rf_xlength(sums),
        .n_obs = (int64_t)Rf_asReal(r_element(calibration, "n")),
        .sums = REAL(sums),
        .counts = parse_numbers(r_element(calibration, "counts"), "counts", Rf_xlength(sums)),
    };
}

/* design: list(df: NULL, a number, or any text for estimated ones; lost; worth: 0 Kish's number, 1 the number of
 * observations, 2 the sum of their weights times unit; unit; calibration; ...). df_of() (stats/test.c) counts by it. */
gcor_df_rule r_df_parse(SEXP design) {
    SEXP df = r_element(design, "df");
    gcor_df_rule rule = {.lost = (int64_t)Rf_asReal(r_element(design, "lost")),
                         .is_estimated = Rf_isString(df),
                         .calibration = parse_calibration(r_element(design, "calibration")),
                         .worth = worths[Rf_asInteger(r_element(design, "worth"))],
                         .unit = Rf_asReal(r_element(design, "unit"))};
    if (Rf_isReal(df)) rule.given = Rf_asReal(df);
    return rule;
}

/* ---- tests -------------------------------------------------------------------------------------- */

/* Returns the two-sided rule of list(exact: max observations of an exact p value, min_obs). */
gcor_test_rule r_test_rule(const r_job *q, SEXP rule) {
    return (gcor_test_rule){.measure = q->job.measure,
                            .alternative = GCOR_TWO_SIDED,
                            .max_exact = (int64_t)fmin(Rf_asReal(r_element(rule, "exact")), INT_MAX),
                            .min_obs = (int64_t)Rf_asReal(r_element(rule, "min_obs")),
                            .in_double = q->job.in_double,
                            .missing = NA_REAL,
                            .df = q->df};
}

/* ---- several subjects --------------------------------------------------------------------------- */

/* Several subjects: an object of class gpuCorSubjects (R/data-subjects.R) in place of a matrix. */

/* By default all subjects' prepared columns may take a quarter of the free memory. */
enum { FREE_DIVISOR = 4 };

int r_is_subjects(SEXP x) {
    return Rf_inherits(x, "gpuCorSubjects");
}

static r_source *sources_of(SEXP x) {
    SEXP data = r_element(x, "data");
    R_xlen_t n = Rf_xlength(data);
    r_source *sources = (r_source *)R_alloc((size_t)n, sizeof *sources);
    for (R_xlen_t s = 0; s < n; s++) sources[s] = r_source_of(VECTOR_ELT(data, s));
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

/* model: list(terms: a matrix; tested, steady: numbers of its columns; scale), or NULL. */
static const gcor_linear_model *model_of(SEXP model, R_xlen_t n) {
    if (Rf_isNull(model)) return NULL;
    gcor_linear_model *parsed = (gcor_linear_model *)R_alloc(1, sizeof *parsed);
    SEXP terms = r_element(model, "terms");
    *parsed = (gcor_linear_model){.terms = REAL(terms),
                                  .n_values = Rf_nrows(terms),
                                  .n_terms = Rf_ncols(terms),
                                  .n_tested = (int64_t)Rf_asReal(r_element(model, "tested")),
                                  .n_steady = (int64_t)Rf_asReal(r_element(model, "steady")),
                                  .scale = Rf_asReal(r_element(model, "scale"))};
    if (n != parsed->n_values && n != 2 * parsed->n_values)
        r_error("%.0f subjects do not fit the model's %.0f rows", (double)n, (double)parsed->n_values);
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
