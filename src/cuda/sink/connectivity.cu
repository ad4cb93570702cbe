/* Connectivity on the device: a tile's cells are summed along their rows and columns where the coefficients are,
 * and the cells of a variable then, always in the same order. The sums stay on the device until the end. */
#include "epilogue.cuh"

enum { SUM_THREADS = 256, SUM_BLOCKS = 264 }; /* two blocks for each of an H200's processors */

/* The cells of a tile whose coefficients are all there, a warp for each. */
static __global__ void sum_values(const __grid_constant__ Product p) {
    extern __shared__ unsigned bins[];
    clear_bins(bins, SUM_THREADS);
    __syncthreads();
    int64_t wide = (p.tile.n_col + CELL_COLS - 1) / CELL_COLS, high = (p.tile.n_row + CELL_ROWS - 1) / CELL_ROWS;
    for (int64_t cell = blockIdx.x * (SUM_THREADS / 32) + threadIdx.x / 32; cell < wide * high;
         cell += gridDim.x * (SUM_THREADS / 32)) {
        int64_t i = cell / wide * CELL_ROWS, j = cell % wide * CELL_COLS + threadIdx.x % 32;
        sum_cell(p, bins, i, j, [&](int k) {
            int64_t col, n, at = gcor_tile_offset(&p.tile, p.shape, p.tile.row + i + k);
            gcor_tile_segment(&p.tile, p.shape, p.tile.row + i + k, &col, &n);
            return p.out.doubles[at + p.tile.col + j - col];
        });
    }
    __syncthreads();
    add_bins(p, bins, SUM_THREADS);
}

/* The device's share of a gcor_connectivity. */
struct SumsOutput {
    int numbers;
    int64_t n_var;
    double *degree, *strength, *soft;

    __device__ double *of(int64_t var, int number) const {
        return number == 0 ? degree + var : number == 1 ? strength + var : soft + var + (number - 2) * n_var;
    }
};

/* A thread for each number of each variable of one side of the tile: its cells in order. */
static __global__ void add_cells(const double *cells, int64_t n_cells, int64_t first, int64_t n, SumsOutput out) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (at >= n * out.numbers) return;
    double sum = 0;
    for (int64_t cell = 0; cell < n_cells; cell++) sum += cells[cell * n * out.numbers + at];
    *out.of(first + at / out.numbers, (int)(at % out.numbers)) += sum;
}

static void clear(gcor_state *state, DeviceArray<double> &values, int64_t n) {
    values.reserve(n, "sums over pairs");
    check(cudaMemsetAsync(values.data, 0, (size_t)n * sizeof(double), state->compute.handle), "clearing sums");
}

static void clear_once(gcor_state *state, const gcor_connectivity *c) {
    DeviceSums &sums = state->sums;
    if (sums.cleared) return;
    clear(state, sums.degree, c->n_var);
    clear(state, sums.strength, c->n_var);
    clear(state, sums.soft, c->n_var * c->rule.n_power);
    sums.cleared = true;
}

/* Room for a tile's cells, cleared: those without a pair that counts are not written. */
static CellOutput reserve_cells(gcor_state *state, const gcor_sums_rule &rule, const gcor_tile &tile) {
    int64_t wide = (tile.n_col + CELL_COLS - 1) / CELL_COLS, high = (tile.n_row + CELL_ROWS - 1) / CELL_ROWS;
    int64_t numbers = 2 + rule.n_power, rows = wide * tile.n_row * numbers, cols = high * tile.n_col * numbers;
    clear(state, state->sums.cells, rows + cols);
    return {rule, state->sums.cells.data, state->sums.cells.data + rows};
}

static void sum_tile(gcor_state *state, Product &product, const Operand &rows, const Operand &cols) {
    if (fused_exactly(state, rows.head.kind, rows.head.n_obs)) return run_product(state, CELLS, product);
    product.out = multiply_in_place(state, rows, cols, product.tile);
    product.shape = state->sink->shape;
    sum_values<<<SUM_BLOCKS, SUM_THREADS, GCOR_BINS * sizeof(unsigned), state->compute.handle>>>(product);
    check_launch("summing over pairs");
}

void connectivity_multiply(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    const gcor_connectivity *c = (const gcor_connectivity *)state->sink;
    clear_once(state, c);
    Product product{};
    product.tile = tile;
    if (fused_exactly(state, rows.head.kind, rows.head.n_obs)) product = exact_product_of(state, rows, cols, tile);
    product.bins = histogram_bins(state);
    product.cells = reserve_cells(state, c->rule, tile);
    sum_tile(state, product, rows, cols);
    DeviceSums &sums = state->sums;
    SumsOutput out{2 + c->rule.n_power, c->n_var, sums.degree.data, sums.strength.data, sums.soft.data};
    cudaStream_t stream = state->compute.handle;
    add_cells<<<blocks_for(tile.n_row * out.numbers, SUM_THREADS), SUM_THREADS, 0, stream>>>(
        product.cells.rows, (tile.n_col + CELL_COLS - 1) / CELL_COLS, tile.row, tile.n_row, out);
    add_cells<<<blocks_for(tile.n_col * out.numbers, SUM_THREADS), SUM_THREADS, 0, stream>>>(
        product.cells.cols, (tile.n_row + CELL_ROWS - 1) / CELL_ROWS, tile.col, tile.n_col, out);
    check_launch("summing over pairs");
}

static void fetch(gcor_state *state, const DeviceArray<double> &from, int64_t n, double *to) {
    check(cudaMemcpyAsync(to, from.data, (size_t)n * sizeof(double), cudaMemcpyDeviceToHost, state->compute.handle),
          "copying sums");
}

void connectivity_finish(gcor_state *state) {
    if (!state->sums.cleared) return;
    gcor_connectivity *c = (gcor_connectivity *)state->sink;
    fetch(state, state->sums.degree, c->n_var, c->degree);
    fetch(state, state->sums.strength, c->n_var, c->strength);
    fetch(state, state->sums.soft, c->n_var * c->rule.n_power, c->soft);
    histogram_finish(state);
}
