/* The histogram on the device. A block counts in shared memory and adds what it has counted to a
 * histogram of its own, so that no two blocks touch the same counter; these are added up at the end. */
#include "cuda.cuh"

/* rows of the tile are dealt to the blocks. Either source: cheap values, or exact ones. */
static __global__ void count(Cheap cheap, Packed exact, unsigned long long *counts) {
    extern __shared__ unsigned bins[];
    for (int b = threadIdx.x; b < GCOR_BINS; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    const gcor_tile &tile = exact.tile;
    for (int64_t i = blockIdx.x; i < tile.n_row; i += gridDim.x) {
        int64_t col, n;
        gcor_tile_segment(&tile, exact.shape, tile.row + i, &col, &n);
        const float *approximate = cheap.values + i * cheap.ld + (col - tile.col);
        const double *r = exact.doubles + gcor_tile_offset(&tile, exact.shape, tile.row + i);
        for (int64_t k = threadIdx.x; k < n; k += blockDim.x) {
            double value = exact.doubles ? r[k] : approximate[k];
            if (value <= 1 + cheap.error) atomicAdd(&bins[gcor_bin(value)], 1);
        }
    }
    __syncthreads();
    unsigned long long *own = counts + blockIdx.x * (int64_t)GCOR_BINS;
    for (int b = threadIdx.x; b < GCOR_BINS; b += blockDim.x) own[b] += bins[b];
}

static __global__ void add_blocks(unsigned long long *counts, int blocks) {
    int b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b >= GCOR_BINS) return;
    unsigned long long sum = 0;
    for (int block = 0; block < blocks; block++) sum += counts[block * (int64_t)GCOR_BINS + b];
    counts[b] = sum;
    for (int block = 1; block < blocks; block++) counts[block * (int64_t)GCOR_BINS + b] = 0;
}

void histogram_add_tile(gcor_state *state, const Cheap &cheap, const Packed &exact) {
    cudaStream_t stream = state->compute.handle;
    if (!state->histogram.data) {
        int64_t bins = (int64_t)HISTOGRAM_BLOCKS * GCOR_BINS;
        state->histogram.reserve(bins, "a histogram");
        check(cudaMemsetAsync(state->histogram.data, 0, (size_t)bins * sizeof(unsigned long long), stream),
              "clearing a histogram");
    }
    count<<<HISTOGRAM_BLOCKS, 1024, GCOR_BINS * sizeof(unsigned), stream>>>(cheap, exact, state->histogram.data);
    check_launch("counting coefficients");
}

void histogram_multiply(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    gcor_histogram *histogram = (gcor_histogram *)state->sink;
    Cheap cheap{nullptr, 0, 0};
    Packed exact{tile, state->sink->shape, nullptr, nullptr};
    if (rows.head.kind == GCOR_REAL && state->sink->approximate)
        cheap = multiply_cheap(state, rows, cols, tile);
    else
        exact = multiply_in_place(state, rows, cols, tile);
    histogram->error = cheap.error;
    histogram_add_tile(state, cheap, exact);
}

void histogram_finish(gcor_state *state) {
    if (!state->histogram.data) return;
    gcor_histogram *histogram = (gcor_histogram *)state->sink;
    add_blocks<<<blocks_for(GCOR_BINS, 256), 256, 0, state->compute.handle>>>(state->histogram.data, HISTOGRAM_BLOCKS);
    check_launch("adding histograms");
    static_assert(sizeof(unsigned long long) == sizeof(int64_t), "counts are copied as they are");
    check(cudaMemcpyAsync(histogram->counts, state->histogram.data, GCOR_BINS * sizeof(int64_t), cudaMemcpyDeviceToHost,
                          state->compute.handle),
          "copying a histogram");
    wait_for_compute(state);
}
