/* The few values of largest size among many, without sorting the others. */
#ifndef GPUCOR_STRONGEST_H
#define GPUCOR_STRONGEST_H

#include "../measure/compact.h"

/* |value|, and where it stands, from 0. */
typedef struct {
    double size;
    int64_t position;
} gcor_strong;

/* The strongest that a thread has seen, as a heap with the weakest of them at the root; of equal ones the first are
 * stronger. Alone in its line of the cache. */
typedef struct {
    gcor_strong *heap;
    int64_t n, capacity, max;
    char fill[32];
} gcor_strongest;

/* One for each of context->threads, for `most` values at most; the caller's, to free with gcor_strongest_free();
 * NULL after an error. */
gcor_strongest *gcor_strongest_new(gcor_context *context, int64_t max);
void gcor_strongest_free(gcor_strongest *all, int threads);

/* Look at n values, of which the first stands at `first`. NaN is left out. */
void gcor_strongest_look(gcor_strongest *own, gcor_context *context, const double *value, int64_t n, int64_t first);

/* What all have seen to `best`, the strongest first; the caller's, to free with gcor_free(), *n of them. */
gcor_status gcor_strongest_join(const gcor_strongest *all, gcor_context *context, gcor_strong **best, int64_t *n);

/* The same in one: of n values. */
gcor_status gcor_find_strongest(gcor_context *context, const gcor_values *values, int64_t n, int64_t max,
                                gcor_strong **best, int64_t *n_best);

#endif
