/* A slab of the matrix of adjacencies on a device: made of a run's coefficients (adjacency.cu), and multiplied then
 * (product/overlap.cu). */
#ifndef GPUCOR_CUDA_ADJACENCY_CUH
#define GPUCOR_CUDA_ADJACENCY_CUH

#include "../backend/try.cuh"

/* Variables first .. first+n-1, a row for each, with the adjacencies to all n_var, from `stride` to `stride` elements;
 * zeros for itself and beyond the last variable. */
struct AdjacencyMatrix {
    int device;
    int64_t first, n, n_var, stride;
    DeviceArray<double> values, connectivity; /* connectivity: of each row the sum of sizes */
    DeviceArray<unsigned long long> missing;  /* one: how many pairs have no coefficient */

    double *row(int64_t variable) const { return values.data + (variable - first) * stride; }
};

/* Elements from row to row. */
int64_t adjacency_stride(int64_t n_var);

#endif
