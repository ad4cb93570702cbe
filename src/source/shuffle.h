/* Permutes the observations of columns, for a null distribution. */
#pragma once

#include "../base/triangle.h"

GCOR_BEGIN_C

/* Selects a permutation. Runs of the same `series` differ in nothing else, so that a back end can keep columns that it
 * prepared before. */
struct gcor_shuffle {
    uint64_t series;         /* unique in the process, at least 1 */
    uint64_t seed, number;   /* select the permutation */
    int jointly;             /* non-zero: one for all variables; 0: each has its own */
    const int32_t *variable; /* a run's variable j is number variable[j] for the permutation; NULL: number j */
};

/* A step of splitmix64 (Steele, Lea and Flood 2014): each seed begins a different sequence. */
GCOR_INLINE uint64_t gcor_next_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Returns the state from which the sequence of the run's variable j begins. */
GCOR_INLINE uint64_t gcor_shuffle_state(const gcor_shuffle *shuffle, int64_t j) {
    uint64_t variable = shuffle->jointly ? 0 : (uint64_t)(shuffle->variable ? shuffle->variable[j] : j);
    uint64_t state = shuffle->seed;
    state = gcor_next_random(&state) ^ shuffle->number;
    state = gcor_next_random(&state) ^ variable;
    return gcor_next_random(&state);
}

/* Returns the index, from 0 to k, of the value that a Fisher-Yates shuffle swaps with value k, for k from n-1 to 1. */
GCOR_INLINE int64_t gcor_shuffle_step(uint64_t *state, int64_t k) {
    return (int64_t)((double)(gcor_next_random(state) >> 11) * 0x1p-53 * (double)(k + 1));
}

/* Permutes the n values of the run's variable j, doubles or floats, which are `step` values apart; the other pointer is
 * NULL. Any thread. */
GCOR_INLINE void gcor_shuffle_values(const gcor_shuffle *shuffle, int64_t j, double *doubles, float *floats, int64_t n,
                                     int64_t step) {
    uint64_t state = gcor_shuffle_state(shuffle, j);
    for (int64_t k = n - 1; k > 0; k--) {
        const int64_t own = k * step, other = gcor_shuffle_step(&state, k) * step;
        if (doubles) {
            double value = doubles[own];
            doubles[own] = doubles[other];
            doubles[other] = value;
        } else {
            float value = floats[own];
            floats[own] = floats[other];
            floats[other] = value;
        }
    }
}

GCOR_END_C
