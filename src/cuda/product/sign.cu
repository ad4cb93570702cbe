/* Products of SIGN operands. Bits of short columns are kept for all variables, bits of longer columns are packed per
 * tile, those of very long columns per slice (slices.cu). All sums are exact integers. */
#include "../backend/lanes.cuh"
#include "../backend/state.cuh"
#include "packing.cuh"
#include "level_tables.cuh"
#include "sign.cuh"

#include <algorithm>

int64_t sign_pieces(int64_t n_obs) {
    return sign_words(n_obs) / PIECE_WORDS;
}

/* ---- bits kept for all variables --------------------------------------------------------- */

static bool keeps_bits(gcor_kind kind, int64_t n_obs) {
    return kind == GCOR_SIGN && sign_words(n_obs) <= KEPT_WORDS;
}

int64_t sign_bytes(gcor_kind kind, int64_t n_obs) {
    return keeps_bits(kind, n_obs) ? 2 * sign_pieces(n_obs) * PIECE_BYTES + 2 * (int64_t)sizeof(int) : 0;
}

/* Elements of a per-variable array, including what kernels may read beyond its end; even, as elements are read in
 * pairs. */
static int64_t counts_of(int64_t n_var) {
    return (n_var + 1) / 2 * 2 + SLACK_COLUMNS;
}

/* The bits of all variables of the operand: greater and less. */
static Planes kept_planes(const Operand &o) {
    int64_t n_var = o.head.n_var, pieces = sign_pieces(o.head.n_obs);
    return {pieces,
            n_var * PIECE_BYTES,
            {o.bits.data, o.bits.data + piece_bytes(n_var, pieces), nullptr},
            o.ones.data,
            o.ones.data + counts_of(n_var)};
}

static __global__ void invert_norms(const double *norm, int64_t n_var, float *inverse) {
    int64_t v = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (v < n_var) inverse[v] = norm[v] > 0 ? (float)(1 / sqrt(norm[v])) : NAN;
}

/* Counts the variables with ties, cumulatively. For variables without coefficients (norm below 0) the answer does
 * not matter. */
static void count_tied(Operand &o) {
    double untied = (double)gcor_obs_pairs(o.head.n_obs);
    o.tied_before.reset(new int64_t[o.head.n_var + 1]);
    o.tied_before[0] = 0;
    for (int64_t v = 0; v < o.head.n_var; v++)
        o.tied_before[v + 1] = o.tied_before[v] + (o.head.norm[v] >= 0 && o.head.norm[v] < untied);
}

void make_bits(gcor_state *state, Operand &o) {
    int64_t n = o.head.n_obs, n_var = o.head.n_var;
    count_tied(o);
    o.inverse.reserve(counts_of(n_var), "norms");
    if (n_var > 0)
        invert_norms<<<blocks_for(n_var, 256), 256, 0, state->compute.handle>>>(o.norm.data, n_var, o.inverse.data);
    check_launch("preparing norms");
    if (o.head.kind == GCOR_SIGN && n_var > 0 && !fused_exactly(state, o.head.kind, n)) count_levels(state, o);
    if (!keeps_bits(o.head.kind, n)) return;
    o.bits.reserve(2 * piece_bytes(n_var, sign_pieces(n)), "sign bits");
    o.ones.reserve(2 * counts_of(n_var), "sign bits");
    open_planes(state, TIED, o.columns.data, n, n_var, 0, gcor_obs_pairs(n), kept_planes(o));
}

/* ---- bits packed for a tile ---------------------------------------------------------------- */

Planes reserve_planes(OpenedPlanes &packed, ProductMode mode, int64_t n_var, int64_t pieces) {
    int64_t bytes = piece_bytes(n_var, pieces);
    packed.bits.reserve(planes_of(mode) * bytes, "sign bits");
    packed.ones.reserve(2 * counts_of(n_var), "sign bits");
    unsigned char *data = packed.bits.data;
    return {pieces,
            n_var * PIECE_BYTES,
            {data, data + bytes, data + 2 * bytes},
            packed.ones.data,
            packed.ones.data + counts_of(n_var)};
}

/* Packs all bits of variables var .. var+n_var-1, unless the buffer still holds them from the last call. */
static Planes open_all(gcor_state *state, OpenedPlanes &packed, ProductMode mode, const Operand &o, int64_t var,
                       int64_t n_var) {
    int64_t n = o.head.n_obs;
    Planes planes = reserve_planes(packed, mode, n_var, group_pieces(n));
    OpenedPlanes::Contents wanted = {o.serial, var, n_var, (int)mode};
    if (packed.contents == wanted) return planes;
    open_all_planes(state, mode, o.columns_of(var), n, n_var, planes);
    packed.contents = wanted;
    return planes;
}

/* ---- a product ------------------------------------------------------------------------------- */

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

Product sign_product(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    Product product{};
    product.mode = sign_mode(rows, cols, tile);
    product.pieces = (int)sign_pieces(rows.head.n_obs);
    product.bits = gcor_obs_pairs(rows.head.n_obs);
    if (keeps_bits(rows.head.kind, rows.head.n_obs)) {
        product.rows = sign_side(rows, tile.row, kept_planes(rows), tile.row - rows.head.first);
        product.cols = sign_side(cols, tile.col, kept_planes(cols), tile.col - cols.head.first);
    } else {
        Planes b = open_all(state, state->products.col_planes, product.mode, cols, tile.col, tile.n_col), a = b;
        bool among = &rows == &cols && tile.row >= tile.col && tile.row + tile.n_row <= tile.col + tile.n_col &&
                     (tile.row - tile.col) % 8 == 0; /* the swizzle pattern repeats every 8 columns */
        if (!among) a = open_all(state, state->products.row_planes, product.mode, rows, tile.row, tile.n_row);
        product.pieces = (int)group_pieces(rows.head.n_obs);
        product.rows = sign_side(rows, tile.row, a, among ? tile.row - tile.col : 0);
        product.cols = sign_side(cols, tile.col, b, 0);
    }
    return product;
}
