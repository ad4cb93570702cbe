/* The product of sign bits on the binary tensor cores: how many bits two columns have in common.
 * With planes a, b (greater, less), v = a | b (untied) and p (present):
 *   no ties:     sum of signs = 4 aa' - 2 a - 2 a' + bits
 *   ties:        sum of signs = 2 (aa' + bb') - vv'
 *   common rows: the same, and untied pairs vp' and pv'. */
#include "sign.cuh"

#include <cuda_pipeline_primitives.h>

enum { THREADS = 256, WARP_COLS = 32, N_TILES = WARP_COLS / 8, BLOCK_COLS = 4 * WARP_COLS };

/* A block: 2 x 4 warps, each with m_tiles x N_TILES products of 16 x 8 pairs at a time. */
template <SignMode Mode>
struct Block {
    static const int planes = Mode + 1;
    static const int sets = Mode == UNTIED ? 1 : Mode == TIED ? 2 : 4; /* of sums in registers */
    static const int m_tiles = Mode == COMMON ? 2 : 4;
    static const int warp_rows = 16 * m_tiles, rows = 2 * warp_rows;
    static const int side_words = (rows + BLOCK_COLS) * SIGN_WORDS, stage_words = planes * side_words;
    static const int stages = Mode == UNTIED ? 4 : Mode == TIED ? 3 : 2;
    static const int bytes = stages * stage_words * (int)sizeof(unsigned);
    static_assert(rows <= (int)SIGN_BLOCK && (int)BLOCK_COLS <= (int)SIGN_BLOCK, "read beyond the last variable");
};

/* Where 16 bytes (chunk c of 4) of a variable lie in shared memory, in words. Two variables fill all
 * banks; those after them have their chunks exchanged, so that the same chunk of eight variables is
 * read without conflict. */
static __device__ int place(int var, int chunk) {
    return var * SIGN_WORDS + (chunk ^ (var >> 1 & 3)) * 4;
}

static __device__ const unsigned *plane_of(const Planes &planes, int which) {
    return which == 0 ? planes.greater : which == 1 ? planes.less : planes.present;
}

/* SIGN_WORDS words of n variables: one piece of memory. */
static __device__ void load_side(const unsigned *piece, int n, unsigned *shared) {
    for (int e = threadIdx.x; e < n * 4; e += THREADS)
        __pipeline_memcpy_async(shared + place(e / 4, e % 4), piece + e * 4, 16);
}

/* Step `step` of the variables from `row` and from `col` on. */
template <SignMode Mode>
static __device__ void load_stage(const Planes &rows, int64_t row, const Planes &cols, int64_t col, int64_t step,
                                  unsigned *shared) {
    using B = Block<Mode>;
    int64_t row_at = step * rows.stride + row * SIGN_WORDS, col_at = step * cols.stride + col * SIGN_WORDS;
    for (int plane = 0; plane < B::planes; plane++, shared += B::side_words) {
        load_side(plane_of(rows, plane) + row_at, B::rows, shared);
        load_side(plane_of(cols, plane) + col_at, BLOCK_COLS, shared + B::rows * SIGN_WORDS);
    }
}

/* 256 bits of 16 variables of the rows' side, or of 8 of the columns', as the lanes of a warp hold them
 * for mma. Which bits these are does not matter as long as both sides agree. */
struct RowBits {
    unsigned w[4];
};
struct ColBits {
    unsigned w[2];
};

/* Four times 8 variables x 16 bytes: lane l names the place of variable l % 8 of number l / 8, and gets
 * word l % 4 of variable l / 4 of each. */
static __device__ void load_matrices(const unsigned *at, unsigned &a, unsigned &b, unsigned &c, unsigned &d) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"((unsigned)__cvta_generic_to_shared(at)));
}

/* 16 variables from `var` on; half: which of a stage's 256 bits. */
static __device__ RowBits read_rows(const unsigned *shared, int var, int half) {
    int lane = threadIdx.x % 32;
    RowBits a;
    load_matrices(shared + place(var + lane % 16, half * 2 + lane / 16), a.w[0], a.w[1], a.w[2], a.w[3]);
    return a;
}

