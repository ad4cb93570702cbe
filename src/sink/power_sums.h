/* Powers of a tile's similarities, summed over its rows and columns when all its values are there. */
#ifndef GPUCOR_POWER_SUMS_H
#define GPUCOR_POWER_SUMS_H

#include "connectivity.h"

/* Room for a tile's sums. */
gcor_status gcor_power_sums_begin(gcor_connectivity *c, gcor_context *context, const gcor_tile *tile);
/* The values in c->tile, GCOR_NO_VALUE where a pair does not count, to c->sums. */
gcor_status gcor_power_sums_end(gcor_connectivity *c, gcor_context *context, const gcor_tile *tile);

#endif
