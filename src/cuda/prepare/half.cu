/* REAL columns in half precision, for approximate products on the tensor cores. */
#include "operand.cuh"
#include "../backend/lanes.cuh"

#include <cuda_fp16.h>

#include <algorithm>

int64_t half_pieces(int64_t n_obs) {
    return std::max<int64_t>(1, (n_obs * (int64_t)sizeof(__half) + PIECE_BYTES - 1) / PIECE_BYTES);
}

/* One thread per 16 bytes of a column, in all of its pieces. A column without coefficients becomes NaN: every
 * comparison with its products is false. */
static __global__ void halve(const float *columns, const double *norm, double length, int64_t n_var, int64_t n_obs,
                             int64_t chunks, int64_t stride, unsigned char *out) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, v = at / chunks, chunk = at % chunks;
    if (v >= n_var) return;
    const float *x = columns + v * n_obs;
    double squares = norm[v], scale = squares > 0 ? HALF_LENGTH / length / sqrt(squares) : NAN;
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
        o.columns.data, o.norm.data, o.length, n_var, o.head.n_obs, chunks, n_var * PIECE_BYTES, o.halves.data);
    check_launch("rounding columns");
}
