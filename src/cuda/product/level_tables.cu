/* Kendall of long columns by products of sets. A column becomes some bitsets, and the numerator follows from the bits
 * that the sets of two columns have in common:
 *
 *   signs     bits are pairs of observations (k, q): where x[k] > x[q], and with ties also where x[k] < x[q]. A column
 *             without ties is one set, so that a tied column does not make untied ones more expensive.
 *   levels    bits are observations: where x is at level 1 or above, 2 or above, ... For columns of up to FEW_LEVELS
 *             values, n_obs bits replace n_obs^2 / 2.
 *
 * The bits are packed (level_bits.cu) and multiplied slice by slice, each slice in parts, so that few columns keep all
 * multiprocessors busy. Sorting (knight.cu) is used where it is cheaper. Results do not depend on the method: the
 * numerator is the same integer. */
#include "../backend/lanes.cuh"
#include "../sink/level_counts.cuh"
#include "launch.cuh"
#include "packing.cuh"
#include "level_tables.cuh"

#include <algorithm>

/* ---- a product ------------------------------------------------------------------------------------------ */

/* A tile of variables, or some of its rows; `out` holds the whole tile. */
struct SetTile {
    gcor_state *state;
    const Operand &rows, &cols;
    gcor_tile tile;
    const Packed &out;
};

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
    const SetBuffers &row = t.state->products.row_sets, &col = t.state->products.col_sets;
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
    const SetBuffers &row = t.state->products.row_sets, &col = t.state->products.col_sets;
    Counted c = counted_of(t);
    c.counts = t.state->products.set_counts.data;
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
    ProductBuffers &buffers = state->products;
    int64_t pairs = lists.n_rows() * lists.n_cols();
    upload_sets(state, lists.rows, buffers.row_sets);
    upload_sets(state, lists.cols, buffers.col_sets);
    if (lists.start < 0) buffers.row_sets.bits.reserve(piece_bytes(lists.n_rows(), slice), "sets of columns");
    buffers.col_sets.bits.reserve(piece_bytes(lists.n_cols(), slice), "sets of columns");
    buffers.set_counts.reserve(pairs, "counts of sets");
    check(
        cudaMemsetAsync(buffers.set_counts.data, 0, (size_t)pairs * sizeof(unsigned long long), state->compute.handle),
        "clearing counts");
}

static void multiply_lists(const SetTile &t, Bits kind, const SetList &rows, const SetList &cols) {
    gcor_state *state = t.state;
    ProductBuffers &buffers = state->products;
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
        if (lists.start < 0) open_sets(state, kind, t.rows, t.tile.row, rows, buffers.row_sets, first, slice);
        open_sets(state, kind, t.cols, t.tile.col, cols, buffers.col_sets, first, slice);
        launch_sink(state, product, counts);
    }
    finish_counts(state, kind, counted_lists(t, lists));
    wait_for_compute(state); /* the caller owns the lists */
}

/* True if it pays to compute pairs of few levels separately: the other pairs' columns have to be packed as signs
 * anyway. */
static bool is_worth(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    auto few = [](const Operand &o, int64_t var, int64_t n) {
        int64_t count = 0;
        for (int64_t v = var - o.head.first; v < var - o.head.first + n; v++) count += o.level_count[v] > 0;
        return (double)count / (double)n;
    };
    return few(rows, tile.row, tile.n_row) * few(cols, tile.col, tile.n_col) > 0.25;
}

/* Computes some rows at a time: counts of all pairs of sets have to fit in memory, and a walk has a limited number
 * of rows. */
static void multiply_levels(const SetTile &all) {
    SetList cols = list_sets(all.cols, all.tile.col, all.tile.n_col, LEVELS, FEW);
    const int64_t max = FEW_LEVELS - 1, sets = std::max<int64_t>(1, (int64_t)cols.code.size());
    int64_t fitting = COUNT_BYTES / (int64_t)sizeof(unsigned long long) / sets / max;
    int64_t step = std::max<int64_t>(1, std::min<int64_t>(fitting, WALK_GROUPS * WALK_ROWS / max));
    for (int64_t row = 0; row < all.tile.n_row; row += step) {
        SetTile t = all;
        t.tile.row += row;
        t.tile.n_row = std::min(step, all.tile.n_row - row);
        multiply_lists(t, LEVELS, list_sets(t.rows, t.tile.row, t.tile.n_row, LEVELS, FEW), cols);
    }
}

