/* Sums over every pair on the device (sums over edges are computed with the network's edges). A tile's values are
 * computed first; then each warp sums cells of SUM_ROWS x 32 pairs along rows and columns and adds the sums to the
 * variables' totals. The terms are those of sink/power_sums.c in high and low parts (fixed.h) and the totals are
 * fixed-point numbers, so the sums are exact in any order. */
#include "totals.cuh"
#include "../backend/lanes.cuh"
#include "../product/kernel_sink.cuh"
#include "../../base/artanh.h"
#include "../../sink/connectivity.h"

/* ---- additions ----------------------------------------------------------------------------------- */

enum { SUM_THREADS = 256, SUM_ROWS = 8, SUM_COLS = 32 };
static_assert(SUM_COLS <= (int)GCOR_EXACT_TERMS && SUM_ROWS <= (int)GCOR_EXACT_TERMS, "sums without rounding");
static_assert(SUM_ROWS == 8, "two lanes for each row of high parts, see sum_rows()");

/* Adds in two halves. The carry of the lower half goes to the upper half, so the order of additions is irrelevant. */
static __device__ inline void add_fixed(gcor_int128 *to, gcor_int128 number) {
    unsigned long long *halves = (unsigned long long *)to, low = (unsigned long long)number;
    unsigned long long carry = atomicAdd(&halves[0], low) > ~low;
    atomicAdd(&halves[1], (unsigned long long)(number >> 64) + carry);
}

/* Lanes whose numbers differ in `bit` exchange numbers: the lane without the bit returns the sum of both lanes' a, the
 * lane with the bit returns the sum of both lanes' b. */
static __device__ inline double sum_exchanged(double a, double b, int bit) {
    bool has_bit = threadIdx.x & bit;
    return (has_bit ? b : a) + __shfl_xor_sync(ALL_LANES, has_bit ? a : b, bit);
}

/* Returns the sum of row lane / 2 % SUM_ROWS over the warp: of its high parts in lanes 0 to 15, of its low parts in the
 * other lanes. parts: each row's sum_exchanged(high, low, 16). */
static __device__ inline double sum_rows(double (&parts)[SUM_ROWS]) {
#pragma unroll
    for (int half = SUM_ROWS / 2; half > 0; half /= 2)
#pragma unroll
        for (int k = 0; k < half; k++) parts[k] = sum_exchanged(parts[k], parts[k + half], 2 * half);
    return parts[0] + __shfl_xor_sync(ALL_LANES, parts[0], 1);
}

/* ---- the kernel ---------------------------------------------------------------------------------- */

/* A tile, and what its pairs are added to. */
struct PairSums : TileValues {
    gcor_sums_rule rule;
    int64_t n_var, first_row; /* number of variables; index of the tile's first row among them */
    gcor_int128 *sums;        /* (n_power + centrality measures) x n_var */
    unsigned long long *bins; /* NULL without a histogram */

    /* Where row i of the tile has its values: that of column j at start + j, for first <= j < end. */
    struct RowValues {
        int start, first, end;
    };
    __device__ RowValues values_of_row(int i) const {
        int64_t row = values.tile.row + i, col, n;
        if (i >= values.tile.n_row) return {0, 0, 0};
        gcor_tile_segment(&values.tile, values.shape, row, &col, &n);
        int first = (int)(col - values.tile.col);
        return {(int)gcor_tile_offset(&values.tile, values.shape, row) - first, first, first + (int)n};
    }

    /* Loads SUM_ROWS values of column j; NaN if there is no pair. Lane k knows where row k is. */
    template <class Value>
    static __device__ void load(const Value *from, const RowValues &own, int j, double (&to)[SUM_ROWS]) {
#pragma unroll
        for (int k = 0; k < SUM_ROWS; k++) {
            int start = __shfl_sync(ALL_LANES, own.start, k), first = __shfl_sync(ALL_LANES, own.first, k);
            int end = __shfl_sync(ALL_LANES, own.end, k);
            to[k] = j >= first && j < end ? from[start + j] : NAN;
        }
    }

    __device__ double coefficient(double value, int64_t i, int64_t j) const {
        return exact_value(*this, value, gcor_min(i, values.tile.n_row - 1), gcor_min(j, values.tile.n_col - 1));
    }

    /* Adds the terms of SUM_ROWS rows from i on and the lane's column j to sum s of their variables. */
    __device__ void add(int s, const double (&terms)[SUM_ROWS], int i, int j) const {
        double high = 0, low = 0, parts[SUM_ROWS];
#pragma unroll
        for (int k = 0; k < SUM_ROWS; k++) {
            double high_part = gcor_high_part(terms[k]), low_part = gcor_low_part(terms[k], high_part);
            high += high_part;
            low += low_part;
            parts[k] = sum_exchanged(high_part, low_part, 16);
        }
        gcor_int128 *to = sums + s * n_var;
        if (j < values.tile.n_col) add_fixed(to + values.tile.col + j, gcor_fixed(high, low));
        double row_high = sum_rows(parts), row_low = __shfl_xor_sync(ALL_LANES, row_high, 16);
        int lane = threadIdx.x % 32, row = i + lane / 2;
        if (lane < 16 && lane % 2 == 0 && row < values.tile.n_row)
            add_fixed(to + first_row + row, gcor_fixed(row_high, row_low));
    }

    /* `map`: 0 for the count of coefficients. */
    static __device__ double map_term(int map, double r) {
        if (map == GCOR_MAP_Z) return gcor_artanh(r) / GCOR_MAX_Z;
        return map == GCOR_MAP_MEAN ? r : map == GCOR_MAP_SQUARE ? r * r : 1;
    }

