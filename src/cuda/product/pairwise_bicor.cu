/* Pairwise-complete biweight midcorrelation: measure/bicor.c on the pair's observations, with the same bits. Order
 * statistics come from the columns' orders; sums are taken one value after the other, as there, by a lane each. */
#include "pairwise.cuh"
#include "../../measure/bicor.h"

/* ---- one column of a pair ------------------------------------------------------------------------ */

/* How the values of one column become differences, and these weighted. */
struct Biweight {
    double scale, median, deviation, below, above;
    bool is_infinite; /* a value is */
};

/* Moves a lane's value, if it is wanted, behind the n values before; returns the new number. */
static __device__ inline int append(double *to, int n, double value, bool wanted) {
    unsigned lanes = __ballot_sync(ALL_LANES, wanted);
    if (wanted) to[n + __popc(lanes & ((1u << threadIdx.x % 32) - 1))] = value;
    return n + __popc(lanes);
}

/* Gathers values of x where y has one, too, in ascending order. Returns their number. */
static __device__ int gather_sorted(const double *x, const int *order, int present, const double *y, double *sorted) {
    int n = 0, lane = threadIdx.x % 32;
    for (int p = lane; p - lane < present; p += 32) {
        int k = p < present ? order[p] : 0;
        n = append(sorted, n, x[k], p < present && !isnan(y[k]));
    }
    __syncwarp();
    return n;
}

/* quantile() of ascending values. */
static __device__ inline double sorted_quantile(const double *sorted, int n, double fraction) {
    double part;
    int64_t k = gcor_quantile_index(n, fraction, &part);
    return part > 0 ? sorted[k] + part * (sorted[k + 1] - sorted[k]) : sorted[k];
}

/* The size that `count` of n ascending differences do not exceed. They are neighbours. */
static __device__ double smallest_size(const double *differences, int n, int count) {
    double best = INFINITY;
    for (int i = threadIdx.x % 32; i + count <= n; i += 32)
        best = fmin(best, fmax(fabs(differences[i]), fabs(differences[i + count - 1])));
    return -largest_of_lanes(-best);
}

static __device__ double median_size(const double *differences, int n) {
    double part;
    int k = (int)gcor_quantile_index(n, 0.5, &part);
    double value = smallest_size(differences, n, k + 1);
    return part > 0 ? value + part * (smallest_size(differences, n, k + 2) - value) : value;
}

/* Reads n ascending values, and overwrites them. */
static __device__ Biweight biweight_of(double *sorted, int n, double max_outliers) {
    Biweight b;
    double largest = fmax(fabs(sorted[0]), fabs(sorted[n - 1]));
    b.is_infinite = isinf(largest);
    b.scale = b.is_infinite ? 1 : gcor_scale(largest);
    __syncwarp();
    for (int k = threadIdx.x % 32; k < n; k += 32) sorted[k] *= b.scale;
    __syncwarp();
    b.median = sorted_quantile(sorted, n, 0.5);
    __syncwarp();
    for (int k = threadIdx.x % 32; k < n; k += 32) sorted[k] -= b.median;
    __syncwarp();
    b.deviation = median_size(sorted, n);
    b.below = gcor_bicor_reach(b.deviation, -sorted_quantile(sorted, n, max_outliers));
    b.above = gcor_bicor_reach(b.deviation, sorted_quantile(sorted, n, 1 - max_outliers));
    __syncwarp(); /* the other column's values come next */
    return b;
}

/* ---- a pair ------------------------------------------------------------------------------------------- */

/* gcor_double_dot() */
static __device__ double double_dot(const double *x, const double *y, int n) {
    double all = 0;
    for (int from = 0; from < n; from += GCOR_OBS_RUN) {
        int to = min(n, from + (int)GCOR_OBS_RUN);
        double sum = 0;
        for (int k = from; k < to; k++) sum = fma(x[k], y[k], sum);
        all += sum;
    }
    return all;
}

static __device__ double sum_of_squares(const double *x, int n) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum += x[k] * x[k];
    return sum;
}

static __device__ double sum_from_first(const double *x, int n) {
    double sum = 0;
    for (int k = 0; k < n; k++) sum += x[k] - x[0];
    return sum;
}

