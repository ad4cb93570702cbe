/* Surrogates of inter-subject correlation (stats/isc.h). */
#include "call.h"

#include "../stats/isc.h"

/* Returns gcor_isc_maxima(). spectra: a list of complex matrices; factors: n_freq x (n_subject x n_perm). */
SEXP r_isc_maxima(SEXP spectra, SEXP factors, SEXP is_fisher, SEXP place) {
    r_call call;
    const int64_t n = Rf_xlength(spectra);
    gcor_isc isc = {.n_subject = n,
                    .n_freq = Rf_nrows(factors),
                    .n_col = Rf_ncols(VECTOR_ELT(spectra, 0)),
                    .n_perm = Rf_ncols(factors) / n,
                    .spectra = (const double **)R_alloc((size_t)n, sizeof *isc.spectra),
                    .factors = (const double *)COMPLEX(factors),
                    .is_fisher = Rf_asLogical(is_fisher)};
    for (int64_t k = 0; k < n; k++) isc.spectra[k] = (const double *)COMPLEX(VECTOR_ELT(spectra, k));
    SEXP result = PROTECT(Rf_allocVector(REALSXP, isc.n_perm));
    r_quiet_call_parse(&call, place);
    gcor_status status = gcor_isc_maxima(&call.context, &isc, REAL(result));
    r_progress_end(&call.progress);
    UNPROTECT(1);
    return status ? r_failure(&call.context.error) : result;
}
