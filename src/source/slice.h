/* Some variables and some observations of a matrix in memory, in its place. */
#ifndef GPUCOR_SLICE_H
#define GPUCOR_SLICE_H

#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    gcor_source source; /* first; made by gcor_slice_source() */
    const gcor_matrix *of;
    int64_t first_var;
    int64_t first_obs;       /* the first of consecutive ones ... */
    const int32_t *observed; /* ... or, where this is not NULL, the numbers of all of them; the caller's */
} gcor_slice;

/* Variables first_var .. first_var+n_var-1, and n_obs observations, as above. The matrix, of doubles or integers, stays
 * the caller's. */
gcor_slice gcor_slice_source(const gcor_matrix *of, int64_t first_var, int64_t n_var, int64_t first_obs, int64_t n_obs,
                             const int32_t *observed);

#ifdef __cplusplus
}
#endif
#endif