static __device__ void read_cols(const unsigned *shared, int var, int half, ColBits &low, ColBits &high) {
    int lane = threadIdx.x % 32;
    load_matrices(shared + place(var + lane % 8 + lane / 16 * 8, half * 2 + lane / 8 % 2), low.w[0], low.w[1],
                  high.w[0], high.w[1]);
}

static __device__ RowBits either(const RowBits &a, const RowBits &b) {
    return {{a.w[0] | b.w[0], a.w[1] | b.w[1], a.w[2] | b.w[2], a.w[3] | b.w[3]}};
}
static __device__ ColBits either(const ColBits &a, const ColBits &b) {
    return {{a.w[0] | b.w[0], a.w[1] | b.w[1]}};
}

/* 16 x 8 sums += bits in common; a lane has those of variables g, g + 8 and 2t, 2t + 1. */
static __device__ void multiply_add(int (&sum)[4], const RowBits &a, const ColBits &b) {
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(a.w[0]), "r"(a.w[1]), "r"(a.w[2]), "r"(a.w[3]), "r"(b.w[0]), "r"(b.w[1]));
}

static __device__ void multiply_row(int (&sums)[N_TILES][4], const RowBits &a, const ColBits (&b)[N_TILES]) {
#pragma unroll
    for (int n = 0; n < N_TILES; n++) multiply_add(sums[n], a, b[n]);
}

template <SignMode Mode>
using WarpSums = int[Block<Mode>::sets][Block<Mode>::m_tiles][N_TILES][4];

/* One stage's words; shared: the stage. */
template <SignMode Mode>
static __device__ void multiply_stage(const unsigned *shared, int warp_row, int warp_col, WarpSums<Mode> &sums) {
    using B = Block<Mode>;
    const unsigned *cols = shared + B::rows * SIGN_WORDS;
#pragma unroll
    for (int half = 0; half < 2; half++) {
        ColBits b[B::planes][N_TILES], w[N_TILES]; /* w: untied */
#pragma unroll
        for (int plane = 0; plane < B::planes; plane++)
#pragma unroll
            for (int n = 0; n < N_TILES; n += 2)
                read_cols(cols + plane * B::side_words, warp_col + 8 * n, half, b[plane][n], b[plane][n + 1]);
        if constexpr (Mode != UNTIED)
#pragma unroll
            for (int n = 0; n < N_TILES; n++) w[n] = either(b[0][n], b[1][n]);
#pragma unroll
        for (int m = 0; m < B::m_tiles; m++) {
            RowBits a[B::planes], v;
#pragma unroll
            for (int plane = 0; plane < B::planes; plane++)
                a[plane] = read_rows(shared + plane * B::side_words, warp_row + 16 * m, half);
            if constexpr (Mode != UNTIED) v = either(a[0], a[1]);
            multiply_row(sums[0][m], a[0], b[0]);
            if constexpr (Mode != UNTIED) multiply_row(sums[1][m], v, w);
            if constexpr (Mode == COMMON) multiply_row(sums[2][m], v, b[2]);
            if constexpr (Mode == COMMON) multiply_row(sums[3][m], a[2], w);
            if constexpr (Mode != UNTIED) multiply_row(sums[0][m], a[1], b[1]); /* last: it waits for the first */
        }
    }
}

/* Pair (i, j) of the tile. Not inlined: the loops around it have to be unrolled, so that the sums stay in
 * registers, and would not be with all of this in them. */
