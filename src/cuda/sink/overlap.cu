/* The second product, for topological overlap: rows of the adjacency matrix times rows, in bands of rows, by cuBLAS
 * in double; the sums are then converted to overlaps. */
#include "adjacency.cuh"
#include "bands.cuh"
#include "../backend/lanes.cuh"
#include "../../sink/adjacency.h"

#include <algorithm>

namespace {

enum { THREADS = 256, ALIGNED = 32 };

/* Computes the overlaps of a band's pairs; grid rows are rows of the band. shared: sums of products, sums_stride
 * apart; matrix: adjacencies of the band's first row; of_rows, of_cols: connectivities from the band's first row and
 * column on. */
__global__ void __launch_bounds__(THREADS)
    make_overlaps(const double *shared, int64_t sums_stride, gcor_tile tile, gcor_shape shape, gcor_overlap_rule rule,
                  const double *matrix, int64_t stride, const double *of_rows, const double *of_cols, float *out) {
    int64_t row = tile.row + blockIdx.y, col = tile.col + blockIdx.x * (int64_t)THREADS + threadIdx.x, begin, n;
    gcor_tile_segment(&tile, shape, row, &begin, &n);
    if (col < begin || col >= begin + n) return;
    double sum = shared[blockIdx.y * sums_stride + (col - tile.col)];
    out[gcor_tile_offset(&tile, shape, row) + (col - begin)] = (float)gcor_overlap_of(
        &rule, sum, matrix[blockIdx.y * stride + col], of_rows[blockIdx.y], of_cols[col - tile.col]);
}

/* Rows of a band: enough for a product to fill the GPU, but few compared to n_var, as half of a band's diagonal
 * square is not needed. It depends on n_var only. */
int64_t band_rows(int64_t n_var) {
    int64_t rows = OVERLAP_ROWS_MIN;
    while (rows < OVERLAP_ROWS && rows * OVERLAP_BANDS < n_var) rows *= 2;
    return rows;
}

class Overlaps : public DeviceSink {
  public:
    explicit Overlaps(gcor_state *owner) : DeviceSink(owner), bands(owner) {}
    SinkNeeds begin() override;
    void multiply(const Operand &, const Operand &, const gcor_tile &) override {
        fail_impossible("coefficients where there are overlaps");
    }
    void overlap(const gcor_adjacency *rows, const gcor_adjacency *cols, const gcor_tile &tile) override;
    void finish() override { bands.finish(); }
    void trim() override;

  private:
    DeviceArray<double> sums;
    Bands bands;

    void multiply_rows(const AdjacencyMatrix &rows, const AdjacencyMatrix &cols, const gcor_tile &tile, int64_t stride);
};

SinkNeeds Overlaps::begin() {
    if (!state->blas) state->blas.reset(new Blas);
    bands.begin();
    return {false, false};
}

void Overlaps::trim() {
    sums.trim();
    bands.trim();
}

/* The rounding of cuBLAS may depend on the size of a product. We always multiply the same columns, up to the next
 * multiple of the side, however the work is divided. */
void Overlaps::multiply_rows(const AdjacencyMatrix &rows, const AdjacencyMatrix &cols, const gcor_tile &tile,
                             int64_t stride) {
    const int64_t side = cuda_overlap_side(rows.n_var), end = tile.col + tile.n_col;
    for (int64_t col = tile.col; col < end;) {
        int64_t n = std::min(side - col % side, end - col);
        state->blas->multiply_rows(state->compute, rows.row(tile.row), tile.n_row, cols.row(col), n, rows.n_var,
                                   rows.stride, sums.data + (col - tile.col), stride);
        col += n;
    }
}

/* Multiplies only the columns of the band that have pairs in the sink's shape. */
void Overlaps::overlap(const gcor_adjacency *row_slab, const gcor_adjacency *col_slab, const gcor_tile &band) {
    const AdjacencyMatrix &rows = *(const AdjacencyMatrix *)row_slab->device;
    const AdjacencyMatrix &cols = *(const AdjacencyMatrix *)col_slab->device;
    gcor_tile tile = band;
    int64_t end = band.col + band.n_col;
    if (state->sink->shape == GCOR_LOWER) end = std::min(end, band.row + band.n_row);
    if (state->sink->shape == GCOR_UPPER) tile.col = std::max(band.col, band.row);
    tile.n_col = end - tile.col;
    int64_t stride = (tile.n_col + ALIGNED - 1) / ALIGNED * ALIGNED;
    sums.reserve(tile.n_row * stride, "a band of sums");
    const Packed &out = bands.next(tile, GCOR_AS_FLOATS);
    multiply_rows(rows, cols, tile, stride);
    dim3 grid(blocks_for(tile.n_col, THREADS), (unsigned)tile.n_row);
    make_overlaps<<<grid, THREADS, 0, state->compute.handle>>>(
        sums.data, stride, tile, out.shape, row_slab->rule, rows.row(tile.row), rows.stride,
        rows.connectivity.data + (tile.row - rows.first), cols.connectivity.data + (tile.col - cols.first), out.floats);
    check_launch("making overlaps");
    bands.computed();
}

} // namespace

std::unique_ptr<DeviceSink> make_overlaps(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new Overlaps(state));
}

int64_t cuda_overlap_side(int64_t n_var) {
    return OVERLAP_SIDE_BANDS * band_rows(n_var);
}

/* A run over all pairs reserves memory for its largest band of sums, two bands of overlaps, and the columns. */
void cuda_plan_overlap(gcor_state *state, const gcor_context *context, int64_t n_var, gcor_overlap_plan *plan) {
    ask_memory(state);
    const int64_t row_bytes = adjacency_stride(n_var) * (int64_t)sizeof(double), rows = band_rows(n_var);
    const int64_t bands = 2 * rows * row_bytes, operands = state->free_memory / OVERLAP_OPERANDS_DIVISOR;
    *plan = gcor_overlap_plan{rows, n_var, row_bytes, context->memory, operands};
    if (context->memory == 0)
        plan->memory = std::max<int64_t>(0, state->free_memory - bands - operands - OVERLAP_RESERVE);
}
