/* Sums over each variable's pairs in a kernel. A cell of CELL_ROWS x CELL_COLS pairs is summed along its rows and
 * its columns. The summands are high and low parts (fixed.h), so the sums are exact in any order. */
#ifndef GPUCOR_CUDA_CELLS_CUH
#define GPUCOR_CUDA_CELLS_CUH

#include "../backend/lanes.cuh"
#include "../../sink/connectivity.h"
#include "warp.cuh"

static_assert(CELL_COLS <= (int)GCOR_EXACT_TERMS && CELL_ROWS <= (int)GCOR_EXACT_TERMS, "sums without rounding");

/* A lane's sums over its column's rows: both parts for each power. */
struct CellColumn {
    double high[GCOR_MAX_POWERS], low[GCOR_MAX_POWERS];
};

/* Returns the warp's sum of high parts in lanes 0 to 15 and of low parts in lanes 16 to 31. */
static __device__ inline double sum_parts(double high, double low) {
    bool first = threadIdx.x % 32 < 16;
    double sum = first ? high : low;
    sum += __shfl_xor_sync(ALL_LANES, first ? low : high, 16);
    for (int step = 8; step > 0; step /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
    return sum;
}

/* A record holds the high and the low part of each power. rows: records of a cell's rows, [cell's column /
 * CELL_COLS][row of the tile]; cols: records of its columns, [cell's row / CELL_ROWS][column]. connectivity.cu adds
 * them up. */
struct CellSums : PlainSink {
    static constexpr unsigned modes = modes_of(UNTIED) | modes_of(TIED) | modes_of(FLOAT);
    gcor_sums_rule rule;
    double *rows, *cols;
    unsigned long long *bins; /* NULL without a histogram */
};

/* Histogram: true to count the coefficients in bins, too. */
template <bool Histogram>
struct Cells : CellSums {
    static constexpr bool counts = Histogram;

    __host__ __device__ int record() const { return 2 * rule.n_power; }

    /* Adds a term of power number s. row: where to write the row's record, NULL beyond the tile. */
    __device__ void add(int s, double term, CellColumn &column, double *row) const {
        double high = gcor_high_part(term), low = gcor_low_part(term, high), sum = sum_parts(high, low);
        column.high[s] += high;
        column.low[s] += low;
        if (row && threadIdx.x % 16 == 0) row[2 * s + threadIdx.x % 32 / 16] = sum;
    }

    /* Adds a row's pairs, one per lane; GCOR_NO_VALUE stands for no pair. */
    __device__ void add_row(double r, unsigned *shared_bins, CellColumn &column, double *row) const {
        bool has_value = r <= 1;
        if (Histogram && has_value) atomicAdd(&shared_bins[gcor_bin(r)], 1);
        double base = has_value ? gcor_base(rule.similarity, r) : 1, power = has_value, factor = 1;
        for (int q = 0; q < rule.n_power; q++) {
            if (q == 0 || rule.steps[q] != rule.steps[q - 1]) factor = gcor_power(base, rule.steps[q]);
            add(q, power *= factor, column, row);
        }
    }

    /* Sums the cell with rows from i on and the lane's column j. value(k): the coefficient of row i + k. All lanes
     * must call it. */
    template <class Value>
    __device__ void sum_cell(const Product &p, unsigned *shared_bins, int64_t i, int64_t j, Value value) const {
        if (i >= p.tile.n_row || j - threadIdx.x % 32 >= p.tile.n_col)
            return; /* the tile's last block may extend beyond it */
        CellColumn column{};
#pragma unroll 1
        for (int k = 0; k < CELL_ROWS; k++) {
            double *row = i + k < p.tile.n_row ? rows + (j / CELL_COLS * p.tile.n_row + i + k) * record() : nullptr;
            add_row(is_pair(p, i + k, j) ? value(k) : GCOR_NO_VALUE, shared_bins, column, row);
        }
        if (j >= p.tile.n_col) return;
        double *to = cols + (i / CELL_ROWS * p.tile.n_col + j) * record();
        for (int s = 0; s < rule.n_power; s++) to[2 * s] = column.high[s], to[2 * s + 1] = column.low[s];
    }

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &warp, const Nothing &, const int (&sums)[N][4], int64_t i,
                            int64_t j) const {
        for_each_cell(warp, sums, j, [&](const int *cell, int64_t col) {
            sum_cell(p, warp.bins, i, col, [&](int k) {
                return exact_value(p, sign_sum(p, Mode, cell[k * CELL_COLS], i + k, col), i + k, col);
            });
        });
    }

    /* Coefficients are rounded to single precision, as in a dense result. */
    template <class Dot>
    __device__ void deliver_cell(const Product &p, unsigned *shared_bins, int64_t i, int64_t j, Dot dot) const {
        sum_cell(p, shared_bins, i, j, [&](int k) { return (double)(float)exact_value(p, dot(k), i + k, j); });
    }
};

#endif
