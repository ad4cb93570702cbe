/* For kernels of every folder: what the lanes of a warp, or the threads of a block, do together. */
#ifndef GPUCOR_CUDA_LANES_CUH
#define GPUCOR_CUDA_LANES_CUH

#include "../../measure/coefficient.h"

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

struct Plus {
    template <class Number>
    __device__ Number operator()(Number a, Number b) const {
        return a + b;
    }
};

struct Larger {
    template <class Number>
    __device__ Number operator()(Number a, Number b) const {
        return a > b ? a : b;
    }
};

struct Smaller {
    template <class Number>
    __device__ Number operator()(Number a, Number b) const {
        return a < b ? a : b;
    }
};

/* What `combine` makes of the values of a block of Threads, to all of them: of a warp's in pairs, then warp by warp. As
 * CUB's BlockReduce does, in whose order these sums have always been; its headers take a compiler three times as long
 * as all else of a file. */
template <int Threads, class Number, class Combine>
static __device__ Number reduce_block(Number value, Combine combine) {
    __shared__ Number of_warp[Threads / 32];
    for (int step = 1; step < 32; step *= 2) value = combine(value, __shfl_xor_sync(ALL_LANES, value, step));
    __syncthreads(); /* those of the call before are read */
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[0];
    for (int warp = 1; warp < Threads / 32; warp++) value = combine(value, of_warp[warp]);
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
