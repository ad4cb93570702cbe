/* Approximate products of REAL operands: half precision on the tensor cores, with a bound on the error. Wherever the
 * bound leaves a decision open, it is made again on the exact coefficient. */
#include "../backend/lanes.cuh"
#include "../backend/state.cuh"
#include "pair.cuh"

#include <cuda_fp16.h>

#include <algorithm>

/* HALF_SCALE: the values of unit columns are small, and half precision loses bits below 2^-14. The factor is a power
 * of two, so scaling is exact. */

static int64_t half_pieces(int64_t n_obs) {
    return std::max<int64_t>(1, (n_obs * (int64_t)sizeof(__half) + PIECE_BYTES - 1) / PIECE_BYTES);
}

int64_t half_bytes(int64_t n_obs) {
    return half_pieces(n_obs) * PIECE_BYTES;
}

/* One thread per 16 bytes of a column, in all of its pieces. A column without coefficients becomes NaN: every
 * comparison with its products is false. */
static __global__ void halve(const float *columns, const double *norm, int64_t n_var, int64_t n_obs, int64_t chunks,
                             int64_t stride, unsigned char *out) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, v = at / chunks, chunk = at % chunks;
    if (v >= n_var) return;
    const float *x = columns + v * n_obs;
    double squares = norm[v], scale = squares > 0 ? HALF_SCALE / sqrt(squares) : NAN;
    union {
        __half h[8];
        uint4 bytes;
    } eight;
    for (int e = 0; e < 8; e++) {
        int64_t k = chunk * 8 + e;
        eight.h[e] = __float2half((float)((k < n_obs ? x[k] : 0) * scale));
    }
    *(uint4 *)(out + chunk_position(stride, v, chunk)) = eight.bytes;
}

void make_halves(gcor_state *state, Operand &o) {
    int64_t n_var = o.head.n_var, pieces = half_pieces(o.head.n_obs), chunks = pieces * (PIECE_BYTES / 16);
    o.halves.reserve(piece_bytes(n_var, pieces), "the columns in half precision");
    if (n_var == 0) return;
    halve<<<blocks_for(n_var * chunks, 256), 256, 0, state->compute.handle>>>(
        o.columns.data, o.norm.data, n_var, o.head.n_obs, chunks, n_var * PIECE_BYTES, o.halves.data);
    check_launch("rounding columns");
}

/* Each value of two unit columns has a relative error of 2^-11, so their product has one of 2^-10. Sums are taken in
 * single precision, where each step may lose 2^-22 of the total. The rest is slack for terms that are orders of
 * magnitude smaller. */
double half_error(int64_t n_obs) {
    return 0x1.02p-10 + (double)n_obs * 0x1p-22;
}

static ProductSide half_side(const Operand &o, int64_t var) {
    ProductSide side{};
    side.planes[0] = o.halves.data + (var - o.head.first) * PIECE_BYTES;
    side.stride = o.head.n_var * PIECE_BYTES;
    side.norm = o.norm_of(var);
    side.columns = o.columns_of(var);
    return side;
}

Product half_product(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    Product product{};
    product.mode = HALF;
    product.rows = half_side(rows, tile.row);
    product.cols = half_side(cols, tile.col);
    product.pieces = (int)half_pieces(rows.head.n_obs);
    return product;
}
