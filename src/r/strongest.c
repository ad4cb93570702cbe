/* The strongest few of many values, and what all of them are like. Values are read where R has them. */
#include "r.h"

#include "../base/alloc.h"
#include "../stats/summary.h"

/* A call without settings, and its values. */
static gcor_values begin(r_call *call, SEXP x, SEXP threads) {
    if (TYPEOF(x) != REALSXP) Rf_error("values must be doubles, not of type %s", Rf_type2char(TYPEOF(x)));
    r_monitor(&call->monitor, &call->progress, NULL);
    call->context = (gcor_context){.threads = r_threads(threads), .monitor = &call->monitor};
    return r_values(x);
}

static void write_positions(const gcor_strong *best, int64_t n, double *position) {
    for (int64_t k = 0; k < n; k++) position[k] = (double)best[k].position + 1;
}

/* Room is made before the engine has anything; what of it is not needed is cut off. */
static int64_t max_of(SEXP max, SEXP x) {
    double wanted = Rf_asReal(max), n = (double)Rf_xlength(x);
    return (int64_t)(wanted < n ? wanted : n);
}

SEXP r_strongest(SEXP x, SEXP max, SEXP threads) {
    r_call call;
    gcor_strong *best;
    int64_t n;
    gcor_values values = begin(&call, x, threads);
    SEXP position = PROTECT(Rf_allocVector(REALSXP, max_of(max, x)));
    gcor_status status = gcor_find_strongest(&call.context, &values, Rf_xlength(x), Rf_xlength(position), &best, &n);
    if (!status) {
        write_positions(best, n, REAL(position));
        gcor_free(best);
    }
    SEXP result = status ? r_failure(&call.context.error) : Rf_xlengthgets(position, n);
    UNPROTECT(1);
    return result;
}

SEXP r_summary(SEXP x, SEXP fractions, SEXP max, SEXP threads) {
    const char *names[] = {"missing", "mean", "quantiles", "strongest", ""};
    r_call call;
    gcor_summary summary;
    gcor_values values = begin(&call, x, threads);
    SEXP result = PROTECT(Rf_mkNamed(VECSXP, names)), position = PROTECT(Rf_allocVector(REALSXP, max_of(max, x)));
    SET_VECTOR_ELT(result, 2, Rf_allocVector(REALSXP, Rf_xlength(fractions)));
    gcor_status status = gcor_summarise(&call.context, &values, Rf_xlength(x), REAL(fractions),
                                        (int)Rf_xlength(fractions), Rf_xlength(position), REAL(VECTOR_ELT(result, 2)),
                                        &summary);
    if (!status) {
        write_positions(summary.strongest, summary.n_strongest, REAL(position));
        gcor_free(summary.strongest);
        SET_VECTOR_ELT(result, 0, Rf_ScalarReal((double)summary.missing));
        SET_VECTOR_ELT(result, 1, Rf_ScalarReal(summary.mean));
        SET_VECTOR_ELT(result, 3, Rf_xlengthgets(position, summary.n_strongest));
    }
    UNPROTECT(2);
    return status ? r_failure(&call.context.error) : result;
}
