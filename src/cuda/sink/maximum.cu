/* The largest weight on the device. During a product each warp finds the largest of its values in registers and
 * compares it with a floor, a weight that the maximum is known to reach. Pairs that may exceed the floor, given the
 * errors of both, are hits; they are few once the floor is high. Their exact weights are computed when a warp has
 * collected many or has finished, because most hits are below the floor by then. */
#include "../product/launch.cuh"
#include "edge_sink.cuh"
#include "maximum.cuh"

#include <cstring>

static const int NOTHING = 0x80;

/* A row's or a column's numbers for approximate values of signs. */
struct SignNumbers {
    int ones;
    float inverse;
};

/* The numbers of a warp's columns; HALF has none. */
template <ProductMode Mode, int N>
struct SignColumns {
    ColumnNumbers<int, N> ones;
    ColumnNumbers<float, N> inverse;
    template <class Sink>
    __device__ SignColumns(const Product &p, const Sink &, int64_t j) {
        if constexpr (Mode != HALF) {
            ones.load(Mode == TIED ? p.cols.ones_untied : p.cols.ones_greater, j);
            inverse.load(p.cols.inverse, j);
        }
    }
    __device__ SignNumbers get(int n, int odd) const {
        if constexpr (Mode == HALF)
            return {0, 0};
        else
            return {ones.get(n, odd), inverse.get(n, odd)};
    }
};

template <ProductMode Mode>
static __device__ inline SignNumbers numbers_of_row(const Product &p, int64_t i) {
    if (Mode == HALF) return {0, 0};
    return {Mode == UNTIED ? p.rows.ones_greater[i] : 0, p.rows.inverse[i]};
}

/* rough_value() from preloaded numbers; for HALF it is divided by the product's unit. */
template <ProductMode Mode>
static __device__ inline float scaled_value(const Product &p, int sum, SignNumbers row, SignNumbers col) {
    if (Mode == HALF) return __int_as_float(sum);
    int sign = Mode == TIED ? tied_sum(sum, col.ones) : 4 * sum - 2 * (row.ones + col.ones) + (int)p.bits;
    return (float)sign * row.inverse * col.inverse;
}

/* ---- in a kernel --------------------------------------------------------------------------------- */

struct Maximum {
    static constexpr unsigned modes = modes_of(HALF) | modes_of(UNTIED) | modes_of(TIED) | modes_of(FLOAT);
    static constexpr bool hopper = true, long_blocks = false, counts = false, register_sums = false;
    static constexpr int blocks = 2;
    template <ProductMode Mode, int N>
    using Ahead = SignColumns<Mode, N>;

    gcor_side side;
    FloatWeighing weigh;
    float error; /* of approximate weights, including rounding of what they are compared with */
    Largest *largest;

    /* ---- called by all lanes of a warp */

    /* Updates the maximum with the lanes' largest exact weight. */
    __device__ void add(double weight) const { largest->add(weight, __double2float_rd(weight)); }

    /* Min approximate weight of a hit. */
    __device__ float min() const { return largest->current_floor() - error; }

    /* True if the warp has a hit, given each lane's largest approximate weight. Raises the floor, and sets `min`
     * to the min weight of a hit. */
    __device__ bool has_hit(float rough, float &min) const {
        float top = Largest::largest_float(rough);
        min = this->min();
        if (!(top >= -1.5f && top >= min)) return false;
        if (top - error > min + error) {
            if (threadIdx.x % 32 == 0) largest->raise(top - error);
            min = top - error - error;
        }
        return true;
    }

    /* The largest exact weight of the lanes' REAL pairs, of those with `wanted`. */
    __device__ double dot_weights(const Product &p, bool wanted, unsigned position) const {
        double weight = GCOR_NO_WEIGHT;
        for (unsigned lanes = __ballot_sync(ALL_LANES, wanted); lanes; lanes &= lanes - 1) {
            unsigned pair = __shfl_sync(ALL_LANES, position, __ffs(lanes) - 1);
            int64_t i = position_row(pair), j = position_col(pair);
            double dot = warp_dot(p.rows.columns + i * p.n_obs, p.cols.columns + j * p.n_obs, p.n_obs);
            weight = fmax(weight, gcor_weight(side, exact_value(p, dot, i, j)));
        }
        return weight;
    }

    /* ---- products of tensor cores */

