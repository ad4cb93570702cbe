/* Pearson's columns and distances on the device: the host only copies columns' values. Sums have the order of the
 * processor's, so that operands have the same bits. */
#include "operand.cuh"
#include "../backend/lanes.cuh"
#include "../../measure/pearson.h"

/* ---- Pearson: each thread prepares a column ------------------------------------------------------- */

/* The host prepares fewer columns, and those of which fewer are on the device at a time, as fast. */
enum { CENTRE_THREADS = 128, MIN_COLUMNS = 1024 };

bool has_device_centring(const gcor_measure *measure, const gcor_columns *columns, int64_t n_var) {
    return measure->prepare == gcor_prepare_pearson && n_var >= MIN_COLUMNS &&
           columns->n_obs <= GROUP_VALUES / MIN_COLUMNS;
}

/* Columns with missing or infinite values become zeros. */
static __global__ void __launch_bounds__(CENTRE_THREADS)
    centre(const double *values, int64_t n, int64_t count, float *columns, double *norm, int *present) {
    int64_t v = blockIdx.x * (int64_t)CENTRE_THREADS + threadIdx.x;
    if (v >= count) return;
    const double *x = values + v * n;
    float *out = columns + v * n;
    double squares = 0;
    bool is_usable = true;
    for (int64_t k = 0; k < n; k++) is_usable &= isfinite(x[k]);
    gcor_centring c{};
    if (is_usable) c = gcor_centring_of(x, n);
    for (int64_t k = 0; is_usable && k < n; k++) {
        double value = gcor_centred(&c, x[k]);
        squares += value * value;
    }
    const double unit = squares > 0 ? 1 / sqrt(squares) : 0;
    for (int64_t k = 0; k < n; k++) out[k] = is_usable ? (float)(gcor_centred(&c, x[k]) * unit) : 0;
    norm[v] = gcor_dot(out, out, n);
    present[v] = (int)n;
}

void centre_columns(gcor_state *state, const double *values, int64_t n, int64_t count, Operand &o, int64_t at) {
    centre<<<blocks_for(count, CENTRE_THREADS), CENTRE_THREADS, 0, state->compute.handle>>>(
        values, n, count, o.columns.data + at * n, o.norm.data + at, o.present.data + at);
    check_launch("centering columns");
}

/* ---- distances ---------------------------------------------------------------------------------- */

/* U-centred distances (measure/distance.c), many more numbers than a column's values. */

enum { DISTANCE_THREADS = 256, SUM_LANES = 8, MAX_OBS = 3072 }; /* MAX_OBS: two doubles each in shared memory */

bool has_device_distances(const gcor_measure *measure, const gcor_columns *columns) {
    return measure->prepare == gcor_prepare_distance && columns->n_obs <= MAX_OBS;
}

/* Where a column's results go. */
struct DistanceOutput {
    int64_t length; /* of an operand's column */
    int min_obs;
    float *columns;
    double *norm;
    int *present;
};

/* Loads the block's column; returns the number of values that are not missing, and whether all are finite. */
static __device__ inline int load_column(const double *values, int n, double *x, bool *is_finite) {
    double missing = 0, infinite = 0;
    for (int k = threadIdx.x; k < n; k += DISTANCE_THREADS) {
        x[k] = values[k];
        missing += isnan(x[k]);
        infinite += isinf(x[k]);
    }
    missing = reduce_block<DISTANCE_THREADS>(missing, Plus());
    *is_finite = missing == 0 && reduce_block<DISTANCE_THREADS>(infinite, Plus()) == 0;
    return n - (int)missing;
}

