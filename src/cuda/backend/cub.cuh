/* Device-wide algorithms from CUB, on a stream. Only this file includes CUB, as its headers compile slowly. The
 * caller owns the scratch and the output. */
#ifndef GPUCOR_CUDA_CUB_CUH
#define GPUCOR_CUDA_CUB_CUH

#include "state.cuh"
#include "../../sink/weight.h"

/* Scratch for sort_columns(). */
struct SortBuffers {
    DeviceArray<int> starts;
    DeviceArray<char> scratch;
    void trim() { trim_all(starts, scratch); }
};

/* Sorts the n keys (float or double) of each of `columns` columns in ascending order, with a value each; the sort is
 * stable. At most 2^31 - 1 keys in total. Runs on state->compute. */
template <class Key>
void sort_columns(gcor_state *state, SortBuffers &buffers, const Key *keys, Key *sorted_keys, const int *values,
                  int *sorted_values, int n, int columns);

/* Sorts n coefficients by index, which may differ only in the lowest `bits` bits. */
void sort_by_position(const Stream &stream, DeviceArray<char> &scratch, const unsigned *positions,
                      unsigned *sorted_positions, const double *r, double *sorted_r, int64_t n, int bits);

/* Sorts n pairs of a key and a value by the key's bits begin .. end-1; the sort is stable. */
void sort_by_key(const Stream &stream, DeviceArray<char> &scratch, const unsigned long long *keys,
                 unsigned long long *sorted_keys, const unsigned long long *values, unsigned long long *sorted_values,
                 int64_t n, int begin, int end);

/* Copies the edges whose weight is at least `min`, in their order. n is at most 2^31 - 1; the output has capacity
 * n. *n_kept, on the device, receives their number. */
void select_edges(const Stream &stream, DeviceArray<char> &scratch, const unsigned *positions, unsigned *kept_positions,
                  const double *r, double *kept_r, int64_t n, gcor_side side, double min, unsigned long long *n_kept);

#endif
