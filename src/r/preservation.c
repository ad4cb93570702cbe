/* Preservation of a reference's modules in a test set. */
#include "vector.h"

#include "../cpu/preservation.h"

/* set: list(columns: matrix, each column of mean 0 and length 1; overlaps: a dist, or NULL). */
static gcor_preserved_set set_of(SEXP set) {
    SEXP columns = r_element(set, "columns"), overlaps = r_element(set, "overlaps");
    gcor_preserved_set own = {.columns = REAL(columns), .n_obs = Rf_nrows(columns)};
    if (!Rf_isNull(overlaps)) own.overlaps = r_values(overlaps);
    return own;
}

/* Returns the statistics of cpu/preservation.h: statistic x module x draw. reference, test: see set_of(). start:
 * integers, where the modules begin among the members, and the number of members. member: integers, variables from 0.
 * drawn: an integer matrix, member x draw. rule: list(similarity, power). */
SEXP r_preservation(SEXP reference, SEXP test, SEXP start, SEXP member, SEXP drawn, SEXP rule, SEXP settings) {
    r_call call;
    r_call_parse(&call, settings);
    gcor_preservation job = {.reference = set_of(reference),
                             .test = set_of(test),
                             .n_var = Rf_ncols(r_element(test, "columns")),
                             .n_module = Rf_xlength(start) - 1,
                             .n_draw = Rf_ncols(drawn),
                             .start = INTEGER(start),
                             .member = INTEGER(member),
                             .drawn = INTEGER(drawn),
                             .similarity = (gcor_similarity)Rf_asInteger(r_element(rule, "similarity")),
                             .power = Rf_asReal(r_element(rule, "power"))};
    SEXP result = PROTECT(Rf_alloc3DArray(REALSXP, GCOR_N_PRESERVATIONS, (int)job.n_module, (int)job.n_draw));
    job.statistics = REAL(result);
    gcor_status status = cpu_preservation(&call.context, &job);
    r_progress_end(&call.progress);
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}
