/* Several subjects: combines the coefficients of a pair in all subjects to one value, for another sink. No subject's
 * coefficients are stored: this sink takes each tile once per subject, in the order of the subjects, adds up the
 * values, and delivers the finished tile to the other sink.
 *
 *   combine.c         takes tiles, and delivers them
 *   combine_exact.c   adds up exact values in double, and combines values that need every subject's coefficient, such
 *                     as quantiles
 *   combine_approx.c  adds up approximate values in single precision, if the other sink accepts values with a known
 *                     error; refine() then computes exact values from the subjects' operands: the same numbers
 *   combine_of_isa.h  the inner loops
 *   group_tests.c     Student's t of subjects' Fisher z */
#pragma once

#include "group_tests.h"

GCOR_BEGIN_C

typedef enum {
    GCOR_MEAN,     /* sum of weight r / total */
    GCOR_FISHER,   /* tanh of sum of weight artanh(r) / total (base/elementary.h) */
    GCOR_SQUARES,  /* sum of weight r^2, at most 1; of the parts of complex columns' products */
    GCOR_SIZE,     /* its root */
    GCOR_MIN,      /* the smallest; ignores weights */
    GCOR_QUANTILE, /* a quantile of the subjects' r, R's type 7; from here on weights are ignored, but by GCOR_SPREAD */
    GCOR_SD,       /* standard deviation of r, divided by GCOR_SD_UNIT */
    GCOR_STATISTIC,  /* Student's t of the subjects' z, divided by GCOR_STATISTIC_UNIT */
    GCOR_FRACTION,   /* the fraction of the subjects with r above `level` */
    GCOR_ICC2,       /* intraclass correlation of z of subjects and sessions: agreement */
    GCOR_ICC3,       /* consistency */
    GCOR_SPREAD,     /* tanh of the weighted standard deviation of z, sqrt(sum w (z - mean)^2 / sum w) */
    GCOR_DIFFERENCE, /* tanh of the difference or mean of z (group_tests.h) */
    GCOR_T,          /* Student's t (F) as the coefficient t / sqrt(t^2 + df), with the root of F */
    GCOR_EACH        /* not combined: the sink takes every subject's r (gcor_segment.stride) */
} gcor_combining;

/* Values must not exceed 1. Powers of two, so that they are exact. */
#define GCOR_SD_UNIT 2.0
#define GCOR_STATISTIC_UNIT 0x1p40

/* Subjects differ in their observations, not in their variables. */
typedef struct {
    gcor_source *x, *y;        /* y NULL: x against itself, for all subjects or none */
    double weight;             /* may be negative, for differences of groups */
    const gcor_design *design; /* measure/design.h; NULL: none */
} gcor_subject;

/* Each subject's coefficients equal those of a separate run: in single precision for REAL columns, unless the run is in
 * double. They are combined in double, in the order of the subjects, so that the numbers do not depend on the back end
 * or the tile. */
typedef struct gcor_combination {
    gcor_combining how;
    double level;     /* GCOR_QUANTILE: 0 to 1; GCOR_FRACTION */
    int64_t sessions; /* GCOR_ICC2, GCOR_ICC3: n / sessions subjects, each with all its sessions one after another */
    int skips;    /* 1: a pair ignores subjects in which it has no coefficient; 0: the pair then has no coefficient */
    double total; /* sums are divided by it; if subjects are left out, by the sum of the other subjects' weights */
    int64_t n, n_first; /* GCOR_T, GCOR_DIFFERENCE: the first n_first subjects are one group, the others the other */
    const gcor_subject *subjects;   /* n, the caller's */
    const gcor_linear_model *model; /* GCOR_T, GCOR_DIFFERENCE: of its tested terms instead of groups; NULL: none */
} gcor_combination;

/* True if the value of a pair is that of a test of its subjects (group_tests.h). */
static inline int gcor_combines_by_tests(const gcor_combination *rule) {
    return rule->how == GCOR_DIFFERENCE || rule->how == GCOR_T;
}

