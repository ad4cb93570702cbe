/* Exact coefficients of all pairs of a tile, for any kind of operand. Used by sinks that need every exact value, and
 * where no kernel can hand its sums to the sink directly. */
#include "kendall.cuh"
#include "launch.cuh"

#include <algorithm>
#include <cmath>

/* ---- long columns of signs: by signs, by levels or by sorting ------------------------------------- */

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
static void count_by_levels(const SetTile &all) {
    SetList cols = list_sets(all.cols, all.tile.col, all.tile.n_col, LEVELS, FEW);
    const int64_t max = FEW_LEVELS - 1, sets = std::max<int64_t>(1, (int64_t)cols.code.size());
    int64_t fitting = COUNT_BYTES / (int64_t)sizeof(unsigned long long) / sets / max;
    int64_t step = std::max<int64_t>(1, std::min<int64_t>(fitting, WALK_GROUPS * WALK_ROWS / max));
    for (int64_t row = 0; row < all.tile.n_row; row += step) {
        SetTile t = all;
        t.tile.row += row;
        t.tile.n_row = std::min(step, all.tile.n_row - row);
        count_lists(t, LEVELS, list_sets(t.rows, t.tile.row, t.tile.n_row, LEVELS, FEW), cols);
    }
}

/* Nanoseconds of one multiprocessor per element and merge level of a sort; measured on an H200 by kendall-long.R. */
static const double SORT_COST = 0.34;

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
    if (t.rows.head.n_obs > MAX_PACKED_OBS) return true;
    return by_signs > 0 && count_sorted(t, but_few) * n * log2(n) * SORT_COST < by_signs;
}

/* Computes the coefficients of a tile of signs by the cheaper method; operands have their levels (make_bits()). */
static void exact_long_signs(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    SetTile t{state, rows, cols, out.tile, out};
    auto row = [&](Which which) { return list_sets(rows, out.tile.row, out.tile.n_row, SIGNS, which); };
    auto col = [&](Which which) { return list_sets(cols, out.tile.col, out.tile.n_col, SIGNS, which); };
    bool apart = is_worth(rows, cols, out.tile);
    if (apart) count_by_levels(t);
    const SetList many = row(apart ? MANY : ALL), few = apart ? row(FEW) : SetList(), all = col(ALL),
                  many_cols = apart ? col(MANY) : SetList();
    if (sorting_is_cheaper(t, apart, sign_cost(t, many, all) + sign_cost(t, few, many_cols))) {
        exact_by_knight(state, rows, cols, out, apart);
    } else {
        count_lists(t, SIGNS, many, all);
        count_lists(t, SIGNS, few, many_cols);
    }
    finish_without(t);
}

/* ---- a tile --------------------------------------------------------------------------------------- */

/* Index of a pair among the tile's pairs, row by row without gaps. */
static __device__ inline int64_t position(const Product &p, int64_t i, int64_t j) {
    if (p.shape == GCOR_FULL) return i * p.tile.n_col + j;
    int64_t col, n, at = gcor_tile_offset(&p.tile, p.shape, p.tile.row + i);
    gcor_tile_segment(&p.tile, p.shape, p.tile.row + i, &col, &n);
    return at + p.tile.col + j - col;
}

/* Stores exact values of the shape's pairs. */
struct ExactValues : PlainSink {
    static constexpr unsigned modes = modes_of(UNTIED) | modes_of(TIED) | modes_of(FLOAT);
    Packed out;

    __device__ void put(const Product &p, int64_t i, int64_t j, double r) const {
        if (out.floats)
            out.floats[position(p, i, j)] = (float)r;
        else
            out.doubles[position(p, i, j)] = r;
    }

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &warp, const Nothing &, const int (&sums)[N][4], int64_t i,
                            int64_t j) const {
        for_each_sum(warp, sums, i, j, [&](int sum, int64_t row, int64_t col) {
            if (is_pair(p, row, col)) put(p, row, col, exact_value(p, sign_sum(p, Mode, sum, row, col), row, col));
        });
    }

    template <class Dot>
    __device__ void deliver_cell(const Product &p, int64_t i, int64_t j, Dot dot) const {
        for (int k = 0; k < CELL_ROWS; k++)
            if (is_pair(p, i + k, j)) put(p, i + k, j, exact_value(p, dot(k), i + k, j));
    }
};

