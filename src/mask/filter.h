/* A sink between a back end and another sink that applies the pair mask: values of pairs outside of the mask are
 * replaced by NaN, which is no coefficient. */
#pragma once

#include "pairs.h"

typedef struct {
    gcor_sink sink;     /* must be first; its `pairs` is the mask */
    gcor_extent extent; /* of the current tile */
} gcor_filter;

/* Both are borrowed and must outlive the filter, which is not freed; forks own their sink. */
gcor_filter gcor_filter_of(gcor_sink *of, const gcor_pairs *pairs);
