/* Sums over a variable's pairs in a kernel, a cell of CELL_ROWS x CELL_COLS at a time: over each of its rows and each
 * of its columns. What is summed are high and low parts (fixed.h), so the sums are exact, in whatever order. */
#ifndef GPUCOR_CUDA_CELLS_CUH
#define GPUCOR_CUDA_CELLS_CUH

#include "../backend/lanes.cuh"
#include "../../sink/connectivity.h"
#include "warp.cuh"

static_assert(CELL_COLS <= (int)GCOR_EXACT_TERMS && CELL_ROWS <= (int)GCOR_EXACT_TERMS, "sums without rounding");

/* A lane's sums over the rows of its column: how many edges, and of each sum both parts. */
struct CellColumn {
    double degree, high[1 + GCOR_MOST_POWERS], low[1 + GCOR_MOST_POWERS];
};

/* The warp's sum of high parts in its first lanes, of low parts in its last ones. */
static __device__ inline double sum_parts(double high, double low) {
    bool first = threadIdx.x % 32 < 16;
    double sum = first ? high : low;
    sum += __shfl_xor_sync(ALL_LANES, first ? low : high, 16);
    for (int step = 8; step > 0; step /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, step);
    return sum;
}

/* A pair's coefficient, and the one that says whether it is an edge and is its weight: the same on every back end. */
struct CellValue {
    double r, of_edge;
    __device__ CellValue(double exact) : r(exact), of_edge(exact) {}
    __device__ CellValue(double value, double exact) : r(value), of_edge(exact) {}
};

/* A record is the degree, then the high and the low part of the strength and of each power. The records of a cell's
 * rows: [cell's column / CELL_COLS][row of the tile]; those of its columns: [cell's row / CELL_ROWS][column].
 * connectivity.cu adds them up. */
struct CellSums : PlainSink {
    static constexpr unsigned modes = modes_of(UNTIED) | modes_of(TIED) | modes_of(FLOAT);
    gcor_sums_rule rule;
    double *rows, *cols;
    unsigned long long *bins; /* null without a histogram */
};

/* Histogram: whether the pairs are counted by their coefficients, too. */
template <bool Histogram>
struct Cells : CellSums {
    static constexpr bool counts = Histogram;

    __host__ __device__ int record() const { return 3 + 2 * rule.n_power; }

    /* A term of sum number s; row: where the row's record is to be, null beyond the tile. */
    __device__ void add(int s, double term, CellColumn &column, double *row) const {
        double high = gcor_high_part(term), low = gcor_low_part(term, high), sum = sum_parts(high, low);
        column.high[s] += high;
        column.low[s] += low;
        if (row && threadIdx.x % 16 == 0) row[1 + 2 * s + threadIdx.x % 32 / 16] = sum;
    }

    /* A row's pairs, one in each lane; no pair: GCOR_NO_VALUE. */
    __device__ void add_row(CellValue value, unsigned *shared_bins, CellColumn &column, double *row) const {
        double r = value.r, weight = gcor_weight(rule.side, value.of_edge);
        bool has_value = r <= 1, edge = has_value && weight >= rule.least;
        if (Histogram && has_value) atomicAdd(&shared_bins[gcor_bin(r)], 1);
        int degree = __popc(__ballot_sync(ALL_LANES, edge));
        column.degree += edge;
        if (row && threadIdx.x % 32 == 0) row[0] = degree;
        add(0, edge ? weight : 0, column, row);
        double base = has_value ? gcor_base(rule.similarity, r) : 1, power = has_value, factor = 1;
        for (int q = 0; q < rule.n_power; q++) {
            if (q == 0 || rule.steps[q] != rule.steps[q - 1]) factor = gcor_raise(base, rule.steps[q]);
            add(1 + q, power *= factor, column, row);
        }
    }

    /* Rows from i on, the lane's column j. value(k): the coefficient of row i + k. All lanes must come. */
    template <class Value>
    __device__ void sum_cell(const Product &p, unsigned *shared_bins, int64_t i, int64_t j, Value value) const {
        if (i >= p.tile.n_row || j - threadIdx.x % 32 >= p.tile.n_col)
            return; /* beyond the tile, as its last block may be */
        CellColumn column{};
#pragma unroll 1
        for (int k = 0; k < CELL_ROWS; k++) {
            double *row = i + k < p.tile.n_row ? rows + (j / CELL_COLS * p.tile.n_row + i + k) * record() : nullptr;
            add_row(is_pair(p, i + k, j) ? CellValue(value(k)) : CellValue(GCOR_NO_VALUE), shared_bins, column, row);
        }
        if (j >= p.tile.n_col) return;
        double *to = cols + (i / CELL_ROWS * p.tile.n_col + j) * record();
        to[0] = column.degree;
        for (int s = 0; s <= rule.n_power; s++) to[1 + 2 * s] = column.high[s], to[2 + 2 * s] = column.low[s];
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

    /* A pair's coefficients. Those of which the weight may reach the threshold, by a value within 1e-6, are computed
     * exactly; where it is that close, the exact one is the only one. */
    __device__ CellValue settled(const Product &p, double dot, int64_t i, int64_t j) const {
        double r = exact_value(p, dot, i, j), above = gcor_weight(rule.side, r) - rule.least;
        if (!(above >= -1e-6)) return r;
        double dot_of_edge = gcor_dot(p.rows.columns + i * p.n_obs, p.cols.columns + j * p.n_obs, p.n_obs);
        double exact = exact_value(p, dot_of_edge, i, j);
        return {above <= 1e-6 ? exact : r, exact};
    }

    template <class Dot>
    __device__ void deliver_cell(const Product &p, unsigned *shared_bins, int64_t i, int64_t j, Dot dot) const {
        sum_cell(p, shared_bins, i, j, [&](int k) { return settled(p, dot(k), i + k, j); });
    }
};

#endif
