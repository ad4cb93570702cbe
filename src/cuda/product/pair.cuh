/* Shared by kernels and sinks: converts a sum in a register to a coefficient, maps it to a pair, and locates blocks
 * of pairs. */
#pragma once

#include "product.cuh"
#include "../../measure/coefficient.h"

/* ---- from a sum to a value -------------------------------------------------------------------- */

/* TIED: the sum of signs; ones: the column's number of untied pairs of observations. */
static __device__ inline int tied_sum(int sum, int ones) {
    return SIGN_BYTES ? sum : sum - ones;
}

static __device__ inline int sign_sum(const Product &p, ProductMode mode, int sum, int64_t i, int64_t j) {
    if (mode == UNTIED) return 4 * sum - 2 * (p.rows.ones_greater[i] + p.cols.ones_greater[j]) + (int)p.bits;
    return mode == TIED ? tied_sum(sum, p.cols.ones_untied[j]) : sum;
}

static __device__ inline float approx_value(const Product &p, int sum) {
    return __int_as_float(sum) * p.unit;
}

/* The coefficient in single precision. A pair without coefficient gives NaN, or any value (UNTIED). */
template <ProductMode Mode>
static __device__ inline float rough_value(const Product &p, int sum, int64_t i, int64_t j) {
    if (Mode == HALF) return approx_value(p, sum);
    return (float)sign_sum(p, Mode, sum, i, j) * p.rows.inverse[i] * p.cols.inverse[j];
}

/* The coefficient of an exact product, which is a sum of signs or a dot product in double. */
static __device__ inline double exact_value(const Product &p, double product, int64_t i, int64_t j) {
    return gcor_coefficient(product, p.rows.norm[i], p.cols.norm[j]);
}

/* The coefficient of the tile's pair (i, j), from its value in memory. */
static __device__ inline double exact_value(const TileValues &tile, double value, int64_t i, int64_t j) {
    if (tile.row_norm) value = gcor_coefficient(value, tile.row_norm[i], tile.col_norm[j]);
    return tile.rounded ? (float)value : value;
}

/* ---- which pair -------------------------------------------------------------------------------- */

static __device__ inline bool is_pair(const Product &p, int64_t i, int64_t j) {
    if (i >= p.tile.n_row || j >= p.tile.n_col) return false;
    int64_t row = p.tile.row + i, col = p.tile.col + j;
    return p.shape == GCOR_FULL || (p.shape == GCOR_UPPER ? col > row : col < row);
}

/* ---- the walk over blocks ----------------------------------------------------------------------- */

/* A block's first row and column in the tile; counts: true if the block has a pair of the tile's shape. */
struct WalkBlock {
    int64_t row, col;
    bool counts;
};

/* True if row variables first .. last have a pair of the shape with column variables begin .. end. */
static __host__ __device__ inline bool has_pair(gcor_shape shape, int64_t first, int64_t last, int64_t begin,
                                                int64_t end) {
    return shape == GCOR_FULL || (shape == GCOR_UPPER ? end > first : begin < last);
}

/* Returns block `index` of the walk, which is in group `group`; blocks have rows x cols pairs. */
static __device__ inline WalkBlock block_at(const Product &p, int group, int index, int rows, int cols) {
    const Walk &walk = p.walk;
    int first_row = group * walk.block_rows, block_rows = ((int)p.tile.n_row + rows - 1) / rows - first_row;
    int height = block_rows < walk.block_rows ? block_rows : walk.block_rows, own = index - walk.first[group];
    int64_t row = (int64_t)(first_row + own % height) * rows, col = (int64_t)(walk.col[group] + own / height) * cols;
    int64_t first = p.tile.row + row, last = p.tile.row + gcor_clamp(row + rows, 0, p.tile.n_row) - 1;
    int64_t begin = p.tile.col + col, end = p.tile.col + gcor_clamp(col + cols, 0, p.tile.n_col) - 1;
    if (!p.row_code) return {row, col, has_pair(p.shape, first, last, begin, end)};
    first = p.variables.row + p.row_code[first] / SET_CODES;
    last = p.variables.row + p.row_code[last] / SET_CODES;
    begin = p.variables.col + p.col_code[begin] / SET_CODES;
    end = p.variables.col + p.col_code[end] / SET_CODES;
    return {row, col, has_pair(p.variable_shape, first, last, begin, end)};
}