/* Scales x; row: the sum of distances of each observation / (n - 2). Returns the sum of all / ((n - 1) (n - 2)). */
static __device__ inline double sum_rows(int n, double *x, double *row) {
    __shared__ double all;
    double largest = 0;
    for (int k = threadIdx.x; k < n; k += DISTANCE_THREADS) largest = fmax(largest, fabs(x[k]));
    const double scale = gcor_scale(reduce_block<DISTANCE_THREADS>(largest, Larger()));
    for (int k = threadIdx.x; k < n; k += DISTANCE_THREADS) x[k] *= scale;
    __syncthreads();
    for (int j = threadIdx.x; j < n; j += DISTANCE_THREADS) {
        double sum = 0;
        for (int i = 0; i < n; i++) sum += fabs(x[i] - x[j]);
        row[j] = sum;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        all = 0;
        for (int k = 0; k < n; k++) all += row[k];
    }
    __syncthreads();
    for (int k = threadIdx.x; k < n; k += DISTANCE_THREADS) row[k] /= (double)(n - 2);
    __syncthreads();
    return all / (double)((int64_t)(n - 1) * (n - 2));
}

static __device__ inline double centred(const double *x, const double *row, double all, int i, int j) {
    return fabs(x[i] - x[j]) - row[i] - row[j] + all;
}

/* The sum of squares, in lanes; 0 if distances are all zero but for rounding. */
static __device__ inline double sum_squares(int n, const double *x, const double *row, double all) {
    const double nothing_left = 0x1p-80;
    __shared__ double squares[SUM_LANES], plain[SUM_LANES];
    const int lane = threadIdx.x;
    double own = 0, own_plain = 0;
    for (int i = 0; lane < SUM_LANES && i < n; i++)
        for (int j = i + 1 + lane; j < n; j += SUM_LANES) {
            double value = centred(x, row, all, i, j), distance = x[i] - x[j];
            own += value * value;
            own_plain += distance * distance;
        }
    if (lane < SUM_LANES) {
        squares[lane] = own;
        plain[lane] = own_plain;
    }
    __syncthreads();
    double sum = squares[0], sum_plain = plain[0];
    for (int l = 1; l < SUM_LANES; l++) sum += squares[l], sum_plain += plain[l];
    return sum > nothing_left * sum_plain ? sum : 0;
}

/* A block prepares a column. */
static __global__ void centre_distances(const double *values, int n, DistanceOutput out) {
    extern __shared__ double x[];
    double *row = x + n;
    bool is_finite;
    float *column = out.columns + blockIdx.x * out.length;
    const int present = load_column(values + blockIdx.x * (int64_t)n, n, x, &is_finite);
    const bool counts = is_finite && n >= out.min_obs;
    const double all = counts ? sum_rows(n, x, row) : 0, squares = counts ? sum_squares(n, x, row, all) : 0;
    const double unit = squares > 0 ? 1 / sqrt(squares) : 0;
    for (int64_t k = threadIdx.x; !counts && k < out.length; k += DISTANCE_THREADS) column[k] = 0;
    for (int64_t i = 0, at = 0; counts && i < n; at += n - 1 - i, i++)
        for (int64_t j = i + 1 + threadIdx.x; j < n; j += DISTANCE_THREADS)
            column[at + j - i - 1] = (float)(centred(x, row, all, (int)i, (int)j) * unit);
    __syncthreads();
    if (threadIdx.x >= 32) return;
    const double norm = counts ? warp_dot(column, column, gcor_obs_pairs(n)) : 0;
    if (threadIdx.x > 0) return;
    out.norm[blockIdx.x] = norm;
    out.present[blockIdx.x] = present;
}

void distance_columns(gcor_state *state, const double *values, int64_t n, int64_t min_obs, int64_t count, Operand &o,
                      int64_t at) {
    DistanceOutput out{o.head.n_obs, (int)min_obs, o.columns.data + at * o.head.n_obs, o.norm.data + at,
                       o.present.data + at};
    centre_distances<<<(unsigned)count, DISTANCE_THREADS, 2 * (size_t)n * sizeof(double), state->compute.handle>>>(
        values, (int)n, out);
    check_launch("centering distances");
}
