/* REAL operands: a tile by cuBLAS in single precision, then its coefficients. */
#include "cuda.cuh"

/* One thread for each pair of the tile: grid rows are the tile's. product: n_col of the whole
 * tile (ld) x n_row, column of the tile fastest. */
static __global__ void coefficients(const float *product, int64_t ld, gcor_tile tile, gcor_shape shape,
                                    const double *row_norm, const double *col_norm, float *out) {
    int64_t row = tile.row + blockIdx.y, col, n;
    gcor_tile_segment(&tile, shape, row, &col, &n);
    int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k >= n) return;
    int64_t c = col + k - tile.col;
    double dot = product[blockIdx.y * ld + c];
    out[gcor_tile_offset(&tile, shape, row) + k] = (float)gcor_coefficient(dot, row_norm[blockIdx.y], col_norm[c]);
}

/* The operands are padded to whole tiles. */
static void multiply_whole_tile(gcor_state *state, const float *rows, const float *cols, int64_t n_obs,
                                int n_row, int n_col) {
    if (!state->blas) state->blas.reset(new Blas(state->compute));
    const float one = 1, zero = 0;
    for (int64_t k = 0; k < n_obs; k += OBS_SLICE) {
        int slice = (int)(n_obs - k < OBS_SLICE ? n_obs - k : OBS_SLICE);
        check(cublasSgemm(state->blas->handle, CUBLAS_OP_T, CUBLAS_OP_N, n_col, n_row, slice, &one, cols + k, (int)n_obs,
                          rows + k, (int)n_obs, k > 0 ? &one : &zero, state->product.data, n_col),
              "multiplying columns");
    }
}

void multiply_real(gcor_state *state, const Operand &rows, const Operand &cols, Slot &slot) {
    const gcor_tile &tile = slot.tile;
    int64_t n_row, n_col, n_obs = rows.head.n_obs;
    cuda_tile_size(GCOR_REAL, n_obs, &n_row, &n_col);
    state->product.reserve(n_row * n_col, "a tile's products");
    if (n_obs == 0)
        check(cudaMemsetAsync(state->product.data, 0, (size_t)(n_row * n_col) * sizeof(float), state->compute.handle),
              "clearing a tile");
    multiply_whole_tile(state, rows.columns_of(tile.row), cols.columns_of(tile.col), n_obs, (int)n_row, (int)n_col);
    dim3 grid(blocks_for(tile.n_col, 256), (unsigned)tile.n_row);
    coefficients<<<grid, 256, 0, state->compute.handle>>>(state->product.data, n_col, tile, slot.sink->shape,
                                                          rows.norm_of(tile.row), cols.norm_of(tile.col),
                                                          slot.device_floats());
    check_launch("finishing a tile");
}
