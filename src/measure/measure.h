/* The table of measures, and what is done to a column by it. */
#ifndef GPUCOR_CORE_MEASURE_H
#define GPUCOR_CORE_MEASURE_H

#include "design.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Number k of the table, from 0; NULL after the last. */
const gcor_measure *gcor_measure_at(int k);
/* Add a row; it must stay where it is. Returns 0, or 1 where it is not to be used: another version, a name that is
 * taken, a kind that the product does not have, no prepare(), or no room. */
int gcor_add_measure(const gcor_measure *measure);

/* The kind of operand for complete columns, in double precision or not, or with `common` for pairs with observations of
 * their own; an error names a measure that has none, or that does not take what the design has. */
gcor_status gcor_kind_of(gcor_context *context, const gcor_measure *measure, const gcor_design *design, int common,
                         int in_double, gcor_kind *kind);
/* Whether it has a form in double precision: prepare_double(), or ranks alone. */
int gcor_has_double(const gcor_measure *measure);
/* The kind for pairs with observations of their own. */
gcor_kind gcor_common_kind(const gcor_measure *measure, const gcor_design *design);
/* Whether pairs have observations of their own. Any thread. */
int gcor_is_common(gcor_kind kind);

/* Why a measure does not take weights or covariates, and what instead. */
const char *gcor_refusal(const gcor_measure *measure);

/* Room for the ranks of n values: 2 n entries, n of each of the others. */
typedef struct {
    double value;
    int32_t row;
} gcor_entry;
typedef struct {
    gcor_entry *entries;
    int32_t *order, *begin, *end;
} gcor_ranks;
/* Bytes of that, and where its parts are in as many bytes at `memory`. */
size_t gcor_ranks_bytes(int64_t n);
gcor_ranks gcor_ranks_at(void *memory, int64_t n);

/* Sort the n values of x that are not NaN: their rows into order[0 ..], and for each row its run of ties in
 * begin[row] .. end[row] - 1, -1 where x is NaN. Returns how many there are; *tied: how many pairs of them are ties.
 * Any thread. */
int64_t gcor_rank(const double *x, int64_t n, const gcor_ranks *ranks, int64_t *tied);
/* How many distinct values there are among them; 0: more than `most`. Any thread. */
int gcor_count_levels(const gcor_ranks *ranks, int64_t present, int max);
/* Twice the rank, centred, of each value: how many are below less how many are above; NaN where there is none. Returns
 * the sum of squares. Any thread. */
double gcor_scores(const gcor_ranks *ranks, int64_t n, int64_t present, double *x);

/* Twice the weighted rank, centred: the weight of what is below less the weight of what is above; of complete values.
 * Any thread. */
void gcor_weighted_scores(const gcor_ranks *ranks, const double *weight, int64_t n, double *x);

/* Whether preparing a column wants room for ranks, or as much of it; design: NULL: none. */
int gcor_needs_scratch(const gcor_measure *measure, const gcor_design *design);

/* A gathered column of n values as a GCOR_REAL operand, as measure and design (NULL: none) have it: zeros where values
 * are missing or, if it has no use for them, infinite. ranks: room for these, NULL if none is needed. x is changed,
 * *flags may get GCOR_FELL_BACK. Returns the norm. Any thread. */
double gcor_prepare_real(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int *flags,
                         const gcor_ranks *ranks, float *out);

/* The same as a GCOR_DOUBLE operand. */
double gcor_prepare_double(const gcor_measure *measure, const gcor_design *design, double *x, int64_t n, int *flags,
                           const gcor_ranks *ranks, double *out);

/* What the numbers found while preparing a column say: complete the flags, and make its norm -1
 * (missing) or NaN (infinite) where it has no coefficient. present: how many values are not
 * missing; *norm 0: they are all the same. Any thread. */
void gcor_describe_column(const gcor_measure *measure, gcor_kind kind, int64_t present, double *norm, int *flags);

#ifdef __cplusplus
}
#endif
#endif
