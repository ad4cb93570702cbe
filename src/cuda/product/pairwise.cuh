/* Pairs over their pairwise-complete observations: one warp per pair, but for distances. */
#pragma once

#include "product.cuh"
#include "../backend/lanes.cuh"

#include <algorithm>

/* PAIR_COMMON and DISTANCE_COMMON columns, from the tile's first variable on. */
struct OrderedSide {
    const double *values;
    const int *order, *present;
    OrderedSide(const Operand &o, int64_t var) {
        int64_t v = var - o.head.first, at = v * o.head.n_obs;
        values = o.values.data + at, order = o.order.data + at, present = o.present.data + v;
    }
    __device__ gcor_ordered column(int64_t v, int64_t n_obs) const {
        return {values + v * n_obs, order + v * n_obs, present[v], nullptr};
    }
};

enum { COMMON_SHARED = 48 << 10 }; /* bytes of shared memory of a block */

/* Index of the coefficient of a tile's pair (i, j); -1 if the pair does not have the shape. */
static __device__ inline int64_t place_of(const gcor_tile &tile, gcor_shape shape, int64_t i, int64_t j) {
    int64_t col, n;
    gcor_tile_segment(&tile, shape, tile.row + i, &col, &n);
    int64_t k = tile.col + j - col;
    return k < 0 || k >= n ? -1 : gcor_tile_offset(&tile, shape, tile.row + i) + k;
}

/* Computes rows first .. first+n_row-1 of a tile. pairs.coefficient(i, j, scratch), called by all lanes of a warp,
 * returns the coefficient of the tile's pair (i, j) in lane 0; scratch: `words` doubles of the warp's own.
 * global_scratch: NULL if shared memory suffices. */
template <class Pairs>
static __global__ void common_pairs(const __grid_constant__ Pairs pairs, gcor_tile tile, gcor_shape shape,
                                    int64_t first, int64_t n_row, double *global_scratch, int64_t words, double *out) {
    extern __shared__ double shared_scratch[];
    int warp = threadIdx.x / 32, warps = blockDim.x / 32;
    int64_t all_warps = gridDim.x * (int64_t)warps, own = blockIdx.x * (int64_t)warps + warp;
    double *scratch = global_scratch ? global_scratch + own * words : shared_scratch + warp * words;
    for (int64_t pair = own; pair < n_row * tile.n_col; pair += all_warps) {
        int64_t i = first + pair / tile.n_col, j = pair % tile.n_col, at = place_of(tile, shape, i, j);
        if (at < 0) continue;
        double r = pairs.coefficient(i, j, scratch);
        if (threadIdx.x % 32 == 0) out[at] = r;
    }
}

/* Launch settings: warps of a block, shared bytes of a block, blocks, and whether the scratch has to be in device
 * memory. */
struct CommonLaunch {
    int warps;
    int64_t shared;
    unsigned blocks;
    bool global;
};

inline CommonLaunch plan_common(const gcor_state *state, int64_t words, int64_t pairs) {
    int64_t each = words * (int64_t)sizeof(double);
    CommonLaunch launch{COMMON_WARPS, each * COMMON_WARPS, 0, each > COMMON_SHARED};
    if (launch.global) launch.shared = 0;
    while (launch.shared > COMMON_SHARED) launch.warps--, launch.shared = each * launch.warps;
    launch.blocks = std::min(blocks_for(pairs, launch.warps), (unsigned)state->processors * COMMON_BLOCKS);
    return launch;
}

/* Rows of a part of a tile, so that a launch does not take too long. steps: the work of a pair, in additions of an
 * observation. */
inline int64_t rows_of_part(const gcor_tile &tile, int64_t steps) {
    return std::min(tile.n_row, std::max<int64_t>(1, COMMON_WORK / (tile.n_col * steps)));
}

/* Calls launch(first, count) for each part of a tile. */
template <class Launch>
static void in_parts(gcor_state *state, const gcor_tile &tile, int64_t n_row, Launch launch) {
    for (int64_t first = 0; first < tile.n_row; first += n_row) {
        state->context->tile_fraction = (double)first / (double)tile.n_row;
        if (first > 0) wait_for_compute(state); /* long work: ask whether to stop */
        launch(first, std::min(n_row, tile.n_row - first));
        check_launch("computing pairs over their common observations");
    }
}

/* Computes the tile of `out` in parts. */
template <class Pairs>
static void compute_common(gcor_state *state, const Pairs &pairs, int64_t words, int64_t steps, const Packed &out) {
    const gcor_tile &tile = out.tile;
    int64_t n_row = rows_of_part(tile, steps);
    CommonLaunch launch = plan_common(state, words, n_row * tile.n_col);
    DeviceArray<double> &scratch = state->products->scratch;
    if (launch.global) scratch.reserve((int64_t)launch.blocks * launch.warps * words, "columns of common observations");
    in_parts(state, tile, n_row, [&](int64_t first, int64_t count) {
        common_pairs<<<launch.blocks, launch.warps * 32, launch.shared, state->compute.handle>>>(
            pairs, tile, out.shape, first, count, launch.global ? scratch.data : nullptr, words, out.doubles);
    });
}
