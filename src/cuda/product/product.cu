/* Builds the product of two operands over a tile and plans the walk over its blocks. */
#include "product.cuh"

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

/* ---- REAL columns ------------------------------------------------------------------------- */

/* Each value of two columns has a relative error of 2^-11, so their product has one of 2^-10. Sums are taken in single
 * precision, where each step may lose 2^-22 of the total, which is at most the product of the lengths. The rest is
 * slack for terms that are orders of magnitude smaller. */
static double half_error(const Product &product) {
    double lengths = product.unit * (HALF_LENGTH * HALF_LENGTH);
    return lengths * (0x1.02p-10 + (double)product.n_obs * 0x1p-22);
}

double product_error(const Product &product) {
    return product.mode == HALF ? half_error(product) : 1e-6; /* signs: a few roundings to single precision */
}

static ProductSide half_side(const Operand &o, int64_t var) {
    ProductSide side{};
    side.planes[0] = o.halves.data + (var - o.head.first) * PIECE_BYTES;
    side.stride = o.head.n_var * PIECE_BYTES;
    side.norm = o.norm_of(var);
    side.columns = o.columns_of(var);
    return side;
}

static Product half_product(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    Product product{};
    product.mode = HALF;
    product.unit = (float)(rows.length * cols.length / (HALF_LENGTH * HALF_LENGTH));
    product.rows = half_side(rows, tile.row);
    product.cols = half_side(cols, tile.col);
    product.pieces = (int)half_pieces(rows.head.n_obs);
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

/* ---- SIGN columns: bits kept for all variables or packed for the tile. All sums are exact integers. */

static int planes_of(ProductMode mode) {
    return (int)mode - UNTIED + 1;
}

/* Packs all bits of variables var .. var+n_var-1, unless the buffer still holds them from the last call. */
static Planes pack_tile(gcor_state *state, PackedPlanes &packed, ProductMode mode, const Operand &o, int64_t var,
                        int64_t n_var) {
    int64_t n = o.head.n_obs;
    Planes planes = reserve_planes(packed, planes_of(mode), n_var, group_pieces(n));
    PackedPlanes::Contents wanted = {o.serial, var, n_var, planes_of(mode)};
    if (packed.contents == wanted) return planes;
    pack_all_bits(state, planes_of(mode), o.columns_of(var), n, n_var, planes);
    packed.contents = wanted;
    return planes;
}

/* Without ties, a pair of observations that is not concordant is discordant, so one product suffices. */
static bool untied(const Operand &o, int64_t var, int64_t n_var) {
    int64_t v = var - o.head.first;
    return o.tied_before[v + n_var] == o.tied_before[v];
}

static ProductMode sign_mode(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    return untied(rows, tile.row, tile.n_row) && untied(cols, tile.col, tile.n_col) ? UNTIED : TIED;
}

ProductSide sign_side(const Operand &o, int64_t var, const Planes &planes, int64_t skipped) {
    ProductSide side{};
    for (int plane = 0; plane < 3; plane++)
        side.planes[plane] = planes.plane[plane] ? planes.plane[plane] + skipped * PIECE_BYTES : nullptr;
    side.stride = planes.stride;
    side.ones_greater = planes.ones_greater + skipped;
    side.ones_untied = planes.ones_untied + skipped;
    side.inverse = o.inverse.data + (var - o.head.first);
    side.norm = o.norm_of(var);
    side.columns = o.columns_of(var);
    return side;
}

static Product sign_product(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    Product product{};
    product.mode = sign_mode(rows, cols, tile);
    product.pieces = (int)sign_pieces(rows.head.n_obs);
    product.bits = gcor_obs_pairs(rows.head.n_obs);
    if (keeps_bits(rows.head.kind, rows.head.n_obs)) {
        product.rows = sign_side(rows, tile.row, kept_planes(rows), tile.row - rows.head.first);
        product.cols = sign_side(cols, tile.col, kept_planes(cols), tile.col - cols.head.first);
    } else {
        Planes b = pack_tile(state, state->products->col_planes, product.mode, cols, tile.col, tile.n_col), a = b;
        bool among = &rows == &cols && tile.row >= tile.col && tile.row + tile.n_row <= tile.col + tile.n_col &&
                     (tile.row - tile.col) % 8 == 0; /* the swizzle pattern repeats every 8 columns */
        if (!among) a = pack_tile(state, state->products->row_planes, product.mode, rows, tile.row, tile.n_row);
        product.pieces = (int)group_pieces(rows.head.n_obs);
        product.rows = sign_side(rows, tile.row, a, among ? tile.row - tile.col : 0);
        product.cols = sign_side(cols, tile.col, b, 0);
    }
    return product;
}

/* ---- products of operands --------------------------------------------------------------------- */

gcor_shape shape_of_tile(const gcor_state *state, const gcor_tile &tile) {
    gcor_shape shape = state->sink->shape;
    return gcor_tile_pairs(&tile, shape) == tile.n_row * tile.n_col ? GCOR_FULL : shape;
}

static Product placed(const gcor_state *state, Product product, const Operand &rows, const gcor_tile &tile) {
    product.tile = tile;
    product.shape = shape_of_tile(state, tile);
    product.n_obs = rows.head.n_obs;
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
