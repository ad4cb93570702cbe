/* Sums over every pair on the device (sums over edges are computed with the network's edges). Kernels sum a tile's
 * cells of CELL_ROWS x CELL_COLS pairs along rows and columns; the summands are high and low parts (fixed.h), so the
 * sums are exact in any order. add_cells() then adds each variable's cells as fixed-point numbers, which stay on the
 * device until the run finishes. */
#include "totals.cuh"
#include "../backend/lanes.cuh"
#include "../product/launch.cuh"
#include "../../sink/connectivity.h"

#include <algorithm>

/* ---- in a kernel --------------------------------------------------------------------------------- */

static_assert(CELL_COLS <= (int)GCOR_EXACT_TERMS && CELL_ROWS <= (int)GCOR_EXACT_TERMS, "sums without rounding");

/* A lane's sums over its column's rows: both parts for each power. */
struct CellColumn {
    double high[GCOR_MAX_POWERS], low[GCOR_MAX_POWERS];
};

/* Returns the warp's sum of high parts in lanes 0 to 15 and of low parts in lanes 16 to 31. */
static __device__ inline double sum_parts(double high, double low) {
    bool first = threadIdx.x % 32 < 16;
    double sum = first ? high : low;
    sum += __shfl_xor_sync(ALL_LANES, first ? low : high, 16);
    for (int step = 8; step > 0; step /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
    return sum;
}

/* A record holds the high and the low part of each power. rows: records of a cell's rows, [cell's column /
 * CELL_COLS][row of the tile]; cols: records of its columns, [cell's row / CELL_ROWS][column]. */
struct CellSums : PlainSink {
    static constexpr unsigned modes = modes_of(UNTIED) | modes_of(TIED) | modes_of(FLOAT);
    gcor_sums_rule rule;
    double *rows, *cols;
    unsigned long long *bins; /* NULL without a histogram */
};

/* Histogram: true to count the coefficients in bins, too. */
template <bool Histogram>
struct Cells : CellSums {
    static constexpr bool counts = Histogram;

    __host__ __device__ int record() const { return 2 * rule.n_power; }

    /* Adds a term of power number s. row: where to write the row's record, NULL beyond the tile. */
    __device__ void add(int s, double term, CellColumn &column, double *row) const {
        double high = gcor_high_part(term), low = gcor_low_part(term, high), sum = sum_parts(high, low);
        column.high[s] += high;
        column.low[s] += low;
        if (row && threadIdx.x % 16 == 0) row[2 * s + threadIdx.x % 32 / 16] = sum;
    }

    /* Adds a row's pairs, one per lane; GCOR_NO_VALUE stands for no pair. */
    __device__ void add_row(double r, unsigned *shared_bins, CellColumn &column, double *row) const {
        bool has_value = r <= 1;
        if (Histogram && has_value) atomicAdd(&shared_bins[gcor_bin(r)], 1);
        double base = has_value ? gcor_base(rule.similarity, r) : 1, power = has_value, factor = 1;
        for (int q = 0; q < rule.n_power; q++) {
            if (q == 0 || rule.steps[q] != rule.steps[q - 1]) factor = gcor_power(base, rule.steps[q]);
            add(q, power *= factor, column, row);
        }
    }

    /* Sums the cell with rows from i on and the lane's column j. value(k): the coefficient of row i + k. All lanes
     * must call it. */
    template <class Value>
    __device__ void sum_cell(const Product &p, unsigned *shared_bins, int64_t i, int64_t j, Value value) const {
        if (i >= p.tile.n_row || j - threadIdx.x % 32 >= p.tile.n_col)
            return; /* the tile's last block may extend beyond it */
        CellColumn column{};
#pragma unroll 1
        for (int k = 0; k < CELL_ROWS; k++) {
            double *row = i + k < p.tile.n_row ? rows + (j / CELL_COLS * p.tile.n_row + i + k) * record() : nullptr;
            add_row(is_pair(p, i + k, j) ? value(k) : GCOR_NO_VALUE, shared_bins, column, row);
        }
        if (j >= p.tile.n_col) return;
        double *to = cols + (i / CELL_ROWS * p.tile.n_col + j) * record();
        for (int s = 0; s < rule.n_power; s++) to[2 * s] = column.high[s], to[2 * s + 1] = column.low[s];
    }

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &warp, const Nothing &, const int (&sums)[N][4], int64_t i,
                            int64_t j) const {
        for_each_cell(warp, sums, j, [&](const int *cell, int64_t col) {
            sum_cell(p, warp.bins, i, col, [&](int k) {
                return exact_value(p, sign_sum(p, Mode, cell[k * CELL_COLS], i + k, col), i + k, col);
            });
        });
    }

    /* Coefficients are rounded to single precision, as in a dense result. */
    template <class Dot>
    __device__ void deliver_cell(const Product &p, unsigned *shared_bins, int64_t i, int64_t j, Dot dot) const {
        sum_cell(p, shared_bins, i, j, [&](int k) { return (double)(float)exact_value(p, dot(k), i + k, j); });
    }
};

