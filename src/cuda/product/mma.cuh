/* The product of blocks of columns by mma.sync, available on every GPU since Ampere. Compiled with each sink
 * (launch.cuh). */
#pragma once

#include "kernel_sink.cuh"

#include <cuda_pipeline_primitives.h>

#include <algorithm>

namespace mma {

enum { THREADS = 256, WARPS = THREADS / 32, WARP_COLS = 32, N_TILES = WARP_COLS / 8 };
enum { STEP_BYTES = PIECE_BYTES / 2, STEP_CHUNKS = STEP_BYTES / 16 }; /* bytes and chunks of a column per step */
static_assert(4 * WARP_COLS == MMA_BLOCK_COLS, "a block's columns");

/* Layout of a block: 2 x 4 warps, each with m_tiles x N_TILES products of 16 x 8 pairs at a time. */
template <ProductMode Mode, class Sink>
struct Block {
    static const int planes = Mode == COMMON ? 3 : Mode == TIED ? 2 : 1;
    static const int sets = Mode == COMMON ? 4 : 1; /* sets of sums in registers */
    static const bool counts = Sink::counts;
    static const int m_tiles = Mode == COMMON           ? 2
                               : Mode == TIED && counts ? 1
                                                        : 4; /* limited by shared memory and registers */
    static const int warp_rows = 16 * m_tiles, rows = 2 * warp_rows;
    static const int side_bytes = (rows + MMA_BLOCK_COLS) * STEP_BYTES, stage_bytes = planes * side_bytes;
    static const int stages = planes == 1 && !counts ? 3 : 2;
    static const int hit_bytes = WARPS * WARP_HITS * (int)sizeof(Hit);
    static const int bin_bytes = counts ? GCOR_BINS * (int)sizeof(unsigned) : 0;
    static const int bytes = stages * stage_bytes + hit_bytes + bin_bytes;
    static_assert(rows <= (int)MMA_BLOCK_ROWS && (int)MMA_BLOCK_ROWS <= (int)SLACK_COLUMNS,
                  "read beyond the last column");
    static_assert(bytes <= 99 << 10, "shared memory of the smaller GPUs");
};

/* ---- loading ------------------------------------------------------------------------------ */

/* Position of 16 bytes (chunk 0 .. 3) of a variable in shared memory. Two variables fill all banks; the chunks of
 * the following ones are swizzled so that the same chunk of eight variables is read without bank conflicts. */
static __device__ inline int position(int var, int chunk) {
    return var * STEP_BYTES + (chunk ^ (var >> 1 & 3)) * 16;
}

/* Loads half a piece of n variables. */
static __device__ inline void load_side(const unsigned char *plane, int64_t stride, int64_t var, int64_t step, int n,
                                        unsigned char *shared) {
    for (int e = threadIdx.x; e < n * STEP_CHUNKS; e += THREADS) {
        int v = e / STEP_CHUNKS, c = e % STEP_CHUNKS;
        __pipeline_memcpy_async(shared + position(v, c),
                                plane + chunk_position(stride, var + v, step * STEP_CHUNKS + c), 16);
    }
}

/* Loads step `step` of the variables from `row` and from `col` on. */
template <class B>
static __device__ void load_stage(const Product &p, int64_t row, int64_t col, int64_t step, unsigned char *shared) {
    for (int plane = 0; plane < B::planes; plane++, shared += B::side_bytes) {
        load_side(p.rows.planes[plane], p.rows.stride, row + p.row_start, step, B::rows, shared);
        load_side(p.cols.planes[plane], p.cols.stride, col, step, MMA_BLOCK_COLS, shared + B::rows * STEP_BYTES);
    }
}

/* ---- multiplying ---------------------------------------------------------------------------- */

/* 32 bytes of 16 row variables, or of 8 column variables, as the lanes of a warp hold them for mma. */
struct RowBytes {
    unsigned w[4];
};
struct ColBytes {
    unsigned w[2];
};

/* Loads four matrices of 8 variables x 16 bytes. Lane l passes the address of variable l % 8 of matrix l / 8 and
 * receives word l % 4 of variable l / 4 of each matrix. */
static __device__ inline void load_matrices(const unsigned char *at, unsigned &a, unsigned &b, unsigned &c,
                                            unsigned &d) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"((unsigned)__cvta_generic_to_shared(at)));
}

/* Reads 16 variables from `var` on; half: which 32 bytes of the step. */
static __device__ inline RowBytes read_rows(const unsigned char *shared, int var, int half) {
    int lane = threadIdx.x % 32;
    RowBytes a;
    load_matrices(shared + position(var + lane % 16, half * 2 + lane / 16), a.w[0], a.w[1], a.w[2], a.w[3]);
    return a;
}

