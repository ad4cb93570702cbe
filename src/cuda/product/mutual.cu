/* Mutual information of binned columns (measure/mutual.h). The contingency table of two columns is the product of their
 * level bitsets (prepare/tensor.cu) on the binary tensor cores: 16 x 16 counts of common bits, eight in each lane of a
 * warp. Each lane adds the terms of its counts, and the lanes add up their sums. */
#include "pair.cuh"
#include "../backend/lanes.cuh"

namespace mutual {

/* A warp multiplies OWN_ROWS x OWN_COLS pairs of columns at a time; a block has ROWS x COLS pairs. */
enum { OWN_ROWS = 2, OWN_COLS = 4, PAIRS = OWN_ROWS * OWN_COLS, WARPS = 8, THREADS = WARPS * 32 };
enum { ROWS = OWN_ROWS * WARPS, COLS = 64, SHARED_TERMS = 6144 };
static_assert(PAIRS == 8, "add_lanes() has eight sums");

/* One side of a tile, from the tile's first variable on. */
struct Side {
    const uint4 *bins;
    const int64_t *margin;
    const double *norm;
    int64_t n_var;
};

struct Tile {
    Side rows, cols;
    int64_t steps;
    const int64_t *terms;
    gcor_mutual_scale scale;
    gcor_tile tile;
    gcor_shape shape;
    double *out;
};

/* The bitsets of a step, or no bits beyond the last variable. */
static __device__ inline uint4 step_of(const Side &side, int64_t var, int64_t step, int64_t steps) {
    if (var >= side.n_var) return make_uint4(0, 0, 0, 0);
    return __ldg(side.bins + (var * steps + step) * 32 + threadIdx.x % 32);
}

/* Adds the common bits of 16 levels of a row and 8 of a column to the lane's four counts. */
static __device__ inline void add_bits(int (&count)[4], const uint4 &row, unsigned low, unsigned high) {
    asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+r"(count[0]), "+r"(count[1]), "+r"(count[2]), "+r"(count[3])
        : "r"(row.x), "r"(row.z), "r"(row.y), "r"(row.w), "r"(low), "r"(high));
}

/* Counts the tables of the pairs from (row, col) on. */
static __device__ inline void count_tables(const Tile &t, int64_t row, int64_t col, int (&count)[PAIRS][2][4]) {
    for (int64_t step = 0; step < t.steps; step++) {
        uint4 rows[OWN_ROWS], cols[OWN_COLS];
#pragma unroll
        for (int i = 0; i < OWN_ROWS; i++) rows[i] = step_of(t.rows, row + i, step, t.steps);
#pragma unroll
        for (int j = 0; j < OWN_COLS; j++) cols[j] = step_of(t.cols, col + j, step, t.steps);
#pragma unroll
        for (int pair = 0; pair < PAIRS; pair++) {
            const uint4 &own = cols[pair % OWN_COLS];
            add_bits(count[pair][0], rows[pair / OWN_COLS], own.x, own.y);
            add_bits(count[pair][1], rows[pair / OWN_COLS], own.z, own.w);
        }
    }
}

/* Adds eight sums over the lanes of a warp; returns that of number lane / 4. At each step, a lane keeps one half of its
 * sums and passes the other half on. */
static __device__ inline long long add_lanes(long long (&sum)[PAIRS]) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int half = PAIRS / 2; half > 0; half /= 2) {
        const bool upper = lane & (half * 4);
#pragma unroll
        for (int k = 0; k < half; k++) {
            long long passed = upper ? sum[k] : sum[k + half], kept = upper ? sum[k + half] : sum[k];
            sum[k] = kept + __shfl_xor_sync(ALL_LANES, passed, half * 4);
        }
    }
    sum[0] += __shfl_xor_sync(ALL_LANES, sum[0], 2);
    return sum[0] + __shfl_xor_sync(ALL_LANES, sum[0], 1);
}

/* Writes the coefficient of pair (i, j), if it is one of the tile's. */
static __device__ inline void write(const Tile &t, int64_t i, int64_t j, int64_t cells) {
    if (i >= t.rows.n_var || j >= t.cols.n_var) return;
    int64_t begin, n;
    gcor_tile_segment(&t.tile, t.shape, t.tile.row + i, &begin, &n);
    int64_t k = t.tile.col + j - begin;
    if (k < 0 || k >= n) return;
    t.out[gcor_tile_offset(&t.tile, t.shape, t.tile.row + i) + k] = gcor_mutual_of_cells(
        &t.scale, cells, t.rows.margin[i], t.cols.margin[j], t.rows.norm[i], t.cols.norm[j]);
}

static __device__ inline void finish_tables(const Tile &t, const int64_t *terms, int64_t row, int64_t col,
                                            const int (&count)[PAIRS][2][4]) {
    long long sum[PAIRS] = {};
#pragma unroll
    for (int pair = 0; pair < PAIRS; pair++)
#pragma unroll
        for (int e = 0; e < 8; e++) sum[pair] += terms[count[pair][e / 4][e % 4]];
    const long long cells = add_lanes(sum);
    const int pair = threadIdx.x % 32 / 4;
    if (threadIdx.x % 4 == 0) write(t, row + pair / OWN_COLS, col + pair % OWN_COLS, cells);
}

static __global__ void __launch_bounds__(THREADS, 2) multiply(const __grid_constant__ Tile t) {
    extern __shared__ int64_t shared[];
    const int64_t row = (int64_t)blockIdx.y * ROWS, col = (int64_t)blockIdx.x * COLS, n_terms = t.scale.n_obs + 1;
    const int64_t last_row = gcor_clamp(row + ROWS, 0, t.rows.n_var) - 1;
    const int64_t last_col = gcor_clamp(col + COLS, 0, t.cols.n_var) - 1;
    const int64_t own_row = row + threadIdx.x / 32 * OWN_ROWS;
    if (!has_pair(t.shape, t.tile.row + row, t.tile.row + last_row, t.tile.col + col, t.tile.col + last_col)) return;
    const bool fits = n_terms <= SHARED_TERMS;
    for (int64_t k = threadIdx.x; fits && k < n_terms; k += THREADS) shared[k] = t.terms[k];
    __syncthreads();
    if (own_row >= t.rows.n_var) return;
    for (int64_t own_col = col; own_col <= last_col; own_col += OWN_COLS) {
        int count[PAIRS][2][4] = {};
        count_tables(t, own_row, own_col, count);
        finish_tables(t, fits ? shared : t.terms, own_row, own_col, count);
    }
}

static Side side_of(const Operand &o, int64_t var, int64_t n_var) {
    int64_t at = var - o.head.first;
    return {o.bins.data + at * bin_steps(o.head.n_obs) * 32, o.margin.data + at, o.norm_of(var), n_var};
}

} // namespace mutual

void exact_mutual(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    using namespace mutual;
    const gcor_tile &tile = out.tile;
    const int64_t n_terms = rows.head.n_obs + 1;
    Tile t{side_of(rows, tile.row, tile.n_row),
           side_of(cols, tile.col, tile.n_col),
           bin_steps(rows.head.n_obs),
           rows.terms.data,
           rows.information,
           tile,
           out.shape,
           out.doubles};
    dim3 grid(blocks_for(tile.n_col, COLS), blocks_for(tile.n_row, ROWS));
    size_t bytes = n_terms <= SHARED_TERMS ? (size_t)n_terms * sizeof(int64_t) : 0;
    multiply<<<grid, THREADS, bytes, state->compute.handle>>>(t);
    check_launch("multiplying bins");
}
