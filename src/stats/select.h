/* Finds the k-th smallest of many integers that are not in memory as one array: weights in a network's runs, values
 * in a bin. */
#ifndef GPUCOR_SELECT_H
#define GPUCOR_SELECT_H

#include "../gpucor.h"

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

#endif
