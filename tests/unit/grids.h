/* Grids of many forms, and the count of what is drawn from them (test_shard.c). */
#ifndef GPUCOR_UNIT_GRIDS_H
#define GPUCOR_UNIT_GRIDS_H

#include "../../src/engine/shard.h"
#include "../../src/base/triangle.h"

/* Begin with all zero; 0: there is no further one. */
typedef struct {
    int k;
    gcor_grid grid;
    int64_t pairs, cells; /* that count; smallest squares on a side of the whole */
} unit_grids;
int unit_next_grid(unit_grids *at);

/* Count the square's smallest ones in `seen` (cells x cells); returns their pairs, which are the square's. */
int64_t unit_count_square(const gcor_grid *grid, const gcor_square *square, unsigned char *seen);
/* Each that has a pair was seen once. */
void unit_check_all_seen(const gcor_grid *grid, const unsigned char *seen);

#endif
