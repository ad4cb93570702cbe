/* Moments of many numbers at a time, each over a sequence of values. */
#ifndef GPUCOR_MOMENTS_H
#define GPUCOR_MOMENTS_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Arrays of n elements; owned. Sums are of differences from each number's first value, so that subtracting the
 * squared mean loses at most as many roundings as there are values. */
typedef struct {
    int64_t n, capacity;
    double *count, *first, *sum, *squares, *min, *max;
    int all_begun; /* each number has had a value */
} gcor_moments;

/* Allocates moments of up to `capacity` numbers. The caller frees them with gcor_moments_free(), also after an error.
 */
gcor_status gcor_moments_new(gcor_context *context, int64_t capacity, gcor_moments *moments);
void gcor_moments_free(gcor_moments *moments);
/* Starts n numbers, at most `capacity`, without values. */
void gcor_moments_begin(gcor_moments *moments, gcor_context *context, int64_t n);

/* Adds `times` values to each number: `values` has `times` rows of n, in order. A value that is not at most 1 is
 * ignored. is_full[t]: 1 if row t is known to contain no such value. */
void gcor_moments_add(gcor_moments *moments, gcor_context *context, const double *values, int64_t times,
                      const unsigned char *is_full);

/* Moments of number k; `missing` if it has no value (for the standard deviation, fewer than 2). */
double gcor_moments_mean(const gcor_moments *moments, int64_t k, double missing);
double gcor_moments_sd(const gcor_moments *moments, int64_t k, double missing);
double gcor_moments_min(const gcor_moments *moments, int64_t k, double missing);
double gcor_moments_max(const gcor_moments *moments, int64_t k, double missing);

#ifdef __cplusplus
}
#endif
#endif
