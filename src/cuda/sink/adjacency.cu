#include "adjacency.cuh"
#include "totals.cuh"
#include "../backend/lanes.cuh"
#include "../../sink/adjacency.h"

namespace {

enum { SIDE = 32, HIGH = 8, STRIDE = 32, THREADS = 256 };

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
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override;
    void finish() override;

  private:
    gcor_adjacency *adjacency() const { return (gcor_adjacency *)state->sink; }
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

void DeviceAdjacency::multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    AdjacencyMatrix *to = matrix();
    Packed values = exact_in_place(state, rows, cols, tile);
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

int64_t adjacency_stride(int64_t n_var) {
    return (n_var + STRIDE - 1) / STRIDE * STRIDE;
}

std::unique_ptr<DeviceSink> make_adjacency(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new DeviceAdjacency(state));
}
