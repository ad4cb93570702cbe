/* Finds the values of largest magnitude among many without sorting the others. */
#ifndef GPUCOR_STRONGEST_H
#define GPUCOR_STRONGEST_H

#include "../measure/compact.h"

/* |value|, and its index, from 0. */
typedef struct {
    double size;
    int64_t position;
} gcor_strong;

/* The strongest values that a thread has seen, as a heap with the weakest at the root; of equal ones the earlier is
 * stronger. Padded to a cache line. */
typedef struct {
    gcor_strong *heap;
    int64_t n, capacity, max;
    char fill[32];
} gcor_strongest;

/* Allocates one for each of context->threads, for up to `max` values. The caller frees them with
 * gcor_strongest_free(); NULL after an error. */
gcor_strongest *gcor_strongest_new(gcor_context *context, int64_t max);
void gcor_strongest_free(gcor_strongest *all, int threads);

/* Considers n values; the first has index `first`. NaN is ignored. */
void gcor_strongest_look(gcor_strongest *own, gcor_context *context, const double *value, int64_t n, int64_t first);

/* Merges the threads' values to *best, strongest first; *n of them. The caller frees *best with gcor_free(). */
gcor_status gcor_strongest_join(const gcor_strongest *all, gcor_context *context, gcor_strong **best, int64_t *n);

/* Finds the strongest of n values in one call. */
gcor_status gcor_find_strongest(gcor_context *context, const gcor_values *values, int64_t n, int64_t max,
                                gcor_strong **best, int64_t *n_best);

#endif
