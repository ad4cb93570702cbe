/* Moments of many numbers at a time, of each over its values that come one after the other. */
#ifndef GPUCOR_MOMENTS_H
#define GPUCOR_MOMENTS_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

/* n of each; owned. Sums are of differences from a number's first value: so what is lost by taking away the square of
 * the mean from the mean of the squares is at most as many roundings as there are values. */
typedef struct {
    int64_t n, capacity;
    double *count, *first, *sum, *squares, *min, *max;
    int all_begun; /* each number has had a value */
} gcor_moments;

/* For up to so many numbers; the caller's, to end with gcor_moments_free(), also after an error. */
gcor_status gcor_moments_new(gcor_context *context, int64_t capacity, gcor_moments *moments);
void gcor_moments_free(gcor_moments *moments);
/* Begin with n of them, at most `room`, that have no values yet. */
void gcor_moments_begin(gcor_moments *moments, gcor_context *context, int64_t n);

/* A value more for each of them, `times` times: values has as many rows of n, in the order in which they come. What is
 * not at most 1 is no value, and counts for nothing. is_full: of each row, 1 if it has nothing but values, for certain.
 */
void gcor_moments_add(gcor_moments *moments, gcor_context *context, const double *values, int64_t times,
                      const unsigned char *is_full);

/* Of number k. Below 1 value, or below 2 for the standard deviation: `missing`. */
double gcor_moments_mean(const gcor_moments *moments, int64_t k, double missing);
double gcor_moments_sd(const gcor_moments *moments, int64_t k, double missing);
double gcor_moments_min(const gcor_moments *moments, int64_t k, double missing);
double gcor_moments_max(const gcor_moments *moments, int64_t k, double missing);

#ifdef __cplusplus
}
#endif
#endif
