/* The second product: rows of the matrix of adjacencies by rows, in bands of some of them, by cuBLAS in double; and
 * what is made of the sums. */
#include "../backend/lanes.cuh"
#include "../backend/state.cuh"
#include "../sink/adjacency.cuh"
#include "../sink/bands.cuh"
#include "../../sink/adjacency.h"

#include <algorithm>

namespace {

enum { THREADS = 256, ALIGNED = 32 };

/* Sums of sizes, a block for each variable. */
__global__ void __launch_bounds__(THREADS)
    connect(const double *matrix, int64_t n_var, int64_t stride, double *connectivity) {
    __shared__ double sums[THREADS / 32];
    const double *row = matrix + blockIdx.x * stride;
    double sum = 0;
    for (int64_t k = threadIdx.x; k < n_var; k += THREADS) sum += fabs(row[k]);
    sum = sum_lanes(sum);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x > 0) return;
    for (int w = 1; w < THREADS / 32; w++) sum += sums[w];
    connectivity[blockIdx.x] = sum;
}

/* The pairs of a band that count; a row of blocks for each of its rows. shared: sums of products, rows from sums_stride
 * to sums_stride. */
__global__ void __launch_bounds__(THREADS)
    make_overlaps(const double *shared, int64_t sums_stride, gcor_tile tile, gcor_shape shape, gcor_overlap_rule rule,
                  const double *matrix, int64_t stride, const double *connectivity, float *out) {
    int64_t row = tile.row + blockIdx.y, col = tile.col + blockIdx.x * (int64_t)THREADS + threadIdx.x, begin, n;
    gcor_tile_segment(&tile, shape, row, &begin, &n);
    if (col < begin || col >= begin + n) return;
    double sum = shared[blockIdx.y * sums_stride + (col - tile.col)];
    out[gcor_tile_offset(&tile, shape, row) + (col - begin)] = (float)gcor_overlap_of(
        &rule, sum, matrix[row * stride + col], connectivity[row], connectivity[col]);
}

/* Rows of a band: enough for a product to fill the GPU, and few against all, as half of a band's square is not wanted.
 * It depends on the number of variables alone. */
int64_t band_rows(int64_t n_var) {
    int64_t rows = OVERLAP_ROWS_LEAST;
    while (rows < OVERLAP_ROWS && rows * OVERLAP_BANDS < n_var) rows *= 2;
    return rows;
}

class Overlap {
  public:
    Overlap(gcor_state *owner, const gcor_adjacency *adjacency)
        : state(owner), rule(adjacency->rule), matrix(*(const AdjacencyMatrix *)adjacency->device), bands(owner) {}
    /* Nothing may still use what is freed now. */
    ~Overlap() {
        (void)cudaStreamSynchronize(state->compute.handle);
        (void)cudaStreamSynchronize(state->copy.handle);
    }
    void work();

  private:
    gcor_state *state;
    gcor_overlap_rule rule;
    const AdjacencyMatrix &matrix;
    DeviceArray<double> connectivity, sums;
    Bands bands;

    void multiply(const gcor_tile &tile);
};

void Overlap::multiply(const gcor_tile &tile) {
    int64_t stride = (tile.n_col + ALIGNED - 1) / ALIGNED * ALIGNED;
    const Packed &out = bands.next(tile, GCOR_AS_FLOATS);
    state->blas->multiply_rows(state->compute, matrix.values.data + tile.row * matrix.stride, tile.n_row,
                               matrix.values.data + tile.col * matrix.stride, tile.n_col, matrix.n_var, matrix.stride,
                               sums.data, stride);
    dim3 grid(blocks_for(tile.n_col, THREADS), (unsigned)tile.n_row);
    make_overlaps<<<grid, THREADS, 0, state->compute.handle>>>(
        sums.data, stride, tile, out.shape, rule, matrix.values.data, matrix.stride, connectivity.data, out.floats);
    check_launch("making overlaps");
    bands.computed();
}

/* Of each band the columns that count. */
void Overlap::work() {
    int64_t n = matrix.n_var, rows = band_rows(n), done = 0;
    bool is_lower = state->sink->shape == GCOR_LOWER;
    if (!state->blas) state->blas.reset(new Blas);
    connectivity.reserve(n, "connectivities");
    sums.reserve(std::min(rows, n) * matrix.stride, "a band of sums");
    connect<<<(unsigned)n, THREADS, 0, state->compute.handle>>>(matrix.values.data, n, matrix.stride,
                                                                connectivity.data);
    check_launch("summing adjacencies");
    bands.begin();
    for (int64_t row = 0; row < n; row += rows) {
        int64_t some = std::min(rows, n - row), end = is_lower ? row + some : n, begin = is_lower ? 0 : row;
        gcor_tile tile{row, some, begin, end - begin};
        __atomic_fetch_add(&state->context->monitor->pairs_done, done, __ATOMIC_RELAXED);
        done = gcor_tile_pairs(&tile, state->sink->shape);
        if (done > 0) multiply(tile);
    }
    bands.finish();
}

} // namespace

void cuda_multiply_adjacencies(gcor_state *state, const gcor_adjacency *adjacency) {
    Overlap(state, adjacency).work();
}
