/* REAL operands: a tile by cuBLAS in single precision, then its coefficients. */
#include "cuda.cuh"

/* dots += product, or = for the first slice. */
static __global__ void add_slice(const float *product, int64_t pairs, bool first, double *dots) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (at < pairs) dots[at] = (first ? 0 : dots[at]) + product[at];
}

/* Where a coefficient is within 1e-6 of a threshold, the exact one decides. */
struct Settle {
    gcor_side side;
    double least; /* above 2: nothing to decide */
    const float *rows, *cols;
    int64_t n_obs;

    __device__ double operator()(double r, int64_t i, int64_t j, double row_norm, double col_norm) const {
        if (!(fabs(gcor_weight(side, r) - least) <= 1e-6)) return r;
        return gcor_coefficient(gcor_dot(rows + i * n_obs, cols + j * n_obs, n_obs), row_norm, col_norm);
    }
};

/* One thread for each pair of the tile: grid rows are the tile's. dots: rows of ld, as many
 * columns as a whole tile has. */
template <class Dot>
static __global__ void coefficients(const Dot *dots, int64_t ld, Packed out, const double *row_norm,
                                    const double *col_norm, Settle settle) {
    int64_t i = blockIdx.y, row = out.tile.row + i, col, n;
    gcor_tile_segment(&out.tile, out.shape, row, &col, &n);
    int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k >= n) return;
    int64_t j = col + k - out.tile.col, at = gcor_tile_offset(&out.tile, out.shape, row) + k;
    double r = gcor_coefficient(dots[i * ld + j], row_norm[i], col_norm[j]);
    if (out.floats)
        out.floats[at] = (float)r;
    else
        out.doubles[at] = settle(r, i, j, row_norm[i], col_norm[j]);
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

static Settle settle_of(const gcor_state *state, const float *rows, const float *cols, int64_t n_obs) {
    if (state->sink->kind != GCOR_CONNECTIVITY) return {GCOR_ABSOLUTE, 4, rows, cols, n_obs};
    const gcor_sums_rule &rule = ((const gcor_connectivity *)state->sink)->rule;
    return {rule.side, rule.least, rows, cols, n_obs};
}

void multiply_real(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    const gcor_tile &tile = out.tile;
    const float *a = rows.columns_of(tile.row), *b = cols.columns_of(tile.col);
    const double *row_norm = rows.norm_of(tile.row), *col_norm = cols.norm_of(tile.col);
    int64_t n_row, n_col, n_obs = rows.head.n_obs;
    cuda_tile_size(state, GCOR_REAL, n_obs, &n_row, &n_col);
    if (!state->blas) state->blas.reset(new Blas(state->compute));
    state->product.reserve(n_row * n_col, "a tile's products");

    cudaStream_t stream = state->compute.handle;
    Settle settle = settle_of(state, a, b, n_obs);
    dim3 grid(blocks_for(tile.n_col, 256), (unsigned)tile.n_row);
    if (n_obs > GCOR_OBS_SLICE) {
        multiply_slices(state, a, b, n_obs, (int)n_row, (int)n_col);
        coefficients<<<grid, 256, 0, stream>>>(state->dots.data, n_col, out, row_norm, col_norm, settle);
    } else {
        if (n_obs > 0) multiply_slice(state, a, b, n_obs, 0, (int)n_row, (int)n_col);
        coefficients<<<grid, 256, 0, stream>>>(state->product.data, n_col, out, row_norm, col_norm, settle);
    }
    check_launch("finishing a tile");
}