static __device__ inline void read_cols(const unsigned char *shared, int var, int half, ColBytes &low, ColBytes &high) {
    int lane = threadIdx.x % 32;
    load_matrices(shared + position(var + lane % 8 + lane / 16 * 8, half * 2 + lane / 8 % 2), low.w[0], low.w[1],
                  high.w[0], high.w[1]);
}

static __device__ inline RowBytes either(const RowBytes &a, const RowBytes &b) {
    return {{a.w[0] | b.w[0], a.w[1] | b.w[1], a.w[2] | b.w[2], a.w[3] | b.w[3]}};
}
static __device__ inline ColBytes either(const ColBytes &a, const ColBytes &b) {
    return {{a.w[0] | b.w[0], a.w[1] | b.w[1]}};
}
static __device__ inline RowBytes neither(const RowBytes &a) {
    return {{~a.w[0], ~a.w[1], ~a.w[2], ~a.w[3]}};
}

/* Adds to 16 x 8 sums the products of 16 half-precision values, or the number of common bits of 256. */
template <ProductMode Mode>
static __device__ void add_product(int (&sum)[4], const RowBytes &a, const ColBytes &b) {
    if constexpr (Mode == HALF)
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
            : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(b.w[0]), "r"(b.w[1]));
    else
        asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
            "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
            : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
            : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(b.w[0]), "r"(b.w[1]));
}

template <ProductMode Mode>
static __device__ void add_products(int (&sums)[N_TILES][4], const RowBytes &a, const ColBytes (&b)[N_TILES]) {
#pragma unroll
    for (int n = 0; n < N_TILES; n++) add_product<Mode>(sums[n], a, b[n]);
}

/* Computes all products of 16 rows; a and b are indexed by plane. */
template <ProductMode Mode, class B>
static __device__ void add_planes(int (&sums)[B::sets][B::m_tiles][N_TILES][4], int m, const RowBytes *a,
                                  const ColBytes (*b)[N_TILES]) {
    add_products<Mode>(sums[0][m], a[0], b[0]);
    if constexpr (Mode == TIED) {
        add_products<Mode>(sums[0][m], neither(a[1]), b[0]);
        add_products<Mode>(sums[0][m], a[1], b[1]);
        add_products<Mode>(sums[0][m], neither(a[0]), b[1]);
    }
    if constexpr (Mode == COMMON) {
        ColBytes untied[N_TILES];
#pragma unroll
        for (int n = 0; n < N_TILES; n++) untied[n] = either(b[0][n], b[1][n]);
        RowBytes own = either(a[0], a[1]);
        add_products<Mode>(sums[1][m], own, untied);
        add_products<Mode>(sums[2][m], own, b[2]);
        add_products<Mode>(sums[3][m], a[2], untied);
        add_products<Mode>(sums[0][m], a[1], b[1]);
    }
}

/* Multiplies one stage; `shared` points to it. */
template <ProductMode Mode, class B>
static __device__ void add_stage(const unsigned char *shared, int warp_row, int warp_col,
                                 int (&sums)[B::sets][B::m_tiles][N_TILES][4]) {
    const unsigned char *cols = shared + B::rows * STEP_BYTES;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        ColBytes b[B::planes][N_TILES];
#pragma unroll
        for (int plane = 0; plane < B::planes; plane++)
#pragma unroll
            for (int n = 0; n < N_TILES; n += 2)
                read_cols(cols + plane * B::side_bytes, warp_col + 8 * n, half, b[plane][n], b[plane][n + 1]);
#pragma unroll
        for (int m = 0; m < B::m_tiles; m++) {
            RowBytes a[B::planes];
#pragma unroll
            for (int plane = 0; plane < B::planes; plane++)
                a[plane] = read_rows(shared + plane * B::side_bytes, warp_row + 16 * m, half);
            add_planes<Mode, B>(sums, m, a, b);
        }
    }
}

/* ---- a block ---------------------------------------------------------------------------------- */

/* Multiplies all steps; B::stages - 1 steps are loaded ahead. */
template <ProductMode Mode, class B>
static __device__ void sum_block(const Product &p, int64_t row, int64_t col, int warp_row, int warp_col,
                                 unsigned char *shared, int (&sums)[B::sets][B::m_tiles][N_TILES][4]) {
    int steps = p.pieces * (PIECE_BYTES / STEP_BYTES);
    int64_t first = blockIdx.y * (int64_t)steps; /* first step of this part */
    auto load = [&](int step) {
        if (step < steps) load_stage<B>(p, row, col, first + step, shared + step % B::stages * B::stage_bytes);
        __pipeline_commit();
    };
    __syncthreads(); /* the stages of the previous block have been read */
    for (int step = 0; step < B::stages - 1; step++) load(step);
    for (int step = 0; step < steps; step++) {
        __pipeline_wait_prior(B::stages - 2);
        __syncthreads(); /* this stage has arrived, and the previous one has been read */
        load(step + B::stages - 1);
        add_stage<Mode, B>(shared + step % B::stages * B::stage_bytes, warp_row, warp_col, sums);
    }
}

