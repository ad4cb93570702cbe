/* Grids of many shapes and sizes, and checks of what is drawn from them (test_shard.c). */
#ifndef GPUCOR_UNIT_GRIDS_H
#define GPUCOR_UNIT_GRIDS_H

#include "../../src/base/shard.h"
#include "../../src/base/triangle.h"

/* Iterator over grids: start with all zero; returns 0 after the last grid. */
typedef struct {
    int k;
    gcor_grid grid;
    int64_t pairs, cells; /* number of pairs of the shape; smallest squares on a side of the whole grid */
} unit_grids;
int unit_next_grid(unit_grids *at);

/* Counts the square's smallest squares in `seen` (cells x cells); returns their pairs, which must be the square's. */
int64_t unit_count_square(const gcor_grid *grid, const gcor_square *square, unsigned char *seen);
/* Checks that each smallest square with a pair was seen once. */
void unit_check_all_seen(const gcor_grid *grid, const unsigned char *seen);

#endif
