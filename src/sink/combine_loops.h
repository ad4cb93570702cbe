/* The inner loops over coefficients of one subject or several, for n values of a row, once for each instruction set.
 * Results are the same to the last bit, except for approximate ones. */
#pragma once

#include "../base/isa.h"
#include "../base/triangle.h"
#include "weight.h"

typedef struct gcor_combine_loops {
    /* For doubles: add w value, or w artanh(value), to sum[k]; or keep the smaller of the two. All values are
     * coefficients. */
    void (*add_mean)(double *sum, const double *value, double w, int64_t n);
    void (*add_fisher)(double *sum, const double *value, double w, int64_t n);
    void (*add_min)(double *sum, const double *value, int64_t n);
    /* Adds n terms to their sums high[k] and low[k], in parts that add up exactly (weight.h). Returns the sum of all.
     */
    gcor_int128 (*add_exactly)(const double *terms, int64_t n, double *high, double *low);
    /* Computes n <= GCOR_SUM_BLOCK sums over subjects of w[s] z[s * GCOR_SUM_BLOCK + k]. */
    void (*weighted_sums)(const double *z, const double *w, int64_t subjects, int64_t n, double *sum);
    /* Computes t |t|, which has the order of t, for n <= GCOR_SUM_BLOCK Welch's t between the subjects with is_first[s]
     * = 1 and those with 0, at least two of each. z: may be shifted by one number per pair; totals: sums
     * over all subjects of z, and GCOR_SUM_BLOCK elements further, of its squares. */
    void (*welch)(const double *z, const double *totals, const double *is_first, int64_t subjects, int64_t n,
                  double *t);
    /* Computes t |t|, or the square of F if `tested` is above 1, of n <= GCOR_SUM_BLOCK linear tests with df degrees of
     * freedom. Each of `terms` rows of w, of length `rows`, gives a sum of w[j] y[j * GCOR_SUM_BLOCK + k]: the last
     * ones are the tested effects, the others belong to terms of the model that are not tested. squares: the sums of
     * squares of y. */
    void (*linear_t)(const double *y, const double *squares, const double *w, int64_t terms, int64_t tested,
                     int64_t rows, double df, int64_t n, double *t);
    /* Returns the largest weight (weight.h) of n values, ignoring NaN; -Inf if all are NaN. */
    double (*largest)(const double *value, gcor_side side, int64_t n);
    /* Divide sums by their total and turn them into coefficients, in place. */
    void (*divide)(double *sum, double total, int64_t n);
    void (*end_fisher)(double *sum, int64_t n);
    /* Approximate versions for floats; NaN stays. add_approx_fisher() adds nothing for values beyond max, from
     * GCOR_APPROX_LOW to GCOR_APPROX_MAX; returns 1 if there is one, else 0. */
    void (*add_approx_mean)(float *sum, const float *value, float w, int64_t n);
    int (*add_approx_fisher)(float *sum, const float *value, float w, float max, int64_t n);
    void (*add_approx_min)(float *sum, const float *value, int64_t n);
    void (*end_approx_fisher)(float *sum, int64_t n);
    /* Returns 1 if the magnitude of a value exceeds max. */
    int (*are_beyond)(const float *value, float max, int64_t n);
    /* Return 1 if a value is at most `low` or at least `high`; NaN is neither, and no value reaches a bound of NaN. */
    int (*some_reach)(const double *value, double low, double high, int64_t n);
    int (*some_floats_reach)(const float *value, float low, float high, int64_t n);
    /* Returns 1 if all values are at most 1, and thus coefficients. */
    int (*are_coefficients)(const double *value, int64_t n);
} gcor_combine_loops;

/* Number of pairs whose values of all subjects stay in the cache for all permutations. */
enum { GCOR_SUM_BLOCK = 128 };

/* A variance of 0 counts as this one, so that t is finite, and 0 without a difference. */
#define GCOR_NO_VARIANCE 1e-300

/* Approximate values that are checked together. */
enum { GCOR_APPROX_SOME = 64 };

/* Max magnitudes for the polynomials that approximate artanh, and of a value that is moved there; their max error. */
#define GCOR_APPROX_LOW 0.6
#define GCOR_APPROX_HIGH 0.9
#define GCOR_APPROX_MAX 0.9997
#define GCOR_APPROX_ERROR 1.5e-4

/* Returns the loops for gcor_isa(). Any thread. */
static inline const gcor_combine_loops *gcor_combine_best_loops(void) {
    return gcor_best_loops()->combine;
}
