/* Sums over every pair on the device (sums over edges are computed with the network's edges). One power of REAL columns
 * is summed by the kernel that multiplies. Otherwise a tile's values are computed first; then each warp sums cells of
 * SUM_ROWS x 32 pairs along rows and columns and adds the sums to the variables' totals. The terms are those of
 * sink/power_sums.c in high and low parts (weight.h) and the totals are fixed-point numbers, so the sums are exact in
 * any order. */
#include "sinks.cuh"
#include "../backend/lanes.cuh"
#include "../product/launch.cuh"
#include "../../base/elementary.h"
#include "../../sink/connectivity.h"
#include "../../sink/information.h"

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

/* gcor_power() of each base. Whole powers of all are multiplied side by side. */
template <int N>
static __device__ inline void raise(const double (&base)[N], double step, double (&factor)[N]) {
    int times = gcor_is_multiplied(step) ? (int)step : 0;
#pragma unroll
    for (int k = 0; k < N; k++) factor[k] = step == times ? 1 : gcor_power(base[k], step - times);
#pragma unroll 1
    for (; times > 0; times--)
#pragma unroll
        for (int k = 0; k < N; k++) factor[k] *= base[k];
}

/* ---- the kernel ---------------------------------------------------------------------------------- */

/* A tile, and what its pairs are added to. */
struct PairSums : TileValues {
    gcor_sums_rule rule;
    bool of_information;      /* true: of coefficients' information (sink/information.h) */
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
        double r = exact_value(*this, value, gcor_min(i, values.tile.n_row - 1), gcor_min(j, values.tile.n_col - 1));
        return of_information ? gcor_information_in(r) : r;
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

/* ---- sums of products ------------------------------------------------------------------------------ */

static __device__ __noinline__ float divided(double dot, double norm, double other_norm) {
    return (float)gcor_coefficient(dot, norm, other_norm);
}

/* gcor_coefficient() in single precision, from the inverse roots of the norms (coefficient.h). */
static __device__ inline float rounded_coefficient(double dot, double inverse, double other_inverse, double norm,
                                                   double other_norm) {
    const double r = dot * (inverse * other_inverse);
    const int below = (__double2loint(r) & (2 * GCOR_MIDDLE - 1)) - GCOR_MIDDLE;
    bool is_rounded = (below <= -GCOR_NEAR_MIDDLE || below >= GCOR_NEAR_MIDDLE) && fabs(r) > GCOR_MIN_ROUNDED &&
                      fabs(r) < 2;
    return is_rounded ? (float)gcor_limit(r) : divided(dot, norm, other_norm);
}

/* Sums of one power over exact products of REAL columns, which are not stored: each thread sums its own. */
struct ProductSums : PlainSink {
    static constexpr unsigned modes = modes_of(FLOAT);
    static constexpr bool register_sums = true;
    enum { N_ROW = floats::OWN_ROWS, N_COL = floats::OWN_COLS };

    gcor_similarity similarity;
    double power;
    int64_t first_row; /* as in PairSums */
    gcor_int128 *sums; /* n_var */

    /* Sums over the lanes whose numbers differ in the bits from `first` to `last`. */
    static __device__ double over_lanes(double sum, int first, int last) {
#pragma unroll
        for (int bit = first; bit <= last; bit *= 2) sum += __shfl_xor_sync(ALL_LANES, sum, bit);
        return sum;
    }

    /* True if all pairs of the block have the shape. */
    static __device__ bool is_whole(const Product &p, const WalkBlock &block) {
        const int64_t row = block.row + floats::ROWS - 1, col = block.col + floats::COLS - 1;
        return row < p.tile.n_row && col < p.tile.n_col && is_pair(p, block.row, col) && is_pair(p, row, block.col);
    }

    template <bool IsWhole>
    static __device__ void find_coefficients(const Product &p, const WalkBlock &block,
                                             const double (&dots)[N_ROW][N_COL], float (&r)[N_ROW][N_COL]) {
        double norm[N_ROW], inverse[N_ROW];
#pragma unroll
        for (int i = 0; i < N_ROW; i++) {
            const int64_t row = block.row + floats::own_row(i);
            norm[i] = IsWhole || row < p.tile.n_row ? p.rows.norm[row] : NAN;
            inverse[i] = rsqrt(norm[i]);
        }
#pragma unroll
        for (int j = 0; j < N_COL; j++) {
            const int64_t col = block.col + floats::own_col(j);
            const double col_norm = IsWhole || col < p.tile.n_col ? p.cols.norm[col] : NAN, root = rsqrt(col_norm);
#pragma unroll
            for (int i = 0; i < N_ROW; i++)
                r[i][j] = IsWhole || is_pair(p, block.row + floats::own_row(i), col)
                              ? rounded_coefficient(dots[i][j], inverse[i], root, norm[i], col_norm)
                              : (float)GCOR_NO_VALUE;
        }
    }

