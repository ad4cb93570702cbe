/* Collective operations of the lanes of a warp and the threads of a block. */
#pragma once

#include "../../measure/coefficient.h"

static const unsigned ALL_LANES = ~0u;

/* Sum over a warp, in the order of coefficient.h. */
template <class Number>
static __device__ inline Number sum_lanes(Number value) {
    for (int step = GCOR_LANES / 2; step > 0; step /= 2) value += __shfl_xor_sync(ALL_LANES, value, step);
    return value;
}

/* Maximum over a warp; no value may be NaN. */
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

/* Reduces the values of a block of Threads threads with `combine`; every thread gets the result. Pairs within a warp
 * come first, then warp by warp: the order of CUB's BlockReduce, which recorded results depend on. CUB itself is not
 * used as its headers triple a file's compile time. */
template <int Threads, class Number, class Combine>
static __device__ Number reduce_block(Number value, Combine combine) {
    __shared__ Number of_warp[Threads / 32];
    for (int step = 1; step < 32; step *= 2) value = combine(value, __shfl_xor_sync(ALL_LANES, value, step));
    __syncthreads(); /* the values of the previous call have been read */
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = value;
    __syncthreads();
    value = of_warp[0];
    for (int warp = 1; warp < Threads / 32; warp++) value = combine(value, of_warp[warp]);
    return value;
}

/* gcor_dot() computed by a warp. */
static __device__ inline double warp_dot(const float *x, const float *y, int64_t n_obs) {
    double sum = 0;
    for (int64_t k = threadIdx.x % 32; k < n_obs; k += 32) sum += (double)x[k] * y[k];
    return sum_lanes(sum);
}

/* Number of blocks of size `each` that cover `work`. */
inline unsigned blocks_for(int64_t work, int64_t each) {
    return (unsigned)((work + each - 1) / each);
}
