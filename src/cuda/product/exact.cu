/* Exact coefficients of all pairs of a tile, for any kind of operand. Used by sinks that need every exact value, and
 * where no kernel can hand its sums to the sink directly. */
#include "kendall.cuh"
#include "launch.cuh"

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
    case GCOR_REAL:
    case GCOR_BINNED_COMMON:
    case GCOR_DISTANCE:
    case GCOR_DISTANCE_COMMON:
    case GCOR_REAL_SPARSE:
    case GCOR_SIGN_SPARSE: /* these are computed on the CPU only */
    case GCOR_ADJACENCY:   /* multiplied by a sink (sink/overlap.cu) */
    case GCOR_NO_KIND: break;
    }
    fail_impossible("coefficients of columns of that kind");
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
