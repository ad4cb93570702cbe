/* The table of measures, and how a measure prepares a column. */
#pragma once

#include "design.h"

GCOR_BEGIN_C

/* Row k of the table, from 0; NULL after the last. */
const gcor_measure *gcor_measure_at(int k);

/* Distances between up to this many observations are multiplied as GCOR_REAL or GCOR_DOUBLE operands, by every back
 * end; those of more would take too much memory and time. */
enum { GCOR_MAX_DISTANCES = 3072 };

/* True if columns of n_obs complete observations become GCOR_DISTANCE operands, which only a back end that is_host
 * has. */
int gcor_has_long_distances(const gcor_measure *measure, int64_t n_obs);

/* Sets *kind to the kind of operand for columns of n_obs complete observations, in double precision if in_double, or
 * with `common` for pairwise-complete pairs. n_obs 0: to operands that are products. GCOR_BAD_INPUT if the measure has
 * none, or does not accept what the design contains. */
gcor_status gcor_kind_of(gcor_context *context, const gcor_measure *measure, const gcor_design *design, int64_t n_obs,
                         int common, int in_double, gcor_kind *kind);
int gcor_has_partial(const gcor_measure *measure);

/* GCOR_BAD_INPUT if the measure has no partial correlations (gcor_design's map). */
gcor_status gcor_check_partial(gcor_context *context, const gcor_measure *measure);
/* True if the measure has a form in double precision: prepare_double(), or ranks without prepare(). */
int gcor_has_double(const gcor_measure *measure);
/* The kind for pairwise-complete pairs; GCOR_NO_KIND if there is none. */
gcor_kind gcor_common_kind(const gcor_measure *measure, const gcor_design *design);
/* True for kinds whose pairs use their pairwise-complete observations. Any thread. */
int gcor_is_common(gcor_kind kind);

/* The length of a column of n_obs observations prepared as `kind`, unless a design makes it shorter. Any thread. */
int64_t gcor_operand_length(const gcor_measure *measure, gcor_kind kind, int64_t n_obs);
/* The number of observations of a source's columns of n values: n, unless these are of all pairs of observations. Any
 * thread. */
int64_t gcor_observations_in(const gcor_measure *measure, int64_t n_values);
/* Min number of observations of a coefficient. Any thread. */
int gcor_min_obs(const gcor_measure *measure);

/* The third option of a measure of complex columns, in the order of R's choices: what its coefficients are. */
typedef enum { GCOR_SQUARED_SIZE, GCOR_PHASE_SIZE, GCOR_IMAGINARY_SIZE, GCOR_PLAIN_SIZE } gcor_size;
gcor_size gcor_complex_size(const gcor_measure *measure, const gcor_design *design);

/* Value k of the measure's options: the design's, or the default. */
double gcor_option_of(const gcor_measure *measure, const gcor_design *design, int k);

/* Explains why a measure does not accept weights or covariates, and what to use instead. A static string. */
const char *gcor_refusal(const gcor_measure *measure);

/* Scratch for the ranks of n values: 2 n entries, n elements of each other array. */
typedef struct {
    double value;
    int32_t row;
} gcor_entry;
typedef struct {
    gcor_entry *entries;
    int32_t *order, *begin, *end;
} gcor_ranks;
/* gcor_ranks_bytes(): bytes of that scratch. gcor_ranks_at(): lays it out at `memory`, which stays the caller's. */
size_t gcor_ranks_bytes(int64_t n);
gcor_ranks gcor_ranks_at(void *memory, int64_t n);

/* Sorts the n values of x that are not NaN: writes their rows to order[0 ..], and for each row its range of ties,
 * begin[row] .. end[row] - 1, or -1 where x is NaN. Returns the number of values; *tied: the number of tied pairs.
 * Any thread. */
int64_t gcor_rank(const double *x, int64_t n, const gcor_ranks *ranks, int64_t *tied);
/* Number of distinct values; 0: more than `max`. Any thread. */
int gcor_count_levels(const gcor_ranks *ranks, int64_t present, int max);
/* Writes twice the centred rank of each value: the number of values below minus the number above; NaN for missing
 * values. Returns the sum of squares. Any thread. */
double gcor_scores(const gcor_ranks *ranks, int64_t n, int64_t present, double *x);

/* Writes twice the centred weighted rank: the weight of the values below minus the weight of those above. The values
 * must be complete. Any thread. */
void gcor_weighted_scores(const gcor_ranks *ranks, const double *weight, int64_t n, double *x);

/* True if preparing a column needs a gcor_ranks, for ranks or as scratch. design: NULL for none. */
int gcor_needs_scratch(const gcor_measure *measure, const gcor_design *design);

/* Prepares a gathered column of n values as a GCOR_REAL operand, by measure and design (NULL for none). out:
 * gcor_operand_length() values; all zero if there are missing values or, if the measure cannot use them, infinite ones.
 * ranks: scratch; NULL if gcor_needs_scratch() is 0. Overwrites x; may add GCOR_FELL_BACK to *flags. Returns the norm.
 * Any thread. */
