/* From sums in registers to the sink. Both kernels leave them in the same way: a warp has 16 rows x 8 N
 * columns, and a lane's value e of number n is that of row g + 8 (e / 2) and column 8 n + 2 t + e % 2,
 * where g = lane / 4 and t = lane % 4.
 *
 * Edges are rare: each lane compares its values where they are (collect_hits), and what passes is kept
 * in shared memory until it is worth handing on (hand_on). Every other sink wants all values: they go
 * through shared memory, 32 columns at a time, to be written in whole lines (pass_on). */
#ifndef GPUCOR_CUDA_EPILOGUE_CUH
#define GPUCOR_CUDA_EPILOGUE_CUH

#include "cells.cuh"
#include "hits.cuh"

/* ---- every value ---------------------------------------------------------------------------------- */

/* Where a pair's coefficient lies among those that count. */
static __device__ inline void store_value(const Product &p, int64_t i, int64_t j, double r) {
    int64_t col, n, at = gcor_tile_offset(&p.tile, p.shape, p.tile.row + i);
    gcor_tile_segment(&p.tile, p.shape, p.tile.row + i, &col, &n);
    at += p.tile.col + j - col;
    if (p.out.floats)
        p.out.floats[at] = (float)r;
    else
        p.out.doubles[at] = r;
}

/* The sum of a row and a lane's column. */
template <ProductMode Mode, ProductSink Sink>
static __device__ inline void pass_value(const Product &p, WarpOutput &out, long long *into, int sum, int64_t i,
                                         int64_t j) {
    if constexpr (Sink == SUMS) {
        int64_t at = i * p.tile.n_col + j;
        if (i < p.tile.n_row && j < p.tile.n_col)
            into[at] = (p.sums.first ? 0 : into[at]) + sign_sum(p, Mode, sum, i, j);
        return;
    }
    if (!is_pair(p, i, j)) return;
    if constexpr (Sink == STORE && Mode == HALF) {
        p.cheap[i * p.tile.n_col + j] = cheap_value(sum);
    } else if constexpr (Sink == STORE) {
        store_value(p, i, j, exact_value(p, sign_sum(p, Mode, sum, i, j), i, j));
    } else if constexpr (Sink == HISTOGRAM) {
        float r = rough_value<Mode>(p, sum, i, j);
        if (r <= 1.5f) atomicAdd(&out.bins[gcor_bin(r)], 1);
    }
}

/* 16 rows x 8 N columns from tile's (i, j) on; into: SUMS. */
template <ProductMode Mode, ProductSink Sink, int N>
static __device__ inline void pass_on(const Product &p, WarpOutput &out, const int (&sums)[N][4], int64_t i, int64_t j,
                                      long long *into = nullptr) {
    int *values = (int *)out.hits, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int first = 0; first < N; first += 4) {
#pragma unroll
        for (int e = 0; e < 16; e++)
            values[(g + e / 2 % 2 * 8) * 32 + (8 * (e / 4) + 2 * t + e % 2)] = sums[first + e / 4][e % 4];
        __syncwarp();
        int64_t col = j + 8 * first + lane;
        if constexpr (Sink == CELLS) {
            sum_cell(p, out.bins, i, col, [&](int row) {
                return exact_value(p, sign_sum(p, Mode, values[row * 32 + lane], i + row, col), i + row, col);
            });
        } else {
#pragma unroll 1
            for (int row = 0; row < 16; row++)
                pass_value<Mode, Sink>(p, out, into, values[row * 32 + lane], i + row, col);
        }
        __syncwarp();
    }
}

/* ---- the sink --------------------------------------------------------------------------------------- */

/* What a warp wants to know of its 8 N columns from the tile's column j on: asked for before their sums are
 * computed, and there when they are. */
template <ProductMode Mode, ProductSink Sink, int N>
struct Ahead {
    Compare<Mode, N> compare;
    __device__ Ahead(const Product &p, int64_t j) {
        if (Sink == EDGES) compare.load(p, j);
    }
};

/* Here the sink begins: 16 rows x 8 N columns from the tile's (i, j) on. */
template <ProductMode Mode, ProductSink Sink, int N>
static __device__ inline void deliver_sums(const Product &p, WarpOutput &out, const Ahead<Mode, Sink, N> &ahead,
                                           const int (&sums)[N][4], int64_t i, int64_t j) {
    int lane = threadIdx.x % 32;
    if constexpr (Sink == EDGES)
        collect_hits<Mode>(p, out, ahead.compare, sums, i + lane / 4, j + lane % 4 * 2);
    else if constexpr (Sink == OWN_EDGES)
        collect_own<Mode>(p, out, sums, i + lane / 4, j + lane % 4 * 2);
    else
        pass_on<Mode, Sink>(p, out, sums, i, j, p.sums.sign);
}

/* What is left when a block has no more sums. All threads of the block that have delivered come. */
template <ProductMode Mode, ProductSink Sink>
static __device__ inline void finish_warp(const Product &p, WarpOutput &out) {
    if constexpr (Sink == EDGES || Sink == OWN_EDGES) hand_on<Mode>(p, out.hits, out.n);
}

static __device__ inline void clear_bins(unsigned *bins, int threads) {
    for (int b = threadIdx.x; b < GCOR_BINS; b += threads) bins[b] = 0;
}

static __device__ inline void add_bins(const Product &p, const unsigned *bins, int threads) {
    for (int b = threadIdx.x; b < GCOR_BINS; b += threads)
        if (bins[b]) atomicAdd(&p.bins[b], (unsigned long long)bins[b]);
}

#endif
