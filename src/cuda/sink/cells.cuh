/* Sums over a variable's pairs, a cell of CELL_ROWS x CELL_COLS at a time. */
#ifndef GPUCOR_CUDA_CELLS_CUH
#define GPUCOR_CUDA_CELLS_CUH

#include "../product/values.cuh"

static __device__ inline int cell_numbers(const gcor_sums_rule &rule) {
    return 2 + rule.n_power;
}

static __device__ inline void put_sums(const gcor_sums_rule &rule, const gcor_sums &sums, double *to) {
    to[0] = (double)sums.degree;
    to[1] = sums.strength;
    for (int q = 0; q < rule.n_power; q++) to[2 + q] = sums.soft[q];
}

static __device__ inline void add_sums(const gcor_sums_rule &rule, const gcor_sums &more, gcor_sums &sums) {
    sums.degree += more.degree;
    sums.strength += more.strength;
    for (int q = 0; q < rule.n_power; q++) sums.soft[q] += more.soft[q];
}

static __device__ inline void sum_over_lanes(const gcor_sums_rule &rule, gcor_sums &sums) {
    sums.degree = (int64_t)sum_lanes((double)sums.degree);
    sums.strength = sum_lanes(sums.strength);
    for (int q = 0; q < rule.n_power; q++) sums.soft[q] = sum_lanes(sums.soft[q]);
}

/* A cell's pairs, rows from i on and the lane's column j: into bins, and their sums over each row and each
 * column to memory, where they are added in a fixed order (connectivity.cu). value(k): the exact coefficient of
 * row i + k. All lanes must come. */
template <class Value>
static __device__ inline void sum_cell(const Product &p, unsigned *bins, int64_t i, int64_t j, Value value) {
    const gcor_sums_rule &rule = p.cells.rule;
    int numbers = cell_numbers(rule);
    if (i >= p.tile.n_row || j - threadIdx.x % 32 >= p.tile.n_col)
        return; /* beyond the tile, as its last block may be */
    gcor_sums column{};
#pragma unroll 1
    for (int k = 0; k < CELL_ROWS; k++) {
        gcor_sums own{};
        if (is_pair(p, i + k, j)) {
            double r = value(k);
            if (r <= 1) atomicAdd(&bins[gcor_bin(r)], 1);
            gcor_sums_add(&rule, r, &own);
        }
        add_sums(rule, own, column);
        sum_over_lanes(rule, own);
        if (threadIdx.x % 32 == 0 && i + k < p.tile.n_row)
            put_sums(rule, own, p.cells.rows + (j / CELL_COLS * p.tile.n_row + i + k) * numbers);
    }
    if (j < p.tile.n_col) put_sums(rule, column, p.cells.cols + (i / CELL_ROWS * p.tile.n_col + j) * numbers);
}

#endif
