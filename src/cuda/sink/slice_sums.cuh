/* Adds sums of signs to memory, one slice of bits after the other (product/slices.cu). */
#ifndef GPUCOR_CUDA_SLICE_SUMS_CUH
#define GPUCOR_CUDA_SLICE_SUMS_CUH

#include "warp.cuh"

/* Arrays of n_row x n_col: sums of signs; pairs of complete observations that are untied in the row's variable, and
 * in the column's. */
struct SliceSums : PlainSink {
    static constexpr unsigned modes = modes_of(COMMON);
    static constexpr bool hopper = false; /* wgmma.cuh has no COMMON */
    long long *sign, *row_untied, *col_untied;
    bool first; /* this is the first slice */

    template <int N>
    __device__ void add(const Product &p, WarpOutput &warp, const int (&sums)[N][4], int64_t i, int64_t j,
                        long long *into) const {
        for_each_sum(warp, sums, i, j, [&](int sum, int64_t row, int64_t col) {
            int64_t at = row * p.tile.n_col + col;
            if (row < p.tile.n_row && col < p.tile.n_col) into[at] = (first ? 0 : into[at]) + sum;
        });
    }

    template <int N>
    __device__ void deliver_common(const Product &p, WarpOutput &warp, const int (&signs)[N][4],
                                   const int (&rows)[N][4], const int (&cols)[N][4], int64_t i, int64_t j) const {
        add(p, warp, signs, i, j, sign);
        add(p, warp, rows, i, j, row_untied);
        add(p, warp, cols, i, j, col_untied);
    }
};

#endif
