/* What the files of the sink that combines have in common: combine.c takes tiles, combine_sums.c adds up exact values,
 * combine_approx.c cheap ones. */
#ifndef GPUCOR_COMBINE_SUMS_H
#define GPUCOR_COMBINE_SUMS_H

#include "combine.h"
#include "combine_loops.h"

/* n sums as they begin; a subject's values of weight w added to them; and the coefficients that they make, in their
 * place. taken: NULL, or where subjects are left out, the weights that are in each sum. Any thread. */
void gcor_sums_clear(const gcor_combination *rule, double *sum, double *taken, int64_t n);
void gcor_sums_add(const gcor_combine *c, double *sum, double *taken, const double *value, double w, int64_t n);
void gcor_sums_end(const gcor_combine *c, double *sum, const double *taken, int64_t n);

/* Combine n values of each subject, `stride` apart, in the place of the first subject's. room: gcor_combine_scratch()
 * doubles of scratch. Any thread. */
void gcor_quantiles_end(const gcor_combination *rule, double *values, int64_t stride, int64_t n, double *scratch);
void gcor_t_end(const gcor_combine *c, double *values, int64_t stride, int64_t n, double *scratch);
int64_t gcor_combine_scratch(const gcor_combination *rule);

/* Fisher z of n <= GCOR_SUM_BLOCK pairs, GCOR_SUM_BLOCK for each subject; NaN without a coefficient. Subject s has the
 * pairs' coefficients at r + s * stride. Any thread. */
void gcor_subject_z(const gcor_combine_loops *loops, const double *r, int64_t stride, int64_t subjects, int64_t n,
                    double *z);

/* A segment of a subject's cheap values to its sums. Any thread. */
void gcor_approx_add(gcor_combine *c, int64_t subject, const gcor_segment *segment, float *sum);
/* Sums of all subjects, of a tile or a part of it, in rows without gaps, become coefficients, in their place, and those
 * that may be of use go to the other sink. Any thread; an error is in the context. */
void gcor_approx_deliver(gcor_combine *c, gcor_context *context, int thread, const gcor_tile *tile, float *sums);

#endif