    __device__ void find_terms(const float (&r)[N_COL], double (&terms)[N_COL]) const {
        double base[N_COL];
#pragma unroll
        for (int j = 0; j < N_COL; j++) base[j] = r[j] <= 1 ? gcor_base(similarity, r[j]) : 0;
        raise(base, power, terms);
#pragma unroll
        for (int j = 0; j < N_COL; j++) terms[j] = r[j] <= 1 ? terms[j] : 0;
    }

    /* A row of a warp's pairs is in four lanes, a column in eight: a lane adds one row's sum and one column's. */
    __device__ void deliver_registers(const Product &p, const WalkBlock &block,
                                      const double (&dots)[N_ROW][N_COL]) const {
        const int lane = threadIdx.x % 32;
        float r[N_ROW][N_COL];
        double col_high[N_COL] = {}, col_low[N_COL] = {}, terms[N_COL];
        double high_of_row = 0, low_of_row = 0, high_of_col = 0, low_of_col = 0;
        if (is_whole(p, block))
            find_coefficients<true>(p, block, dots, r);
        else
            find_coefficients<false>(p, block, dots, r);
#pragma unroll
        for (int i = 0; i < N_ROW; i++) {
            double row_high = 0, row_low = 0;
            find_terms(r[i], terms);
#pragma unroll
            for (int j = 0; j < N_COL; j++) {
                double high = gcor_high_part(terms[j]), low = gcor_low_part(terms[j], high);
                row_high += high;
                row_low += low;
                col_high[j] += high;
                col_low[j] += low;
            }
            row_high = over_lanes(row_high, 1, 2);
            row_low = over_lanes(row_low, 1, 2);
            if (lane % 4 == i) high_of_row = row_high, low_of_row = row_low;
        }
#pragma unroll
        for (int j = 0; j < N_COL; j++) {
            double high = over_lanes(col_high[j], 4, 16), low = over_lanes(col_low[j], 4, 16);
            if (lane / 4 == j) high_of_col = high, low_of_col = low;
        }
        const int64_t row = block.row + floats::own_row(lane % 4), col = block.col + floats::own_col(lane / 4);
        if (row < p.tile.n_row) add_fixed(sums + first_row + row, gcor_fixed(high_of_row, low_of_row));
        if (col < p.tile.n_col) add_fixed(sums + p.tile.col + col, gcor_fixed(high_of_col, low_of_col));
    }
};

/* ---- sums of stored values ---------------------------------------------------------------------------- */

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
    void take(const Packed &values) override { sum({values}); }
    void finish() override;
    void trim() override { totals.trim(); }

  private:
    DeviceBins bins;
    Totals<gcor_int128> totals;

    bool of_information() const { return sink->of != nullptr; }
    gcor_connectivity *connectivity() const { return (gcor_connectivity *)(of_information() ? sink->of : sink); }
    gcor_int128 *sums_on_device() {
        return totals.on_device(state, n_sum() * connectivity()->n_var, "sums over pairs");
    }
    int64_t first_row(const gcor_tile &tile) const { return gcor_first_row(sink) + tile.row; }
    void sum(const TileValues &values);
    int64_t n_sum() const { return gcor_count_sums(&connectivity()->rule); }
    /* True if products of REAL columns are summed by the kernel that multiplies. */
    bool sums_products() const {
        const gcor_sums_rule &rule = connectivity()->rule;
        return rule.n_power == 1 && !rule.maps && !rule.histogram && !of_information();
    }
};

SinkNeeds DeviceConnectivity::begin() {
    bins.used = totals.used = false;
    SinkNeeds needs{false, false};
    if (sums_products()) needs.rows = SUMMED_ROWS;
    return needs;
}

void DeviceConnectivity::multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    const gcor_connectivity *c = connectivity();
    if (rows.head.kind != GCOR_REAL || !sums_products()) return sum(values_in_place(state, rows, cols, tile));
    ProductSums sums;
    sums.similarity = c->rule.similarity;
    sums.power = c->rule.steps[0];
    sums.first_row = first_row(tile);
    sums.sums = sums_on_device();
    Product product = exact_product_of(state, rows, cols, tile);
    launch_sink(state, product, sums);
}

void DeviceConnectivity::sum(const TileValues &values) {
    const gcor_connectivity *c = connectivity();
    PairSums sums{values,
                  c->rule,
                  of_information(),
                  c->n_var,
                  first_row(values.values.tile),
                  sums_on_device(),
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
