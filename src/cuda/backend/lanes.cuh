/* For kernels of every folder: what the lanes of a warp do together. */
#ifndef GPUCOR_CUDA_LANES_CUH
#define GPUCOR_CUDA_LANES_CUH

#include "../../core/coefficient.h"

static const unsigned ALL_LANES = ~0u;

/* A warp's sum, in the order of coefficient.h. */
static __device__ inline double sum_lanes(double value) {
    for (int step = GCOR_LANES / 2; step > 0; step /= 2) value += __shfl_xor_sync(ALL_LANES, value, step);
    return value;
}

/* A warp's largest value; none is NaN. */
static __device__ inline double largest_of_lanes(double value) {
    for (int step = GCOR_LANES / 2; step > 0; step /= 2) value = fmax(value, __shfl_xor_sync(ALL_LANES, value, step));
    return value;
}

/* gcor_dot() by a warp. */
static __device__ inline double warp_dot(const float *x, const float *y, int64_t n_obs) {
    double sum = 0;
    for (int64_t k = threadIdx.x % 32; k < n_obs; k += 32) sum += (double)x[k] * y[k];
    return sum_lanes(sum);
}

/* How many blocks of `each` there are in so much work. */
inline unsigned blocks_for(int64_t work, int64_t each) {
    return (unsigned)((work + each - 1) / each);
}

#endif
