/* Builds the product of two operands over a tile and plans the walk over its blocks. */
#include "../backend/state.cuh"

#include <algorithm>

/* ---- the walk ------------------------------------------------------------------------------ */

/* Sets begin and end to the range of block columns in which rows first .. last of the tile have a pair of the shape. */
static void columns_of_rows(const Product &p, int64_t first, int64_t last, int cols, int *begin, int *end) {
    int64_t low, low_n, high, high_n;
    gcor_tile_segment(&p.tile, p.shape, p.tile.row + first, &low, &low_n);
    gcor_tile_segment(&p.tile, p.shape, p.tile.row + last, &high, &high_n);
    int64_t from = std::min(low, high) - p.tile.col, to = std::max(low + low_n, high + high_n) - p.tile.col;
    *begin = (int)(from / cols);
    *end = to > from ? (int)((to + cols - 1) / cols) : *begin;
}

Walk plan_walk(const Product &p, int rows, int cols) {
    Walk walk{};
    walk.block_rows = std::max(1, WALK_ROWS / rows);
    int64_t group_rows = (int64_t)walk.block_rows * rows;
    if (p.tile.n_row > WALK_GROUPS * group_rows) fail_impossible("a product with so many rows");
    for (int64_t row = 0; row < p.tile.n_row; row += group_rows) {
        int64_t n = std::min(group_rows, p.tile.n_row - row);
        int end, g = walk.groups++;
        columns_of_rows(p, row, row + n - 1, cols, &walk.col[g], &end);
        walk.first[g + 1] = walk.first[g] + (int)((n + rows - 1) / rows) * (end - walk.col[g]);
    }
    return walk;
}

/* ---- products of operands --------------------------------------------------------------------- */

bool fused_exactly(const gcor_state *state, gcor_kind kind, int64_t n_obs) {
    int64_t max = state->needs.large_tiles ? OPENED_NETWORK_WORDS : OPENED_WORDS;
    return kind == GCOR_REAL || (kind == GCOR_SIGN && sign_words(n_obs) <= max);
}

bool fused(const gcor_state *state, gcor_kind kind, int64_t n_obs) {
    return state->needs.approx && fused_exactly(state, kind, n_obs);
}

static Product placed(const gcor_state *state, Product product, const Operand &rows, const gcor_tile &tile) {
    product.tile = tile;
    product.shape = state->sink->shape;
    product.n_obs = rows.head.n_obs;
    return product;
}

static Product float_product(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    Product product{};
    product.mode = FLOAT;
    product.rows.columns = rows.columns_of(tile.row);
    product.cols.columns = cols.columns_of(tile.col);
    product.rows.norm = rows.norm_of(tile.row);
    product.cols.norm = cols.norm_of(tile.col);
    return product;
}

Product product_of(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    if (rows.head.kind == GCOR_REAL) return placed(state, half_product(rows, cols, tile), rows, tile);
    return placed(state, sign_product(state, rows, cols, tile), rows, tile);
}

Product exact_product_of(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    if (rows.head.kind == GCOR_REAL) return placed(state, float_product(rows, cols, tile), rows, tile);
    return placed(state, sign_product(state, rows, cols, tile), rows, tile);
}

/* ---- buffers kept by a session ------------------------------------------------------------------- */

void ProductBuffers::forget() {
    row_planes.contents = {};
    col_planes.contents = {};
}

void SetBuffers::trim() {
    code.trim();
    first.trim();
    bits.trim();
    ones.trim();
}

void ProductBuffers::trim() {
    tile.trim();
    for (OpenedPlanes *planes : {&row_planes, &col_planes}) {
        planes->bits.trim();
        planes->ones.trim();
    }
    counts.trim();
    row_sets.trim();
    col_sets.trim();
    set_counts.trim();
    level_counts.trim();
    knight.trim();
    scratch.trim();
}
