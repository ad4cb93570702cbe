/* Stores all coefficients of a tile: exact ones (product/exact.cu), and approximate ones for min weights (least.cu). */
#ifndef GPUCOR_CUDA_VALUES_CUH
#define GPUCOR_CUDA_VALUES_CUH

#include "warp.cuh"

/* Index of a pair among the tile's pairs, row by row without gaps. */
static __device__ inline int64_t position(const Product &p, int64_t i, int64_t j) {
    int64_t col, n, at = gcor_tile_offset(&p.tile, p.shape, p.tile.row + i);
    gcor_tile_segment(&p.tile, p.shape, p.tile.row + i, &col, &n);
    return at + p.tile.col + j - col;
}

/* Stores exact values of the shape's pairs. */
struct ExactValues : PlainSink {
    static constexpr unsigned modes = modes_of(UNTIED) | modes_of(TIED) | modes_of(FLOAT);
    Packed out;

    __device__ void put(const Product &p, int64_t i, int64_t j, double r) const {
        if (out.floats)
            out.floats[position(p, i, j)] = (float)r;
        else
            out.doubles[position(p, i, j)] = r;
    }

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &warp, const Nothing &, const int (&sums)[N][4], int64_t i,
                            int64_t j) const {
        for_each_sum(warp, sums, i, j, [&](int sum, int64_t row, int64_t col) {
            if (is_pair(p, row, col)) put(p, row, col, exact_value(p, sign_sum(p, Mode, sum, row, col), row, col));
        });
    }

    template <class Dot>
    __device__ void deliver_cell(const Product &p, unsigned *, int64_t i, int64_t j, Dot dot) const {
        for (int k = 0; k < CELL_ROWS; k++)
            if (is_pair(p, i + k, j)) put(p, i + k, j, exact_value(p, dot(k), i + k, j));
    }
};

/* Stores the sums of signs of the shape's pairs. */
struct Numerators : PlainSink {
    static constexpr unsigned modes = modes_of(UNTIED) | modes_of(TIED);
    Packed out;

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &warp, const Nothing &, const int (&sums)[N][4], int64_t i,
                            int64_t j) const {
        for_each_sum(warp, sums, i, j, [&](int sum, int64_t row, int64_t col) {
            if (is_pair(p, row, col)) out.counts[position(p, row, col)] = sign_sum(p, Mode, sum, row, col);
        });
    }
};

/* Stores the tile with gaps, in rows of n_col. */
struct CheapValues : PlainSink {
    static constexpr unsigned modes = modes_of(HALF);
    float *out;

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &warp, const Nothing &, const int (&sums)[N][4], int64_t i,
                            int64_t j) const {
        for_each_sum(warp, sums, i, j, [&](int sum, int64_t row, int64_t col) {
            if (is_pair(p, row, col)) out[row * p.tile.n_col + col] = approx_value(sum);
        });
    }
};

#endif
