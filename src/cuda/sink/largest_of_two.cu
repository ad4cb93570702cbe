/* The largest difference of two subjects' Fisher z. Its weight is that of tanh(z - z') = (r - r') / (1 - r r'), so that
 * approximate coefficients are compared with a floor, a weight that the maximum is known to reach, without a logarithm.
 * The first subject's product leaves its coefficients in memory, in the order of the registers that they come from; the
 * second one's kernel reads them. Pairs that may exceed the floor, given the errors of both, are hits; they are few
 * once the floor is high, and their exact weights are computed by one lane each. Pairs that are correlated so strongly
 * in both groups that the errors hide a difference, r r' above 0.99, stay hits. */
#include "combine.cuh"
#include "edge_sink.cuh"
#include "../product/launch.cuh"
#include "../../source/source.h"

#include <cuda_fp16.h>

/* ---- the first subject ---------------------------------------------------------------------------- */

/* Coefficients of a tile in half precision. A lane's four values of 16 rows and 8 columns are together; `across` such
 * cells are in 16 rows of the tile. */
struct Cells {
    uint2 *values;
    int64_t across;

    __device__ uint2 *at(int64_t i, int64_t j) const {
        return values + ((i / 16 * across + j / 8) * 32 + (i % 8 * 4 + j % 8 / 2));
    }
    /* Those of rows i and i + 8, columns j and j + 1. */
    __device__ void put(int64_t i, int64_t j, const float (&r)[4]) const {
        __half2 low = __floats2half2_rn(r[0], r[1]), high = __floats2half2_rn(r[2], r[3]);
        *at(i, j) = {*(const unsigned *)&low, *(const unsigned *)&high};
    }
    __device__ void get(int64_t i, int64_t j, float (&r)[4]) const {
        uint2 four = *at(i, j);
        float2 low = __half22float2(*(const __half2 *)&four.x), high = __half22float2(*(const __half2 *)&four.y);
        r[0] = low.x, r[1] = low.y, r[2] = high.x, r[3] = high.y;
    }
    __device__ float value(int64_t i, int64_t j) const {
        return __half2float(((const __half *)at(i, j))[i % 16 / 8 * 2 + j % 2]);
    }
};
static const double HALF_ERROR = 0x1p-11; /* of approximate coefficients, below 2, in half precision */

struct FirstSubject : PlainSink {
    static constexpr unsigned modes = modes_of(HALF);
    Cells cells;

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &, const Nothing &, const int (&sums)[N][4], int64_t row,
                            int64_t col) const {
        int64_t i = row + threadIdx.x % 32 / 4, j = col + threadIdx.x % 4 * 2;
        if (row >= p.tile.n_row) return;
#pragma unroll
        for (int n = 0; n < N; n++)
            if (col + 8 * n < p.tile.n_col)
                cells.put(i, j + 8 * n,
                          {approx_value(p, sums[n][0]), approx_value(p, sums[n][1]), approx_value(p, sums[n][2]),
                           approx_value(p, sums[n][3])});
    }
};

/* ---- the second subject --------------------------------------------------------------------------- */

/* A subject's columns. */
struct Share {
    ProductSide rows, cols;
    int64_t n_obs;
};

/* The dot product of launch.cuh. */
static __device__ double sliced_dot(const float *x, const float *y, int64_t n_obs) {
    double sum = 0;
    for (int64_t k = 0; k < n_obs; k += GCOR_OBS_SLICE) {
        float slice = 0;
        for (int64_t o = k; o < k + GCOR_OBS_SLICE && o < n_obs; o++) slice = __fmaf_rn(x[o], y[o], slice);
        sum += slice;
    }
    return sum;
}

struct SecondSubject : PlainSink {
    static constexpr unsigned modes = modes_of(HALF);
    Cells cells;
    Share share[2];
    double weight[2], total; /* of the combination */
    gcor_side side;
    FloatWeighing weigh; /* of differences of the first subject's coefficient and the second one's */
    float error;         /* max error of r - r', and of 1 - r r' */
    Largest *largest;

    /* ---- called by all lanes of a warp */

    __device__ float floor() const { return fmaxf(largest->current_floor(), -2); } /* weights are at least -1 */

    /* False for NaN. */
    __device__ bool may_reach(float floor, float first, float second) const {
        return weigh.weight(first - second) + floor * first * second >= floor - (1 + fabsf(floor)) * error;
    }

    /* A weight that the pair's reaches. More than the error is subtracted, as the quotient's parts may be small. */
    __device__ float low_weight(float first, float second) const {
        float low = weigh.weight(first - second) - 1.5f * error;
        return low > 0 ? low / (1 - first * second + error) : -INFINITY;
    }

    /* The groups of 8 columns in which the lane has a pair that may reach the floor. */
    template <bool AllCount, int N>
    __device__ unsigned find_groups(const Product &p, const int (&sums)[N][4], int64_t i, int64_t j,
                                    float floor) const {
        const LanePairs pairs(p, i, j);
        unsigned groups = 0;
#pragma unroll
        for (int n = 0; n < N; n++) {
            float first[4] = {NAN, NAN, NAN, NAN};
            if (AllCount || j + 8 * n < p.tile.n_col) cells.get(i, j + 8 * n, first);
#pragma unroll
            for (int e = 0; e < 4; e++)
                if ((AllCount || pairs.has(e / 2, 8 * n + e % 2)) &&
                    may_reach(floor, first[e], approx_value(p, sums[n][e])))
                    groups |= 1u << n;
        }
        return groups;
    }