typedef struct {
    gcor_sink sink; /* first; its `approximate` is decided before the first tile */
    gcor_sink *to;  /* the caller's */
    const gcor_combination *rule;
    const gcor_backend *backend;
    const gcor_combine_loops *loops;
    const gcor_operand **rows, **cols; /* each subject's operands of the current tile, for approximate values */
    double *errors;                    /* of each subject's values */
    int64_t subject;                   /* the subject of the next tile */
    gcor_tile tile;
    char *values;     /* the tile's sums, or every subject's values, in rows without gaps; owned */
    double *taken;    /* the sum of weights of each pair, if subjects are left out; owned */
    int64_t capacity; /* pairs */
} gcor_combine;

/* Added to the sum of a pair that has no coefficient in a subject; larger than all other terms. GCOR_MIN uses the
 * negative. The larger of the two constants wins, and NaN stays NaN. */
#define GCOR_SUM_NO_VALUE 1e100
#define GCOR_SUM_ZERO_SD 1e200

/* *combine is the caller's, to free with gcor_sink_free(), which leaves `to` alone; NULL after an error. in_double: the
 * run has REAL columns and products in double. */
gcor_status gcor_combine_new(gcor_context *context, const gcor_combination *rule, const gcor_backend *backend,
                             gcor_sink *to, int in_double, gcor_combine **combine);

/* True if a tile's values are one sum per pair, to which every subject adds its coefficient. */
int gcor_combine_only_sums(const gcor_combine *combine);

/* True if the other sink and the rule allow approximate values; operands must be REAL. */
int gcor_combine_may_be_approx(const gcor_combine *combine);

/* Returns the side of a tile, a power of two. Its sums fit in the threads' caches or, if `bytes` is positive, in that
 * many bytes; with larger tiles, operands are prepared less often. */
int64_t gcor_combine_side(const gcor_combine *combine, int threads, int64_t bytes);

/* ---- combine_exact.c; any thread ------------------------------------------------------------------------ */

/* Start n sums; add a subject's values with weight w; turn sums into coefficients, in place. taken: the weights in
 * each sum, or NULL if no subject is left out. */
void gcor_sums_clear(const gcor_combination *rule, double *sum, double *taken, int64_t n);
void gcor_sums_add(const gcor_combine *c, double *sum, double *taken, const double *value, double w, int64_t n);
void gcor_sums_end(const gcor_combine *c, double *sum, const double *taken, int64_t n);

/* Combine n values of each subject, `stride` apart, in place of the first subject's. scratch: gcor_combine_scratch()
 * doubles. */
void gcor_t_end(const gcor_combine *c, double *values, int64_t stride, int64_t n, double *scratch);
gcor_groups gcor_groups_of(const gcor_combination *rule);
int64_t gcor_combine_scratch(const gcor_combination *rule);

/* As gcor_t_end(), for the other rules that need every subject's coefficient. */
void gcor_each_end(const gcor_combination *rule, double *values, int64_t stride, int64_t n, double *scratch);
/* Returns the value of a pair that has no coefficient in a subject: NaN, or the larger of GCOR_NO_VALUE and
 * GCOR_ZERO_SD; 0 if every subject has a coefficient. */
double gcor_reason_for_none(const double *value, int64_t stride, int64_t subjects);
/* Returns what a rule's values are divided by, and the value of a variable with itself. */
double gcor_combined_unit(const gcor_combination *rule);
double gcor_combined_diagonal(const gcor_combination *rule);

/* ---- combine_approx.c; any thread ----------------------------------------------------------------------- */

/* Adds a segment of a subject's approximate values to its sums. */
void gcor_approx_add(gcor_combine *c, int64_t subject, const gcor_segment *segment, float *sum);
/* Turns the sums of all subjects of a tile, in rows without gaps, into coefficients, in place, and delivers those that
 * the other sink may need. An error is in the context. */
void gcor_approx_deliver(gcor_combine *c, gcor_context *context, int thread, const gcor_tile *tile, float *sums);

GCOR_END_C
