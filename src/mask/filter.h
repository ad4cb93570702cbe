/* The sink between a back end and another sink, to which only the pairs that count get through: what does not count
 * comes as NaN, which is no coefficient. */
#ifndef GPUCOR_FILTER_H
#define GPUCOR_FILTER_H

#include "pairs.h"

typedef struct {
    gcor_sink sink; /* first; its pairs say which count */
    gcor_sink *of;
    gcor_extent extent; /* of the tile at hand */
} gcor_filter;

/* Both are borrowed. It lives as long as the run; its forks are made and freed as any sink's. */
gcor_filter gcor_filter_of(gcor_sink *of, const gcor_pairs *pairs);

#endif