struct BicorPairs {
    OrderedSide rows, cols;
    int n_obs, min_obs, fallback;
    double max_outliers;

    /* Weighs n differences of a column, or centres them, or makes them 0. */
    __device__ void weigh(double *x, int n, const Biweight &b) const {
        int lane = threadIdx.x % 32;
        if (b.deviation > 0 && fallback != GCOR_BICOR_ALL_PEARSON) {
            for (int k = lane; k < n; k += 32) x[k] = gcor_bicor_weighted(x[k], b.below, b.above);
        } else if (fallback == GCOR_BICOR_NO_FALLBACK) {
            for (int k = lane; k < n; k += 32) x[k] = 0;
        } else {
            double first = x[0], mean = sum_from_first(x, n) / (double)n;
            __syncwarp();
            for (int k = lane; k < n; k += 32) x[k] = x[k] - first - mean;
        }
    }

    __device__ int gather_differences(const double *x, const double *y, const Biweight &bx, const Biweight &by,
                                      double *own_x, double *own_y) const {
        int n = 0, lane = threadIdx.x % 32;
        for (int k = lane; k - lane < n_obs; k += 32) {
            double u = k < n_obs ? x[k] : NAN, v = k < n_obs ? y[k] : NAN;
            bool wanted = !isnan(u) && !isnan(v);
            (void)append(own_x, n, u * bx.scale - bx.median, wanted);
            n = append(own_y, n, v * by.scale - by.median, wanted);
        }
        __syncwarp();
        return n;
    }

    /* Scales both columns to unit length, and multiplies them. Lane 0 sums for x, lane 1 for y, lane 2 for both. */
    __device__ double multiply(double *x, double *y, int n, const Biweight &bx, const Biweight &by) const {
        int lane = threadIdx.x % 32;
        double sum = lane < 2 ? sum_of_squares(lane == 0 ? x : y, n) : 0, unit = sum > 0 ? 1 / sqrt(sum) : 0;
        double unit_x = __shfl_sync(ALL_LANES, unit, 0), unit_y = __shfl_sync(ALL_LANES, unit, 1);
        for (int k = lane; k < n; k += 32) x[k] *= unit_x, y[k] *= unit_y;
        __syncwarp();
        if (lane < 3) sum = double_dot(lane == 1 ? y : x, lane == 0 ? x : y, n);
        double norm_x = __shfl_sync(ALL_LANES, sum, 0), norm_y = __shfl_sync(ALL_LANES, sum, 1);
        double product = __shfl_sync(ALL_LANES, sum, 2);
        __syncwarp(); /* the next pair's values come next */
        return gcor_coefficient(product, bx.is_infinite ? NAN : norm_x, by.is_infinite ? NAN : norm_y);
    }

    /* scratch: 3 n_obs */
    __device__ double coefficient(int64_t i, int64_t j, double *scratch) const {
        const double *x = rows.values + i * n_obs, *y = cols.values + j * n_obs;
        double *sorted = scratch, *own_x = sorted + n_obs, *own_y = own_x + n_obs;
        int n = gather_sorted(x, rows.order + i * n_obs, rows.present[i], y, sorted);
        if (n < min_obs) return GCOR_NO_VALUE;
        const Biweight bx = biweight_of(sorted, n, max_outliers);
        gather_sorted(y, cols.order + j * n_obs, cols.present[j], x, sorted);
        const Biweight by = biweight_of(sorted, n, max_outliers);
        gather_differences(x, y, bx, by, own_x, own_y);
        weigh(own_x, n, bx);
        weigh(own_y, n, by);
        __syncwarp();
        return multiply(own_x, own_y, n, bx, by);
    }
};

void exact_pairwise_bicor(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    const int64_t n = rows.head.n_obs, steps = 8 * (n + 1); /* a sequence of sums takes as long as that */
    const BicorPairs pairs{{rows, out.tile.row},  {cols, out.tile.col},   (int)n,
                           rows.biweight.min_obs, rows.biweight.fallback, rows.biweight.max_outliers};
    compute_common(state, pairs, 3 * n, steps, out);
}
