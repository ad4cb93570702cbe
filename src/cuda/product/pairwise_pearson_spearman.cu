/* Pairwise-complete Pearson, cosine and Spearman. */
#include "pairwise.cuh"

/* ---- Pearson and cosine ---------------------------------------------------------------------------- */

/* A lane's differences of one column from the pair's first complete value; without centering, from 0. Values are first
 * multiplied by `unit`: 1, or less if the sum of differences overflows. */
struct Differences {
    bool centred;
    double unit, first, sum, largest, scale, mean;

    __device__ double difference(double value) const { return value * unit - first * unit; }
    __device__ void add(double value) {
        double size = fabs(difference(value));
        sum += difference(value);
        if (isfinite(size)) largest = fmax(largest, size);
    }
    /* Computes a scale with which squares neither overflow nor vanish, and the mean. Called by all lanes. Returns
     * true if the sum is finite. */
    __device__ bool settle(int64_t count) {
        double all = sum_lanes(sum);
        scale = gcor_scale(largest_of_lanes(largest));
        if (centred) mean = all * scale / (double)count;
        return isfinite(all);
    }
    __device__ double scaled(double value) const { return difference(value) * scale - mean; }
};

/* First pass over a pair. Returns the number of pairwise-complete observations. */
static __device__ int64_t add_differences(const double *x, const double *y, int64_t n, Differences &dx,
                                          Differences &dy) {
    int lane = threadIdx.x % 32;
    int64_t count = 0;
    for (int64_t k = lane; k - lane < n; k += 32) {
        double u = k < n ? x[k] : NAN, v = k < n ? y[k] : NAN;
        bool common = !isnan(u) && !isnan(v);
        unsigned lanes = __ballot_sync(ALL_LANES, common);
        if (dx.centred && count == 0 && lanes) {
            dx.first = __shfl_sync(ALL_LANES, u, __ffs(lanes) - 1);
            dy.first = __shfl_sync(ALL_LANES, v, __ffs(lanes) - 1);
        }
        count += __popc(lanes);
        if (common) dx.add(u), dy.add(v);
    }
    return count;
}

/* Computes moments in two passes. Centering begins with the first complete value: if a column is constant in these
 * observations, its differences are exactly zero. All lanes return the result. */
static __device__ double real_pair(const double *x, const double *y, int64_t n, bool centred) {
    Differences dx{centred, 1}, dy{centred, 1};
    double xx = 0, yy = 0, xy = 0;
    int64_t count = add_differences(x, y, n, dx, dy);
    if (count < 2) return GCOR_NO_VALUE;
    bool finite_x = dx.settle(count), finite_y = dy.settle(count);
    if (!finite_x || !finite_y) { /* the same in all lanes */
        dx = Differences{centred, finite_x ? 1 : GCOR_SMALL_UNIT};
        dy = Differences{centred, finite_y ? 1 : GCOR_SMALL_UNIT};
        add_differences(x, y, n, dx, dy);
        dx.settle(count);
        dy.settle(count);
    }
    for (int64_t k = threadIdx.x % 32; k < n; k += 32) {
        if (isnan(x[k]) || isnan(y[k])) continue;
        double u = dx.scaled(x[k]), v = dy.scaled(y[k]);
        xx += u * u;
        yy += v * v;
        xy += u * v;
    }
    return gcor_coefficient(sum_lanes(xy), sum_lanes(xx), sum_lanes(yy));
}

/* ---- Spearman -------------------------------------------------------------------------------------- */

/* One side of a pair for Spearman, as bits: which of its values, in ascending order, belong to observations that are
 * present on the other side, and how many set bits precede each word. */
struct CommonBits {
    unsigned *bits, *before;

    __device__ int count(const int *order, int present, const int *other_begin) {
        int lane = threadIdx.x % 32, running = 0;
        for (int p = lane; p - lane <= present; p += 32) {
            unsigned word = __ballot_sync(ALL_LANES, p < present && other_begin[order[p]] >= 0);
            if (lane == 0) {
                bits[p / 32] = word;
                before[p / 32] = (unsigned)running;
            }
            running += __popc(word);
        }
        return running;
    }

    /* Number of complete observations among the first p values. */
    __device__ int at(int p) const { return (int)before[p / 32] + __popc(bits[p / 32] & ((1u << p % 32) - 1)); }
};

/* Twice a value's centred rank among the complete observations is the number of complete values below it minus the
 * number above it. Sums of integers: many GPUs have few units for doubles. */
