/* A source whose columns stand in another order. */
#ifndef GPUCOR_PICKED_H
#define GPUCOR_PICKED_H

#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    gcor_source source;    /* first */
    gcor_source *of;       /* borrowed, as is ... */
    const int32_t *number; /* ... its column that stands at each place; NULL: as they were */
} gcor_picked;

/* Of a source that any thread may read, or with number NULL of any. */
gcor_picked gcor_picked_source(gcor_source *of, const int32_t *number);

#ifdef __cplusplus
}
#endif
#endif
