/* Which pairs count: from R, and how many there are. */
#include "r.h"

/* settings' `pairs`: NULL, or list(relation, dims, distance, x, y), x and y list(label, place) or NULL. */
static gcor_traits parse_traits(SEXP side) {
    if (Rf_isNull(side)) return (gcor_traits){NULL, NULL};
    SEXP label = r_element(side, "label"), position = r_element(side, "place");
    return (gcor_traits){Rf_isNull(label) ? NULL : INTEGER(label), Rf_isNull(position) ? NULL : REAL(position)};
}

const gcor_pair_rule *r_pairs_parse(gcor_pair_rule *rule, SEXP pairs) {
    if (Rf_isNull(pairs)) return NULL;
    *rule = (gcor_pair_rule){.relation = (gcor_relation)Rf_asInteger(r_element(pairs, "relation")),
                             .dims = Rf_asInteger(r_element(pairs, "dims")),
                             .distance = Rf_asReal(r_element(pairs, "distance")),
                             .x = parse_traits(r_element(pairs, "x")),
                             .y = parse_traits(r_element(pairs, "y"))};
    return rule;
}

SEXP r_count_pairs(SEXP n_row, SEXP n_col, SEXP is_full, SEXP settings) {
    r_call call;
    gcor_pair_rule rule;
    gcor_pairs *pairs;
    gcor_shape shape = Rf_asLogical(is_full) ? GCOR_FULL : GCOR_LOWER;
    const gcor_pair_rule *which = r_pairs_parse(&rule, r_element(settings, "pairs"));
    if (!which) Rf_error("all pairs count");
    r_quiet_call_parse(&call, settings);
    gcor_status status = gcor_pairs_new(&call.context, which, shape, (int64_t)Rf_asReal(n_row),
                                        (int64_t)Rf_asReal(n_col), 1, 1, &pairs);
    double count = status ? 0 : (double)gcor_pairs_count(pairs, &call.context);
    gcor_pairs_free(pairs);
    return status ? r_failure(&call.context.error) : Rf_ScalarReal(count);
}