/* COMMON: hands over the sums of signs and, for each side, the number of untied pairs of observations. */
template <class Sink, class B>
static __device__ void deliver_common(const Product &p, const Sink &sink, WarpOutput &out,
                                      int (&sums)[B::sets][B::m_tiles][N_TILES][4], int m, int64_t i, int64_t j) {
#pragma unroll
    for (int n = 0; n < N_TILES; n++)
#pragma unroll
        for (int e = 0; e < 4; e++) sums[0][m][n][e] = 2 * sums[0][m][n][e] - sums[1][m][n][e];
    sink.deliver_common(p, out, sums[0][m], sums[2][m], sums[3][m], i, j);
}

/* Computes the product of a block and hands it to the sink. */
template <ProductMode Mode, class Sink, class B>
static __device__ void compute_block(const Product &p, const Sink &sink, WarpOutput &out, const WalkBlock &block,
                                     int warp_row, int warp_col, unsigned char *shared) {
    int64_t i = block.row + warp_row, j = block.col + warp_col;
    int sums[B::sets][B::m_tiles][N_TILES][4] = {};
    if constexpr (Mode == COMMON) {
        sum_block<Mode, B>(p, block.row, block.col, warp_row, warp_col, shared, sums);
#pragma unroll
        for (int m = 0; m < B::m_tiles; m++) deliver_common<Sink, B>(p, sink, out, sums, m, i + 16 * m, j);
    } else {
        typename Sink::template Ahead<Mode, N_TILES> ahead(p, sink, j);
        sum_block<Mode, B>(p, block.row, block.col, warp_row, warp_col, shared, sums);
#pragma unroll
        for (int m = 0; m < B::m_tiles; m++) sink.template deliver<Mode>(p, out, ahead, sums[0][m], i + 16 * m, j);
    }
}

/* Processes all blocks of pairs that are assigned to this thread block. */
template <ProductMode Mode, class Sink>
static __device__ void compute_blocks(const Product &p, const Sink &sink) {
    using B = Block<Mode, Sink>;
    extern __shared__ __align__(16) unsigned char mma_memory[];
    unsigned char *shared = mma_memory, *hits = shared + B::stages * B::stage_bytes;
    int warp = threadIdx.x / 32, warp_row = warp / 4 * B::warp_rows, warp_col = warp % 4 * WARP_COLS;
    WarpOutput out{(Hit *)hits + warp * WARP_HITS, (unsigned *)(hits + B::hit_bytes)};
    if constexpr (Sink::counts) clear_bins(out.bins, THREADS);
    int group = 0;
    for (int index = blockIdx.x; index < p.walk.first[p.walk.groups]; index += gridDim.x) {
        while (index >= p.walk.first[group + 1]) group++;
        WalkBlock block = block_at(p, group, index, B::rows, MMA_BLOCK_COLS);
        if (!block.counts) continue;
        compute_block<Mode, Sink, B>(p, sink, out, block, warp_row, warp_col, shared);
    }
    sink.template finish<Mode>(p, out);
    if constexpr (Sink::counts) {
        __syncthreads();
        add_bins(out.bins, sink.bins, THREADS);
    }
}

/* In a build for several GPU architectures, the code for Hopper omits the kernels that wgmma.cuh provides, which
 * saves a third of the compile time. */
#if defined(__CUDA_ARCH_FEAT_SM90_ALL) && !defined(GPUCOR_MMA_ON_HOPPER)
static const bool LEFT_TO_WGMMA = true;
#else
static const bool LEFT_TO_WGMMA = false;
#endif

template <ProductMode Mode, class Sink>
static __global__ void __launch_bounds__(THREADS)
    mma_blocks(const __grid_constant__ Product p, const __grid_constant__ Sink sink) {
    if constexpr (!(LEFT_TO_WGMMA && Sink::hopper)) compute_blocks<Mode>(p, sink);
}

template <ProductMode Mode, class Sink>
static void launch(gcor_state *state, Product &p, const Sink &sink) {
    using B = Block<Mode, Sink>;
    auto kernel = mma_blocks<Mode, Sink>;
    p.walk = plan_walk(p, B::rows, MMA_BLOCK_COLS);
    int blocks = std::min(p.walk.first[p.walk.groups], 2 * state->processors);
    allow_shared(state, (const void *)kernel, B::bytes);
    dim3 grid((unsigned)blocks, (unsigned)std::max(1, p.parts));
    if (blocks > 0) kernel<<<grid, THREADS, B::bytes, state->compute.handle>>>(p, sink);
}

} // namespace mma
