/* A network in memory. */
#ifndef GPUCOR_STATS_UPPER_H
#define GPUCOR_STATS_UPPER_H

#include "../gpucor.h"

/* A symmetric network of n variables without diagonal, as the upper triangle in compressed columns: column j has the
 * entries start[j] .. start[j+1]-1, each with its row and coefficient. Borrowed. */
typedef struct {
    int64_t n;
    const int32_t *start, *row;
    const double *r;
} gcor_upper;

#endif