static __device__ double spearman_pair(const int *order_x, const int *begin_x, const int *end_x, int present_x,
                                       const int *order_y, const int *begin_y, const int *end_y, int present_y, int n,
                                       unsigned *scratch) {
    int words = n / 32 + 1, lane = threadIdx.x % 32;
    CommonBits x{scratch, scratch + words}, y{scratch + 2 * words, scratch + 3 * words};
    int common = x.count(order_x, present_x, begin_y);
    y.count(order_y, present_y, begin_x);
    __syncwarp();
    long long xx = 0, yy = 0, xy = 0;
    for (int k = lane; k < n; k += 32) {
        if (begin_x[k] < 0 || begin_y[k] < 0) continue;
        int u = x.at(begin_x[k]) + x.at(end_x[k]) - common, v = y.at(begin_y[k]) + y.at(end_y[k]) - common;
        xx += (long long)u * u;
        yy += (long long)v * v;
        xy += (long long)u * v;
    }
    __syncwarp(); /* the next pair uses the scratch */
    if (common < 2) return GCOR_NO_VALUE;
    return gcor_coefficient((double)sum_lanes(xy), (double)sum_lanes(xx), (double)sum_lanes(yy));
}

/* ---- a tile ----------------------------------------------------------------------------------------- */

enum { UNSURE_WARPS = 8 };

/* Replaces the coefficients that are NaN in rows first, first + 1, ... of the tile, by sums over the common rows. */
static __global__ void unsure_pairs(const double *rows, const double *cols, int64_t n, bool centred, gcor_tile tile,
                                    gcor_shape shape, int64_t first, double *out) {
    int64_t i = first + blockIdx.y, begin, count;
    gcor_tile_segment(&tile, shape, tile.row + i, &begin, &count);
    double *own = out + gcor_tile_offset(&tile, shape, tile.row + i);
    int64_t some = ((int64_t)blockIdx.x * UNSURE_WARPS + threadIdx.x / 32) * 32, lane = threadIdx.x % 32;
    unsigned unsure = __ballot_sync(ALL_LANES, some + lane < count && isnan(own[some + lane]));
    for (; unsure; unsure &= unsure - 1) {
        int64_t k = some + __ffs((int)unsure) - 1;
        double r = real_pair(rows + i * n, cols + (begin - tile.col + k) * n, n, centred);
        if (lane == k - some) own[k] = r;
    }
}

/* In parts, so that a launch does not take too long if many are unsure. */
static void exact_pairwise_pearson(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    const gcor_tile &tile = out.tile;
    const int64_t n = rows.head.n_obs, n_row = std::max<int64_t>(1, COMMON_WORK / (tile.n_col * (n + 1)));
    exact_doubles(state, rows, cols, out);
    for (int64_t first = 0; first < tile.n_row; first += n_row) {
        dim3 grid(blocks_for(tile.n_col, 32 * UNSURE_WARPS), (unsigned)std::min(n_row, tile.n_row - first));
        if (first > 0) wait_for_compute(state); /* long work: ask whether to stop */
        unsure_pairs<<<grid, 32 * UNSURE_WARPS, 0, state->compute.handle>>>(
            rows.values_of(tile.row), cols.values_of(tile.col), n, rows.centred, tile, out.shape, first, out.doubles);
        check_launch("summing pairs over their common observations");
    }
}

/* The arrays of an operand of ranks, from the tile's first variable on. */
struct RankedSide {
    const int *order, *begin, *end, *present;
    RankedSide(const Operand &o, int64_t var) {
        int64_t v = var - o.head.first, at = v * o.head.n_obs;
        order = o.order.data + at, begin = o.begin.data + at, end = o.end.data + at, present = o.present.data + v;
    }
};

struct RankedPairs {
    RankedSide rows, cols;
    int n;
    __device__ double coefficient(int64_t i, int64_t j, double *scratch) const {
        int64_t row = i * n, col = j * n;
        return spearman_pair(rows.order + row, rows.begin + row, rows.end + row, rows.present[i], cols.order + col,
                             cols.begin + col, cols.end + col, cols.present[j], n, (unsigned *)scratch);
    }
};

void exact_pairwise(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    int64_t n = rows.head.n_obs, row = out.tile.row, col = out.tile.col;
    if (rows.head.kind == GCOR_REAL_COMMON) return exact_pairwise_pearson(state, rows, cols, out);
    const RankedPairs pairs{{rows, row}, {cols, col}, (int)n};
    compute_common(state, pairs, 2 * (n / 32 + 1), n + 1, out); /* 4 words of 32 bits for every 32 observations */
}
