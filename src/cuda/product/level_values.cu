/* Converts counts of common bits of sets to coefficients. */
#include "level_tables.cuh"
#include "../backend/lanes.cuh"
#include "../backend/state.cuh"

/* Number of sets of the variable whose first set is at `at`. */
static __device__ inline int sets_at(const int *code, int64_t at, int64_t n) {
    int sets = 1;
    while (at + sets < n && code[at + sets] % SET_CODES == sets) sets++;
    return sets;
}

static __device__ inline int64_t common(const Counted &c, int64_t i, int64_t j) {
    return (int64_t)c.counts[i * c.n_cols + j];
}

/* The sum of signs. A column without ties has only the set `greater`; its `less` is the complement. */
static __device__ int64_t sign_numerator(const Counted &c, int64_t i, int64_t j, bool tied_row, bool tied_col) {
    int64_t greater = common(c, i, j), row = (int64_t)c.row_ones[i], col = (int64_t)c.col_ones[j];
    if (!tied_row && !tied_col) return 4 * greater - 2 * (row + col) + gcor_obs_pairs(c.n_obs);
    if (!tied_col) return 2 * (greater - common(c, i + 1, j)) - row + (int64_t)c.row_ones[i + 1];
    if (!tied_row) return 2 * (greater - common(c, i, j + 1)) - col + (int64_t)c.col_ones[j + 1];
    return greater + common(c, i + 1, j + 1) - common(c, i, j + 1) - common(c, i + 1, j);
}

/* Number of observations at level a of x or above and at level b of y or above; level 0 includes all. */
static __device__ inline int64_t at_least(const Counted &c, int64_t i, int64_t j, int a, int b, int rows, int cols) {
    if (a > rows || b > cols) return 0;
    if (a == 0 && b == 0) return c.n_obs;
    if (a == 0) return (int64_t)c.col_ones[j + b - 1];
    return b == 0 ? (int64_t)c.row_ones[i + a - 1] : common(c, i + a - 1, j + b - 1);
}

static __device__ int64_t level_numerator(const Counted &c, int64_t i, int64_t j, int rows, int cols) {
    int64_t numerator = 0;
    for (int a = 0; a <= rows; a++)
        for (int b = 0; b <= cols; b++) {
            int64_t above = at_least(c, i, j, a + 1, b + 1, rows, cols);
            int64_t right = at_least(c, i, j, a + 1, b, rows, cols), up = at_least(c, i, j, a, b + 1, rows, cols);
            int64_t here = at_least(c, i, j, a, b, rows, cols) - right - up + above;
            int64_t below = at_least(c, i, j, a + 1, 0, rows, cols) - right;
            numerator += here * (above - below);
        }
    return numerator;
}

/* Calls value(i, j, output) for each pair of the tile, one thread each; grid rows are rows of the tile. */
template <class Value>
static __device__ inline void for_pair(const Counted &c, Value value) {
    int64_t i = blockIdx.y, col, n, k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    gcor_tile_segment(&c.tile, c.shape, c.tile.row + i, &col, &n);
    if (k >= n) return;
    value(i, col + k - c.tile.col, &c.out[gcor_tile_offset(&c.tile, c.shape, c.tile.row + i) + k]);
}

template <Bits Kind>
static __global__ void set_coefficients(const __grid_constant__ Counted c) {
    for_pair(c, [&](int64_t i, int64_t j, double *out) {
        int64_t row = c.row_first[i], col = c.col_first[j];
        if (row < 0 || col < 0) return;
        int rows = sets_at(c.row_code, row, c.n_rows), cols = sets_at(c.col_code, col, c.n_cols);
        int64_t numerator = Kind == LEVELS ? level_numerator(c, row, col, rows, cols)
                                           : sign_numerator(c, row, col, rows > 1, cols > 1);
        *out = gcor_coefficient((double)numerator, c.row_norm[i], c.col_norm[j]);
    });
}

static __global__ void fill_without(const __grid_constant__ Counted c) {
    for_pair(c, [&](int64_t i, int64_t j, double *out) {
        if (!(c.row_norm[i] > 0 && c.col_norm[j] > 0)) *out = gcor_coefficient(0, c.row_norm[i], c.col_norm[j]);
    });
}

/* ---- kernels of a tile --------------------------------------------------------------------------- */

static dim3 pair_grid(const gcor_tile &tile) {
    return dim3(blocks_for(tile.n_col, 256), (unsigned)tile.n_row);
}

void finish_counts(gcor_state *state, Bits kind, const Counted &counted) {
    auto kernel = kind == LEVELS ? set_coefficients<LEVELS> : set_coefficients<SIGNS>;
    kernel<<<pair_grid(counted.tile), 256, 0, state->compute.handle>>>(counted);
    check_launch("finishing a tile");
}

void finish_without(gcor_state *state, const Counted &counted) {
    fill_without<<<pair_grid(counted.tile), 256, 0, state->compute.handle>>>(counted);
    check_launch("finishing a tile");
}
