/* SIGN operands: bits of a tile's variables are multiplied, and counts become coefficients. The bits
 * of all variables are kept where a column has few enough; otherwise they are opened for a tile, a
 * slice at a time, which keeps the memory bounded for any n_obs. All sums are exact integers. */
#include "sign.cuh"

#include <algorithm>

/* ---- bits that are kept ------------------------------------------------------------------ */

static bool keeps_bits(gcor_kind kind, int64_t n_obs) {
    return kind == GCOR_SIGN && sign_words(n_obs) <= KEPT_WORDS;
}

int64_t sign_bytes(gcor_kind kind, int64_t n_obs) {
    return keeps_bits(kind, n_obs) ? (2 * sign_words(n_obs) + 1) * (int64_t)sizeof(unsigned) : 0;
}

static Planes kept_planes(const Operand &o, int64_t var) {
    int64_t words = sign_words(o.head.n_obs), n_var = o.head.n_var, v = var - o.head.first;
    unsigned *greater = o.bits.data, *less = greater + plane_words(n_var, words);
    return {words, n_var * SIGN_WORDS, greater + v * SIGN_WORDS, less + v * SIGN_WORDS, nullptr,
            less + plane_words(n_var, words) + v};
}

void make_bits(gcor_state *state, Operand &o) {
    int64_t n = o.head.n_obs, n_var = o.head.n_var;
    o.tied_before.reset(new int64_t[n_var + 1]);
    o.tied_before[0] = 0;
    /* A variable without coefficients (norm below 0) may count as it likes. */
    for (int64_t v = 0; v < n_var; v++)
        o.tied_before[v + 1] =
            o.tied_before[v] + (o.head.norm[v] >= 0 && o.head.norm[v] < (double)gcor_obs_pairs(n));
    if (!keeps_bits(o.head.kind, n)) return;
    o.bits.reserve(2 * plane_words(n_var, sign_words(n)) + n_var, "sign bits");
    open_planes(state, TIED, o.columns.data, n, n_var, 0, gcor_obs_pairs(n), kept_planes(o, o.head.first));
}

/* ---- slices ------------------------------------------------------------------------------- */

static int64_t carved_words(SignMode mode, int64_t n_var, int64_t words) {
    return ((int)mode + 1) * plane_words(n_var, words) + (n_var + 3) / 4 * 4; /* what is loaded begins at 16 bytes */
}

static Planes carve_planes(unsigned *from, SignMode mode, int64_t n_var, int64_t words) {
    int64_t plane = plane_words(n_var, words);
    return {words, n_var * SIGN_WORDS, from, from + plane, from + 2 * plane, from + ((int)mode + 1) * plane};
}

static Sums carve_sums(gcor_state *state, SignMode mode, const gcor_tile &tile) {
    int64_t pairs = tile.n_row * tile.n_col;
    state->counts.reserve(pairs * (mode == COMMON ? 3 : 1), "a tile's counts");
    long long *data = state->counts.data;
    return {data, mode == COMMON ? data + pairs : nullptr, mode == COMMON ? data + 2 * pairs : nullptr};
}

/* One thread for each pair of the tile: grid rows are the tile's. */
static __global__ void coefficients(SignMode mode, Sums sums, SignSide rows, SignSide cols, Packed out, int64_t n_obs) {
    int64_t i = blockIdx.y, col, n;
    gcor_tile_segment(&out.tile, out.shape, out.tile.row + i, &col, &n);
    int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k >= n) return;
    int64_t j = col + k - out.tile.col, at = i * out.tile.n_col + j;
    out.doubles[gcor_tile_offset(&out.tile, out.shape, out.tile.row + i) + k] =
        sign_coefficient(mode, sums.sign[at], mode == COMMON ? sums.row_untied[at] : 0,
                         mode == COMMON ? sums.col_untied[at] : 0, rows, i, cols, j, n_obs);
}

static void multiply_slices(gcor_state *state, SignMode mode, SignSide rows, SignSide cols, const Packed &out,
                            int64_t n_obs) {
    const gcor_tile &tile = out.tile;
    int64_t all_bits = gcor_obs_pairs(n_obs), words = std::min<int64_t>(sign_words(n_obs), SLICE_WORDS);
    int64_t row_words = carved_words(mode, tile.n_row, words);
    state->planes.reserve(row_words + carved_words(mode, tile.n_col, words), "sign bits");
    rows.planes = carve_planes(state->planes.data, mode, tile.n_row, words);
    cols.planes = carve_planes(state->planes.data + row_words, mode, tile.n_col, words);
    bool single = all_bits <= 32 * words;
    Sums sums = single ? Sums{} : carve_sums(state, mode, tile);
    for (int64_t first = 0; first < std::max<int64_t>(1, all_bits); first += 32 * words) {
        int64_t bits = std::min(all_bits - first, 32 * words);
        state->context->monitor.tile_share = all_bits > 0 ? (double)first / (double)all_bits : 0;
        if (first > 0) wait_for_compute(state); /* many slices take long: ask whether to stop */
        open_planes(state, mode, rows.scores, n_obs, tile.n_row, first, bits, rows.planes);
        open_planes(state, mode, cols.scores, n_obs, tile.n_col, first, bits, cols.planes);
        multiply_planes(state, mode, rows, cols, {out, sums, first == 0, n_obs, bits});
    }
    if (single) return;
    dim3 grid(blocks_for(tile.n_col, 256), (unsigned)tile.n_row);
    coefficients<<<grid, 256, 0, state->compute.handle>>>(mode, sums, rows, cols, out, n_obs);
    check_launch("finishing a tile");
}

/* ---- a tile -------------------------------------------------------------------------------- */

/* Without a tie the pairs not concordant are discordant, and one product tells. */
static bool untied(const Operand &o, int64_t var, int64_t n_var) {
    int64_t v = var - o.head.first;
    return o.tied_before[v + n_var] == o.tied_before[v];
}

static SignMode mode_of(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    if (rows.head.kind == GCOR_SIGN_COMMON) return COMMON;
    return untied(rows, tile.row, tile.n_row) && untied(cols, tile.col, tile.n_col) ? UNTIED : TIED;
}

void multiply_sign(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    const gcor_tile &tile = out.tile;
    int64_t n = rows.head.n_obs;
    SignMode mode = mode_of(rows, cols, tile);
    SignSide a{{}, rows.columns_of(tile.row), rows.norm_of(tile.row)};
    SignSide b{{}, cols.columns_of(tile.col), cols.norm_of(tile.col)};
    if (!keeps_bits(rows.head.kind, n)) return multiply_slices(state, mode, a, b, out, n);
    a.planes = kept_planes(rows, tile.row);
    b.planes = kept_planes(cols, tile.col);
    multiply_planes(state, mode, a, b, {out, Sums{}, true, n, gcor_obs_pairs(n)});
}
