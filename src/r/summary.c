/* The strongest of many values, and a summary of all. Values are read where R has them. */
#include "vector.h"

#include "../base/alloc.h"
#include "../stats/summary.h"

/* Begins the call and returns its values. */
static gcor_values begin(r_call *call, SEXP x, SEXP threads) {
    if (TYPEOF(x) != REALSXP) r_error("values must be doubles, not of type %s", Rf_type2char(TYPEOF(x)));
    r_plain_call_parse(call, threads);
    return r_values(x);
}

static void write_positions(const gcor_strong *best, int64_t n, double *position) {
    for (int64_t k = 0; k < n; k++) position[k] = (double)best[k].position + 1;
}

/* Positions are allocated before the engine acquires anything; those that are not needed are cut off. */
static int64_t max_positions(SEXP max, SEXP x) {
    double wanted = Rf_asReal(max), n = (double)Rf_xlength(x);
    return (int64_t)(wanted < n ? wanted : n);
}

/* Returns list(missing: how many are NaN; and of the others mean, quantiles at these probabilities, and strongest: the
 * positions, from 1, of the `max` largest |x|, in descending order and of equal ones the first). */
SEXP r_summary(SEXP x, SEXP probabilities, SEXP max, SEXP threads) {
    const char *names[] = {"missing", "mean", "quantiles", "strongest", ""};
    r_call call;
    gcor_summary summary;
    gcor_values values = begin(&call, x, threads);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names)),
         positions = PROTECT(Rf_allocVector(REALSXP, max_positions(max, x)));
    SET_VECTOR_ELT(result, 2, Rf_allocVector(REALSXP, Rf_xlength(probabilities)));
    gcor_status status = gcor_summarise(&call.context, &values, Rf_xlength(x), REAL(probabilities),
                                        (int)Rf_xlength(probabilities), Rf_xlength(positions),
                                        REAL(VECTOR_ELT(result, 2)), &summary);
    if (!status) {
        write_positions(summary.strongest, summary.n_strongest, REAL(positions));
        gcor_free(summary.strongest);
        SET_VECTOR_ELT(result, 0, Rf_ScalarReal((double)summary.missing));
        SET_VECTOR_ELT(result, 1, Rf_ScalarReal(summary.mean));
        SET_VECTOR_ELT(result, 3, Rf_xlengthgets(positions, summary.n_strongest));
    }
    UNPROTECT(2);
    return status ? r_failure(&call.context.error) : result;
}