template <SignMode Mode>
static __device__ __noinline__ void finish_pair(const SignSide &rows, const SignSide &cols, const SignOutput &o,
                                                int64_t i, int64_t j, int4 counts) {
    const gcor_tile &tile = o.out.tile;
    if (i >= tile.n_row || j >= tile.n_col) return;
    long long sign = Mode == UNTIED ? 4LL * counts.x - 2 * ((long long)rows.planes.ones[i] + cols.planes.ones[j]) + o.bits
                                    : 2LL * counts.x - counts.y;
    if (o.sums.sign) {
        int64_t at = i * tile.n_col + j;
        o.sums.sign[at] = (o.first ? 0 : o.sums.sign[at]) + sign;
        if (Mode == COMMON) o.sums.row_untied[at] = (o.first ? 0 : o.sums.row_untied[at]) + counts.z;
        if (Mode == COMMON) o.sums.col_untied[at] = (o.first ? 0 : o.sums.col_untied[at]) + counts.w;
        return;
    }
    int64_t col, n;
    gcor_tile_segment(&tile, o.out.shape, tile.row + i, &col, &n);
    int64_t k = tile.col + j - col;
    if (k < 0 || k >= n) return;
    o.out.doubles[gcor_tile_offset(&tile, o.out.shape, tile.row + i) + k] =
        sign_coefficient(Mode, sign, counts.z, counts.w, rows, i, cols, j, o.n_obs);
}

template <SignMode Mode>
static __global__ void __launch_bounds__(THREADS) multiply_bits(SignSide rows, SignSide cols, SignOutput o) {
    using B = Block<Mode>;
    extern __shared__ __align__(16) unsigned shared[];
    const gcor_tile &tile = o.out.tile;
    int64_t row = blockIdx.y * (int64_t)B::rows, col = blockIdx.x * (int64_t)BLOCK_COLS;
    gcor_tile own = {tile.row + row, min((int64_t)B::rows, tile.n_row - row), tile.col + col,
                     min((int64_t)BLOCK_COLS, tile.n_col - col)};
    if (gcor_tile_pairs(&own, o.out.shape) == 0) return;

    int warp = threadIdx.x / 32, warp_row = warp / 4 * B::warp_rows, warp_col = warp % 4 * WARP_COLS;
    int64_t steps = rows.planes.words / SIGN_WORDS;
    WarpSums<Mode> sums = {};
    auto load = [&](int64_t step) {
        if (step < steps)
            load_stage<Mode>(rows.planes, row, cols.planes, col, step, shared + step % B::stages * B::stage_words);
        __pipeline_commit();
    };
    for (int step = 0; step < B::stages - 1; step++) load(step);
    for (int64_t step = 0; step < steps; step++) {
        __pipeline_wait_prior(B::stages - 2);
        __syncthreads(); /* this stage is there, and the one before is read */
        load(step + B::stages - 1);
        multiply_stage<Mode>(shared + step % B::stages * B::stage_words, warp_row, warp_col, sums);
    }

    int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
#pragma unroll
    for (int m = 0; m < B::m_tiles; m++)
#pragma unroll
        for (int n = 0; n < N_TILES; n++)
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int4 counts = {sums[0][m][n][e], 0, 0, 0};
                if constexpr (Mode != UNTIED) counts.y = sums[1][m][n][e];
                if constexpr (Mode == COMMON) counts.z = sums[2][m][n][e], counts.w = sums[3][m][n][e];
                finish_pair<Mode>(rows, cols, o, row + warp_row + 16 * m + g + e / 2 * 8,
                                  col + warp_col + 8 * n + 2 * t + e % 2, counts);
            }
}

template <SignMode Mode>
static void launch(gcor_state *state, const SignSide &rows, const SignSide &cols, const SignOutput &o) {
    using B = Block<Mode>;
    check(cudaFuncSetAttribute(multiply_bits<Mode>, cudaFuncAttributeMaxDynamicSharedMemorySize, B::bytes),
          "asking for shared memory");
    dim3 grid(blocks_for(o.out.tile.n_col, BLOCK_COLS), blocks_for(o.out.tile.n_row, B::rows));
    multiply_bits<Mode><<<grid, THREADS, B::bytes, state->compute.handle>>>(rows, cols, o);
    check_launch("multiplying signs");
}

void multiply_planes(gcor_state *state, SignMode mode, const SignSide &rows, const SignSide &cols,
                     const SignOutput &output) {
    switch (mode) {
    case UNTIED: launch<UNTIED>(state, rows, cols, output); break;
    case TIED: launch<TIED>(state, rows, cols, output); break;
    case COMMON: launch<COMMON>(state, rows, cols, output); break;
    }
}
