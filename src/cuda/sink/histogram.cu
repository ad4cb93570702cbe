/* The histogram on the device. Where a product's kernel can count, its blocks do so in shared memory; otherwise a
 * tile's values are computed and then counted. */
#include "../product/launch.cuh"
#include "sinks.cuh"
#include "../backend/lanes.cuh"

/* ---- in a product ----------------------------------------------------------------------------- */

struct Histogram : PlainSink {
    static constexpr unsigned modes = modes_of(HALF) | modes_of(UNTIED) | modes_of(TIED);
    static constexpr bool counts = true;
    unsigned long long *bins;

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &warp, const Nothing &, const int (&sums)[N][4], int64_t i,
                            int64_t j) const {
        for_each_sum(warp, sums, i, j, [&](int sum, int64_t row, int64_t col) {
            if (!is_pair(p, row, col)) return;
            float r = rough_value<Mode>(p, sum, row, col);
            if (r <= 1.5f) atomicAdd(&warp.bins[gcor_bin(r)], 1);
        });
    }
};

/* ---- of stored values -------------------------------------------------------------------------- */

enum { COUNT_THREADS = 1024 };

/* Counts a tile's values of at least `min` in size; each block takes every gridDim.x-th row. */
static __global__ void count_values(Packed values, double min, unsigned long long *counts) {
    extern __shared__ unsigned bins[];
    clear_bins(bins, COUNT_THREADS);
    __syncthreads();
    const gcor_tile &tile = values.tile;
    for (int64_t i = blockIdx.x; i < tile.n_row; i += gridDim.x) {
        int64_t col, n;
        gcor_tile_segment(&tile, values.shape, tile.row + i, &col, &n);
        const double *r = values.doubles + gcor_tile_offset(&tile, values.shape, tile.row + i);
        for (int64_t k = threadIdx.x; k < n; k += COUNT_THREADS)
            if (r[k] <= 1 && fabs(r[k]) >= min) atomicAdd(&bins[gcor_bin(r[k])], 1);
    }
    __syncthreads();
    add_bins(bins, counts, COUNT_THREADS);
}

/* ---- exact counts of REAL columns ---------------------------------------------------------------- */

enum { SETTLE_WARPS = 8 };

/* Coefficients of stored values may differ from those of other back ends by GCOR_EXACT_ERROR. Replaces those of at
 * least `min` in size that are so close to a bound of a bin by the coefficients of warp_dot(), which are the same
 * everywhere. A warp has 32 pairs of a row. */
static __global__ void settle_values(const __grid_constant__ Product p, Packed values, double min) {
    const double margin = GCOR_EXACT_ERROR * (GCOR_BINS / 2) + 1e-6;
    const gcor_tile &tile = values.tile;
    int64_t i = blockIdx.y, col, n, k = ((int64_t)blockIdx.x * SETTLE_WARPS) * 32 + threadIdx.x;
    gcor_tile_segment(&tile, values.shape, tile.row + i, &col, &n);
    double *own = values.doubles + gcor_tile_offset(&tile, values.shape, tile.row + i), r = k < n ? own[k] : 0;
    double place = (r + 1) * (GCOR_BINS / 2), part = place - floor(place);
    bool unsettled = k < n && r <= 1 && fabs(r) >= min && (part < margin || part > 1 - margin);
    for (unsigned lanes = __ballot_sync(ALL_LANES, unsettled); lanes; lanes &= lanes - 1) {
        int lane = __ffs((int)lanes) - 1;
        int64_t j = col - tile.col + k - threadIdx.x % 32 + lane;
        double dot = warp_dot(p.rows.columns + i * p.n_obs, p.cols.columns + j * p.n_obs, p.n_obs);
        if (threadIdx.x % 32 == lane) own[k] = exact_value(p, dot, i, j);
    }
}

/* ---- the sink ---------------------------------------------------------------------------------------- */

class DeviceHistogram : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;

    SinkNeeds begin() override {
        bins.used = false;
        const bool is_rough = sink->approximate && !histogram()->exact;
        return {is_rough, is_rough};
    }

    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override {
        if (fused(state, rows.head.kind, rows.head.n_obs))
            count_by_product(rows, cols, tile);
        else
            take(settled(rows, cols, exact_in_place(state, rows, cols, tile)));
    }

    void take(const Packed &values) override {
        count_values<<<COUNT_BLOCKS * state->processors, COUNT_THREADS, GCOR_BINS * sizeof(unsigned),
                       state->compute.handle>>>(values, min(), bins_on_device(state, bins));
        check_launch("counting coefficients");
    }

    void finish() override { take_bins(state, bins, &histogram()->bins); }

  private:
    DeviceBins bins;

    gcor_histogram *histogram() const { return (gcor_histogram *)sink; }
    double min() const { return histogram()->exact ? histogram()->min - 2.0 / GCOR_BINS : 0; }

    const Packed &settled(const Operand &rows, const Operand &cols, const Packed &values) {
        if (!histogram()->exact || rows.head.kind != GCOR_REAL) return values;
        dim3 grid(blocks_for(values.tile.n_col, 32 * SETTLE_WARPS), (unsigned)values.tile.n_row);
        settle_values<<<grid, 32 * SETTLE_WARPS, 0, state->compute.handle>>>(
            exact_product_of(state, rows, cols, values.tile), values, min());
        check_launch("settling bins");
        return values;
    }

    void count_by_product(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
        Product product = product_of(state, rows, cols, tile);
        Histogram counting;
        counting.bins = bins_on_device(state, bins);
        histogram()->error = product_error(product);
        launch_sink(state, product, counting);
    }
};

std::unique_ptr<DeviceSink> make_histogram(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new DeviceHistogram(state));
}
