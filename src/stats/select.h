/* The k-th of many whole numbers that nobody has in one piece: weights in a network's runs, values in a bin. */
#ifndef GPUCOR_SELECT_H
#define GPUCOR_SELECT_H

#include "../gpucor.h"

/* Where numbers come from. */
typedef struct {
    int64_t n_pieces, capacity; /* pieces, and how many numbers one has at most */
    /* Piece p's numbers to out, as far as they are to be looked at; returns how many. Any thread, by OpenMP's numbers;
     * the same whenever it is asked. An error is in the context. */
    int64_t (*read)(void *user, gcor_context *context, int64_t p, uint64_t *out);
    void *user;
} gcor_numbers;

/* The k-th smallest, k from 1, of numbers of which at least k are from `low` to `high`, and the others are not looked
 * at. Uses context->threads threads and can be interrupted. */
gcor_status gcor_select(gcor_context *context, const gcor_numbers *numbers, uint64_t low, uint64_t high, int64_t k,
                        uint64_t *number);

/* The same of a list of n in memory, all of them from low to high. work: room for n, which may be the list, if it is of
 * no more use; counts: GCOR_SELECT_BINS. Any thread. */
enum { GCOR_SELECT_BITS = 12, GCOR_SELECT_BINS = 1 << GCOR_SELECT_BITS };
uint64_t gcor_select_few(const uint64_t *list, int64_t n, uint64_t low, uint64_t high, int64_t k, uint64_t *work,
                         int64_t *counts);

#endif
