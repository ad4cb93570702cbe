/* Chooses the kernel for a product and a sink. A file that launches a sink includes this file and the sink's header,
 * and compiles the kernels of the products that the sink accepts. */
#pragma once

#include "kernel_sink.cuh"
#include "mma.cuh"
#ifdef GPUCOR_SM90A
#include "wgmma.cuh"
#endif

#include <algorithm>
#include <cuda_pipeline.h>

/* ---- FLOAT: the exact product of REAL columns ------------------------------------------------------ */

/* On the ordinary cores: sums over GCOR_OBS_SLICE observations in single precision, added up in double (coefficient.h
 * says why). */
namespace floats {

/* A block has ROWS x COLS pairs, a thread OWN_ROWS x OWN_COLS of them. Registers suffice for two blocks on a
 * multiprocessor: one hands its sums to the sink while the other one multiplies. */
enum { THREADS = 256, WARPS = THREADS / 32, BLOCKS = 2, ROWS = 64, COLS = 128, OWN_ROWS = 4, OWN_COLS = 8 };
/* LOADERS, PADDING: what a warp copies to shared memory has no bank twice. CHUNK_ROWS: handed to the sink at a time,
 * cells two high and four wide. */
enum { LOADERS = 4, PADDING = 8, CHUNK_ROWS = 32 };
static_assert(THREADS == (ROWS / OWN_ROWS) * (COLS / OWN_COLS) && ROWS == 64 && COLS == 128, "shares of a block");
static_assert(GCOR_OBS_SLICE % LOADERS == 0 && ROWS % (THREADS / LOADERS) == 0 && COLS % ROWS == 0,
              "shares of a slice");
static_assert(WARPS == CHUNK_ROWS / CELL_ROWS * (COLS / CELL_COLS), "a cell for each warp");

/* Two slices, of which one is multiplied while the other one is loaded, or, later, sums. */
union Shared {
    struct {
        float rows[GCOR_OBS_SLICE][ROWS + PADDING], cols[GCOR_OBS_SLICE][COLS + PADDING];
    } slice[2];
    double values[CHUNK_ROWS][COLS + PADDING];
};
static_assert(BLOCKS * sizeof(Shared) <= 99 << 10, "shared memory of the smaller GPUs");

/* ---- loading ------------------------------------------------------------------------------ */

/* Copies observations k .. k+GCOR_OBS_SLICE-1 of variables `var` on, a side of the slice; zeros beyond n_var or n_obs.
 * LOADERS threads share the observations of a variable. */
template <int Width>
static __device__ inline void load(const float *columns, int64_t n_obs, int64_t var, int64_t n_var, int64_t k,
                                   float (&side)[GCOR_OBS_SLICE][Width]) {
    const int first = threadIdx.x / LOADERS, o = threadIdx.x % LOADERS;
#pragma unroll
    for (int v = first; v < Width - PADDING; v += THREADS / LOADERS) {
        const float *from = columns + (var + v) * n_obs + k + o;
        int64_t left = var + v < n_var ? n_obs - k - o : 0;
#pragma unroll
        for (int e = 0; e < GCOR_OBS_SLICE; e += LOADERS)
            __pipeline_memcpy_async(&side[o + e][v], e < left ? from + e : columns, sizeof *from,
                                    e < left ? 0 : sizeof *from);
    }
}

/* ---- multiplying ---------------------------------------------------------------------------- */

/* A warp has 32 x 32 pairs, of which a lane has rows y .. y+3, columns x .. x+3 and x+16 .. x+19. */
static __device__ inline int own_row(int i) {
    return threadIdx.x / COLS * 32 + threadIdx.x % 32 / 4 * OWN_ROWS + i;
}
static __device__ inline int own_col(int j) {
    return threadIdx.x % COLS / 32 * 32 + threadIdx.x % 4 * 4 + j % 4 + j / 4 * 16;
}

static __device__ inline void add_slice(const float (&rows)[GCOR_OBS_SLICE][ROWS + PADDING],
                                        const float (&cols)[GCOR_OBS_SLICE][COLS + PADDING],
                                        double (&sums)[OWN_ROWS][OWN_COLS]) {
    float slice[OWN_ROWS][OWN_COLS] = {};
#pragma unroll 4
    for (int o = 0; o < GCOR_OBS_SLICE; o++) {
        float4 a = *(const float4 *)&rows[o][own_row(0)];
        float4 low = *(const float4 *)&cols[o][own_col(0)], high = *(const float4 *)&cols[o][own_col(4)];
        const float row[OWN_ROWS] = {a.x, a.y, a.z, a.w};
        const float col[OWN_COLS] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (int i = 0; i < OWN_ROWS; i++)
#pragma unroll
            for (int j = 0; j < OWN_COLS; j++) slice[i][j] = __fmaf_rn(row[i], col[j], slice[i][j]);
    }
#pragma unroll
    for (int i = 0; i < OWN_ROWS; i++)
#pragma unroll
        for (int j = 0; j < OWN_COLS; j++) sums[i][j] += slice[i][j];
}

/* Multiplies all slices; the next slice is loaded while the current one is multiplied. */
static __device__ inline void sum_block(const Product &p, const WalkBlock &block, Shared &shared,
                                        double (&sums)[OWN_ROWS][OWN_COLS]) {
    auto bring = [&](int64_t k, int turn) {
        load(p.rows.columns, p.n_obs, block.row, p.tile.n_row, k, shared.slice[turn].rows);
        load(p.cols.columns, p.n_obs, block.col, p.tile.n_col, k, shared.slice[turn].cols);
        __pipeline_commit();
    };
    bring(0, 0);
    for (int64_t k = 0, turn = 0; k < p.n_obs; k += GCOR_OBS_SLICE, turn ^= 1) {
        __pipeline_wait_prior(0);
        __syncthreads(); /* also: the slice before has been read */
        bring(k + GCOR_OBS_SLICE, turn ^ 1);
        add_slice(shared.slice[turn].rows, shared.slice[turn].cols, sums);
    }
    __pipeline_wait_prior(0); /* the slice beyond the last one, which is empty */
}

/* ---- the sink --------------------------------------------------------------------------------- */

/* Hands the sums to the sink through shared memory, CHUNK_ROWS rows at a time. */
template <class Sink>
static __device__ void deliver_block(const Product &p, const Sink &sink, const WalkBlock &block, Shared &shared,
                                     const double (&sums)[OWN_ROWS][OWN_COLS]) {
    int warp = threadIdx.x / 32, row = warp / 4 * CELL_ROWS, col = warp % 4 * CELL_COLS + threadIdx.x % 32;
#pragma unroll 1
    for (int chunk = 0; chunk < ROWS / CHUNK_ROWS; chunk++) {
        __syncthreads(); /* the last slice has been read, or the previous chunk delivered */
        if (own_row(0) / CHUNK_ROWS == chunk)
#pragma unroll
            for (int i = 0; i < OWN_ROWS; i++)
#pragma unroll
                for (int j = 0; j < OWN_COLS; j++) shared.values[own_row(i) % CHUNK_ROWS][own_col(j)] = sums[i][j];
        __syncthreads();
        sink.deliver_cell(p, block.row + chunk * CHUNK_ROWS + row, block.col + col,
                          [&](int k) { return shared.values[row + k][col]; });
    }
}

template <class Sink>
static __global__ void __launch_bounds__(THREADS, BLOCKS)
    float_blocks(const __grid_constant__ Product p, const __grid_constant__ Sink sink) {
    extern __shared__ __align__(16) unsigned char float_memory[];
    Shared &shared = *reinterpret_cast<Shared *>(float_memory);
    int group = 0;
    for (int index = blockIdx.x; index < p.walk.first[p.walk.groups]; index += gridDim.x) {
        while (index >= p.walk.first[group + 1]) group++;
        WalkBlock block = block_at(p, group, index, ROWS, COLS);
        if (!block.counts) continue;
        double sums[OWN_ROWS][OWN_COLS] = {};
        sum_block(p, block, shared, sums);
        if constexpr (Sink::register_sums)
            sink.deliver_registers(p, block, sums);
        else
            deliver_block(p, sink, block, shared, sums);
        __syncthreads();
    }
}

template <class Sink>
static void launch(gcor_state *state, Product &p, const Sink &sink) {
    auto kernel = float_blocks<Sink>;
    p.walk = plan_walk(p, ROWS, COLS);
    int blocks = std::min(p.walk.first[p.walk.groups], BLOCKS * state->processors), bytes = (int)sizeof(Shared);
    allow_shared(state, (const void *)kernel, bytes);
    if (blocks > 0) kernel<<<blocks, THREADS, bytes, state->compute.handle>>>(p, sink);
}

} // namespace floats