double gcor_prepare_real(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int *flags,
                         const gcor_ranks *ranks, float *out);

/* The same for a GCOR_DOUBLE operand. */
double gcor_prepare_double(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int *flags,
                           const gcor_ranks *ranks, double *out);

/* Writes the adjusted column, scaled to unit length, that the design's map multiplies. Returns 1, or 0 and zeros if it
 * has no coefficients. */
double gcor_prepare_unmapped(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int *flags,
                             const gcor_ranks *ranks, double *out);

/* True if a column of that kind is prepared as its products with a basis that the design keeps: n_basis values, instead
 * of a residual for each observation. gcor_prepare_real() and gcor_prepare_double() write the residuals in any case. */
int gcor_is_reduced(const gcor_measure *measure, const gcor_design *design, gcor_kind kind);
/* The length of a column that a back end prepares: the design's n_basis, or gcor_operand_length(). Any thread. */
int64_t gcor_column_length(const gcor_measure *measure, const gcor_design *design, gcor_kind kind, int64_t n_obs);
/* The steps of such a column, between which gcor_design_reduce() multiplies several at a time. gcor_begin_reduced():
 * ranks, weights and centers x. Returns what gcor_design_left() takes as `none`; INFINITY: x has no coefficients.
 * ranks: scratch. gcor_end_reduced_...(): writes the products, scaled to unit length. Returns the norm; 0 and zeros if
 * there are no coefficients. Any thread. */
double gcor_begin_reduced(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int flags,
                          const gcor_ranks *ranks);
double gcor_end_reduced_real(const gcor_design *design, double *products, double none, float *out);
double gcor_end_reduced_double(const gcor_design *design, double *products, double none, double *out);

/* True if the back end permutes prepared columns (columns->shuffle): REAL columns without a design, whose values do not
 * depend on the order of observations. Any thread. */
int gcor_shuffles_prepared(const gcor_measure *measure, gcor_kind kind, const gcor_columns *columns);

/* Completes a prepared column's flags, and sets its norm to -1 (missing) or NaN (infinite) if it has no
 * coefficients. present: number of values that are not missing; a *norm of 0 means that they are all equal. Any
 * thread. */
void gcor_describe_column(const gcor_measure *measure, gcor_kind kind, int64_t present, double *norm, int *flags);

/* The max length of n prepared REAL columns, each divided by the root of its norm: 1, but not of mapped ones. */
double gcor_max_length(const gcor_design *design, const double *norm, int64_t n);

/* A row of the table has these (distance.c). */
double gcor_prepare_distance(double *x, int64_t n, gcor_preparing *with, float *out);
double gcor_prepare_distance_double(double *x, int64_t n, gcor_preparing *with, double *out);
int64_t gcor_distance_length(int64_t n_obs);

/* A column of pairs of distances (distance_pair.h): its values (NaN: missing), and the rows of those present, ascending
 * by value. sums: of a column that misses no value in any pair, the 2 n_present + 2 doubles that all its pairs need;
 * NULL: each pair has its own. */
typedef struct {
    const double *values;
    const int32_t *order;
    int64_t n_present;
    double *sums;
} gcor_ordered;

/* ---- pairs (pair.c) ----------------------------------------------------------------------------- */

/* Coefficients of pairwise-complete pairs: both columns are prepared again on their pairwise-complete observations,
 * by any measure. */

/* Scratch for one pair at a time of columns of n_obs values, including ranks and design. Each thread has its own. */
typedef struct {
    const gcor_measure *measure;
    const gcor_design *design; /* NULL: none */
    int64_t n_obs;
    int32_t *rows;                 /* the pairwise-complete observations */
    double *x, *y, *own_x, *own_y; /* own_x, own_y: prepared columns */
    double *weight, *root, *basis; /* of the pairwise-complete observations */
    gcor_ranks ranks;
} gcor_pair;

/* gcor_pair_bytes(): bytes of that scratch. gcor_pair_at(): lays it out at `memory`, which is aligned for doubles
 * and stays the caller's. */
size_t gcor_pair_bytes(const gcor_measure *measure, const gcor_design *design, int64_t n_obs);
gcor_pair gcor_pair_at(void *memory, const gcor_measure *measure, const gcor_design *design, int64_t n_obs);

/* Coefficient of two columns of n_obs values (NaN: missing), or a value above 1 that says why there is none, as
 * gcor_coefficient(). */
double gcor_pair_coefficient(const gcor_pair *pair, const double *x, const double *y);
/* Norm of a column prepared alone: 0 if it has no coefficients, NaN if because of infinite values. May add
 * GCOR_FELL_BACK to *flags. Afterwards own_x holds the prepared values, of the observations in rows. */
double gcor_pair_norm(const gcor_pair *pair, const double *x, int *flags);

GCOR_END_C
