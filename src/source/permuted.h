/* A source whose observations are permuted within each variable, for a distribution without any correlation. */
#ifndef GPUCOR_PERMUTED_H
#define GPUCOR_PERMUTED_H

#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

/* `number` and the seed say which permutation: of each variable its own, or with `jointly` the same for all. */
typedef struct {
    gcor_source source;      /* first */
    gcor_source *of;         /* borrowed */
    const int32_t *observed; /* the observations that count, among which values move; NULL: all. Borrowed */
    int64_t n_observed;
    uint64_t seed, number;
    int jointly;
} gcor_permuted;

gcor_permuted gcor_permuted_source(const gcor_columns *columns, uint64_t seed, uint64_t number, int jointly);

#ifdef __cplusplus
}
#endif
#endif
