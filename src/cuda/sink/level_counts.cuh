/* Adds the number of common bits of pairs of sets to memory; parts of the bits are added up (product/level_tables.cu).
 */
#ifndef GPUCOR_CUDA_SET_COUNTS_CUH
#define GPUCOR_CUDA_SET_COUNTS_CUH

#include "warp.cuh"

struct SetCounts : PlainSink {
    static constexpr unsigned modes = modes_of(UNTIED);
    unsigned long long *into; /* n_row x n_col */

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &warp, const Nothing &, const int (&sums)[N][4], int64_t i,
                            int64_t j) const {
        for_each_sum(warp, sums, i, j, [&](int sum, int64_t row, int64_t col) {
            if (row < p.tile.n_row && col < p.tile.n_col)
                atomicAdd(&into[row * p.tile.n_col + col], (unsigned long long)(unsigned)sum);
        });
    }
};

#endif
