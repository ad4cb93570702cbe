/* REAL operands: a tile by cuBLAS in single precision, then its coefficients. */
#include "cuda.cuh"

/* dots += product, or = for the first slice. */
static __global__ void add_slice(const float *product, int64_t pairs, bool first, double *dots) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (at < pairs) dots[at] = (first ? 0 : dots[at]) + product[at];
}

/* One thread for each pair of the tile: grid rows are the tile's. dots: rows of ld, as many
 * columns as a whole tile has. */
template <class Dot>
static __global__ void coefficients(const Dot *dots, int64_t ld, gcor_tile tile, gcor_shape shape,
                                    const double *row_norm, const double *col_norm, float *out) {
    int64_t row = tile.row + blockIdx.y, col, n;
    gcor_tile_segment(&tile, shape, row, &col, &n);
    int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k >= n) return;
    int64_t c = col + k - tile.col;
    out[gcor_tile_offset(&tile, shape, row) + k] =
        (float)gcor_coefficient(dots[blockIdx.y * ld + c], row_norm[blockIdx.y], col_norm[c]);
}

/* Observations k .. k+slice-1 of a whole tile; the operands are padded to whole tiles. */
static void multiply_slice(gcor_state *state, const float *rows, const float *cols, int64_t n_obs, int64_t k,
                           int n_row, int n_col) {
    const float one = 1, zero = 0;
    int slice = (int)(n_obs - k < GCOR_OBS_SLICE ? n_obs - k : GCOR_OBS_SLICE);
    check(cublasSgemm(state->blas->handle, CUBLAS_OP_T, CUBLAS_OP_N, n_col, n_row, slice, &one, cols + k, (int)n_obs,
                      rows + k, (int)n_obs, &zero, state->product.data, n_col),
          "multiplying columns");
}

static void multiply_slices(gcor_state *state, const float *rows, const float *cols, int64_t n_obs, int n_row,
                            int n_col) {
    int64_t pairs = (int64_t)n_row * n_col;
    state->dots.reserve(pairs, "a tile's products");
    for (int64_t k = 0; k < n_obs; k += GCOR_OBS_SLICE) {
        if (k > 0 && k / GCOR_OBS_SLICE % 128 == 0) wait_for_compute(state); /* long work: ask whether to stop */
        multiply_slice(state, rows, cols, n_obs, k, n_row, n_col);
        add_slice<<<blocks_for(pairs, 256), 256, 0, state->compute.handle>>>(state->product.data, pairs, k == 0,
                                                                            state->dots.data);
        check_launch("adding products");
    }
}

void multiply_real(gcor_state *state, const Operand &rows, const Operand &cols, Slot &slot) {
    const gcor_tile &tile = slot.tile;
    const float *a = rows.columns_of(tile.row), *b = cols.columns_of(tile.col);
    const double *row_norm = rows.norm_of(tile.row), *col_norm = cols.norm_of(tile.col);
    int64_t n_row, n_col, n_obs = rows.head.n_obs;
    cuda_tile_size(GCOR_REAL, n_obs, &n_row, &n_col);
    if (!state->blas) state->blas.reset(new Blas(state->compute));
    state->product.reserve(n_row * n_col, "a tile's products");

    cudaStream_t stream = state->compute.handle;
    dim3 grid(blocks_for(tile.n_col, 256), (unsigned)tile.n_row);
    if (n_obs > GCOR_OBS_SLICE) {
        multiply_slices(state, a, b, n_obs, (int)n_row, (int)n_col);
        coefficients<<<grid, 256, 0, stream>>>(state->dots.data, n_col, tile, slot.sink->shape, row_norm, col_norm,
                                               slot.device_floats());
    } else {
        if (n_obs > 0) multiply_slice(state, a, b, n_obs, 0, (int)n_row, (int)n_col);
        coefficients<<<grid, 256, 0, stream>>>(state->product.data, n_col, tile, slot.sink->shape, row_norm, col_norm,
                                               slot.device_floats());
    }
    check_launch("finishing a tile");
}
