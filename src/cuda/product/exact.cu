/* Exact coefficients of all pairs of a tile, for any kind of operand. Used by sinks that need every exact value, and
 * where no kernel can hand its sums to the sink directly. */
#include "launch.cuh"
#include "level_tables.cuh"
#include "../sink/values.cuh"

static void multiply_fused(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    Product product = exact_product_of(state, rows, cols, out.tile);
    ExactValues values;
    Numerators numerators;
    values.out = numerators.out = out;
    if (out.counts)
        launch_sink(state, product, numerators);
    else
        launch_sink(state, product, values);
}

void multiply_exact(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    gcor_kind kind = rows.head.kind;
    if (fused_exactly(state, kind, rows.head.n_obs)) return multiply_fused(state, rows, cols, out);
    switch (kind) {
    case GCOR_SIGN: return multiply_sets(state, rows, cols, out);
    case GCOR_SIGN_COMMON: return multiply_slices(state, rows, cols, out);
    case GCOR_DOUBLE: return multiply_doubles(state, rows, cols, out);
    case GCOR_REAL_COMMON:
    case GCOR_RANK_COMMON: return multiply_pairwise(state, rows, cols, out);
    case GCOR_REAL:
    case GCOR_PAIR_COMMON: /* only the CPU back end's */
    case GCOR_ADJACENCY:   /* only of a sink of_overlaps */
    case GCOR_NO_KIND: break;
    }
    fail_impossible("coefficients of columns of that kind");
}

Packed multiply_in_place(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    DeviceArray<double> &memory = state->products.tile;
    memory.reserve(gcor_tile_pairs(&tile, state->sink->shape), "a tile's coefficients");
    Packed values{tile, state->sink->shape, memory.data, nullptr};
    multiply_exact(state, rows, cols, values);
    return values;
}
