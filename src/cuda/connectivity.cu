/* Connectivity on the device: a tile's exact coefficients are summed along its rows, then along its
 * columns, always in the same order. The sums stay on the device until the end. */
#include "cuda.cuh"

enum { SUM_THREADS = 256 };

static __device__ gcor_sums sum_warp(gcor_sums sums, int n_power) {
    for (int step = 16; step > 0; step /= 2) sums.degree += __shfl_xor_sync(ALL_LANES, sums.degree, step);
    sums.strength = sum_lanes(sums.strength);
    for (int p = 0; p < n_power; p++) sums.soft[p] = sum_lanes(sums.soft[p]);
    return sums;
}

/* The device's share of a gcor_connectivity. */
struct SumsOutput {
    gcor_sums_rule rule;
    int64_t n_var;
    double *degree, *strength, *soft;

    /* No other thread adds to the variable meanwhile. */
    __device__ void add(int64_t var, const gcor_sums &sums) const {
        degree[var] += (double)sums.degree;
        strength[var] += sums.strength;
        for (int p = 0; p < rule.n_power; p++) soft[var + p * n_var] += sums.soft[p];
    }
};

/* A warp for each row of the tile. */
static __global__ void sum_rows(Packed values, SumsOutput out) {
    const gcor_tile &tile = values.tile;
    int64_t i = blockIdx.x * (int64_t)(blockDim.x / 32) + threadIdx.x / 32, col, n;
    if (i >= tile.n_row) return;
    gcor_tile_segment(&tile, values.shape, tile.row + i, &col, &n);
    const double *r = values.doubles + gcor_tile_offset(&tile, values.shape, tile.row + i);
    gcor_sums sums{};
    for (int64_t k = threadIdx.x % 32; k < n; k += 32) gcor_sums_add(&out.rule, r[k], &sums);
    sums = sum_warp(sums, out.rule.n_power);
    if (threadIdx.x % 32 == 0) out.add(tile.row + i, sums);
}

/* A warp for each column; the warps of a block have neighbouring columns, so that they share what
 * is read. */
static __global__ void sum_columns(Packed values, SumsOutput out) {
    const gcor_tile &tile = values.tile;
    int64_t j = blockIdx.x * (int64_t)(blockDim.x / 32) + threadIdx.x / 32;
    if (j >= tile.n_col) return;
    gcor_sums sums{};
    for (int64_t i = threadIdx.x % 32; i < tile.n_row; i += 32) {
        int64_t col, n;
        gcor_tile_segment(&tile, values.shape, tile.row + i, &col, &n);
        int64_t k = tile.col + j - col;
        if (k < 0 || k >= n) continue;
        gcor_sums_add(&out.rule, values.doubles[gcor_tile_offset(&tile, values.shape, tile.row + i) + k], &sums);
    }
    sums = sum_warp(sums, out.rule.n_power);
    if (threadIdx.x % 32 == 0) out.add(tile.col + j, sums);
}

static void clear(gcor_state *state, DeviceArray<double> &values, int64_t n) {
    values.reserve(n, "sums over pairs");
    check(cudaMemsetAsync(values.data, 0, (size_t)n * sizeof(double), state->compute.handle), "clearing sums");
}

static void clear_once(gcor_state *state, const gcor_connectivity *c) {
    DeviceSums &sums = state->sums;
    if (sums.cleared) return;
    clear(state, sums.degree, c->n_var);
    clear(state, sums.strength, c->n_var);
    clear(state, sums.soft, c->n_var * c->rule.n_power);
    sums.cleared = true;
}

void connectivity_multiply(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    const gcor_connectivity *c = (const gcor_connectivity *)state->sink;
    clear_once(state, c);
    Packed values = multiply_in_place(state, rows, cols, tile);
    histogram_add_tile(state, values);
    DeviceSums &sums = state->sums;
    SumsOutput out{c->rule, c->n_var, sums.degree.data, sums.strength.data, sums.soft.data};
    cudaStream_t stream = state->compute.handle;
    sum_rows<<<blocks_for(tile.n_row, SUM_THREADS / 32), SUM_THREADS, 0, stream>>>(values, out);
    sum_columns<<<blocks_for(tile.n_col, SUM_THREADS / 32), SUM_THREADS, 0, stream>>>(values, out);
    check_launch("summing over pairs");
}

static void fetch(gcor_state *state, const DeviceArray<double> &from, int64_t n, double *to) {
    check(cudaMemcpyAsync(to, from.data, (size_t)n * sizeof(double), cudaMemcpyDeviceToHost, state->compute.handle),
          "copying sums");
}

void connectivity_finish(gcor_state *state) {
    if (!state->sums.cleared) return;
    gcor_connectivity *c = (gcor_connectivity *)state->sink;
    fetch(state, state->sums.degree, c->n_var, c->degree);
    fetch(state, state->sums.strength, c->n_var, c->strength);
    fetch(state, state->sums.soft, c->n_var * c->rule.n_power, c->soft);
    histogram_finish(state);
}
