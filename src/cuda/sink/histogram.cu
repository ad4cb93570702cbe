/* The histogram on the device. Where a product can count, its blocks do, in shared memory; otherwise a
 * tile's values are counted. */
#include "../product/product.cuh"

enum { COUNT_BLOCKS = 128 }; /* each counts in 40 KB of shared memory */

unsigned long long *histogram_bins(gcor_state *state) {
    if (!state->histogram.data) {
        state->histogram.reserve(GCOR_BINS, "a histogram");
        check(cudaMemsetAsync(state->histogram.data, 0, GCOR_BINS * sizeof(unsigned long long), state->compute.handle),
              "clearing a histogram");
    }
    return state->histogram.data;
}

/* Rows of the tile are dealt to the blocks. */
static __global__ void count(Packed values, unsigned long long *counts) {
    extern __shared__ unsigned bins[];
    for (int b = threadIdx.x; b < GCOR_BINS; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    const gcor_tile &tile = values.tile;
    for (int64_t i = blockIdx.x; i < tile.n_row; i += gridDim.x) {
        int64_t col, n;
        gcor_tile_segment(&tile, values.shape, tile.row + i, &col, &n);
        const double *r = values.doubles + gcor_tile_offset(&tile, values.shape, tile.row + i);
        for (int64_t k = threadIdx.x; k < n; k += blockDim.x)
            if (r[k] <= 1) atomicAdd(&bins[gcor_bin(r[k])], 1);
    }
    __syncthreads();
    for (int b = threadIdx.x; b < GCOR_BINS; b += blockDim.x)
        if (bins[b]) atomicAdd(&counts[b], (unsigned long long)bins[b]);
}

static void count_values(gcor_state *state, const Packed &values) {
    count<<<COUNT_BLOCKS, 1024, GCOR_BINS * sizeof(unsigned), state->compute.handle>>>(values, histogram_bins(state));
    check_launch("counting coefficients");
}

void histogram_multiply(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    gcor_histogram *histogram = (gcor_histogram *)state->sink;
    if (!fused(state, rows.head.kind, rows.head.n_obs))
        return count_values(state, multiply_in_place(state, rows, cols, tile));
    Product product = product_of(state, rows, cols, tile);
    product.bins = histogram_bins(state);
    histogram->error = product_error(product);
    run_product(state, HISTOGRAM, product);
}

void histogram_finish(gcor_state *state) {
    if (!state->histogram.data) return;
    gcor_histogram *histogram = (gcor_histogram *)state->sink;
    static_assert(sizeof(unsigned long long) == sizeof(int64_t), "counts are copied as they are");
    check(cudaMemcpyAsync(histogram->counts, state->histogram.data, GCOR_BINS * sizeof(int64_t), cudaMemcpyDeviceToHost,
                          state->compute.handle),
          "copying a histogram");
    wait_for_compute(state);
}
