/* Topological overlap. A run's coefficients fill a slab of the adjacency matrix. The second product is of its rows
 * with rows, in bands of rows, by cuBLAS in double; the sums are then converted to overlaps. */
#include "sinks.cuh"
#include "../backend/lanes.cuh"
#include "../../sink/adjacency.h"

#include <algorithm>

/* Variables first .. first+n-1, one row each, with the adjacencies to all n_var variables. Rows are `stride`
 * elements apart; the diagonal and elements beyond the last variable are zero. */
struct AdjacencyMatrix {
    int device;
    int64_t first, n, n_var, stride;
    DeviceArray<double> values, connectivity; /* connectivity: sum of absolute values of each row */
    DeviceArray<unsigned long long> missing;  /* one element: number of pairs without coefficient */

    double *row(int64_t variable) const { return values.data + (variable - first) * stride; }
};

/* ---- adjacencies -------------------------------------------------------------------------------- */

namespace {

enum { SIDE = 32, HIGH = 8, ADJACENCY_STRIDE = 32, THREADS = 256 };

/* Elements from one row to the next. */
int64_t adjacency_stride(int64_t n_var) {
    return (n_var + ADJACENCY_STRIDE - 1) / ADJACENCY_STRIDE * ADJACENCY_STRIDE;
}

/* Stores a tile's adjacencies, SIDE x SIDE of them per block, at both positions of each pair; both writes are row by
 * row. For a slab, whose tiles hold every pair of its columns, only the columns' position is written. */
__global__ void __launch_bounds__(SIDE *HIGH)
    put_adjacencies(const double *coefficients, gcor_tile tile, gcor_shape shape, gcor_overlap_rule rule,
                    double *matrix, int64_t first, int64_t stride, unsigned long long *missing) {
    __shared__ double part[SIDE][SIDE + 1];
    int64_t first_row = tile.row + (int64_t)blockIdx.y * SIDE, first_col = tile.col + (int64_t)blockIdx.x * SIDE;
    int absent = 0;
    for (int r = threadIdx.y; r < SIDE; r += HIGH) {
        int64_t row = first_row + r, col = first_col + threadIdx.x, begin = 0, n = 0;
        double a = -2; /* not a pair of the shape */
        if (row < tile.row + tile.n_row) gcor_tile_segment(&tile, shape, row, &begin, &n);
        if (col >= begin && col < begin + n) {
            double coefficient = coefficients[gcor_tile_offset(&tile, shape, row) + (col - begin)];
            absent += !(coefficient <= 1) && (shape != GCOR_FULL || col > row);
            a = row == col ? 0 : gcor_adjacency_of(&rule, coefficient);
            if (shape != GCOR_FULL) matrix[row * stride + col] = a;
        }
        part[r][threadIdx.x] = a;
    }
    __syncthreads();
    for (int c = threadIdx.y; c < SIDE; c += HIGH) {
        double a = part[threadIdx.x][c];
        if (a >= -1) matrix[(first_col + c - first) * stride + first_row + threadIdx.x] = a;
    }
    if (absent > 0) atomicAdd(missing, (unsigned long long)absent);
}

/* Computes a row's sum of absolute values, one block per row. */
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

/* The GPU may not be the calling thread's current device between runs. */
void free_matrix(void *device) {
    AdjacencyMatrix *matrix = (AdjacencyMatrix *)device;
    (void)cudaSetDevice(matrix->device);
    delete matrix;
    gcor_count_live(GCOR_HOST_MEMORY, -1);
}

class DeviceAdjacency : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;
    SinkNeeds begin() override { return {false, false}; }
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override {
        take(exact_in_place(state, rows, cols, tile));
    }
    void take(const Packed &values) override;
    void finish() override;

  private:
    gcor_adjacency *adjacency() const { return (gcor_adjacency *)sink; }
    AdjacencyMatrix *matrix();
};

/* Allocated and cleared on first use. Owned by the sink; it outlives the run. */
AdjacencyMatrix *DeviceAdjacency::matrix() {
    gcor_adjacency *own = adjacency();
    if (own->device) return (AdjacencyMatrix *)own->device;
    std::unique_ptr<AdjacencyMatrix> fresh(new AdjacencyMatrix);
    fresh->device = state->device;
    fresh->first = own->head.first;
    fresh->n = own->head.n_var;
    fresh->n_var = own->sink.n_col;
    fresh->stride = adjacency_stride(fresh->n_var);
    int64_t all = fresh->n * fresh->stride;
    fresh->values.reserve(all, "the adjacencies of all pairs");
    fresh->connectivity.reserve(fresh->n, "connectivities");
    fresh->missing.reserve(1, "the adjacencies of all pairs");
    clear(fresh->values.data, all, state->compute, "clearing adjacencies");
    clear(fresh->missing.data, 1, state->compute, "clearing adjacencies");
    own->free_device = free_matrix;
    own->device = fresh.release();
    gcor_count_live(GCOR_HOST_MEMORY, 1);
    return (AdjacencyMatrix *)own->device;
}

void DeviceAdjacency::take(const Packed &values) {
    const gcor_tile &tile = values.tile;
    AdjacencyMatrix *to = matrix();
    dim3 grid((unsigned)((tile.n_col + SIDE - 1) / SIDE), (unsigned)((tile.n_row + SIDE - 1) / SIDE));
    put_adjacencies<<<grid, dim3(SIDE, HIGH), 0, state->compute.handle>>>(values.doubles, tile, values.shape,
                                                                          adjacency()->rule, to->values.data, to->first,
                                                                          to->stride, to->missing.data);
    check_launch("making adjacencies");
}

void DeviceAdjacency::finish() {
    AdjacencyMatrix *own = (AdjacencyMatrix *)adjacency()->device;
    if (!own) return;
    connect<<<(unsigned)own->n, THREADS, 0, state->compute.handle>>>(own->values.data, own->n_var, own->stride,
                                                                     own->connectivity.data);
    check_launch("summing adjacencies");
    fetch(state, own->missing.data, 1, "the adjacencies of all pairs",
          [&](const unsigned long long *missing, int64_t, int64_t) { adjacency()->missing = (int64_t)*missing; });
}

} // namespace

std::unique_ptr<DeviceSink> make_adjacency(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new DeviceAdjacency(state));
}

/* ---- overlaps ----------------------------------------------------------------------------------- */

namespace {

enum { ALIGNED = 32 };

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
    void take(const Packed &) override { fail_impossible("coefficients where there are overlaps"); }
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
    bands.begin(sink);
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
    if (sink->shape == GCOR_LOWER) end = std::min(end, band.row + band.n_row);
    if (sink->shape == GCOR_UPPER) tile.col = std::max(band.col, band.row);
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
