/* The exact product of REAL columns on the ordinary cores: sums over GCOR_OBS_SLICE observations in single
 * precision, added up in double (coefficient.h says why). Compiled with each sink (launch.cuh). */
#ifndef GPUCOR_CUDA_FLOAT_CUH
#define GPUCOR_CUDA_FLOAT_CUH

#include "kernel_sink.cuh"

#include <algorithm>

namespace floats {

enum { THREADS = 256, WARPS = THREADS / 32, SIDE = 128, OWN = 8, HALF_SIDE = SIDE / 2 };
enum { PADDED = SIDE + 4, EACH = SIDE * GCOR_OBS_SLICE / THREADS }; /* values of a side that each thread loads */
enum { CHUNK_ROWS = 32 }; /* rows of a block handed to the sink at a time: cells two high and four wide */
static_assert(THREADS == (SIDE / OWN) * (SIDE / OWN) && SIDE * GCOR_OBS_SLICE % THREADS == 0, "shares of a block");
static_assert(WARPS == CHUNK_ROWS / CELL_ROWS * (SIDE / CELL_COLS), "a cell for each warp");

struct Shared {
    float rows[2][GCOR_OBS_SLICE][PADDED], cols[2][GCOR_OBS_SLICE][PADDED];
    double values[CHUNK_ROWS][PADDED];
};
static_assert(sizeof(Shared) <= 99 << 10, "shared memory of the smaller GPUs");

/* ---- loading ------------------------------------------------------------------------------ */

/* Loads this thread's values of SIDE variables from `var` on, observations from k on. Values beyond n_var or n_obs
 * are 0. */
static __device__ inline void fetch(const float *columns, int64_t n_obs, int64_t var, int64_t n_var, int64_t k,
                                    float (&own)[EACH]) {
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int at = threadIdx.x + THREADS * e;
        int64_t v = var + at / GCOR_OBS_SLICE, o = k + at % GCOR_OBS_SLICE;
        own[e] = v < n_var && o < n_obs ? columns[v * n_obs + o] : 0;
    }
}

static __device__ inline void store(const float (&own)[EACH], float (&side)[GCOR_OBS_SLICE][PADDED]) {
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        int at = threadIdx.x + THREADS * e;
        side[at % GCOR_OBS_SLICE][at / GCOR_OBS_SLICE] = own[e];
    }
}

/* ---- multiplying ---------------------------------------------------------------------------- */

/* A thread has rows y .. y+3 and y+HALF_SIDE .. y+HALF_SIDE+3, and the same pattern of columns. */
static __device__ inline int own_row(int i) {
    return threadIdx.x / (SIDE / OWN) * 4 + i % 4 + i / 4 * HALF_SIDE;
}
static __device__ inline int own_col(int j) {
    return threadIdx.x % (SIDE / OWN) * 4 + j % 4 + j / 4 * HALF_SIDE;
}

/* Rows are multiplied in two halves: single and double precision sums of all rows at once exceed the registers. */
static __device__ inline void add_slice(const float (&rows)[GCOR_OBS_SLICE][PADDED],
                                        const float (&cols)[GCOR_OBS_SLICE][PADDED], double (&sums)[OWN][OWN]) {
#pragma unroll
    for (int half = 0; half < OWN; half += 4) {
        float slice[4][OWN] = {};
#pragma unroll 4
        for (int o = 0; o < GCOR_OBS_SLICE; o++) {
            float4 a = *(const float4 *)&rows[o][own_row(half)];
            float4 low = *(const float4 *)&cols[o][own_col(0)], high = *(const float4 *)&cols[o][own_col(4)];
            const float row[4] = {a.x, a.y, a.z, a.w};
            const float col[OWN] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
            for (int i = 0; i < 4; i++)
#pragma unroll
                for (int j = 0; j < OWN; j++) slice[i][j] = __fmaf_rn(row[i], col[j], slice[i][j]);
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int j = 0; j < OWN; j++) sums[half + i][j] += slice[i][j];
    }
}

/* Multiplies all slices; the next slice is loaded while the current one is multiplied. */
static __device__ inline void sum_block(const Product &p, const WalkBlock &block, Shared &shared,
                                        double (&sums)[OWN][OWN]) {
    float rows[EACH], cols[EACH];
    auto bring = [&](int64_t k) {
        fetch(p.rows.columns, p.n_obs, block.row, p.tile.n_row, k, rows);
        fetch(p.cols.columns, p.n_obs, block.col, p.tile.n_col, k, cols);
    };
    bring(0);
    for (int64_t k = 0, turn = 0; k < p.n_obs; k += GCOR_OBS_SLICE, turn ^= 1) {
        store(rows, shared.rows[turn]);
        store(cols, shared.cols[turn]);
        __syncthreads(); /* also: the slice before the last one has been read */
        bring(k + GCOR_OBS_SLICE);
        add_slice(shared.rows[turn], shared.cols[turn], sums);
    }
}

/* ---- the sink --------------------------------------------------------------------------------- */

/* Hands the sums to the sink through shared memory, CHUNK_ROWS rows at a time. */
template <class Sink>
static __device__ void deliver_block(const Product &p, const Sink &sink, const WalkBlock &block, Shared &shared,
                                     const double (&sums)[OWN][OWN]) {
    int warp = threadIdx.x / 32, row = warp / 4 * CELL_ROWS, col = warp % 4 * CELL_COLS + threadIdx.x % 32;
#pragma unroll 1
    for (int chunk = 0; chunk < SIDE / CHUNK_ROWS; chunk++) {
        __syncthreads(); /* the previous chunk has been delivered */
#pragma unroll
        for (int i = 0; i < OWN; i++)
            if (own_row(i) / CHUNK_ROWS == chunk)
#pragma unroll
                for (int j = 0; j < OWN; j++) shared.values[own_row(i) % CHUNK_ROWS][own_col(j)] = sums[i][j];
        __syncthreads();
        sink.deliver_cell(p, block.row + chunk * CHUNK_ROWS + row, block.col + col,
                          [&](int k) { return shared.values[row + k][col]; });
    }
}

template <class Sink>
static __global__ void __launch_bounds__(THREADS, 1)
    float_blocks(const __grid_constant__ Product p, const __grid_constant__ Sink sink) {
    extern __shared__ __align__(16) unsigned char float_memory[];
    Shared &shared = *reinterpret_cast<Shared *>(float_memory);
    int group = 0;
    for (int index = blockIdx.x; index < p.walk.first[p.walk.groups]; index += gridDim.x) {
        while (index >= p.walk.first[group + 1]) group++;
        WalkBlock block = block_at(p, group, index, SIDE, SIDE);
        if (!block.counts) continue;
        double sums[OWN][OWN] = {};
        sum_block(p, block, shared, sums);
        deliver_block(p, sink, block, shared, sums);
        __syncthreads();
    }
}

template <class Sink>
static void launch(gcor_state *state, Product &p, const Sink &sink) {
    auto kernel = float_blocks<Sink>;
    p.walk = plan_walk(p, SIDE, SIDE);
    int blocks = std::min(p.walk.first[p.walk.groups], state->processors), bytes = (int)sizeof(Shared);
    allow_shared(state, (const void *)kernel, bytes);
    if (blocks > 0) kernel<<<blocks, THREADS, bytes, state->compute.handle>>>(p, sink);
}

} // namespace floats

#endif
