/* The kernels of zhao-network.cu. A block of the matrix is stored row by row. */
#ifndef GPUCOR_ZHAO_NETWORK_CUH
#define GPUCOR_ZHAO_NETWORK_CUH

#include "zhao-network.h"

static const int THREADS = 128, WARP = 32;
static const unsigned ALL = 0xffffffffu;

/* ---- vectors -------------------------------------------------------------------------------------------- */

/* Every lane gets the sum over the warp. */
template <class T>
static __device__ T warp_sum(T value) {
    for (int step = WARP / 2; step > 0; step /= 2) value += __shfl_xor_sync(ALL, value, step);
    return value;
}

/* Equation 5, one warp per column. A constant column becomes zeros: it has no edges. */
static __global__ void normalise(const double *data, int64_t n_var, int n_obs, float *vectors) {
    int64_t j = (int64_t)blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP;
    int lane = threadIdx.x % WARP;
    if (j >= n_var) return;
    const double *x = data + j * n_obs;
    double sum = 0, squares = 0;
    for (int k = lane; k < n_obs; k += WARP) sum += x[k];
    double mean = warp_sum(sum) / n_obs;
    for (int k = lane; k < n_obs; k += WARP) squares += (x[k] - mean) * (x[k] - mean);
    squares = warp_sum(squares);
    double scale = squares > 0 ? 1 / sqrt(squares) : 0;
    for (int k = lane; k < n_obs; k += WARP) vectors[j * n_obs + k] = (float)((x[k] - mean) * scale);
}

/* Equation 8, one block per column: an element's rank is the number of smaller ones plus half of the equal ones. */
static __global__ void rank_by_counting(const double *data, int n_obs, double *ranks) {
    const double *x = data + (int64_t)blockIdx.x * n_obs;
    for (int k = threadIdx.x; k < n_obs; k += THREADS) {
        int less = 0, equal = 0;
        for (int q = 0; q < n_obs; q++) {
            less += x[q] < x[k];
            equal += x[q] == x[k];
        }
        ranks[(int64_t)blockIdx.x * n_obs + k] = less + 0.5 * (1 + equal);
    }
}

/* Equation 6, one block per column: the pairs (0, 1), (0, 2), ..., (1, 2), ... of its observations. */
static __global__ void sign_vectors(const double *data, int n_obs, int64_t length, float *vectors) {
    __shared__ int untied;
    const double *x = data + (int64_t)blockIdx.x * n_obs;
    float *to = vectors + (int64_t)blockIdx.x * length;
    if (threadIdx.x == 0) untied = 0;
    __syncthreads();
    int own = 0;
    for (int k = 0; k < n_obs - 1; k++)
        for (int q = k + 1 + threadIdx.x; q < n_obs; q += THREADS) own += x[k] != x[q];
    atomicAdd(&untied, own);
    __syncthreads();
    float unit = untied > 0 ? (float)(1 / sqrt((double)untied)) : 0;
    for (int k = 0; k < n_obs - 1; to += n_obs - 1 - k, k++)
        for (int q = k + 1 + threadIdx.x; q < n_obs; q += THREADS)
            to[q - k - 1] = x[k] > x[q] ? unit : x[k] < x[q] ? -unit : 0;
}

/* ---- a block of the matrix ---------------------------------------------------------------------------------- */

/* Sets entries on and below the diagonal below every coefficient: they are pairs of other entries, or none. */
static __global__ void clear_lower(float *block, int size) {
    for (int j = threadIdx.x; j <= (int)blockIdx.x; j += THREADS) block[(int64_t)blockIdx.x * size + j] = -2;
}

/* ---- algorithm 2: the histogram ------------------------------------------------------------------------------ */

static __device__ int64_t count_below(const float *sorted, int64_t n, float limit) {
    int64_t low = 0, high = n;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (sorted[middle] < limit)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* One thread per bin. The last one also has what rounding has put above 1. */
static __global__ void search_bins(const float *sorted, int64_t n, unsigned long long *histogram) {
    int k = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (k >= BINS) return;
    int64_t end = k == BINS - 1 ? n : count_below(sorted, n, bin_edge(k + 1));
    histogram[k] += (unsigned long long)(end - count_below(sorted, n, bin_edge(k)));
}

/* ---- algorithm 1: the network ---------------------------------------------------------------------------------- */

/* Counts the edges of each row, one warp per row. */
static __global__ void count_edges(const float *block, int rows, int columns, float threshold, int *counts) {
    int i = (int)(blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP), lane = threadIdx.x % WARP;
    if (i >= rows) return;
    const float *r = block + (int64_t)i * columns;
    int own = 0;
    for (int j = lane; j < columns; j += WARP) own += r[j] > threshold;
    own = warp_sum(own);
    if (lane == 0) counts[i] = own;
}

/* Writes row i's edges to `places[i]`, in order: a lane's edge comes after those of lower lanes. */
static __global__ void compress_rows(const float *__restrict__ block, int rows, int columns, int first_column,
                                     float threshold, const int64_t *__restrict__ positions,
                                     int32_t *__restrict__ column, float *__restrict__ value) {
    int i = (int)(blockIdx.x * (THREADS / WARP) + threadIdx.x / WARP), lane = threadIdx.x % WARP;
    if (i >= rows) return;
    const float *r = block + (int64_t)i * columns;
    int64_t to = positions[i];
#pragma unroll 4
    for (int from = 0; from < columns; from += WARP) {
        float own = from + lane < columns ? r[from + lane] : -2;
        unsigned edges = __ballot_sync(ALL, own > threshold);
        if (own > threshold) {
            int64_t at = to + __popc(edges & ((1u << lane) - 1));
            column[at] = first_column + from + lane;
            value[at] = own;
        }
        to += __popc(edges);
    }
}

#endif
