/* Inter-subject correlation of surrogate series, whose largest values over all columns gpuISC() compares with. */
#pragma once

#include "../gpucor.h"

/* Complex numbers are pairs of doubles. Borrowed. */
typedef struct {
    int64_t n_subject, n_freq, n_col, n_perm;
    const double **spectra; /* each subject's Fourier coefficients, n_freq x n_col, whose products are those of the
                             * series; 0 for a subject without a coefficient */
    const double *factors;  /* n_freq x n_subject x n_perm, by which they are multiplied, of modulus 1 */
    int is_fisher;          /* whether coefficients are averaged by Fisher's z */
} gcor_isc;

/* Sets for each surrogate the largest mean over the subjects of all columns; -Inf for none. */
gcor_status gcor_isc_maxima(gcor_context *context, const gcor_isc *isc, double *maxima);