/* ---- of stored values and of cells ---------------------------------------------------------------- */

enum { SUM_THREADS = 256 };

/* Sums the cells of a tile whose coefficients are in memory, one warp per cell. */
template <bool Histogram>
static __global__ void sum_values(const __grid_constant__ Product p, const __grid_constant__ Cells<Histogram> sink,
                                  const double *values) {
    extern __shared__ unsigned bins[];
    if (Histogram) {
        clear_bins(bins, SUM_THREADS);
        __syncthreads();
    }
    int64_t wide = (p.tile.n_col + CELL_COLS - 1) / CELL_COLS, high = (p.tile.n_row + CELL_ROWS - 1) / CELL_ROWS;
    for (int64_t cell = blockIdx.x * (SUM_THREADS / 32) + threadIdx.x / 32; cell < wide * high;
         cell += gridDim.x * (SUM_THREADS / 32)) {
        int64_t i = cell / wide * CELL_ROWS, j = cell % wide * CELL_COLS + threadIdx.x % 32;
        sink.sum_cell(p, bins, i, j, [&](int k) {
            int64_t col, n, at = gcor_tile_offset(&p.tile, p.shape, p.tile.row + i + k);
            gcor_tile_segment(&p.tile, p.shape, p.tile.row + i + k, &col, &n);
            return values[at + p.tile.col + j - col];
        });
    }
    if (Histogram) {
        __syncthreads();
        add_bins(bins, sink.bins, SUM_THREADS);
    }
}

/* Sums of powers, laid out as in gcor_connectivity after the strengths. */
struct VariableSums {
    int n_power;
    int64_t n_var;
    gcor_int128 *sums;
};

/* Adds up the records of all cells for n variables of one side of the tile, from `first` on; one thread per variable
 * and power. */
static __global__ void add_cells(const double *cells, int64_t n_cells, int64_t first, int64_t n, VariableSums out) {
    int64_t thread = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (thread >= n * out.n_power) return;
    int64_t var = thread / out.n_power, s = thread % out.n_power, step = n * 2 * out.n_power;
    const double *parts = cells + var * 2 * out.n_power + 2 * s;
    gcor_int128 sum = 0;
    for (int64_t cell = 0; cell < n_cells; cell++) sum += gcor_fixed(parts[cell * step], parts[cell * step + 1]);
    out.sums[s * out.n_var + first + var] += sum;
}

/* ---- the sink ------------------------------------------------------------------------------------- */

class DeviceConnectivity : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;
    SinkNeeds begin() override;
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override;
    void finish() override;
    void trim() override;

  private:
    DeviceBins bins;
    Totals<gcor_int128> sums;
    DeviceArray<double> cells; /* of the current tile */

    gcor_connectivity *connectivity() const { return (gcor_connectivity *)state->sink; }
    int64_t n_power() const { return connectivity()->rule.n_power; }

    VariableSums variable_sums();
    CellSums reserve_cells(const gcor_tile &tile);
    template <bool Histogram>
    void sum_tile(const Operand &rows, const Operand &cols, const gcor_tile &tile, const CellSums &sums);
};