    __device__ void add_maps(const double (&r)[SUM_ROWS], int i, int j) const {
        double terms[SUM_ROWS];
#pragma unroll 1
        for (int map = 0, s = rule.n_power; map <= GCOR_MAP_SQUARE; map = map > 0 ? 2 * map : 1) {
            if (map > 0 && !(rule.maps & map)) continue;
#pragma unroll
            for (int k = 0; k < SUM_ROWS; k++) terms[k] = r[k] <= 1 ? map_term(map, r[k]) : 0;
            add(s++, terms, i, j);
        }
    }

    /* gcor_power() of each base. Whole powers of all rows are multiplied side by side. */
    static __device__ void raise(const double (&base)[SUM_ROWS], double step, double (&factor)[SUM_ROWS]) {
        int times = gcor_is_multiplied(step) ? (int)step : 0;
#pragma unroll
        for (int k = 0; k < SUM_ROWS; k++) factor[k] = gcor_power(base[k], step - times);
#pragma unroll 1
        for (; times > 0; times--)
#pragma unroll
            for (int k = 0; k < SUM_ROWS; k++) factor[k] *= base[k];
    }

    __device__ void add_powers(const double (&r)[SUM_ROWS], int i, int j) const {
        double base[SUM_ROWS], power[SUM_ROWS], factor[SUM_ROWS];
#pragma unroll
        for (int k = 0; k < SUM_ROWS; k++) {
            power[k] = r[k] <= 1;
            base[k] = r[k] <= 1 ? gcor_base(rule.similarity, r[k]) : 0;
        }
#pragma unroll 1
        for (int q = 0; q < rule.n_power; q++) {
            if (q == 0 || rule.steps[q] != rule.steps[q - 1]) raise(base, rule.steps[q], factor);
#pragma unroll
            for (int k = 0; k < SUM_ROWS; k++) power[k] *= factor[k];
            add(q, power, i, j);
        }
    }

    /* Sums the cell with rows from i on and the lane's column j. */
    __device__ void add_cell(unsigned *shared_bins, int i, int j) const {
        double r[SUM_ROWS];
        const RowValues own = values_of_row(i + threadIdx.x % SUM_ROWS);
        if (values.counts)
            load(values.counts, own, j, r);
        else
            load(values.doubles, own, j, r);
#pragma unroll
        for (int k = 0; k < SUM_ROWS; k++) {
            r[k] = coefficient(r[k], i + k, j);
            if (bins && r[k] <= 1) atomicAdd(&shared_bins[gcor_bin(r[k])], 1);
        }
        if (rule.maps) add_maps(r, i, j);
        add_powers(r, i, j);
    }
};

/* Sums a tile, one warp per cell. Consecutive cells have different rows and different columns, as additions to the same
 * total wait for each other. */
static __global__ void __launch_bounds__(SUM_THREADS, SUM_BLOCKS) sum_pairs(const __grid_constant__ PairSums sums) {
    extern __shared__ unsigned shared_bins[];
    if (sums.bins) {
        clear_bins(shared_bins, SUM_THREADS);
        __syncthreads();
    }
    int high = ((int)sums.values.tile.n_row + SUM_ROWS - 1) / SUM_ROWS;
    int wide = ((int)sums.values.tile.n_col + SUM_COLS - 1) / SUM_COLS, warp = threadIdx.x / 32;
    for (int cell = blockIdx.x * (SUM_THREADS / 32) + warp; cell < high * wide;
         cell += gridDim.x * (SUM_THREADS / 32)) {
        int row = cell % high, col = (cell / high + row) % wide;
        sums.add_cell(shared_bins, row * SUM_ROWS, col * SUM_COLS + threadIdx.x % 32);
    }
    if (sums.bins) {
        __syncthreads();
        add_bins(shared_bins, sums.bins, SUM_THREADS);
    }
}

/* ---- the sink ------------------------------------------------------------------------------------- */

class DeviceConnectivity : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;
    SinkNeeds begin() override;
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override;
    void finish() override;
    void trim() override { totals.trim(); }

  private:
    DeviceBins bins;
    Totals<gcor_int128> totals;

    gcor_connectivity *connectivity() const { return (gcor_connectivity *)state->sink; }
    int64_t n_sum() const { return gcor_count_sums(&connectivity()->rule); }
};

SinkNeeds DeviceConnectivity::begin() {
    bins.used = totals.used = false;
    return {false, false};
}

void DeviceConnectivity::multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    const gcor_connectivity *c = connectivity();
    PairSums sums{values_in_place(state, rows, cols, tile),
                  c->rule,
                  c->n_var,
                  gcor_first_row(state->sink) + tile.row,
                  totals.on_device(state, n_sum() * c->n_var, "sums over pairs"),
                  c->rule.histogram ? bins_on_device(state, bins) : nullptr};
    size_t shared = sums.bins ? GCOR_BINS * sizeof(unsigned) : 0;
    sum_pairs<<<SUM_BLOCKS * state->processors, SUM_THREADS, shared, state->compute.handle>>>(sums);
    check_launch("summing over pairs");
}

void DeviceConnectivity::finish() {
    if (!totals.used) return;
    gcor_connectivity *c = connectivity();
    gcor_int128 *to = c->sums + gcor_count_levels_of(&c->rule) * c->n_var;
    fetch(state, totals.data(), n_sum() * c->n_var, "sums over pairs",
          [&](const gcor_int128 *found, int64_t first, int64_t n) {
              for (int64_t k = 0; k < n; k++) to[first + k] += found[k];
          });
    if (c->rule.histogram) take_bins(state, bins, &c->bins);
    totals.used = false;
}

std::unique_ptr<DeviceSink> make_connectivity(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new DeviceConnectivity(state));
}
