/* The product of blocks of columns by mma.sync, available on every GPU since Ampere. Compiled with each sink
 * (launch.cuh). */
#pragma once

#include "kernel_sink.cuh"

#include <cuda_pipeline_primitives.h>

#include <algorithm>

namespace mma {

enum { THREADS = 256, WARPS = THREADS / 32, STAGES = 2 };

/* Layout of a block: warps_down x warps_across warps, each with m_tiles x n_tiles products of 16 x 8 pairs at a time.
 * With one plane a step is a whole piece, which is copied as it is; sums of a block that has a multiprocessor to itself
 * fill the registers, so that it reads less from the L2 cache. */
template <ProductMode Mode, class Sink>
struct Block {
    static const int planes = Mode == COMMON ? 3 : Mode == TIED ? 2 : 1;
    static const int sets = Mode == COMMON ? 4 : 1; /* sets of sums in registers */
    static const bool counts = Sink::counts, large = planes == 1 && Sink::blocks == 1;
    static const bool spread = Mode == HALF ? false : SIGN_BYTES; /* bits are spread into bytes */
    static const int m_tiles = large                    ? 3
                               : Mode == COMMON         ? 2
                               : Mode == TIED && counts ? 1
                                                        : 4; /* limited by shared memory and registers */
    static const int n_tiles = large ? 8 : 4;
    static const int warps_across = large ? 2 : 4, warps_down = WARPS / warps_across;
    static const int warp_rows = 16 * m_tiles, rows = warps_down * warp_rows;
    static const int warp_cols = 8 * n_tiles, cols = warps_across * warp_cols;
    static const int step_bytes = planes == 1 && !counts ? PIECE_BYTES : PIECE_BYTES / 2;
    static const int side_bytes = (rows + cols) * step_bytes, stage_bytes = planes * side_bytes;
    static const int hit_bytes = WARPS * WARP_HITS * (int)sizeof(Hit);
    static const int bin_bytes = counts ? GCOR_BINS * (int)sizeof(unsigned) : 0;
    static const int bytes = STAGES * stage_bytes + hit_bytes + bin_bytes;
    static_assert(rows <= (int)SLACK_COLUMNS && cols <= (int)SLACK_COLUMNS, "read beyond the last column");
    static_assert(bytes <= 99 << 10, "shared memory of the smaller GPUs");
};

/* ---- loading ------------------------------------------------------------------------------ */

/* Position of 16 bytes (a chunk of a step) of a variable in shared memory. Chunks are swizzled so that the same chunk
 * of eight variables is read without bank conflicts: those of a whole piece as in device memory (chunk_position()). */
template <int Bytes>
static __device__ inline int position(int var, int chunk) {
    return var * Bytes + (chunk ^ (Bytes == PIECE_BYTES ? var & 7 : var >> 1 & 3)) * 16;
}

/* Loads a step of N variables, of which the first is a multiple of 8: the swizzle is thus the same for all that a
 * thread loads, and their addresses differ by constants. */
template <int Bytes, int N>
static __device__ inline void load_side(const unsigned char *plane, int64_t stride, int64_t var, int64_t step,
                                        unsigned char *shared) {
    const int chunks = Bytes / 16, v = threadIdx.x / chunks, c = threadIdx.x % chunks, more = THREADS / chunks;
    unsigned char *to = shared + position<Bytes>(v, c);
    plane += var * PIECE_BYTES + chunk_position(stride, v, step * chunks + c);
#pragma unroll
    for (int first = 0; first < N; first += more)
        if (N % more == 0 || first + v < N)
            __pipeline_memcpy_async(to + first * Bytes, plane + first * PIECE_BYTES, 16);
}

/* Loads step `step` of the variables from `row` and from `col` on. */
template <class B>
static __device__ void load_stage(const Product &p, int64_t row, int64_t col, int64_t step, unsigned char *shared) {
    for (int plane = 0; plane < B::planes; plane++, shared += B::side_bytes) {
        load_side<B::step_bytes, B::rows>(p.rows.planes[plane], p.rows.stride, row + p.row_start, step, shared);
        load_side<B::step_bytes, B::cols>(p.cols.planes[plane], p.cols.stride, col, step,
                                          shared + B::rows * B::step_bytes);
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

/* Reads 16 variables from `var` on; part: which 32 bytes of the step. */
template <int Bytes>
static __device__ inline RowBytes read_rows(const unsigned char *shared, int var, int part) {
    int lane = threadIdx.x % 32;
    RowBytes a;
    load_matrices(shared + position<Bytes>(var + lane % 16, part * 2 + lane / 16), a.w[0], a.w[1], a.w[2], a.w[3]);
    return a;
}

template <int Bytes>
static __device__ inline void read_cols(const unsigned char *shared, int var, int part, ColBytes &low, ColBytes &high) {
    int lane = threadIdx.x % 32;
    load_matrices(shared + position<Bytes>(var + lane % 8 + lane / 16 * 8, part * 2 + lane / 8 % 2), low.w[0], low.w[1],
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

/* Computes all products of 16 rows; a and b are indexed by plane. */
template <ProductMode Mode, class B>
static __device__ void add_planes(int (&sums)[B::sets][B::m_tiles][B::n_tiles][4], int m, const RowBytes *a,
                                  const ColBytes (&b)[B::n_tiles][B::planes]) {
#pragma unroll
    for (int n = 0; n < B::n_tiles; n++) {
        add_product<Mode>(sums[0][m][n], a[0], b[n][0]);
        if constexpr (Mode == TIED) {
            add_product<Mode>(sums[0][m][n], neither(a[1]), b[n][0]);
            add_product<Mode>(sums[0][m][n], a[1], b[n][1]);
            add_product<Mode>(sums[0][m][n], neither(a[0]), b[n][1]);
        }
        if constexpr (Mode == COMMON) {
            const RowBytes own = either(a[0], a[1]);
            const ColBytes untied = either(b[n][0], b[n][1]);
            add_product<Mode>(sums[1][m][n], own, untied);
            add_product<Mode>(sums[2][m][n], own, b[n][2]);
            add_product<Mode>(sums[3][m][n], a[2], untied);
            add_product<Mode>(sums[0][m][n], a[1], b[n][1]);
        }
    }
}

/* ---- signs as bytes -------------------------------------------------------------------------- */

/* Bits r, r + 8, r + 16 and r + 24 of each word, as bytes 0 or 1. */
template <class Words>
static __device__ inline Words bits_at(Words words, int r) {
#pragma unroll
    for (unsigned &w : words.w) w = w >> r & 0x01010101;
    return words;
}

/* -1 in bytes whose upper bit is set, otherwise 0. */
static __device__ inline unsigned upper_bits(unsigned word) {
    unsigned bytes;
    asm("prmt.b32 %0, %1, %1, 0xba98;" : "=r"(bytes) : "r"(word));
    return bytes;
}

/* The same bits of the planes `greater` and `less`, as bytes 1, 0 or -1; UNTIED: of `greater`, as bytes 1 or 0. */
template <ProductMode Mode, class Words>
static __device__ inline Words signs_at(const Words *planes, int r) {
    Words signs = bits_at(planes[0], r);
    if constexpr (Mode != UNTIED)
#pragma unroll
        for (int k = 0; k < (int)(sizeof signs.w / sizeof *signs.w); k++)
            signs.w[k] |= upper_bits(planes[1].w[k] << (7 - r));
    return signs;
}

/* Adds to 16 x 8 sums the products of 32 bytes. */
static __device__ void add_bytes(int (&sum)[4], const RowBytes &a, const ColBytes &b) {
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(b.w[0]), "r"(b.w[1]));
}

/* Computes all products of a warp; a and b are indexed by tile and plane. Which bits are spread at a time is the same
 * for rows and columns, so that bytes meet as bits do. */
template <ProductMode Mode, class B>
static __device__ void add_spread(int (&sums)[B::sets][B::m_tiles][B::n_tiles][4],
                                  const RowBytes (&a)[B::m_tiles][B::planes],
                                  const ColBytes (&b)[B::n_tiles][B::planes]) {
#pragma unroll
    for (int r = 0; r < 8; r++) {
        ColBytes cols[B::n_tiles];
#pragma unroll
        for (int n = 0; n < B::n_tiles; n++) cols[n] = signs_at<Mode>(b[n], r);
#pragma unroll
        for (int m = 0; m < B::m_tiles; m++) {
            const RowBytes row = signs_at<Mode>(a[m], r);
#pragma unroll
            for (int n = 0; n < B::n_tiles; n++) {
                add_bytes(sums[0][m][n], row, cols[n]);
                if constexpr (Mode == COMMON) {
                    add_bytes(sums[2][m][n], bits_at(row, 0), bits_at(b[n][2], r)); /* untied, present */
                    add_bytes(sums[3][m][n], bits_at(a[m][2], r), bits_at(cols[n], 0));
                }
            }
        }
    }
}

/* ---- a block ---------------------------------------------------------------------------------- */

/* Multiplies one stage; `shared` points to it. */
template <ProductMode Mode, class B>
static __device__ void add_stage(const unsigned char *shared, int warp_row, int warp_col,
                                 int (&sums)[B::sets][B::m_tiles][B::n_tiles][4]) {
    const unsigned char *cols = shared + B::rows * B::step_bytes;
#pragma unroll(B::spread ? 1 : B::step_bytes / 32)
    for (int part = 0; part < B::step_bytes / 32; part++) {
        ColBytes b[B::n_tiles][B::planes];
#pragma unroll
        for (int plane = 0; plane < B::planes; plane++)
#pragma unroll
            for (int n = 0; n < B::n_tiles; n += 2)
                read_cols<B::step_bytes>(cols + plane * B::side_bytes, warp_col + 8 * n, part, b[n][plane],
                                         b[n + 1][plane]);
        RowBytes a[B::m_tiles][B::planes];
#pragma unroll
        for (int m = 0; m < B::m_tiles; m++) {
#pragma unroll
            for (int plane = 0; plane < B::planes; plane++)
                a[m][plane] = read_rows<B::step_bytes>(shared + plane * B::side_bytes, warp_row + 16 * m, part);
            if constexpr (!B::spread) add_planes<Mode, B>(sums, m, a[m], b);
        }
        if constexpr (B::spread) add_spread<Mode, B>(sums, a, b);
    }
}

/* Multiplies all steps; a step is loaded while the one before is multiplied. */
template <ProductMode Mode, class B>
static __device__ void sum_block(const Product &p, int64_t row, int64_t col, int warp_row, int warp_col,
                                 unsigned char *shared, int (&sums)[B::sets][B::m_tiles][B::n_tiles][4]) {
    int steps = p.pieces * (PIECE_BYTES / B::step_bytes);
    int64_t first = blockIdx.y * (int64_t)steps; /* first step of this part */
    auto load = [&](int step) {
        if (step < steps) load_stage<B>(p, row, col, first + step, shared + step % STAGES * B::stage_bytes);
        __pipeline_commit();
    };
    __syncthreads(); /* the stages of the previous block have been read */
    load(0);
    for (int step = 0; step < steps; step++) {
        __pipeline_wait_prior(0);
        __syncthreads(); /* this stage has arrived, and the previous one has been read */
        load(step + 1);
        add_stage<Mode, B>(shared + step % STAGES * B::stage_bytes, warp_row, warp_col, sums);
    }
}

/* COMMON: hands over the sums of signs and, for each side, the number of untied pairs of observations. */
template <class Sink, class B>
static __device__ void deliver_common(const Product &p, const Sink &sink, WarpOutput &out,
                                      int (&sums)[B::sets][B::m_tiles][B::n_tiles][4], int m, int64_t i, int64_t j) {
#pragma unroll
    for (int n = 0; n < B::n_tiles; n++)
#pragma unroll
        for (int e = 0; !B::spread && e < 4; e++) sums[0][m][n][e] = 2 * sums[0][m][n][e] - sums[1][m][n][e];
    sink.deliver_common(p, out, sums[0][m], sums[2][m], sums[3][m], i, j);
}

/* Computes the product of a block and hands it to the sink. */
template <ProductMode Mode, class Sink, class B>
static __device__ void compute_block(const Product &p, const Sink &sink, WarpOutput &out, const WalkBlock &block,
                                     int warp_row, int warp_col, unsigned char *shared) {
    int64_t i = block.row + warp_row, j = block.col + warp_col;
    int sums[B::sets][B::m_tiles][B::n_tiles][4] = {};
    if constexpr (Mode == COMMON) {
        sum_block<Mode, B>(p, block.row, block.col, warp_row, warp_col, shared, sums);
#pragma unroll
        for (int m = 0; m < B::m_tiles; m++) deliver_common<Sink, B>(p, sink, out, sums, m, i + 16 * m, j);
    } else {
        typename Sink::template Ahead<Mode, B::n_tiles> ahead(p, sink, j);
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
    unsigned char *shared = mma_memory, *hits = shared + STAGES * B::stage_bytes;
    int warp = threadIdx.x / 32, warp_row = warp / B::warps_across * B::warp_rows;
    int warp_col = warp % B::warps_across * B::warp_cols;
    WarpOutput out{(Hit *)hits + warp * WARP_HITS, (unsigned *)(hits + B::hit_bytes)};
    if constexpr (Sink::counts) clear_bins(out.bins, THREADS);
    int group = 0;
    for (int index = blockIdx.x; index < p.walk.first[p.walk.groups]; index += gridDim.x) {
        while (index >= p.walk.first[group + 1]) group++;
        WalkBlock block = block_at(p, group, index, B::rows, B::cols);
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
static const bool LEFT_TO_WGMMA = !SIGN_BYTES;
#else
static const bool LEFT_TO_WGMMA = false;
#endif

template <ProductMode Mode, class Sink>
static __global__ void __launch_bounds__(THREADS, Sink::blocks)
    mma_blocks(const __grid_constant__ Product p, const __grid_constant__ Sink sink) {
    if constexpr (!(LEFT_TO_WGMMA && Sink::hopper)) compute_blocks<Mode>(p, sink);
}

template <ProductMode Mode, class Sink>
static void launch(gcor_state *state, Product &p, const Sink &sink) {
    using B = Block<Mode, Sink>;
    auto kernel = mma_blocks<Mode, Sink>;
    p.walk = plan_walk(p, B::rows, B::cols);
    int blocks = std::min(p.walk.first[p.walk.groups], Sink::blocks * state->processors);
    allow_shared(state, (const void *)kernel, B::bytes);
    dim3 grid((unsigned)blocks, (unsigned)std::max(1, p.parts));
    if (blocks > 0) kernel<<<grid, THREADS, B::bytes, state->compute.handle>>>(p, sink);
}

} // namespace mma
