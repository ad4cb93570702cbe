/* Products of lists of bitsets (kendall.cuh): slice by slice, each slice in parts, so that few columns keep all
 * multiprocessors busy. Then counts of common bits become coefficients. */
#include "kendall.cuh"
#include "launch.cuh"
#include "../backend/lanes.cuh"

#include <algorithm>

/* ---- from counts to coefficients --------------------------------------------------------------- */

/* Counts of common bits of a tile's sets; the coefficients go to `out`. All pointers are device memory. */
struct Counted {
    const unsigned long long *counts, *row_ones, *col_ones;
    const int *row_first, *col_first, *row_code, *col_code;
    int64_t n_rows, n_cols; /* number of sets */
    gcor_tile tile;         /* in variables */
    gcor_shape shape;
    int64_t n_obs;
    const double *row_norm, *col_norm;
    double *out;
};

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

static dim3 pair_grid(const gcor_tile &tile) {
    return dim3(blocks_for(tile.n_col, 256), (unsigned)tile.n_row);
}

static Counted counted_of(const SetTile &t) {
    Counted c{};
    c.tile = t.tile;
    c.shape = t.out.shape;
    c.n_obs = t.rows.head.n_obs;
    c.row_norm = t.rows.norm_of(t.tile.row);
    c.col_norm = t.cols.norm_of(t.tile.col);
    c.out = t.out.doubles + gcor_tile_offset(&t.out.tile, t.out.shape, t.tile.row);
    return c;
}

void finish_without(const SetTile &t) {
    fill_without<<<pair_grid(t.tile), 256, 0, t.state->compute.handle>>>(counted_of(t));
    check_launch("finishing a tile");
}

/* ---- a product ------------------------------------------------------------------------------------------ */

/* Adds the number of common bits of pairs of sets to memory; parts of the bits are added up. */
struct SetCounts : PlainSink {
    static constexpr unsigned modes = modes_of(UNTIED);
    unsigned long long *into; /* n_row x n_col */

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &warp, const Nothing &, const int (&sums)[N][4], int64_t i,
                            int64_t j) const {
        for_each_sum(warp, sums, i, j, [&](int sum, int64_t row, int64_t col) {
            if (row < p.tile.n_row && col < p.tile.n_col)
                atomicAdd(&into[row * p.tile.n_col + col], (unsigned long long)(unsigned)sum);
        });
    }
};

/* The lists of a product. start: index of the rows' first set among the columns' sets if the columns include them
 * (they are then packed once), otherwise -1. */
struct SetLists {
    const SetList &rows, &cols;
    int64_t start;
    int64_t n_rows() const { return (int64_t)rows.code.size(); }
    int64_t n_cols() const { return (int64_t)cols.code.size(); }
};

static int64_t start_among(const SetTile &t, const SetList &rows, const SetList &cols) {
    int64_t shift = t.tile.row - t.tile.col;
    if (&t.rows != &t.cols || shift < 0 || shift + t.tile.n_row > t.tile.n_col || rows.code.empty()) return -1;
    int64_t start = cols.first[(size_t)(shift + rows.code[0] / SET_CODES)];
    if (start < 0 || start % 8 != 0 || start + rows.code.size() > cols.code.size())
        return -1; /* the swizzle pattern repeats every 8 columns */
    for (size_t k = 0; k < rows.code.size(); k++)
        if (cols.code[(size_t)start + k] != rows.code[k] + (int)shift * SET_CODES) return -1;
    return start;
}

/* Counts the blocks of the kernel that have a pair of the shape, and how many blocks run at a time. */
static void count_blocks(const SetTile &t, const SetLists &lists, int64_t *active, int64_t *at_a_time) {
    bool wgmma = t.state->wgmma;
    int64_t rows = wgmma ? WGMMA_CLUSTER * WGMMA_GROUPS * 64 : MMA_BLOCK_ROWS,
            cols = wgmma ? WGMMA_COLS : MMA_BLOCK_COLS;
    auto row = [&](int64_t k) { return t.tile.row + lists.rows.code[(size_t)k] / SET_CODES; };
    auto col = [&](int64_t k) { return t.tile.col + lists.cols.code[(size_t)k] / SET_CODES; };
    *at_a_time = wgmma ? t.state->processors / WGMMA_CLUSTER : 2 * t.state->processors;
    *active = 0;
    for (int64_t i = 0; i < lists.n_rows(); i += rows)
        for (int64_t j = 0; j < lists.n_cols(); j += cols)
            *active += has_pair(t.out.shape, row(i), row(std::min(i + rows, lists.n_rows()) - 1), col(j),
                                col(std::min(j + cols, lists.n_cols()) - 1));
}

/* Chooses the pieces of a slice and the number of parts, enough for all multiprocessors. */
static void plan_slices(const SetTile &t, const SetLists &lists, int64_t total, int *parts, int64_t *part_pieces) {
    const int64_t min = 16, rounds = 2;
    int64_t memory = std::min<int64_t>(SLICE_BYTES, t.state->total_memory / 16), active, at_a_time;
    int64_t sets = lists.n_cols() + (lists.start < 0 ? lists.n_rows() : 0);
    int64_t pieces = std::min(total, std::max<int64_t>(min, memory / (sets * PIECE_BYTES)));
    count_blocks(t, lists, &active, &at_a_time);
    *parts = (int)std::max<int64_t>(1, std::min(rounds * at_a_time / std::max<int64_t>(1, active), pieces / min));
    *part_pieces = std::min<int64_t>((pieces + *parts - 1) / *parts, 1 << 20); /* counts of a part are int */
}

