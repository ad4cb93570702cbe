/* The matrix of adjacencies on a device: made of a run's coefficients (adjacency.cu), and multiplied then
 * (product/overlap.cu). */
#ifndef GPUCOR_CUDA_ADJACENCY_CUH
#define GPUCOR_CUDA_ADJACENCY_CUH

#include "../backend/try.cuh"

/* Both halves, rows from `stride` to `stride` elements; zeros in the diagonal and beyond the last variable. */
struct AdjacencyMatrix {
    int device;
    int64_t n_var, stride;
    DeviceArray<double> values;
    DeviceArray<unsigned long long> missing; /* one: how many pairs have no coefficient */
};

#endif
