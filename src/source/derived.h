/* Sources over another source, which they borrow: they read it, and change the columns' order or values. Borrowed
 * vectors must outlive the source, too. */
#ifndef GPUCOR_DERIVED_H
#define GPUCOR_DERIVED_H

#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The columns of `of` in another order: column j is of's column number[j]; NULL: its column j. If number is not NULL,
 * any thread must be allowed to read `of`. */
typedef struct {
    gcor_source source; /* first */
    gcor_source *of;
    const int32_t *number;
} gcor_picked;

gcor_picked gcor_picked_source(gcor_source *of, const int32_t *number);

/* Some variables and some observations of a matrix of doubles or integers. */
typedef struct {
    gcor_source source; /* first */
    const gcor_matrix *of;
    int64_t first_var;
    int64_t first_obs;       /* the first of n_obs consecutive observations ... */
    const int32_t *observed; /* ... or, unless NULL, the numbers of n_obs observations */
} gcor_slice;

/* Variables first_var .. first_var+n_var-1 and n_obs observations, as above. */
gcor_slice gcor_slice_source(const gcor_matrix *of, int64_t first_var, int64_t n_var, int64_t first_obs, int64_t n_obs,
                             const int32_t *observed);

#ifdef __cplusplus
}
#endif
#endif