/* ---- the choice ------------------------------------------------------------------------------------- */

template <ProductMode Mode, class Sink>
static void launch_mode(gcor_state *state, Product &product, const Sink &sink) {
    if constexpr ((Sink::modes & modes_of(Mode)) == 0) {
        (void)state, (void)product, (void)sink;
        fail_impossible("this product into this sink");
    } else if constexpr (Mode == FLOAT) {
        floats::launch(state, product, sink);
    } else {
#ifdef GPUCOR_SM90A
        if constexpr (Sink::hopper)
            if (state->wgmma) return wgmma::launch<Mode>(state, product, sink);
#endif
        mma::launch<Mode>(state, product, sink);
    }
}

/* Runs the product on state->compute. */
template <class Sink>
static void launch_sink(gcor_state *state, Product &product, const Sink &sink) {
    switch (product.mode) {
    case HALF: launch_mode<HALF>(state, product, sink); break;
    case UNTIED: launch_mode<UNTIED>(state, product, sink); break;
    case TIED: launch_mode<TIED>(state, product, sink); break;
    case COMMON: launch_mode<COMMON>(state, product, sink); break;
    case FLOAT: launch_mode<FLOAT>(state, product, sink); break;
    default: fail_impossible("a product of no kind");
    }
    check_launch("multiplying columns");
}
