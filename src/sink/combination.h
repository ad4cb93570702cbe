/* Many subjects: the coefficients that a pair has in each of them become one, and that is what the sink gets. No
 * subject's coefficients are kept: a tile is multiplied for one subject after the other, its values are added up
 * (sink/combine.h), and the finished tile goes on. */
#ifndef GPUCOR_COMBINE_H
#define GPUCOR_COMBINE_H

#include "../gpucor.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
    GCOR_MEAN,     /* sum of weight r / total */
    GCOR_FISHER,   /* tanh of sum of weight artanh(r) / total (fisher.h) */
    GCOR_MIN,      /* the smallest; weights do not matter */
    GCOR_QUANTILE, /* of the subjects' r, as quantile() has it by default; weights do not matter */
    GCOR_T, /* Student's t of the subjects' z as the coefficient t / sqrt(t^2 + df): sink/group_tests.h; weights do not
               matter */
    GCOR_EACH /* not combined: the sink takes every subject's r (gcor_segment.stride); weights do not matter */
} gcor_combining;

/* One of them. Subjects differ in their observations, not in their variables. */
typedef struct {
    gcor_source *x, *y;        /* y NULL: x against itself, in all subjects or none */
    double weight;             /* may be negative: for differences of groups */
    const gcor_design *design; /* design.h; NULL: none */
} gcor_subject;

/* A coefficient is computed for each subject as without the others, to single precision of REAL columns unless they are
 * in double, and combined in double, subjects in their order: the same numbers on every back end, in every tile. */
typedef struct gcor_combination {
    gcor_combining how;
    double fraction; /* of the quantile, 0 to 1 */
    int skips;       /* a subject in which a pair has no coefficient is left out of it; otherwise the pair has none */
    double total; /* what sums are divided by, unless subjects are left out: then by the sum of the others' weights */
    int64_t n, n_first;           /* GCOR_T: the first n_first subjects are one group, the others another */
    const gcor_subject *subjects; /* n, the caller's */
} gcor_combination;

#ifdef __cplusplus
}
#endif
#endif
