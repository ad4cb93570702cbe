/* Pairwise-complete coefficients of signs: the bits of a tile are packed and multiplied slice by slice and the sums
 * added up, which bounds the memory for any n_obs. */
#include "launch.cuh"
#include "../backend/lanes.cuh"

#include <algorithm>

/* Adds sums of signs to memory, one slice of bits after the other. Arrays of n_row x n_col: sums of signs; pairs of
 * complete observations that are untied in the row's variable, and in the column's. */
struct SliceSums : PlainSink {
    static constexpr unsigned modes = modes_of(COMMON);
    static constexpr bool hopper = false; /* wgmma.cuh has no COMMON */
    static constexpr int blocks = 1;      /* four sums for each pair */
    long long *sign, *row_untied, *col_untied;
    bool first; /* this is the first slice */

    template <int N>
    __device__ void add(const Product &p, WarpOutput &warp, const int (&sums)[N][4], int64_t i, int64_t j,
                        long long *into) const {
        for_each_sum(warp, sums, i, j, [&](int sum, int64_t row, int64_t col) {
            int64_t at = row * p.tile.n_col + col;
            if (row < p.tile.n_row && col < p.tile.n_col) into[at] = (first ? 0 : into[at]) + sum;
        });
    }

    template <int N>
    __device__ void deliver_common(const Product &p, WarpOutput &warp, const int (&signs)[N][4],
                                   const int (&rows)[N][4], const int (&cols)[N][4], int64_t i, int64_t j) const {
        add(p, warp, signs, i, j, sign);
        add(p, warp, rows, i, j, row_untied);
        add(p, warp, cols, i, j, col_untied);
    }
};

static SliceSums reserve_sums(gcor_state *state, const gcor_tile &tile) {
    int64_t pairs = tile.n_row * tile.n_col;
    DeviceArray<long long> &counts = state->products->counts;
    counts.reserve(3 * pairs, "a tile's counts");
    SliceSums sums;
    sums.sign = counts.data;
    sums.row_untied = counts.data + pairs;
    sums.col_untied = counts.data + 2 * pairs;
    sums.first = true;
    return sums;
}

/* The coefficient of two columns from their counts. If there is no untied pair, either all values are equal or there
 * is no pair of complete observations. */
static __device__ double coefficient(const Product &p, const SliceSums &sums, int64_t i, int64_t j) {
    int64_t at = i * p.tile.n_col + j;
    double sign = (double)sums.sign[at];
    long long row_untied = sums.row_untied[at], col_untied = sums.col_untied[at];
    if ((row_untied == 0 || col_untied == 0) &&
        !gcor_has_common_pair(p.rows.columns + i * p.n_obs, p.cols.columns + j * p.n_obs, p.n_obs))
        return GCOR_NO_VALUE;
    return gcor_coefficient(sign, (double)row_untied, (double)col_untied);
}

/* One thread per pair of the tile; grid rows are rows of the tile. */
static __global__ void coefficients(const __grid_constant__ Product p, const __grid_constant__ SliceSums sums,
                                    double *out) {
    int64_t i = blockIdx.y, col, n;
    gcor_tile_segment(&p.tile, p.shape, p.tile.row + i, &col, &n);
    int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k >= n) return;
    out[gcor_tile_offset(&p.tile, p.shape, p.tile.row + i) + k] = coefficient(p, sums, i, col + k - p.tile.col);
}

void exact_pairwise_signs(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    const gcor_tile &tile = out.tile;
    ProductBuffers &buffers = *state->products;
    int64_t n_obs = rows.head.n_obs, all_bits = gcor_obs_pairs(n_obs);
    int64_t pieces = std::min<int64_t>(sign_pieces(n_obs), SLICE_WORDS / PIECE_WORDS), slice = pieces * PIECE_BYTES * 8;
    Product product{};
    product.mode = COMMON;
    product.tile = tile;
    product.shape = out.shape;
    product.n_obs = n_obs;
    product.pieces = (int)pieces;
    SliceSums sums = reserve_sums(state, tile);
    Planes a = reserve_planes(buffers.row_planes, 3, tile.n_row, pieces);
    Planes b = reserve_planes(buffers.col_planes, 3, tile.n_col, pieces);
    buffers.forget(); /* the buffers now hold a part of the bits */
    product.rows = sign_side(rows, tile.row, a, 0);
    product.cols = sign_side(cols, tile.col, b, 0);
    for (int64_t first = 0; first < std::max<int64_t>(1, all_bits); first += slice) {
        product.bits = std::min(all_bits - first, slice);
        sums.first = first == 0;
        state->context->tile_fraction = all_bits > 0 ? (double)first / (double)all_bits : 0;
        if (first > 0) wait_for_compute(state); /* many slices take long: ask whether to stop */
        pack_bits(state, 3, product.rows.columns, n_obs, tile.n_row, first, product.bits, a);
        pack_bits(state, 3, product.cols.columns, n_obs, tile.n_col, first, product.bits, b);
        launch_sink(state, product, sums);
    }
    dim3 grid(blocks_for(tile.n_col, 256), (unsigned)tile.n_row);
    coefficients<<<grid, 256, 0, state->compute.handle>>>(product, sums, out.doubles);
    check_launch("finishing a tile");
}
