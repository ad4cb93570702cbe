/* Sorting by CUB, on a stream: the one file that is compiled with its sorts, as that takes long. */
#ifndef GPUCOR_CUDA_SORT_CUH
#define GPUCOR_CUDA_SORT_CUH

#include "../backend/state.cuh"

/* n keys of each of `columns` columns, ascending, what is equal in the order in which it came, with a value each. At
 * most 2^31 - 1 keys. On state->compute; scratch and the sorted arrays are the caller's. */
void sort_columns(gcor_state *state, SortBuffers &buffers, const float *keys, float *sorted_keys, const int *values,
                  int *sorted_values, int n, int columns);
void sort_columns(gcor_state *state, SortBuffers &buffers, const double *keys, double *sorted_keys, const int *values,
                  int *sorted_values, int n, int columns);

/* n coefficients by their places, of which the lowest `bits` bits differ. */
void sort_places(const Stream &stream, DeviceArray<char> &scratch, const unsigned *places, unsigned *sorted_places,
                 const double *r, double *sorted_r, int64_t n, int bits);

#endif
