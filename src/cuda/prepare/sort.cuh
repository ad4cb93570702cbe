/* Columns sorted by CUB, for ranks (rank.cu) and for what is out of order (product/knight.cu). */
#ifndef GPUCOR_CUDA_SORT_CUH
#define GPUCOR_CUDA_SORT_CUH

#include "../backend/lanes.cuh"
#include "../backend/state.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>

static __global__ void number_starts(int n, int columns, int *starts) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c <= columns) starts[c] = c * n;
}

/* A block each: all columns at once. */
template <class Key>
static void sort_segments(gcor_state *state, SortBuffers &buffers, const Key *keys, Key *sorted_keys, const int *values,
                          int *sorted_values, int n, int columns) {
    const char *what = "sorting columns";
    cudaStream_t stream = state->compute.handle;
    buffers.starts.reserve(columns + 1, what);
    number_starts<<<blocks_for(columns + 1, 256), 256, 0, stream>>>(n, columns, buffers.starts.data);
    check_launch(what);
    auto sort = [&](void *scratch, size_t &bytes) {
        return cub::DeviceSegmentedRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values,
                                                        n * columns, columns, buffers.starts.data,
                                                        buffers.starts.data + 1, 0, 8 * (int)sizeof(Key), stream);
    };
    size_t bytes = 0;
    check(sort(nullptr, bytes), what);
    buffers.scratch.reserve((int64_t)bytes, what);
    check(sort(buffers.scratch.data, bytes), what);
}

/* One after the other, each by the whole GPU. */
template <class Key>
static void sort_each(gcor_state *state, SortBuffers &buffers, const Key *keys, Key *sorted_keys, const int *values,
                      int *sorted_values, int n, int columns) {
    const char *what = "sorting columns";
    size_t bytes = 0;
    auto sort = [&](void *scratch, int64_t at) {
        return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys + at, sorted_keys + at, values + at,
                                               sorted_values + at, n, 0, 8 * (int)sizeof(Key), state->compute.handle);
    };
    check(sort(nullptr, 0), what);
    buffers.scratch.reserve((int64_t)bytes, what);
    for (int column = 0; column < columns; column++) check(sort(buffers.scratch.data, column * (int64_t)n), what);
}

/* n keys of each column, ascending, what is equal in the order in which it came, with a value each. At most 2^31 - 1
 * keys. On state->compute. */
template <class Key>
static void sort_columns(gcor_state *state, SortBuffers &buffers, const Key *keys, Key *sorted_keys, const int *values,
                         int *sorted_values, int n, int columns) {
    auto sort = n < SORTED_BY_ALL ? sort_segments<Key> : sort_each<Key>;
    sort(state, buffers, keys, sorted_keys, values, sorted_values, n, columns);
}

#endif
