/* Min weights of single variables, which rise from tile to tile, for edges.cu. In the first tile of a variable its min
 * weight is unknown (0), and is found in all values of the tile. */
#include "../product/launch.cuh"
#include "device_edges.cuh"

#include <algorithm>

/* Stores approximate values in rows of tile.n_col; elements that are no pairs are not written. */
struct ApproxValues : PlainSink {
    static constexpr unsigned modes = modes_of(HALF);
    float *out;

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &warp, const Nothing &, const int (&sums)[N][4], int64_t i,
                            int64_t j) const {
        for_each_sum(warp, sums, i, j, [&](int sum, int64_t row, int64_t col) {
            if (is_pair(p, row, col)) out[row * p.tile.n_col + col] = approx_value(sum);
        });
    }
};

/* All values of a tile: exact ones, packed, or approximate ones in rows of tile.n_col, within `error`. */
struct TileValues {
    Packed exact;
    const float *approx;
    double error;

    __device__ double weight(gcor_side side, int64_t i, int64_t j, int64_t offset) const {
        if (exact.doubles) return gcor_weight(side, exact.doubles[offset]);
        return gcor_raw_weight(side, approx[i * exact.tile.n_col + j]) - error;
    }
};

/* Each block has a variable of one side of the tile. If its min weight is still 0, the k-th largest weight in the tile,
 * rounded down to a bin, replaces it. Otherwise all of a variable's first pairs would be edges. */
static __global__ void raise_min(TileValues values, bool by_row, EdgeOutput out, double *min) {
    __shared__ int bins[MIN_BINS];
    const gcor_tile &tile = values.exact.tile;
    gcor_shape shape = values.exact.shape;
    int64_t var = blockIdx.x, others = by_row ? tile.n_col : tile.n_row;
    if (min[var] > 0) return;
    for (int b = threadIdx.x; b < MIN_BINS; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (int64_t other = threadIdx.x; other < others; other += blockDim.x) {
        int64_t i = by_row ? var : other, j = by_row ? other : var, col, n;
        gcor_tile_segment(&tile, shape, tile.row + i, &col, &n);
        int64_t k = tile.col + j - col;
        if (k < 0 || k >= n) continue;
        double weight = values.weight(out.rule.side, i, j, gcor_tile_offset(&tile, shape, tile.row + i) + k);
        int bin = (int)(weight * MIN_BINS);
        if (weight > 0) atomicAdd(&bins[bin < MIN_BINS ? bin : MIN_BINS - 1], 1);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    int64_t found = 0;
    for (int b = MIN_BINS - 1; b > 0 && found < out.rule.k; b--) {
        found += bins[b];
        if (found >= out.rule.k) min[var] = b / (double)MIN_BINS;
    }
}

static void raise_both(gcor_state *state, const EdgeSlot &slot, const TileValues &values, const EdgeOutput &out) {
    const gcor_tile &tile = slot.tile;
    double *rows = slot.min.data, *cols = rows + tile.n_row;
    cudaStream_t stream = state->compute.handle;
    raise_min<<<(unsigned)tile.n_row, 256, 0, stream>>>(values, true, out, rows);
    raise_min<<<(unsigned)tile.n_col, 256, 0, stream>>>(values, false, out, cols);
    check_launch("finding min weights");
}

/* True if one of the tile's variables has no min weight yet. */
bool DeviceEdges::lacks_min(const gcor_tile &tile) const {
    auto none = [](const double *min, int64_t n) { return std::any_of(min, min + n, [](double w) { return w == 0; }); };
    return none(rule().row_min + tile.row, tile.n_row) || none(rule().col_min + tile.col, tile.n_col);
}

void DeviceEdges::copy_min(EdgeSlot &slot, gcor_edge_rule &rule) {
    if (!rule.row_min) return;
    const gcor_tile &tile = slot.tile;
    slot.min.reserve(tile.n_row + tile.n_col, "min weights");
    double *rows = slot.min.data, *cols = rows + tile.n_row;
    copy_to_device(rows, rule.row_min + tile.row, tile.n_row, state->compute, "copying min weights");
    copy_to_device(cols, rule.col_min + tile.col, tile.n_col, state->compute, "copying min weights");
    rule.row_min = rows;
    rule.col_min = cols;
}

void DeviceEdges::raise_by_product(const EdgeSlot &slot, Product product, const EdgeOutput &out) {
    if (!out.rule.row_min || !lacks_min(slot.tile)) return;
    TileValues values{{slot.tile, state->sink->shape, nullptr, nullptr}, nullptr, out.error};
    if (product.mode == HALF) {
        approx.reserve(slot.tile.n_row * slot.tile.n_col, "a tile's coefficients");
        ApproxValues into;
        values.approx = into.out = approx.data;
        launch_sink(state, product, into);
    } else {
        values.exact = exact_in_place(state, *slot.rows, *slot.cols, slot.tile);
    }
    raise_both(state, slot, values, out);
}

void DeviceEdges::raise_by_values(const EdgeSlot &slot, const Packed &values, const EdgeOutput &out) {
    if (out.rule.row_min) raise_both(state, slot, {values, nullptr, 0}, out);
}
