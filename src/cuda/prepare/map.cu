/* Maps columns for partial correlations given all other variables (measure/design.h) on the device: the map takes many
 * times the arithmetic of the rest of preparing a column. Sums have the order of gcor_design_map(), so that operands
 * have the same bits. */
#include "operand.cuh"
#include "../backend/lanes.cuh"
#include "../../base/dots.h"
#include "../../measure/design.h"

#include <vector>

/* A block maps MAP_COLS columns, which share the loads of the map. MAP_OBS: max observations, for shared memory. */
enum { MAP_THREADS = 128, MAP_COLS = 8, MAP_OBS = 1024, SQUARE_LANES = 4 };

bool has_device_map(const gcor_measure *measure, const gcor_columns *columns) {
    const gcor_design *design = columns->design;
    return design && design->n_map > 0 && columns->n_obs <= MAP_OBS && measure->angle == GCOR_CENTRED;
}

struct Mapping {
    const double *units, *map; /* n values of each column; n_map of each observation, which threads read together */
    int n, n_map;
    int64_t n_var;
    float *columns;
    double *norm;
};

typedef double Dots[MAP_COLS];

/* Adds up the products of lane l of gcor_dots(), for all columns: observations first + l, first + l + 8 ... */
static __device__ inline void sum_lane(const double *map, int stride, const double *x, int n, int first, int end, int l,
                                       Dots &sums) {
    for (int c = 0; c < MAP_COLS; c++) sums[c] = 0;
    for (int k = first + l; k < end; k += GCOR_DOT_LANES) {
        const double weight = map[k * stride];
#pragma unroll
        for (int c = 0; c < MAP_COLS; c++) sums[c] += weight * x[c * n + k];
    }
}

/* gcor_dots() of a column of the map, whose values are `stride` apart, and all columns x, from `first` on. */
static __device__ inline void dot_columns(const double *map, int stride, const double *x, int n, int first,
                                          Dots &dots) {
    const int end = n - (n - first) % GCOR_DOT_LANES, order[] = {0, 4, 2, 6, 1, 5, 3, 7};
    Dots half[2], pair, other;
#pragma unroll
    for (int step = 0; step < 4; step++) {
        sum_lane(map, stride, x, n, first, end, order[2 * step], pair);
        sum_lane(map, stride, x, n, first, end, order[2 * step + 1], other);
#pragma unroll
        for (int c = 0; c < MAP_COLS; c++) {
            pair[c] += other[c];
            half[step / 2][c] = step % 2 ? half[step / 2][c] + pair[c] : pair[c];
        }
    }
#pragma unroll
    for (int c = 0; c < MAP_COLS; c++) {
        dots[c] = half[0][c] + half[1][c];
        for (int k = end; k < n; k++) dots[c] += map[k * stride] * x[c * n + k];
    }
}

/* The norm of a mapped column: 1 less the sum of its squares, in lanes; called by SQUARE_LANES threads. */
static __device__ inline double mapped_norm(const double *products, int n) {
    const int lane = threadIdx.x % SQUARE_LANES;
    double sum = 0;
    for (int k = lane; k < n; k += SQUARE_LANES) sum += products[k] * products[k];
    sum += __shfl_xor_sync(ALL_LANES, sum, 2);
    return 1 - (sum + __shfl_xor_sync(ALL_LANES, sum, 1));
}

static __global__ void __launch_bounds__(MAP_THREADS) map_values(Mapping m) {
    extern __shared__ double x[];
    const int64_t first = blockIdx.x * (int64_t)MAP_COLS;
    const int n = m.n, count = (int)gcor_min(MAP_COLS, m.n_var - first);
    double *products = x + MAP_COLS * n;
    for (int k = threadIdx.x; k < MAP_COLS * n; k += MAP_THREADS) x[k] = k < count * n ? m.units[first * n + k] : 0;
    __syncthreads();
    for (int q = threadIdx.x; q < n; q += MAP_THREADS) {
        Dots dots = {};
        if (q < m.n_map) dot_columns(m.map + q, m.n_map, x, n, q - q % GCOR_DOTS, dots);
#pragma unroll
        for (int c = 0; c < MAP_COLS; c++) {
            products[c * n + q] = dots[c];
            if (c < count) m.columns[(first + c) * n + q] = (float)dots[c];
        }
    }
    __syncthreads();
    if (threadIdx.x >= 32) return;
    const int c = threadIdx.x / SQUARE_LANES % MAP_COLS;
    const double norm = mapped_norm(products + c * n, n);
    if (threadIdx.x < count * SQUARE_LANES && threadIdx.x % SQUARE_LANES == 0) m.norm[first + c] = norm;
}

void map_columns(gcor_state *state, const gcor_design *design, const double *units, int64_t count, Operand &o,
                 int64_t at) {
    const int64_t n = o.head.n_obs;
    DeviceArray<double> &map = state->columns->map;
    if (at == 0) {
        map.reserve(n * design->n_map, "the map of partial correlations");
        std::vector<double> by_obs((size_t)(n * design->n_map));
        for (int64_t k = 0; k < n * design->n_map; k++) by_obs[k % n * design->n_map + k / n] = design->map[k];
        copy_to_device(map.data, by_obs.data(), n * design->n_map, state->compute, "copying the map");
        wait_for_compute(state);
    }
    Mapping mapping{units, map.data, (int)n, (int)design->n_map, count, o.columns.data + at * n, o.norm.data + at};
    const size_t column = 2 * MAP_COLS * sizeof(double);
    allow_shared(state, (const void *)map_values, (int)(MAP_OBS * column));
    map_values<<<blocks_for(count, MAP_COLS), MAP_THREADS, (size_t)n * column, state->compute.handle>>>(mapping);
    check_launch("mapping columns");
}