    /* A lane's largest approximate weight. */
    template <ProductMode Mode, bool AllCount, int N>
    __device__ float largest_rough(const Product &p, const SignColumns<Mode, N> &columns, const int (&sums)[N][4],
                                   int64_t i, int64_t j) const {
        const SignNumbers rows[2] = {numbers_of_row<Mode>(p, i), numbers_of_row<Mode>(p, i + 8)};
        const LanePairs pairs(p, i, j);
        float best = -INFINITY;
#pragma unroll
        for (int n = 0; n < N; n++) {
            const SignNumbers cols[2] = {columns.get(n, 0), columns.get(n, 1)};
#pragma unroll
            for (int e = 0; e < 4; e++) {
                float weight = weigh.weight(scaled_value<Mode>(p, sums[n][e], rows[e / 2], cols[e % 2]));
                best = fmaxf(best, AllCount || pairs.has(e / 2, 8 * n + e % 2) ? weight : -INFINITY);
            }
        }
        return Mode == HALF ? best * p.unit : best;
    }

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &out, const SignColumns<Mode, N> &columns,
                            const int (&sums)[N][4], int64_t row, int64_t col) const {
        int64_t i = row + threadIdx.x % 32 / 4, j = col + threadIdx.x % 4 * 2;
        float min, rough = all_count(p, row, col, 8 * N) ? largest_rough<Mode, true>(p, columns, sums, i, j)
                                                         : largest_rough<Mode, false>(p, columns, sums, i, j);
        if (!has_hit(rough, min)) return;
        auto is_hit = [&](int sum, int64_t r, int64_t c) {
            return weigh.weight(rough_value<Mode>(p, sum, r, c)) >= min;
        };
        keep_all_hits(p, out, sums, row, col, is_hit, [&] { hand_on<Mode>(p, *this, out); });
    }

    /* The exact weight of a lane's pair; for HALF the largest of all lanes. */
    template <ProductMode Mode>
    __device__ double hit_weight(const Product &p, Hit hit, bool inside, float min) const {
        unsigned position = (unsigned)(hit >> 32);
        int sum = (int)(unsigned)hit;
        if (Mode == HALF) return dot_weights(p, inside && weigh.weight(approx_value(p, sum)) >= min, position);
        if (!inside) return GCOR_NO_WEIGHT;
        int64_t i = position_row(position), j = position_col(position);
        return gcor_weight(side, exact_value(p, sign_sum(p, Mode, sum, i, j), i, j));
    }

    /* Computes the exact weights of the hits so far; for HALF most are below the floor by now. */
    template <ProductMode Mode>
    static __device__ __noinline__ void hand_on(const Product &p, const Maximum &sink, const WarpOutput &out) {
        double weight = GCOR_NO_WEIGHT;
        float min = sink.min();
        __syncwarp();
        for (int first = 0; first < out.n; first += 32) {
            int k = first + threadIdx.x % 32;
            bool inside = k < out.n;
            weight = fmax(weight, sink.hit_weight<Mode>(p, inside ? out.hits[k] : 0, inside, min));
        }
        sink.add(weight);
        __syncwarp();
    }

    template <ProductMode Mode>
    __device__ void finish(const Product &p, WarpOutput &out) const {
        hand_on<Mode>(p, *this, out);
    }

    /* ---- exact products of REAL columns */

    template <class Dot>
    __device__ void deliver_cell(const Product &p, int64_t i, int64_t j, Dot dot) const {
        auto weight_of = [&](int k) {
            double weight = GCOR_NO_WEIGHT;
            if (is_pair(p, i + k, j)) weight = gcor_weight(side, exact_value(p, dot(k), i + k, j));
            return (float)weight;
        };
        float min, rough = -INFINITY;
        for (int k = 0; k < CELL_ROWS; k++) rough = fmaxf(rough, weight_of(k));
        if (!has_hit(rough, min)) return;
        double weight = GCOR_NO_WEIGHT;
#pragma unroll 1
        for (int k = 0; k < CELL_ROWS; k++) {
            float own = weight_of(k);
            weight = fmax(weight, dot_weights(p, own >= -1.5f && own >= min, position_of(i + k, j)));
        }
        add(weight);
    }
};

enum { MAXIMUM_THREADS = 256 };

/* Searches a tile whose coefficients are in memory; each block takes every gridDim.x-th row. */
static __global__ void find_in_values(Packed values, Maximum sink) {
    const gcor_tile &tile = values.tile;
    double weight = GCOR_NO_WEIGHT;
    for (int64_t i = blockIdx.x; i < tile.n_row; i += gridDim.x) {
        int64_t col, n;
        gcor_tile_segment(&tile, values.shape, tile.row + i, &col, &n);
        const double *r = values.doubles + gcor_tile_offset(&tile, values.shape, tile.row + i);
        for (int64_t k = threadIdx.x; k < n; k += MAXIMUM_THREADS) weight = fmax(weight, gcor_weight(sink.side, r[k]));
    }
    sink.add(weight);
}

/* ---- the sink ---------------------------------------------------------------------------------------- */

SinkNeeds DeviceMaximum::begin() {
    found.used = false;
    return {sink->approximate != 0, sink->approximate != 0};
}

Largest *DeviceMaximum::largest() {
    return found.on_device(state, 1, "the largest coefficient", NOTHING);
}

void DeviceMaximum::take(const Packed &values) {
    const Maximum searching{maximum()->side, float_weighing(maximum()->side), 0, largest()};
    find_in_values<<<SUM_BLOCKS * state->processors, MAXIMUM_THREADS, 0, state->compute.handle>>>(values, searching);
    check_launch("finding the largest coefficient");
}

void DeviceMaximum::finish() {
    if (!found.used) return;
    fetch(state, found.data(), 1, "the largest coefficient", [&](const Largest *one, int64_t, int64_t) {
        long long bits = in_order(one->weight);
        double weight;
        memcpy(&weight, &bits, sizeof weight);
        gcor_maximum_add(maximum(), weight);
    });
}

void DeviceMaximum::multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    gcor_side side = maximum()->side;
    if (!fused(state, rows.head.kind, rows.head.n_obs)) return take(exact_in_place(state, rows, cols, tile));
    bool approx = rows.head.kind != GCOR_REAL || rows.head.n_obs <= MAXIMUM_HALF_OBS;
    Product product = (approx ? product_of : exact_product_of)(state, rows, cols, tile);
    float error = (float)(product_error(product) + 0x1p-22);
    launch_sink(state, product, Maximum{side, float_weighing(side), error, largest()});
}

std::unique_ptr<DeviceSink> make_maximum(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new DeviceMaximum(state));
}
