/* What every sink in a kernel has in common. A sink is a struct that a kernel is compiled with and gets by value,
 * beside the product. It has
 *
 *   modes                  the products that it takes
 *   hopper                 whether it is compiled for wgmma.cuh, too; mma.cuh otherwise
 *   long_blocks            whether it leaves so many registers that a block may have more sums (wgmma.cuh)
 *   counts                 whether it wants bins in the block's shared memory, for `bins` in the device's
 *   Ahead<Mode, N>         what a warp wants to know of its 8 N columns, from the tile's column j on: asked for before
 *                          their sums are computed, and there when they are
 *   deliver<Mode>()        16 rows x 8 N columns of sums in registers, from the tile's (i, j) on
 *   deliver_cell()         FLOAT: CELL_ROWS x CELL_COLS products, a column in each lane
 *   finish<Mode>()         what is left when a block has no more sums
 *
 * All lanes of a warp come. Both kernels of tensor cores leave sums in the same way: a lane's value e of number n
 * is that of row g + 8 (e / 2) and column 8 n + 2 t + e % 2, where g = lane / 4 and t = lane % 4. */
#ifndef GPUCOR_CUDA_WARP_CUH
#define GPUCOR_CUDA_WARP_CUH

#include "../product/pair.cuh"
#include "../../sink/histogram.h"

/* Of a tile, what a warp delivers at a time: CELL_ROWS x CELL_COLS pairs. */
enum { CELL_ROWS = 16, CELL_COLS = 32 };

/* A set of products. */
static constexpr unsigned modes_of(ProductMode mode) {
    return 1u << mode;
}

/* A pair that is worth keeping: its place, and its sum (edge_sink.cuh). */
typedef unsigned long long Hit;

/* What a warp has of shared memory. */
struct WarpOutput {
    Hit *hits;      /* WARP_HITS of them, or a cell's sums */
    unsigned *bins; /* of all warps, where the sink counts */
    int n = 0;      /* hits, the same number in every lane */
};
static_assert(WARP_HITS * sizeof(Hit) >= CELL_ROWS * CELL_COLS * sizeof(int), "a cell's sums");

/* What most sinks are: they look at sums when these are there, and keep none. */
struct PlainSink {
    static constexpr bool hopper = true, long_blocks = false, counts = false;
    struct Nothing {
        __device__ Nothing(const Product &, int64_t) {}
    };
    template <ProductMode Mode, int N>
    using Ahead = Nothing;
    template <ProductMode Mode>
    __device__ void finish(const Product &, WarpOutput &) const {}
};

/* Every sum of 16 rows x 8 N columns, a cell at a time, through shared memory, so that what is done with a row's sums
 * is done in whole lines. body(sums, j): sums[k * CELL_COLS] is that of row k and of the lane's column j. */
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

/* The same, sum by sum: body(sum, i, j). */
template <int N, class Body>
static __device__ inline void for_each_sum(WarpOutput &out, const int (&sums)[N][4], int64_t i, int64_t j, Body body) {
    for_each_cell(out, sums, j, [&](const int *cell, int64_t col) {
#pragma unroll 1
        for (int row = 0; row < CELL_ROWS; row++) body(cell[row * CELL_COLS], i + row, col);
    });
}

/* ---- bins -------------------------------------------------------------------------------------- */

/* By all threads of a block. */
static __device__ inline void clear_bins(unsigned *bins, int threads) {
    for (int b = threadIdx.x; b < GCOR_BINS; b += threads) bins[b] = 0;
}

static __device__ inline void add_bins(const unsigned *bins, unsigned long long *counts, int threads) {
    for (int b = threadIdx.x; b < GCOR_BINS; b += threads)
        if (bins[b]) atomicAdd(&counts[b], (unsigned long long)bins[b]);
}

#endif
