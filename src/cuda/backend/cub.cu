/* Sorts columns for ranks (prepare/rank.cu) and for Knight's algorithm (product/kendall_knight.cu), sorts edges by
 * index (sink/edge_delivery.cu), and filters edges (sink/edge_buffer.cu). */
#include "state.cuh"

#include "lanes.cuh"

#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_select.cuh>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/tuple.h>

/* Calls work(scratch, bytes) twice, as CUB expects: first to get the size of the scratch, then to do the work. */
template <class Work>
static void with_scratch(DeviceArray<char> &scratch, const char *what, Work work) {
    size_t bytes = 0;
    check(work(nullptr, bytes), what);
    scratch.reserve((int64_t)bytes, what);
    check(work(scratch.data, bytes), what);
}

/* ---- columns -------------------------------------------------------------------------------- */

static const char *const COLUMNS = "sorting columns";

static __global__ void number_starts(int n, int columns, int *starts) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c <= columns) starts[c] = c * n;
}

/* Sorts all columns at once, one thread block each. */
template <class Key>
static void sort_segments(gcor_state *state, SortBuffers &buffers, const Key *keys, Key *sorted_keys, const int *values,
                          int *sorted_values, int n, int columns) {
    cudaStream_t stream = state->compute.handle;
    buffers.starts.reserve(columns + 1, COLUMNS);
    number_starts<<<blocks_for(columns + 1, 256), 256, 0, stream>>>(n, columns, buffers.starts.data);
    check_launch(COLUMNS);
    with_scratch(buffers.scratch, COLUMNS, [&](void *scratch, size_t &bytes) {
        return cub::DeviceSegmentedRadixSort::SortPairs(scratch, bytes, keys, sorted_keys, values, sorted_values,
                                                        n * columns, columns, buffers.starts.data,
                                                        buffers.starts.data + 1, 0, 8 * (int)sizeof(Key), stream);
    });
}

/* Sorts one column after the other, each on the whole GPU. */
template <class Key>
static void sort_each(gcor_state *state, SortBuffers &buffers, const Key *keys, Key *sorted_keys, const int *values,
                      int *sorted_values, int n, int columns) {
    size_t bytes = 0;
    auto sort = [&](void *scratch, int64_t at) {
        return cub::DeviceRadixSort::SortPairs(scratch, bytes, keys + at, sorted_keys + at, values + at,
                                               sorted_values + at, n, 0, 8 * (int)sizeof(Key), state->compute.handle);
    };
    check(sort(nullptr, 0), COLUMNS);
    buffers.scratch.reserve((int64_t)bytes, COLUMNS);
    for (int column = 0; column < columns; column++) check(sort(buffers.scratch.data, column * (int64_t)n), COLUMNS);
}

template <class Key>
void sort_columns(gcor_state *state, SortBuffers &buffers, const Key *keys, Key *sorted_keys, const int *values,
                  int *sorted_values, int n, int columns) {
    auto sort = n < SORTED_BY_ALL ? sort_segments<Key> : sort_each<Key>;
    sort(state, buffers, keys, sorted_keys, values, sorted_values, n, columns);
}

template void sort_columns(gcor_state *, SortBuffers &, const float *, float *, const int *, int *, int, int);
template void sort_columns(gcor_state *, SortBuffers &, const double *, double *, const int *, int *, int, int);

/* ---- edges ---------------------------------------------------------------------------------- */

void sort_by_position(const Stream &stream, DeviceArray<char> &scratch, const unsigned *positions,
                      unsigned *sorted_positions, const double *r, double *sorted_r, int64_t n, int bits) {
    with_scratch(scratch, "sorting edges", [&](void *memory, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, positions, sorted_positions, r, sorted_r, n, 0, bits,
                                               stream.handle);
    });
}

void sort_by_key(const Stream &stream, DeviceArray<char> &scratch, const unsigned long long *keys,
                 unsigned long long *sorted_keys, const unsigned long long *values, unsigned long long *sorted_values,
                 int64_t n, int begin, int end) {
    with_scratch(scratch, "sorting edges", [&](void *memory, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(memory, bytes, keys, sorted_keys, values, sorted_values, n, begin, end,
                                               stream.handle);
    });
}

struct IsKept {
    gcor_side side;
    double min;
    __device__ bool operator()(const thrust::tuple<unsigned, double> &edge) const {
        return gcor_raw_weight(side, thrust::get<1>(edge)) >= min;
    }
};

template <class Places, class Coefficients>
static auto zip(Places positions, Coefficients r) {
    return thrust::make_zip_iterator(thrust::make_tuple(positions, r));
}

void select_edges(const Stream &stream, DeviceArray<char> &scratch, const unsigned *positions, unsigned *kept_positions,
                  const double *r, double *kept_r, int64_t n, gcor_side side, double min, unsigned long long *n_kept) {
    with_scratch(scratch, "edges of the network", [&](void *memory, size_t &bytes) {
        return cub::DeviceSelect::If(memory, bytes, zip(positions, r), zip(kept_positions, kept_r), n_kept, (int)n,
                                     IsKept{side, min}, stream.handle);
    });
}
