/* What is multiplied, in which order, and by which kernel. */
#include "product.cuh"

#include <algorithm>

/* The columns of blocks in which rows first .. last of the tile have a pair that counts. */
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
    for (int64_t row = 0; row < p.tile.n_row; row += group_rows) {
        int64_t n = std::min(group_rows, p.tile.n_row - row);
        int end, g = walk.groups++;
        columns_of_rows(p, row, row + n - 1, cols, &walk.col[g], &end);
        walk.first[g + 1] = walk.first[g] + (int)((n + rows - 1) / rows) * (end - walk.col[g]);
    }
    return walk;
}

bool has_network_tiles(const gcor_state *state) {
    const gcor_sink *sink = state->sink;
    bool own_least = sink->kind == GCOR_EDGES && ((const gcor_edges *)sink)->rule.row_least; /* they rise by tiles */
    return sink->approximate && !own_least;
}

bool fused_exactly(const gcor_state *state, gcor_kind kind, int64_t n_obs) {
    int64_t most = has_network_tiles(state) ? OPENED_NETWORK_WORDS : OPENED_WORDS;
    return kind == GCOR_REAL || (kind == GCOR_SIGN && sign_words(n_obs) <= most);
}

bool fused(const gcor_state *state, gcor_kind kind, int64_t n_obs) {
    return state->sink->approximate && fused_exactly(state, kind, n_obs);
}

static Product placed(const gcor_state *state, Product product, const Operand &rows, const gcor_tile &tile) {
    product.tile = tile;
    product.shape = state->sink->shape;
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

/* UNTIED: all norms are the same, the number of bits, so r >= t is a comparison of integers:
 * 4 sum - 2 row - 2 col + bits >= t bits, or 2 sum - col >= row + (t bits - bits) / 2. */
void set_least(Product &p) {
    EdgeOutput &edges = p.edges;
    edges.error = product_error(p);
    double least = edges.rule.least - edges.error, bits = (double)p.bits, sum = floor(least * bits) - 1;
    edges.least = nextafterf((float)least, -INFINITY);
    edges.low = edges.rule.side == GCOR_POSITIVE ? -(1 << 30) : (int)ceil((-sum - bits) / 2);
    edges.high = edges.rule.side == GCOR_NEGATIVE ? 1 << 30 : (int)floor((sum - bits) / 2);
}

void run_product(gcor_state *state, ProductSink sink, Product &product) {
    bool common = product.mode == COMMON || sink == SUMS;
    if (product.mode == FLOAT)
        run_product_float(state, sink, product);
    else if (state->wgmma && !common)
        run_product_wgmma(state, sink, product);
    else
        run_product_mma(state, sink, product);
    check_launch("multiplying columns");
}
