/* Weights of observations, the basis that columns are adjusted for, and a measure's options. */
#pragma once

#include "../gpucor.h"

GCOR_BEGIN_C

/* What becomes of a column's complex products with the basis; or-ed together. */
enum {
    GCOR_PHASES = 1, /* each is divided by its size */
    GCOR_TURNED = 2  /* each is multiplied by i */
};

/* R/data-design.R makes a design, r_design_parse() (r/rules.c) reads it, a run picks the observations in use from it by
 * gcor_design_pick() (look_at_data() in engine/run.c), and begin_column() (column.c) applies it to each column by
 * gcor_design_column(), on the processor for all back ends: is_for_host() (cuda/prepare/prepare.cu) sends such columns
 * there, and cuda/prepare/map.cu only maps. Products of columns do not know of it. Degrees of freedom: stats/test.h.
 *
 * In a job, a design covers all observations of a source and belongs to the caller. In gcor_columns, it covers the
 * observations in use and is made by gcor_design_pick(). It does not change while in use. */
struct gcor_design {
    int64_t n_rows;       /* number of observations covered */
    const double *weight; /* n_rows, finite; 0: the observation is not used; NULL: all weights are equal */
    const double *root;   /* n_rows: square roots of the weights; NULL in a job, and if weight is */
    /* n_basis columns of n_rows values: orthonormal over the observations in use, and orthogonal to the roots of the
     * weights if the measure centres. A column, multiplied by these roots, is replaced by its residuals from a
     * regression on the basis. If the basis `keeps`, and columns are only replaced by their products with it, it may be
     * any columns that are orthogonal to the mean. */
    const double *basis;
    int64_t n_basis;
    const double *removed; /* n_basis columns that are subtracted in place of the basis, multiplied by the products with
                              it: what a column and the protected regressors share stays. NULL: the basis */
    /* The basis is `blocks` such bases, one after another, with as many columns each; a run multiplies each by itself
     * (engine/run.c), and gcor_design_pick() gets one of them. 0 or 1: one. */
    int64_t blocks;
    /* n_first 0: the basis has n_basis columns. Otherwise it has n_basis / n_first, of `span` rows, and each stands for
     * n_first columns with its values from the rows first[0 .. n_first-1] on, and zeros elsewhere: those of the first
     * half of the columns, in the order of `first`, then those of the second half. Only with `keeps`. */
    int64_t n_first, span;
    const double *first;
    int keeps; /* the basis spans the complement of what columns are adjusted for, as it is smaller: columns are
                  replaced by their projection on it or, where gcor_is_reduced() (measure.h), by their n_basis products
                  with it */
    /* The regressors of the basis before ranking, for pairwise-complete pairs: n_raw columns, of which the first
     * n_ranked are to be ranked. NULL: use the basis, as no ranks change. */
    const double *raw;
    int64_t n_raw, n_ranked;
    /* For partial correlations given all other variables (stats/partial.h): n_map columns of n_rows values, at most as
     * many as there are observations in use; column q is zero in the first q observations in use. A column that is
     * adjusted as above and scaled to unit length is replaced by its products with them; its norm is 1 less the sum of
     * their squares. n_map 0: not replaced. */
    const double *map;
    int64_t n_map;
    const double *option; /* values of the measure's options, in the order of its row; NULL: defaults */
    /* GCOR_PHASES | GCOR_TURNED, set by gcor_design_pick()'s caller: what becomes of a column's products with the basis
     * if they are complex numbers, n_basis / 2 real parts and as many imaginary parts. 0: nothing */
    int complex;
};

/* Sets *picked to the design of the n_obs observations in use (observed: as in gcor_columns). The caller frees it
 * with gcor_design_free(). *picked is NULL after an error, and if there is no design. Weights that are all equal are
 * dropped. */
gcor_status gcor_design_pick(gcor_context *context, const gcor_design *design, const int32_t *observed, int64_t n_obs,
                             gcor_design **picked);
void gcor_design_free(gcor_design *design); /* NULL is allowed */

/* True if columns are weighted or adjusted. Weights of 0 and one other value only select observations. NULL is
 * allowed. Any thread. */
int gcor_is_designed(const gcor_design *design);

/* Number of bases in the design's. NULL is allowed. Any thread. */
int64_t gcor_blocks_of(const gcor_design *design);

/* Number of values that design->basis points to. Any thread. */
int64_t gcor_basis_values(const gcor_design *design);

/* True if columns are replaced by their products with a map. NULL is allowed. Any thread. */
int gcor_is_mapped(const gcor_design *design);

/* Applies the design to values x, or to their scores, over the observations in use: multiplies by roots of weights,
 * centers if is_centred, adjusts for the basis. scratch: n doubles; may be NULL unless design->keeps.
 * Returns the sum of squares of the result; 0 if only rounding errors are left. Any thread. */
double gcor_design_column(const gcor_design *design, int is_centred, double *x, int64_t n, double *scratch);

/* The same in steps, for columns that are replaced by their products with a basis that `keeps`. These have the dot
 * products and the lengths of the residuals, and fewer values.
 * gcor_design_begin(): weights and centers x. Sets *squares to its sum of squares. Returns that of what may be left as
 * rounding errors.
 * gcor_design_reduce(): writes the n_basis products of each of `count` columns x, which are `stride` apart.
 * gcor_design_left(): ends a column's products, complex numbers as design->complex says. Returns the sum of squares; 0
 * if it is at most `none`, what gcor_design_begin() returned. Any thread. */
double gcor_design_begin(const gcor_design *design, int is_centred, double *x, int64_t n, double *squares);
void gcor_design_reduce(const gcor_design *design, const double *x, int64_t stride, int64_t count, double *products);
double gcor_design_left(const gcor_design *design, double *products, double none);

/* Scales x, a result of gcor_design_column() with that sum of squares, to unit length. Any thread. */
void gcor_design_unit(double squares, const double *x, int64_t n, double *unit);
/* Scales x as gcor_design_unit() does and replaces it by its n_map products with the map, and the rest of its n values
 * by zeros. scratch: n doubles. Returns the norm; 0 if squares is 0. Any thread. */
double gcor_design_map(const gcor_design *design, double squares, double *x, int64_t n, double *scratch);

GCOR_END_C
