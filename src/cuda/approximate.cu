/* REAL operands, cheaply: products in half precision on the tensor cores, with a bound of their error.
 * What is decided by them is decided again on the exact coefficients wherever the bound leaves doubt. */
#include "cuda.cuh"

/* Unit columns have small values; half precision has few bits below 2^-14. A power of two, exact. */
static const float HALF_SCALE = 256;

/* Pieces of 16 bytes are what tensor cores load; one at least, as a product over nothing is an error. */
int64_t half_columns_ld(int64_t n_obs) {
    return n_obs > 0 ? (n_obs + 7) / 8 * 8 : 8;
}

/* One block a column. NaN without coefficients: no product with it is larger than anything. */
static __global__ void halve(const float *columns, const double *norm, int64_t n_obs, int64_t ld, __half *out) {
    const float *x = columns + blockIdx.x * n_obs;
    double squares = norm[blockIdx.x], scale = squares > 0 ? HALF_SCALE / sqrt(squares) : NAN;
    for (int64_t k = threadIdx.x; k < ld; k += blockDim.x)
        out[blockIdx.x * ld + k] = __float2half((float)((k < n_obs ? x[k] : 0) * scale));
}

void make_halves(gcor_state *state, Operand &o) {
    int64_t n_obs = o.head.n_obs, n_row, n_col;
    cuda_tile_size(GCOR_REAL, n_obs, &n_row, &n_col);
    int64_t padded = (o.head.n_var + n_col - 1) / n_col * n_col, ld = o.half_ld = half_columns_ld(n_obs);
    const char *what = "the columns in half precision";
    o.halves.reserve(padded * ld, what);
    check(cudaMemsetAsync(o.halves.data + o.head.n_var * ld, 0, (size_t)((padded - o.head.n_var) * ld) * sizeof(__half),
                          state->compute.handle),
          "clearing memory");
    if (o.head.n_var == 0) return;
    halve<<<(unsigned)o.head.n_var, 128, 0, state->compute.handle>>>(o.columns.data, o.norm.data, n_obs, ld,
                                                                     o.halves.data);
    check_launch("rounding columns");
}

/* Two unit columns, each value off by 2^-11 of itself: their product is off by 2^-10. Sums are taken
 * in single precision, each step of which may cut off 2^-22 of the whole. The rest is slack for what is
 * smaller by orders. */
static double error_bound(int64_t n_obs) {
    return 0x1.02p-10 + (double)n_obs * 0x1p-22;
}

Cheap multiply_cheap(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    int64_t n_row, n_col, n_obs = rows.head.n_obs, ld = rows.half_ld;
    cuda_tile_size(GCOR_REAL, n_obs, &n_row, &n_col);
    if (!state->blas) state->blas.reset(new Blas(state->compute));
    state->product.reserve(n_row * n_col, "a tile's products");
    const float alpha = 1 / (HALF_SCALE * HALF_SCALE), zero = 0;
    const __half *a = rows.halves.data + (tile.row - rows.head.first) * ld;
    const __half *b = cols.halves.data + (tile.col - cols.head.first) * ld;
    check(cublasGemmEx(state->blas->handle, CUBLAS_OP_T, CUBLAS_OP_N, (int)n_col, (int)n_row, (int)ld, &alpha, b,
                       CUDA_R_16F, (int)ld, a, CUDA_R_16F, (int)ld, &zero, state->product.data, CUDA_R_32F, (int)n_col,
                       CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "multiplying columns");
    return {state->product.data, n_col, error_bound(n_obs)};
}
