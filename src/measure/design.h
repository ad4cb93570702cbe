/* Weights of observations, what columns are freed of before they are compared, and a measure's options. */
#ifndef GPUCOR_CORE_DESIGN_H
#define GPUCOR_CORE_DESIGN_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of all observations of a source, the caller's, in a job; of those that count, made by gcor_design_pick(), in
 * gcor_columns. Nothing of it changes while it is in use. */
struct gcor_design {
    int64_t n_rows;       /* observations that it is of */
    const double *weight; /* n_rows, finite; 0: the observation does not count; NULL: all count alike */
    const double *root;   /* n_rows: the root of each; NULL in a job, and where weight is */
    /* n_basis columns of n_rows values: orthonormal over the observations that count, and orthogonal to the root of the
     * weights where the measure centres. A column, times that root, is freed of them: what regression leaves. */
    const double *basis;
    int64_t n_basis;
    int keeps; /* columns are replaced by what they have in common with the basis, instead of by the rest: the same
                * where that is the rest's, and sooner done where it is small */
    /* What the basis is of, as it was before columns were ranked, n_raw columns of which the first n_ranked are to be:
     * for pairs with observations of their own. NULL: these go by the basis, as no ranks change. */
    const double *raw;
    int64_t n_raw, n_ranked;
    const double *option; /* the measure's, as its row lists them; NULL: their defaults */
};

/* The design of n_obs observations that count (observed: as in gcor_columns). *picked is NULL after an error, and where
 * there is nothing to be done; gcor_design_free() frees it. Weights that are all the same are none. */
gcor_status gcor_design_pick(gcor_context *context, const gcor_design *design, const int32_t *observed, int64_t n_obs,
                             gcor_design **picked);
void gcor_design_free(gcor_design *design); /* NULL is allowed */

/* Whether columns are weighted, or freed of anything; weights of 0 and one other number only say what counts. NULL is
 * allowed. Any thread. */
int gcor_is_designed(const gcor_design *design);

/* Values x, or their scores, of the observations that count: weighted, centred unless they are to be taken as they are,
 * and freed of the basis. room: n doubles, where the design keeps its basis. Returns the sum of squares of what is
 * left, 0: nothing but roundings is. Any thread. */
double gcor_design_column(const gcor_design *design, int is_centred, double *x, int64_t n, double *scratch);

#ifdef __cplusplus
}
#endif
#endif