    /* Calls body(n, hit, four sums) for these groups, with the pairs that may reach the floor. */
    template <int N, class Body>
    __device__ void for_hits(const Product &p, const int (&sums)[N][4], int64_t i, int64_t j, unsigned groups,
                             float floor, Body body) const {
        for (; groups; groups &= groups - 1) {
            int n = __ffs(groups) - 1, four[4];
            bool hit[4];
            pick_sums<0, N>(sums, n, four);
#pragma unroll
            for (int e = 0; e < 4; e++) {
                int64_t row = i + e / 2 * 8, col = j + 8 * n + e % 2;
                hit[e] = is_pair(p, row, col) && may_reach(floor, cells.value(row, col), approx_value(p, four[e]));
            }
            body(n, hit, four);
        }
    }

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &out, const Nothing &, const int (&sums)[N][4], int64_t row,
                            int64_t col) const {
        static_assert(N <= 32, "a bit for each group");
        int64_t i = row + threadIdx.x % 32 / 4, j = col + threadIdx.x % 4 * 2;
        if (row >= p.tile.n_row) return;
        float floor = this->floor(), low = -INFINITY;
        unsigned groups = all_count(p, row, col, 8 * N) ? find_groups<true>(p, sums, i, j, floor)
                                                        : find_groups<false>(p, sums, i, j, floor);
        groups = __reduce_or_sync(ALL_LANES, groups);
        if (!groups) return;
        for_hits(p, sums, i, j, groups, floor, [&](int n, const bool(&hit)[4], const int(&four)[4]) {
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (hit[e])
                    low = fmaxf(low,
                                low_weight(cells.value(i + e / 2 * 8, j + 8 * n + e % 2), approx_value(p, four[e])));
        });
        low = Largest::largest_float(low);
        if (low > floor) {
            if (threadIdx.x % 32 == 0) largest->raise(low);
            floor = low;
        }
        for_hits(p, sums, i, j, groups, floor, [&](int n, const bool(&hit)[4], const int(&four)[4]) {
            keep_hits(out, hit, four, i, j + 8 * n, [&] { hand_on(p, *this, out); });
        });
    }

    /* The exact weight of a pair. */
    __device__ double exact_weight(int64_t i, int64_t j) const {
        double sum = 0;
        for (int s = 0; s < 2; s++) {
            const Share &own = share[s];
            double dot = sliced_dot(own.rows.columns + i * own.n_obs, own.cols.columns + j * own.n_obs, own.n_obs);
            float r = (float)gcor_coefficient(dot, own.rows.norm[i], own.cols.norm[j]);
            sum = added(GCOR_FISHER, sum, r, weight[s]);
        }
        return gcor_weight(side, ended(GCOR_FISHER, sum, total));
    }

    /* Computes the exact weights of those hits so far that may still reach the floor. */
    static __device__ __noinline__ void hand_on(const Product &p, const SecondSubject &sink, const WarpOutput &out) {
        double weight = GCOR_NO_WEIGHT;
        float floor = sink.floor();
        __syncwarp();
        for (int k = threadIdx.x % 32; k < out.n; k += 32) {
            unsigned position = (unsigned)(out.hits[k] >> 32);
            int64_t i = position_row(position), j = position_col(position);
            if (sink.may_reach(floor, sink.cells.value(i, j), approx_value(p, (int)(unsigned)out.hits[k])))
                weight = fmax(weight, sink.exact_weight(i, j));
        }
        __syncwarp();
        sink.largest->add(weight, __double2float_rd(weight));
        __syncwarp();
    }

    template <ProductMode Mode>
    __device__ void finish(const Product &p, WarpOutput &out) const {
        hand_on(p, *this, out);
    }
};

/* ---- on the host ---------------------------------------------------------------------------------- */

bool LargestOfTwo::can_combine(const gcor_combination &rule) {
    if (rule.how != GCOR_FISHER || rule.n != 2) return false;
    const gcor_subject &first = rule.subjects[0], &second = rule.subjects[1];
    return first.weight == rule.total && second.weight == -rule.total && first.x->n_obs <= MAXIMUM_HALF_OBS &&
           second.x->n_obs <= MAXIMUM_HALF_OBS;
}

void LargestOfTwo::multiply(gcor_state *state, const gcor_combination &rule, int64_t subject, const Operand &rows,
                            const Operand &cols, const gcor_tile &tile, gcor_side side, Largest *largest) {
    Product product = product_of(state, rows, cols, tile);
    const int64_t down = (tile.n_row + 15) / 16, across = (tile.n_col + 7) / 8;
    if (subject == 0) {
        values.reserve(down * across * 32, "approximate coefficients of a tile");
        FirstSubject sink;
        sink.cells = {values.data, across};
        first = product;
        return launch_sink(state, product, sink);
    }
    SecondSubject sink;
    sink.cells = {values.data, across};
    sink.share[0] = {first.rows, first.cols, first.n_obs};
    sink.share[1] = {product.rows, product.cols, product.n_obs};
    for (int s = 0; s < 2; s++) sink.weight[s] = rule.subjects[s].weight;
    sink.total = rule.total;
    sink.side = side;
    sink.weigh = float_weighing(side);
    const double roundings = 0x1p-20;
    sink.error = (float)((1 + product_error(first) + HALF_ERROR) * (1 + product_error(product)) - 1 + roundings);
    sink.largest = largest;
    launch_sink(state, product, sink);
}