/* Stores the products of the shape's pairs: sums of signs as counts, dot products as doubles. */
struct Numerators : PlainSink {
    static constexpr unsigned modes = modes_of(UNTIED) | modes_of(TIED) | modes_of(FLOAT);
    Packed out;

    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &warp, const Nothing &, const int (&sums)[N][4], int64_t i,
                            int64_t j) const {
        for_each_sum(warp, sums, i, j, [&](int sum, int64_t row, int64_t col) {
            if (is_pair(p, row, col)) out.counts[position(p, row, col)] = sign_sum(p, Mode, sum, row, col);
        });
    }

    template <class Dot>
    __device__ void deliver_cell(const Product &p, int64_t i, int64_t j, Dot dot) const {
#pragma unroll
        for (int k = 0; k < CELL_ROWS; k++)
            if (is_pair(p, i + k, j)) out.doubles[position(p, i + k, j)] = dot(k);
    }
};

void exact_tile(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    if (fused_exactly(state, rows.head.kind, rows.head.n_obs)) {
        Product product = exact_product_of(state, rows, cols, out.tile);
        ExactValues values;
        Numerators numerators;
        values.out = numerators.out = out;
        return out.counts ? launch_sink(state, product, numerators) : launch_sink(state, product, values);
    }
    switch (rows.head.kind) {
    case GCOR_SIGN: return exact_long_signs(state, rows, cols, out);
    case GCOR_SIGN_COMMON: return exact_pairwise_signs(state, rows, cols, out);
    case GCOR_DOUBLE: return exact_doubles(state, rows, cols, out);
    case GCOR_REAL_COMMON:
    case GCOR_RANK_COMMON: return exact_pairwise(state, rows, cols, out);
    case GCOR_BINNED: return exact_mutual(state, rows, cols, out);
    case GCOR_PAIR_COMMON: return exact_pairwise_bicor(state, rows, cols, out);
    case GCOR_DISTANCE_COMMON: return exact_pairwise_distance(state, rows, cols, out);
    default: fail_impossible("coefficients of columns of that kind"); /* the CPU's, or a sink's (sink/overlap.cu) */
    }
}

/* Returns where to store a tile's values in memory owned by the state. */
static Packed place_for(gcor_state *state, const gcor_tile &tile) {
    DeviceArray<double> &memory = state->products->tile;
    memory.reserve(gcor_tile_pairs(&tile, state->sink->shape), "a tile's coefficients");
    return {tile, state->sink->shape, memory.data, nullptr};
}

Packed exact_in_place(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    Packed values = place_for(state, tile);
    exact_tile(state, rows, cols, values);
    return values;
}

/* Only where fused_exactly(). */
static Packed numerators_in_place(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    Numerators sink;
    sink.out = place_for(state, tile);
    if (rows.head.kind == GCOR_SIGN) {
        sink.out.counts = (int *)sink.out.doubles;
        sink.out.doubles = nullptr;
    }
    Product product = exact_product_of(state, rows, cols, tile);
    launch_sink(state, product, sink);
    return sink.out;
}

TileValues values_in_place(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    TileValues found{};
    if (fused_exactly(state, rows.head.kind, rows.head.n_obs)) {
        found.values = numerators_in_place(state, rows, cols, tile);
        found.row_norm = rows.norm_of(tile.row);
        found.col_norm = cols.norm_of(tile.col);
    } else {
        found.values = exact_in_place(state, rows, cols, tile);
    }
    found.values.shape = shape_of_tile(state, tile);
    found.rounded = rows.head.kind == GCOR_REAL;
    return found;
}
