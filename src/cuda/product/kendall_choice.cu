/* Decides by which method the Kendall coefficients of long columns are computed: signs, levels or sorting. */
#include "kendall.cuh"

#include <algorithm>
#include <cmath>

/* ---- levels ----------------------------------------------------------------------------------- */

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

/* ---- sorting or signs --------------------------------------------------------------------------- */

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

/* ---- a tile ------------------------------------------------------------------------------------------------------ */

void exact_long_signs(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
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
