/* Selects and summarizes many values: the k-th, the strongest; missing ones, mean, quantiles. */
#pragma once

#include "../measure/compact.h"

/* ---- the strongest (select.c) ------------------------------------------------------------------- */

/* Finds the values of largest magnitude among many without sorting the others. */

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

/* ---- the k-th smallest (select.c) --------------------------------------------------------------- */

/* Finds the k-th smallest of many integers that are not in memory as one array: weights in a network's runs, values
 * in a bin. */

/* A source of integers. */
typedef struct {
    int64_t n_pieces, capacity; /* number of pieces; max numbers of a piece */
    /* Writes piece p's numbers that are to be considered to `out`; returns how many. Called by threads 0 ..
     * context->threads - 1, several times for each piece, with the same result. An error is recorded in the context. */
    int64_t (*read)(void *user, gcor_context *context, int thread, int64_t p, uint64_t *out);
    void *user;
} gcor_numbers;

/* Finds the k-th smallest number, k from 1, among those from `low` to `high`, of which there must be at least k.
 * Uses context->threads threads; can be interrupted. */
gcor_status gcor_select(gcor_context *context, const gcor_numbers *numbers, uint64_t low, uint64_t high, int64_t k,
                        uint64_t *number);

/* The same for a list of n numbers in memory, all from low to high. work: scratch for n numbers, which may be the
 * list itself if it is no longer needed; counts: scratch of GCOR_SELECT_BINS. Any thread. */
enum { GCOR_SELECT_BITS = 12, GCOR_SELECT_BINS = 1 << GCOR_SELECT_BITS };
uint64_t gcor_select_few(const uint64_t *list, int64_t n, uint64_t low, uint64_t high, int64_t k, uint64_t *work,
                         int64_t *counts);

/* ---- the summary (summary.c) -------------------------------------------------------------------- */

typedef struct {
    int64_t missing;        /* number of NaN; all else is computed from the other values */
    double mean;            /* from exact sums; NaN if there are no values */
    gcor_strong *strongest; /* n_strongest, strongest first; the caller frees it with gcor_free() */
    int64_t n_strongest;
} gcor_summary;

/* Summarizes n values, read in place. fractions: probabilities from 0 to 1; quantile[q] is as by stats::quantile()'s
 * default, exactly; NaN if there are no values. max: max number of strongest values. Uses context->threads threads,
 * which do not affect the result; can be interrupted. After an error there is nothing to free. */
gcor_status gcor_summarise(gcor_context *context, const gcor_values *values, int64_t n, const double *fractions,
                           int n_fractions, int64_t max, double *quantile, gcor_summary *summary);
