/* Pairs over their pairwise-complete observations: one warp per pair. */
#pragma once

#include "product.cuh"
#include "../backend/lanes.cuh"

#include <algorithm>

enum { COMMON_SHARED = 48 << 10 }; /* bytes of shared memory of a block */

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
        int64_t i = first + pair / tile.n_col, j = pair % tile.n_col, col, count;
        gcor_tile_segment(&tile, shape, tile.row + i, &col, &count);
        int64_t k = tile.col + j - col;
        if (k < 0 || k >= count) continue;
        double r = pairs.coefficient(i, j, scratch);
        if (threadIdx.x % 32 == 0) out[gcor_tile_offset(&tile, shape, tile.row + i) + k] = r;
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

/* Computes the tile of `out` in parts, so that a launch does not take too long. steps: the work of a pair, in additions
 * of an observation. */
template <class Pairs>
static void compute_common(gcor_state *state, const Pairs &pairs, int64_t words, int64_t steps, const Packed &out) {
    const gcor_tile &tile = out.tile;
    int64_t n_row = std::min(tile.n_row, std::max<int64_t>(1, COMMON_WORK / (tile.n_col * steps)));
    CommonLaunch launch = plan_common(state, words, n_row * tile.n_col);
    DeviceArray<double> &scratch = state->products->scratch;
    if (launch.global) scratch.reserve((int64_t)launch.blocks * launch.warps * words, "columns of common observations");
    for (int64_t first = 0; first < tile.n_row; first += n_row) {
        state->context->tile_fraction = (double)first / (double)tile.n_row;
        if (first > 0) wait_for_compute(state); /* long work: ask whether to stop */
        common_pairs<<<launch.blocks, launch.warps * 32, launch.shared, state->compute.handle>>>(
            pairs, tile, out.shape, first, std::min(n_row, tile.n_row - first), launch.global ? scratch.data : nullptr,
            words, out.doubles);
        check_launch("computing pairs over their common observations");
    }
}
