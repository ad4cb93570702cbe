/* Moments of many numbers at a time, each over a sequence of values. */
#pragma once

#include "../base/triangle.h"

#include <math.h>

GCOR_BEGIN_C

/* Arrays of n elements; owned. Sums are of differences from each number's first value, so that subtracting the
 * squared mean loses at most as many roundings as there are values. */
typedef struct {
    int64_t n, capacity;
    double *count, *first, *sum, *squares, *min, *max;
    int is_begun, all_begun; /* the arrays are set; each number has had a value */
    /* Unless NULL, the caller reads only standard deviations. A device may write them here; is_reduced is then 1.
     * Otherwise the arrays above are allocated when values come to the host. */
    double *deviation;
    int is_reduced;
} gcor_moments;

/* Allocates moments of up to `capacity` numbers; has_deviation: only `deviation`. The caller frees them with
 * gcor_moments_free(), also after an error. */
gcor_status gcor_moments_new(gcor_context *context, int64_t capacity, int has_deviation, gcor_moments *moments);
void gcor_moments_free(gcor_moments *moments);
/* Starts n numbers, at most `capacity`, without values. */
void gcor_moments_begin(gcor_moments *moments, gcor_context *context, int64_t n);
/* Announces n numbers, at most `capacity`, which a device may keep; otherwise gcor_moments_begin() follows. */
void gcor_moments_expect(gcor_moments *moments, int64_t n);

/* Adds `times` values to each number: `values` has `times` rows of n, in order. A value that is not at most 1 is
 * ignored. is_full[t]: 1 if row t is known to contain no such value. */
void gcor_moments_add(gcor_moments *moments, gcor_context *context, const double *values, int64_t times,
                      const unsigned char *is_full);

/* The standard deviation of n values with that sum, and sum of squares, of differences; GCOR_NO_VALUE if n < 2. */
GCOR_INLINE double gcor_deviation_of(double n, double sum, double squares) {
    if (n < 2) return GCOR_NO_VALUE;
    double left = squares - sum * sum / n;
    return left > 0 ? sqrt(left / (n - 1)) : 0;
}

/* Moments of number k; `missing` if it has no value (for the standard deviation, fewer than 2). */
double gcor_moments_mean(const gcor_moments *moments, int64_t k, double missing);
double gcor_moments_sd(const gcor_moments *moments, int64_t k, double missing);
double gcor_moments_min(const gcor_moments *moments, int64_t k, double missing);
double gcor_moments_max(const gcor_moments *moments, int64_t k, double missing);

/* The sink of one row: it adds the coefficient of each pair of its variables to the pair's moments, which are in the
 * order of the pairs, row by row without gaps. A device may keep the moments of a tile from the run of its first row to
 * that of its last row; the runs are then of one session, one after the other. One worker does a run. */
typedef struct {
    gcor_sink sink;        /* first */
    gcor_moments *moments; /* the caller's, begun or expected before the first row; complete after the run of the last
                            * row */
    int is_first, is_last; /* the row is the first one, or the last one */
    int has_zero_sd;       /* written: a pair has a constant variable */
} gcor_moments_sink;

extern const gcor_sink_type gcor_moments_type;

GCOR_END_C
