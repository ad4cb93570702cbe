/* A slab of the adjacency matrix on a device: filled from a run's coefficients (adjacency.cu), then multiplied
 * (overlap.cu). */
#ifndef GPUCOR_CUDA_ADJACENCY_CUH
#define GPUCOR_CUDA_ADJACENCY_CUH

#include "../backend/try.cuh"

/* Variables first .. first+n-1, one row each, with the adjacencies to all n_var variables. Rows are `stride`
 * elements apart; the diagonal and elements beyond the last variable are zero. */
struct AdjacencyMatrix {
    int device;
    int64_t first, n, n_var, stride;
    DeviceArray<double> values, connectivity; /* connectivity: sum of absolute values of each row */
    DeviceArray<unsigned long long> missing;  /* one element: number of pairs without coefficient */

    double *row(int64_t variable) const { return values.data + (variable - first) * stride; }
};

/* Elements from one row to the next. */
int64_t adjacency_stride(int64_t n_var);

#endif