SinkNeeds DeviceConnectivity::begin() {
    bins.used = sums.used = false;
    return {false, false};
}

VariableSums DeviceConnectivity::variable_sums() {
    int64_t n_var = connectivity()->n_var;
    return {(int)n_power(), n_var, sums.on_device(state, n_power() * n_var, "sums over pairs")};
}

/* Allocates a tile's cells. They are cleared if some have no pair of the shape and will not be written. */
CellSums DeviceConnectivity::reserve_cells(const gcor_tile &tile) {
    CellSums sink;
    int64_t wide = (tile.n_col + CELL_COLS - 1) / CELL_COLS, high = (tile.n_row + CELL_ROWS - 1) / CELL_ROWS;
    sink.rule = connectivity()->rule;
    int64_t of_rows = wide * tile.n_row * 2 * n_power(), of_cols = high * tile.n_col * 2 * n_power();
    cells.reserve(of_rows + of_cols, "sums over pairs");
    if (gcor_tile_pairs(&tile, state->sink->shape) < tile.n_row * tile.n_col)
        clear(cells.data, of_rows + of_cols, state->compute, "clearing sums");
    sink.rows = cells.data;
    sink.cols = cells.data + of_rows;
    sink.bins = sink.rule.histogram ? bins_on_device(state, bins) : nullptr;
    return sink;
}

template <bool Histogram>
void DeviceConnectivity::sum_tile(const Operand &rows, const Operand &cols, const gcor_tile &tile,
                                  const CellSums &sums) {
    Cells<Histogram> sink{sums};
    if (fused_exactly(state, rows.head.kind, rows.head.n_obs)) {
        Product product = exact_product_of(state, rows, cols, tile);
        return launch_sink(state, product, sink);
    }
    Product pairs{};
    pairs.tile = tile;
    pairs.shape = state->sink->shape;
    Packed values = exact_in_place(state, rows, cols, tile);
    size_t shared = Histogram ? GCOR_BINS * sizeof(unsigned) : 0;
    sum_values<Histogram>
        <<<SUM_BLOCKS * state->processors, SUM_THREADS, shared, state->compute.handle>>>(pairs, sink, values.doubles);
    check_launch("summing over pairs");
}

void DeviceConnectivity::multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    VariableSums out = variable_sums();
    CellSums sink = reserve_cells(tile);
    if (sink.rule.histogram)
        sum_tile<true>(rows, cols, tile, sink);
    else
        sum_tile<false>(rows, cols, tile, sink);
    if (n_power() == 0) return;
    cudaStream_t stream = state->compute.handle;
    add_cells<<<blocks_for(tile.n_row * n_power(), SUM_THREADS), SUM_THREADS, 0, stream>>>(
        sink.rows, (tile.n_col + CELL_COLS - 1) / CELL_COLS, tile.row, tile.n_row, out);
    add_cells<<<blocks_for(tile.n_col * n_power(), SUM_THREADS), SUM_THREADS, 0, stream>>>(
        sink.cols, (tile.n_row + CELL_ROWS - 1) / CELL_ROWS, tile.col, tile.n_col, out);
    check_launch("summing over pairs");
}

void DeviceConnectivity::finish() {
    if (!sums.used) return;
    gcor_connectivity *c = connectivity();
    gcor_int128 *to = c->sums + gcor_count_levels_of(&c->rule) * c->n_var;
    fetch(state, sums.data(), n_power() * c->n_var, "sums over pairs",
          [&](const gcor_int128 *found, int64_t first, int64_t n) {
              for (int64_t k = 0; k < n; k++) to[first + k] += found[k];
          });
    if (c->rule.histogram) take_bins(state, bins, &c->bins);
    sums.used = false;
}

void DeviceConnectivity::trim() {
    sums.trim();
    cells.trim();
}

std::unique_ptr<DeviceSink> make_connectivity(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new DeviceConnectivity(state));
}