/* ---- choice of the cheaper method ---------------------------------------------------------------------------- */

/* Nanoseconds of one multiprocessor per bit packed, per pair of common bits, and per element and merge level of a
 * sort; measured on an H200 by kendall-long.R. */
static const double OPEN_COST = 0.009, BIT_COST = 2.1e-5, MMA_COST = 4e-5, SORT_COST = 0.34;

static double sign_cost(const SetTile &t, const SetList &rows, const SetList &cols) {
    if (rows.code.empty() || cols.code.empty()) return 0;
    SetLists lists{rows, cols, start_among(t, rows, cols)};
    int64_t active, at_a_time,
        block = t.state->wgmma ? WGMMA_CLUSTER * WGMMA_GROUPS * 64 * WGMMA_COLS : MMA_BLOCK_ROWS * MMA_BLOCK_COLS;
    count_blocks(t, lists, &active, &at_a_time);
    double bits = (double)gcor_obs_pairs(t.rows.head.n_obs);
    double sets = (double)(lists.n_cols() + (lists.start < 0 ? lists.n_rows() : 0));
    return bits * (sets * OPEN_COST + (double)(active * block) * (t.state->wgmma ? BIT_COST : MMA_COST));
}

/* Number of pairs to sort; pairs with ties in both columns count twice. */
static double count_sorted(const SetTile &t, bool but_few) {
    double pairs[2][2] = {{0}}; /* [ties in the row's column][ties in the column's] */
    auto count = [](const Operand &o, int64_t var, int64_t n, bool tied, bool few) {
        int64_t number = 0;
        for (int64_t v = var - o.head.first; v < var - o.head.first + n; v++)
            number += o.head.norm[v] > 0 && has_ties(o, v) == tied && (!few || o.level_count[v] > 0);
        return (double)number;
    };
    for (int r = 0; r < 2; r++)
        for (int c = 0; c < 2; c++) {
            pairs[r][c] = count(t.rows, t.tile.row, t.tile.n_row, r, false) *
                          count(t.cols, t.tile.col, t.tile.n_col, c, false);
            if (but_few)
                pairs[r][c] -= count(t.rows, t.tile.row, t.tile.n_row, r, true) *
                               count(t.cols, t.tile.col, t.tile.n_col, c, true);
        }
    double all = (double)t.tile.n_row * (double)t.tile.n_col;
    double fraction = (double)gcor_tile_pairs(&t.tile, t.out.shape) / std::max(1.0, all);
    return fraction * (pairs[0][0] + pairs[0][1] + pairs[1][0] + 2 * pairs[1][1]);
}

static bool sorting_is_cheaper(const SetTile &t, bool but_few, double by_signs) {
    double n = (double)t.rows.head.n_obs;
    if (t.rows.head.n_obs > MAX_OPENED_OBS) return true;
    return by_signs > 0 && count_sorted(t, but_few) * n * log2(n) * SORT_COST < by_signs;
}

/* ---- a tile ------------------------------------------------------------------------------------------------------ */

void multiply_sets(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    SetTile t{state, rows, cols, out.tile, out};
    auto row = [&](Which which) { return list_sets(rows, out.tile.row, out.tile.n_row, SIGNS, which); };
    auto col = [&](Which which) { return list_sets(cols, out.tile.col, out.tile.n_col, SIGNS, which); };
    bool apart = is_worth(rows, cols, out.tile);
    if (apart) multiply_levels(t);
    const SetList many = row(apart ? MANY : ALL), few = apart ? row(FEW) : SetList(), all = col(ALL),
                  many_cols = apart ? col(MANY) : SetList();
    if (sorting_is_cheaper(t, apart, sign_cost(t, many, all) + sign_cost(t, few, many_cols))) {
        multiply_by_sorting(state, rows, cols, out, apart);
    } else {
        multiply_lists(t, SIGNS, many, all);
        multiply_lists(t, SIGNS, few, many_cols);
    }
    finish_without(state, counted_of(t));
}
