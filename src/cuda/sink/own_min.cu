/* The first min weights of variables: the k-th largest weight among a sample of a variable's coefficients, rounded down
 * to a bin. Otherwise all of its first pairs would be edges. Later the strongest edges so far raise it
 * (neighbours.cu). */
#include "../product/launch.cuh"
#include "../backend/lanes.cuh"
#include "device_edges.cuh"

#include <algorithm>

/* Stores approximate values in rows of `width`. NaN stands for a variable with itself. */
struct ApproxValues : PlainSink {
    static constexpr unsigned modes = modes_of(HALF) | modes_of(UNTIED) | modes_of(TIED);
    float *out;
    int64_t width;
    bool is_triangle;

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &warp, const Nothing &, const int (&sums)[N][4], int64_t i,
                            int64_t j) const {
        for_each_sum(warp, sums, i, j, [&](int sum, int64_t row, int64_t col) {
            if (!is_pair(p, row, col)) return;
            bool itself = is_triangle && p.tile.row + row == p.tile.col + col;
            out[row * width + col] = itself ? NAN : rough_value<Mode>(p, sum, row, col);
        });
    }
};

/* Raises the min weight of a block's variable, if it is 0, to the k-th largest of n weights, rounded down to a bin. All
 * threads call it; weights that are not positive are ignored. */
template <class WeightOf>
static __device__ inline void raise_min(double &min, int64_t n, int64_t k, WeightOf weight_of) {
    __shared__ int bins[MIN_BINS];
    if (min > 0) return;
    for (int b = threadIdx.x; b < MIN_BINS; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (int64_t at = threadIdx.x; at < n; at += blockDim.x) {
        double weight = weight_of(at);
        int bin = (int)(weight * MIN_BINS);
        if (weight > 0) atomicAdd(&bins[bin < MIN_BINS ? bin : MIN_BINS - 1], 1);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    int64_t found = 0;
    for (int b = MIN_BINS - 1; b > 0 && found < k; b--) {
        found += bins[b];
        if (found >= k) min = b / (double)MIN_BINS;
    }
}

/* ---- from a sample ------------------------------------------------------------------------------------------- */

/* Each block has a variable, and its n approximate values. */
static __global__ void raise_by_approx(const float *approx, int64_t n, gcor_side side, double error, int64_t k,
                                       double *min) {
    const float *own = approx + blockIdx.x * n;
    raise_min(min[blockIdx.x], n, k, [&](int64_t at) { return gcor_raw_weight(side, own[at]) - error; });
}

/* Variables are compared with blocks of others, spread evenly, because adjacent variables often resemble one another. A
 * larger sample costs more products and leaves fewer edges, k n_var^2 / sample. */
void DeviceNeighbours::sample_side(const Operand &own, const Operand &others, int64_t var, int64_t n, int64_t first) {
    auto begin = is_sampled.begin() + (first + var);
    if (std::find(begin, begin + n, false) == begin + n) return;
    std::fill(begin, begin + n, true);
    int64_t all = others.head.n_var, wanted = gcor_clamp(SAMPLED_EACH * sink->k, SAMPLED_MIN, SAMPLED_MAX),
            sampled = std::min(all, wanted), width = sampled < all ? sampled / SAMPLE_BLOCKS / 64 * 64 : all;
    if (sampled < all) sampled = width * SAMPLE_BLOCKS;
    int64_t height = gcor_clamp(SAMPLE_VALUES / sampled / MMA_BLOCK_ROWS * MMA_BLOCK_ROWS, MMA_BLOCK_ROWS,
                                NETWORK_ROWS);
    approx.reserve(std::min(height, n) * sampled, "sampled coefficients");
    for (int64_t row = 0; row < n; row += height) {
        int64_t n_row = std::min(height, n - row);
        double error = 0;
        for (int64_t at = 0; at < sampled; at += width) {
            int64_t col = sampled < all ? (all - width) * (at / width) / (SAMPLE_BLOCKS - 1) / 64 * 64 : 0;
            Product product = product_of(state, own, others, {var + row, n_row, others.head.first + col, width});
            product.shape = GCOR_FULL;
            error = product_error(product);
            ApproxValues into{{}, approx.data + at, sampled, sink->edges.sink.shape != GCOR_FULL};
            launch_sink(state, product, into);
        }
        raise_by_approx<<<(unsigned)n_row, 256, 0, state->compute.handle>>>(
            approx.data, sampled, sink->edges.rule.side, error, sink->k, min.data + first + var + row);
        check_launch("finding min weights");
    }
}

void DeviceNeighbours::sample(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    sample_side(rows, cols, tile.row, tile.n_row, first_row);
    sample_side(cols, rows, tile.col, tile.n_col, 0);
}

/* ---- from a tile's exact values --------------------------------------------------------------------------------- */

/* Each block has a variable of one side of the tile. */
static __global__ void raise_by_side(Packed values, bool by_row, gcor_side side, int64_t k, double *min) {
    const gcor_tile &tile = values.tile;
    int64_t var = blockIdx.x, others = by_row ? tile.n_col : tile.n_row;
    raise_min(min[var], others, k, [&](int64_t other) {
        int64_t i = by_row ? var : other, j = by_row ? other : var, col, n;
        gcor_tile_segment(&tile, values.shape, tile.row + i, &col, &n);
        int64_t at = tile.col + j - col;
        if (at < 0 || at >= n) return GCOR_NO_WEIGHT;
        return gcor_weight(side, values.doubles[gcor_tile_offset(&tile, values.shape, tile.row + i) + at]);
    });
}

void DeviceNeighbours::raise_by_values(const Packed &values) {
    const gcor_tile &tile = values.tile;
    gcor_side side = sink->edges.rule.side;
    cudaStream_t stream = state->compute.handle;
    raise_by_side<<<(unsigned)tile.n_row, 256, 0, stream>>>(values, true, side, sink->k,
                                                            min.data + first_row + tile.row);
    raise_by_side<<<(unsigned)tile.n_col, 256, 0, stream>>>(values, false, side, sink->k, min.data + tile.col);
    check_launch("finding min weights");
}

/* ---- from the host ---------------------------------------------------------------------------------------------- */

static __global__ void raise_to(const double *to, int64_t n, double *min) {
    int64_t v = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (v < n) min[v] = fmax(min[v], to[v]);
}

void DeviceNeighbours::raise_by_host(const gcor_tile &tile) {
    if (has_records()) return;
    auto raise = [&](const double *to, int64_t n, double *own) {
        host_min.reserve(n, "min weights");
        copy_to_device(host_min.data, to, n, state->compute, "copying min weights");
        raise_to<<<blocks_for(n, 256), 256, 0, state->compute.handle>>>(host_min.data, n, own);
        check_launch("raising min weights");
    };
    const gcor_edge_rule &rule = sink->edges.rule;
    raise(rule.row_min + tile.row, tile.n_row, min.data + first_row + tile.row);
    raise(rule.col_min + tile.col, tile.n_col, min.data + tile.col);
}
