/* The histogram on the device. Where a product's kernel can count, its blocks do so in shared memory; otherwise a
 * tile's values are computed and then counted. */
#include "../product/launch.cuh"
#include "sinks.cuh"

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

/* Counts a tile's values; each block takes every gridDim.x-th row. */
static __global__ void count_values(Packed values, unsigned long long *counts) {
    extern __shared__ unsigned bins[];
    clear_bins(bins, COUNT_THREADS);
    __syncthreads();
    const gcor_tile &tile = values.tile;
    for (int64_t i = blockIdx.x; i < tile.n_row; i += gridDim.x) {
        int64_t col, n;
        gcor_tile_segment(&tile, values.shape, tile.row + i, &col, &n);
        const double *r = values.doubles + gcor_tile_offset(&tile, values.shape, tile.row + i);
        for (int64_t k = threadIdx.x; k < n; k += COUNT_THREADS)
            if (r[k] <= 1) atomicAdd(&bins[gcor_bin(r[k])], 1);
    }
    __syncthreads();
    add_bins(bins, counts, COUNT_THREADS);
}

/* ---- the sink ---------------------------------------------------------------------------------------- */

class DeviceHistogram : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;

    SinkNeeds begin() override {
        bins.used = false;
        return {state->sink->approximate != 0, state->sink->approximate != 0};
    }

    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override {
        if (fused(state, rows.head.kind, rows.head.n_obs))
            count_by_product(rows, cols, tile);
        else
            count_in_values(exact_in_place(state, rows, cols, tile));
    }

    void finish() override { take_bins(state, bins, &histogram()->bins); }

  private:
    DeviceBins bins;

    gcor_histogram *histogram() const { return (gcor_histogram *)state->sink; }

    void count_by_product(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
        Product product = product_of(state, rows, cols, tile);
        Histogram sink;
        sink.bins = bins_on_device(state, bins);
        histogram()->error = product_error(product);
        launch_sink(state, product, sink);
    }

    void count_in_values(const Packed &values) {
        count_values<<<COUNT_BLOCKS * state->processors, COUNT_THREADS, GCOR_BINS * sizeof(unsigned),
                       state->compute.handle>>>(values, bins_on_device(state, bins));
        check_launch("counting coefficients");
    }
};

std::unique_ptr<DeviceSink> make_histogram(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new DeviceHistogram(state));
}
