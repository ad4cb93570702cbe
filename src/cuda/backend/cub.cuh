/* What CUB does for all of a GPU, on a stream: the one file that is compiled with it, as that takes long. Scratch and
 * what is written are the caller's. */
#ifndef GPUCOR_CUDA_CUB_CUH
#define GPUCOR_CUDA_CUB_CUH

#include "state.cuh"
#include "../../sink/weight.h"

/* n keys, float or double, of each of `columns` columns, ascending, what is equal in the order in which it came, with a
 * value each. At most 2^31 - 1 keys. On state->compute. */
template <class Key>
void sort_columns(gcor_state *state, SortBuffers &buffers, const Key *keys, Key *sorted_keys, const int *values,
                  int *sorted_values, int n, int columns);

/* n coefficients by their places, of which the lowest `bits` bits differ. */
void sort_by_position(const Stream &stream, DeviceArray<char> &scratch, const unsigned *positions,
                      unsigned *sorted_positions, const double *r, double *sorted_r, int64_t n, int bits);

/* Of n edges, at most 2^31 - 1, those of at least a weight, in the order in which they came, to room for n; how many,
 * to *n_kept on the device. */
void select_edges(const Stream &stream, DeviceArray<char> &scratch, const unsigned *positions, unsigned *kept_positions,
                  const double *r, double *kept_r, int64_t n, gcor_side side, double min, unsigned long long *n_kept);

#endif
