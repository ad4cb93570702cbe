/* A network in memory, and its pruning. */
#pragma once

#include "../gpucor.h"

/* A symmetric network of n variables without diagonal, as the upper triangle in compressed columns: column j has the
 * entries start[j] .. start[j+1]-1, each with its row and coefficient. Borrowed. */
typedef struct {
    int64_t n;
    const int32_t *start, *row;
    const double *r;
} gcor_upper;

/* ---- pruning (prune.c) -------------------------------------------------------------------------- */

/* The data processing inequality on a network (Margolin and others 2006): the weakest edge of a triangle may be there
 * only because both others are. */

/* Sets is_kept[e], the caller's, of each entry e: 0 if a triangle has an edge e whose information is below (1 -
 * tolerance) times that of both others, else 1. The information of a coefficient r in [-1, 1] is -log(1 - r^2) / 2.
 * tolerance: from 0 to 1. Entries on the diagonal are no edges and are kept. Uses context->threads threads; the same
 * result with any number. Can be interrupted. */
gcor_status gcor_prune(gcor_context *context, const gcor_upper *network, double tolerance, int *is_kept);
