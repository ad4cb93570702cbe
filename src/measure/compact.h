/* The coefficients of all pairs in half the memory of doubles, as a product delivers them: floats, or integer
 * numerators from which the double follows, to the last bit, by the variables' norms. */
#pragma once

#include "../gpucor.h"

GCOR_BEGIN_C

/* All memory is the caller's. */
typedef struct {
    gcor_form form;   /* GCOR_AS_FLOATS or GCOR_AS_COUNTS */
    gcor_shape shape; /* GCOR_UPPER: the triangle row by row; GCOR_LOWER: column by column */
    int64_t n_var, n; /* n: n_var (n_var - 1) / 2 */
    void *values;    /* n floats, above 1 where there is no coefficient, or n int32_t; NULL: every value is `missing` */
    double *norm;    /* n_var, as operands have them */
    double missing;  /* read where there is no coefficient, except for NaN, which stays */
    int is_distance; /* 1 - coefficient is read */
    int is_prefaulted; /* the pages of `values` exist */
} gcor_compact;

enum { GCOR_COMPACT_BYTES = 4 }; /* of a value */

enum { GCOR_COMPACT_OBS = 65536 }; /* numerators of up to this many observations are below 2^31 */

/* Read values first .. first + n - 1, or value k, as doubles. Any thread. */
void gcor_compact_read(const gcor_compact *compact, int64_t first, int64_t n, double *out);
double gcor_compact_at(const gcor_compact *compact, int64_t k);

/* Writes all n values as doubles, with `threads` threads. */
void gcor_compact_widen(const gcor_compact *compact, int threads, double *out);

/* Returns the min, or with is_max the max, of all values, the first of equal ones; NaN if any is. Uses `threads`
 * threads. */
double gcor_compact_extreme(const gcor_compact *compact, int is_max, int threads);

/* Returns the number of pairs that have a constant variable and no variable without values. */
int64_t gcor_compact_zero_sd(const gcor_compact *compact);

/* Values to read, wherever they are. */
typedef struct {
    const double *plain;         /* NULL: they are compact */
    const gcor_compact *compact; /* NULL: they are plain */
} gcor_values;

/* Returns values first .. first + n - 1: where they are, or in scratch[n]. Any thread. */
static inline const double *gcor_read_values(const gcor_values *values, int64_t first, int64_t n, double *scratch) {
    if (values->plain) return values->plain + first;
    gcor_compact_read(values->compact, first, n, scratch);
    return scratch;
}

GCOR_END_C
