/* What all sinks in kernels have in common. A sink is a struct that a kernel is compiled with and gets by value, beside
 * the product. Its members:
 *
 *   modes             the products that it accepts
 *   hopper            true: compiled for wgmma.cuh, too; otherwise only mma.cuh
 *   long_blocks       true: it leaves enough registers for blocks with more sums (wgmma.cuh)
 *   blocks            of mma.cuh that a multiprocessor has at a time: 2, or 1 for a sink that needs many registers
 *   counts            true: it needs bins in the block's shared memory, which are added to `bins`; not for FLOAT
 *   Ahead<Mode, N>    data of a warp's 8 N columns from the tile's column j on, loaded while their sums are
 *                     computed
 *   deliver<Mode>()   takes 16 rows x 8 N columns of sums in registers, from the tile's (i, j) on
 *   deliver_cell()    FLOAT: takes CELL_ROWS x CELL_COLS products, a column in each lane
 *   register_sums     true: FLOAT calls deliver_registers() instead, which takes each thread's products in registers
 *   finish<Mode>()    called when a block has no more sums
 *
 * All lanes of a warp call these. Both tensor-core kernels have the same layout of sums: value e of number n of a
 * lane belongs to row g + 8 (e / 2) and column 8 n + 2 t + e % 2, where g = lane / 4 and t = lane % 4. */
#pragma once

#include "pair.cuh"
#include "../../sink/histogram.h"

/* Size of a cell, the pairs of a tile that a warp delivers at a time. */
enum { CELL_ROWS = 16, CELL_COLS = 32 };

/* The bit of a mode in `modes`. */
static constexpr unsigned modes_of(ProductMode mode) {
    return 1u << mode;
}

/* A pair that is worth keeping: its index in the tile and its sum (sink/edge_sink.cuh). */
typedef unsigned long long Hit;

/* A warp's part of shared memory. */
struct WarpOutput {
    Hit *hits;      /* WARP_HITS hits, or a cell's sums */
    unsigned *bins; /* shared by all warps, if the sink counts */
    int n = 0;      /* number of hits, the same in every lane */
};
static_assert(WARP_HITS * sizeof(Hit) >= CELL_ROWS * CELL_COLS * sizeof(int), "a cell's sums");

/* The default: a sink that processes sums when they are delivered and keeps none. */
struct PlainSink {
    static constexpr bool hopper = true, long_blocks = false, counts = false, register_sums = false;
    static constexpr int blocks = 2;
    struct Nothing {
        template <class Sink>
        __device__ Nothing(const Product &, const Sink &, int64_t) {}
    };
    template <ProductMode Mode, int N>
    using Ahead = Nothing;
    template <ProductMode Mode>
    __device__ void finish(const Product &, WarpOutput &) const {}
};

/* Passes 16 rows x 8 N columns of sums through shared memory, a cell at a time, so that a row's sums are processed
 * in whole cache lines. body(sums, j): sums[k * CELL_COLS] is the sum of row k and the lane's column j. */
template <int N, class Body>
static __device__ inline void for_each_cell(WarpOutput &out, const int (&sums)[N][4], int64_t j, Body body) {
    int *values = (int *)out.hits, lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
    for (int first = 0; first < N; first += CELL_COLS / 8) {
#pragma unroll
        for (int e = 0; e < 16; e++)
            values[(g + e / 2 % 2 * 8) * CELL_COLS + (8 * (e / 4) + 2 * t + e % 2)] = sums[first + e / 4][e % 4];
        __syncwarp();
        body((const int *)values + lane, j + 8 * first + lane);
        __syncwarp();
    }
}

/* Calls body(sum, i, j) for each sum, in the order of for_each_cell(). */
template <int N, class Body>
static __device__ inline void for_each_sum(WarpOutput &out, const int (&sums)[N][4], int64_t i, int64_t j, Body body) {
    for_each_cell(out, sums, j, [&](const int *cell, int64_t col) {
#pragma unroll 1
        for (int row = 0; row < CELL_ROWS; row++) body(cell[row * CELL_COLS], i + row, col);
    });
}

/* ---- bins -------------------------------------------------------------------------------------- */

/* Called by all threads of a block. */
static __device__ inline void clear_bins(unsigned *bins, int threads) {
    for (int b = threadIdx.x; b < GCOR_BINS; b += threads) bins[b] = 0;
}

static __device__ inline void add_bins(const unsigned *bins, unsigned long long *counts, int threads) {
    for (int b = threadIdx.x; b < GCOR_BINS; b += threads)
        if (bins[b]) atomicAdd(&counts[b], (unsigned long long)bins[b]);
}
