/* The inner loops of the sink that combines, over n values of a row, once for each instruction set: all give the same
 * numbers to the last bit, but for the cheap ones. */
#ifndef GPUCOR_COMBINE_LOOPS_H
#define GPUCOR_COMBINE_LOOPS_H

#include "weight.h"

typedef struct gcor_combine_loops {
    const char *name;
    /* Doubles: sum[k] + w value, or w artanh(value); the lesser of both. All values are coefficients. */
    void (*add_mean)(double *sum, const double *value, double w, int64_t n);
    void (*add_fisher)(double *sum, const double *value, double w, int64_t n);
    void (*add_min)(double *sum, const double *value, int64_t n);
    /* The largest weight (weight.h) of n <= GCOR_SUM_BLOCK sums over subjects of w[s] z[s * GCOR_SUM_BLOCK + k]. NaN
     * does not count; -Inf if there is nothing else. */
    double (*largest_sum)(const double *z, const double *w, int64_t subjects, gcor_side side, int64_t n);
    /* The largest weight of n <= GCOR_SUM_BLOCK Welch's t between the subjects with is_first[s] = 1 and those with 0,
     * two or more of each. z: less any number that is the same for all subjects of a pair; totals: sums over all
     * subjects of z, and GCOR_SUM_BLOCK elements on, of its squares. NaN does not count; -Inf if there is nothing else.
     */
    double (*largest_t)(const double *z, const double *totals, const double *is_first, int64_t subjects, gcor_side side,
                        int64_t n);
    /* Of sums divided by their total the coefficient, in their place. */
    void (*divide)(double *sum, double total, int64_t n);
    void (*end_fisher)(double *sum, int64_t n);
    /* The same of floats, cheaply; NaN stays. add_approx_fisher() adds nothing for a value beyond GCOR_APPROX_MAX, and
     * returns whether there is one. */
    void (*add_approx_mean)(float *sum, const float *value, float w, int64_t n);
    int (*add_approx_fisher)(float *sum, const float *value, float w, int64_t n);
    void (*add_approx_min)(float *sum, const float *value, int64_t n);
    void (*end_approx_fisher)(float *sum, int64_t n);
    /* Whether the size of one of them is larger. */
    int (*are_beyond)(const float *value, float max, int64_t n);
    /* Whether all are at most 1, and so coefficients. */
    int (*are_coefficients)(const double *value, int64_t n);
} gcor_combine_loops;

/* Pairs whose values of all subjects stay in the cache while all permutations go over them. */
enum { GCOR_SUM_BLOCK = 128 };

/* Cheap values that are looked at together. */
enum { GCOR_APPROX_SOME = 64 };

/* Up to here artanh is a polynomial, with this error. */
#define GCOR_APPROX_MAX 0.9
#define GCOR_APPROX_ERROR 1.5e-4

/* The loops for gcor_isa() (base/isa.h). */
const gcor_combine_loops *gcor_combine_best_loops(void);

#endif
