/* Products of REAL columns in double, for host sinks that decide on exact coefficients. The sums are those of
 * gcor_dot(), in its order, so the results equal the CPU's to the last bit. Each warp computes one row against as
 * many columns as it has lanes. */
#include "../backend/lanes.cuh"
#include "../backend/state.cuh"
#include "../../measure/coefficient.h"

namespace dots {

enum { LANES = 32, WARPS = 8, THREADS = WARPS * LANES };

/* One side of a tile, from the tile's first variable on. */
struct Side {
    const float *columns;
    const double *norm;
};

/* Writes the tile's pairs row by row without gaps (triangle.h). */
static __global__ void multiply(Side rows, Side cols, int64_t n_obs, gcor_tile tile, gcor_shape shape, double *out) {
    int64_t i = blockIdx.y, first = ((int64_t)blockIdx.x * WARPS + threadIdx.x / LANES) * LANES, begin, n;
    int lane = threadIdx.x % LANES;
    gcor_tile_segment(&tile, shape, tile.row + i, &begin, &n);
    int64_t from = gcor_clamp(begin - tile.col, first, first + LANES);
    int64_t end = gcor_clamp(begin + n - tile.col, from, first + LANES); /* the same in all lanes */
    double own = 0;
    for (int64_t j = from; j < end; j++) {
        const double product = warp_dot(rows.columns + i * n_obs, cols.columns + j * n_obs, n_obs);
        if (lane == j - first) own = product;
    }
    int64_t j = first + lane;
    if (j >= from && j < end)
        out[gcor_tile_offset(&tile, shape, tile.row + i) + tile.col + j - begin] = gcor_coefficient(own, rows.norm[i],
                                                                                                    cols.norm[j]);
}

} // namespace dots

void multiply_dots(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    const gcor_tile &tile = out.tile;
    dots::Side of_rows{rows.columns_of(tile.row), rows.norm_of(tile.row)};
    dots::Side of_cols{cols.columns_of(tile.col), cols.norm_of(tile.col)};
    dim3 grid((unsigned)((tile.n_col + dots::THREADS - 1) / dots::THREADS), (unsigned)tile.n_row);
    dots::multiply<<<grid, dots::THREADS, 0, state->compute.handle>>>(of_rows, of_cols, rows.head.n_obs, tile,
                                                                      out.shape, out.doubles);
    check_launch("multiplying columns");
}