static Product set_product(const SetTile &t, const SetLists &lists, int64_t pieces, int parts) {
    const SetBuffers &row = t.state->products->row_sets, &col = t.state->products->col_sets;
    bool shared = lists.start >= 0;
    Product product{};
    product.mode = UNTIED;
    product.shape = GCOR_FULL;
    product.tile = {0, lists.n_rows(), 0, lists.n_cols()};
    product.n_obs = t.rows.head.n_obs;
    product.pieces = (int)pieces;
    product.parts = parts;
    product.rows.planes[0] = shared ? col.bits.data : row.bits.data;
    product.rows.stride = (shared ? lists.n_cols() : lists.n_rows()) * PIECE_BYTES;
    product.row_start = shared ? lists.start : 0;
    product.cols.planes[0] = col.bits.data;
    product.cols.stride = lists.n_cols() * PIECE_BYTES;
    product.row_code = row.code.data;
    product.col_code = col.code.data;
    product.variables = t.tile;
    product.variable_shape = t.out.shape;
    return product;
}

static Counted counted_lists(const SetTile &t, const SetLists &lists) {
    const SetBuffers &row = t.state->products->row_sets, &col = t.state->products->col_sets;
    Counted c = counted_of(t);
    c.counts = t.state->products->set_counts.data;
    c.row_first = row.first.data;
    c.row_code = row.code.data;
    c.row_ones = lists.start >= 0 ? col.ones.data + lists.start : row.ones.data;
    c.col_first = col.first.data;
    c.col_code = col.code.data;
    c.col_ones = col.ones.data;
    c.n_rows = lists.n_rows();
    c.n_cols = lists.n_cols();
    return c;
}

static void reserve_sets(gcor_state *state, const SetLists &lists, int64_t slice) {
    ProductBuffers &buffers = *state->products;
    int64_t pairs = lists.n_rows() * lists.n_cols();
    upload_sets(state, lists.rows, buffers.row_sets);
    upload_sets(state, lists.cols, buffers.col_sets);
    if (lists.start < 0) buffers.row_sets.bits.reserve(piece_bytes(lists.n_rows(), slice), "sets of columns");
    buffers.col_sets.bits.reserve(piece_bytes(lists.n_cols(), slice), "sets of columns");
    buffers.set_counts.reserve(pairs, "counts of sets");
    clear(buffers.set_counts.data, pairs, state->compute, "clearing counts");
}

void count_lists(const SetTile &t, Bits kind, const SetList &rows, const SetList &cols) {
    gcor_state *state = t.state;
    ProductBuffers &buffers = *state->products;
    if (rows.code.empty() || cols.code.empty()) return;
    SetLists lists{rows, cols, start_among(t, rows, cols)};
    int64_t n_obs = t.rows.head.n_obs, pieces;
    int64_t total = kind == LEVELS ? (group_count(n_obs) + PIECE_WORDS - 1) / PIECE_WORDS : group_pieces(n_obs);
    int parts;
    plan_slices(t, lists, total, &parts, &pieces);
    int64_t slice = parts * pieces;
    reserve_sets(state, lists, slice);
    Product product = set_product(t, lists, pieces, parts);
    SetCounts counts;
    counts.into = buffers.set_counts.data;
    for (int64_t first = 0; first < total; first += slice) {
        state->context->tile_fraction = (double)first / (double)total;
        if (first > 0) wait_for_compute(state); /* many slices take long: ask whether to stop */
        if (lists.start < 0) pack_sets(state, kind, t.rows, t.tile.row, rows, buffers.row_sets, first, slice);
        pack_sets(state, kind, t.cols, t.tile.col, cols, buffers.col_sets, first, slice);
        launch_sink(state, product, counts);
    }
    Counted counted = counted_lists(t, lists);
    auto coefficients = kind == LEVELS ? set_coefficients<LEVELS> : set_coefficients<SIGNS>;
    coefficients<<<pair_grid(t.tile), 256, 0, state->compute.handle>>>(counted);
    check_launch("finishing a tile");
    wait_for_compute(state); /* the caller owns the lists */
}

/* ---- cost --------------------------------------------------------------------------------------- */

/* Nanoseconds of one multiprocessor per bit packed and per pair of common bits; measured on an H200 by kendall-long.R.
 */
static const double PACK_COST = 0.009, BIT_COST = 2.1e-5, MMA_COST = 4e-5;

double sign_cost(const SetTile &t, const SetList &rows, const SetList &cols) {
    if (rows.code.empty() || cols.code.empty()) return 0;
    SetLists lists{rows, cols, start_among(t, rows, cols)};
    int64_t active, at_a_time,
        block = t.state->wgmma ? WGMMA_CLUSTER * WGMMA_GROUPS * 64 * WGMMA_COLS : MMA_BLOCK_ROWS * MMA_BLOCK_COLS;
    count_blocks(t, lists, &active, &at_a_time);
    double bits = (double)gcor_obs_pairs(t.rows.head.n_obs);
    double sets = (double)(lists.n_cols() + (lists.start < 0 ? lists.n_rows() : 0));
    return bits * (sets * PACK_COST + (double)(active * block) * (t.state->wgmma ? BIT_COST : MMA_COST));
}
