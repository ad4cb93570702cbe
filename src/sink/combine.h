/* The sink in which subjects' coefficients become one. It takes each tile once for every subject, in their order, adds
 * the values up, and after the last subject hands the tile to another sink.
 *
 * Values are exact (to single precision, or in double), and sums in double. Or, where the other sink is content with
 * values that are off by a known error, and subjects' operands are there until the tile is done, they are cheap and
 * sums in single precision; exact() then computes what is asked for from the operands, to the same numbers. */
#ifndef GPUCOR_COMBINE_SINK_H
#define GPUCOR_COMBINE_SINK_H

#include "combination.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    gcor_sink sink; /* first; approximate: values are cheap, which is to be decided before the first tile */
    gcor_sink *to;  /* the caller's */
    const gcor_combination *rule;
    const gcor_backend *backend;
    const struct gcor_combine_loops *loops; /* combine_loops.h */
    const gcor_operand **rows, **cols;      /* each subject's operands of the current tile, where values are cheap */
    double *errors;                         /* of each subject's values */
    int64_t subject;                        /* the one whose tile comes next */
    gcor_tile tile;
    char *values;     /* the tile's sums, or every subject's values, in rows without gaps; owned */
    double *taken;    /* the weights that are in each sum, where subjects are left out; owned */
    int64_t capacity; /* pairs */
} gcor_combine;

/* Sums of all subjects' values: what a device can have a half of (cuda/sink/combine.cu). */
extern const gcor_sink_type gcor_combine_type;

/* In sums, for a pair without a coefficient in a subject: more than all that is added to it, negative in the smallest
 * of all, and the greater one stays. NaN stays NaN. */
#define GCOR_SUM_NO_VALUE 1e100
#define GCOR_SUM_ZERO_SD 1e200

/* *combine is the caller's, to end with gcor_sink_free(), which leaves `to` alone; NULL after an error. in_double: REAL
 * columns and products are. */
gcor_status gcor_combine_new(gcor_context *context, const gcor_combination *rule, const gcor_backend *backend,
                             gcor_sink *to, int in_double, gcor_combine **combine);

/* Whether the other sink, the rule and the back end allow cheap values; operands must be REAL ones. */
int gcor_combine_may_be_approx(const gcor_combine *combine);

/* How long a tile's side should be, a power of two: so that its sums stay in the cache that the threads have, or where
 * operands are to be made ready for each tile anew, which large tiles do less often, in so many bytes. */
int64_t gcor_combine_side(const gcor_combine *combine, int threads, int64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
