/* What is multiplied: a tile of two operands, and in which order.
 *
 *   product.cu        a product of a tile; the walk over its blocks
 *   half.cu, sign.cu  what a product wants of operands, by kind
 *   launch.cuh        launch_sink(): which kernel multiplies
 *   mma.cuh           the product of blocks of columns on any GPU
 *   wgmma.cuh         the same with Hopper's own instructions
 *   float.cuh         exact products of REAL columns, on the ordinary cores
 *   double.cu         products of columns of doubles, in double
 *   dots.cu           exact coefficients of REAL columns to the last bit, one by one
 *   pair.cuh          what a sum means, and of which pair it is
 *   exact.cu          all exact coefficients of a tile, whatever its kind: from these products, or from those of
 *   level_tables.cu           long columns of signs as sets of bits, of their signs or of their levels (level_bits.cu,
 * packing.cuh, level_values.cu), or knight.cu         by sorting, slices.cu         signs over common observations, a
 * part of their bits at a time, and pairwise.cu       pairs by themselves, over their common observations
 *
 * What becomes of a sum is the sink's, in ../sink: a struct that the kernels are compiled with (sink/warp.cuh).
 *
 * A product is a sum over bytes of columns: of half-precision values, or of sign bits in common.
 * Columns are cut into pieces of PIECE_BYTES; a piece of one column is followed by the same piece of
 * the next column. Within its piece, 16 bytes number c of column v are number c ^ (v & 7): so 8
 * columns' 16 bytes are read from shared memory without bank conflicts, and it is the pattern that
 * Hopper's instructions read. */
#ifndef GPUCOR_CUDA_PRODUCT_CUH
#define GPUCOR_CUDA_PRODUCT_CUH

#include "../prepare/prepare.cuh"
#include "knight.cuh"
#include "../../base/triangle.h"

/* What is multiplied. With bit planes a, b of a column (greater, less), p (present), v = a | b (untied)
 * and |a| the number of bits set:
 *   HALF    half precision: the cheap coefficient
 *   UNTIED  aa'                       sum of signs = 4 aa' - 2 |a| - 2 |a'| + bits
 *   TIED    aa' + ~b a' + bb' + ~a b'   sum of signs = that - |a'| - |b'|
 *   COMMON  aa' + bb', vv', vp', pv'  sum of signs = 2 (aa' + bb') - vv'; untied pairs of each side
 *   FLOAT   REAL columns as they are: the exact coefficient */
enum ProductMode { HALF, UNTIED, TIED, COMMON, FLOAT };

/* A tile's side, from its first variable on. */
struct ProductSide {
    const unsigned char *planes[3];        /* HALF: one */
    int64_t stride;                        /* bytes from a piece to the next of the same column */
    const int *ones_greater, *ones_untied; /* signs: how many bits are set, in `greater` and in both planes */
    const float *inverse;                  /* signs: 1 / sqrt(norm), NaN without coefficients */
    const double *norm;
    const float *columns; /* values or scores, n_obs each */
};

/* Blocks in the order in which they are computed, those without a pair that counts left out as far as
 * that is easy. Groups of rows of blocks; a group's columns of blocks one after the other. */
struct Walk {
    int groups, block_rows; /* block_rows: rows of blocks */
    int first[WALK_GROUPS + 1], col[WALK_GROUPS];
};

struct Product {
    ProductMode mode;
    ProductSide rows, cols;
    gcor_tile tile;
    gcor_shape shape;
    int64_t n_obs, bits; /* bits: signs in the planes */
    int pieces;
    int parts;   /* pieces so many times, each by blocks of their own; 0 is 1 */
    Walk walk;   /* launch_sink() makes it */
    int cluster; /* and chooses this, where blocks come in clusters: how many there are in one */

    /* Rows and columns that are sets of variables (level_tables.cu): SET_CODES times the variable's number in the tile
     * of variables, and more; NULL: they are variables. Blocks in which no pair of variables counts are left out. */
    const int *row_code, *col_code;
    int64_t row_start; /* the rows' planes begin so many columns before the first row, a multiple of 8 */
    gcor_tile variables;
    gcor_shape variable_shape;
};

/* A tile's exact coefficients on the device: those that count, row by row (triangle.h), in one of the two types; or
 * numerators. */
struct Packed {
    gcor_tile tile{};
    gcor_shape shape{};
    double *doubles = nullptr;
    float *floats = nullptr;
    int *counts = nullptr;
};

/* ---- product.cu -------------------------------------------------------------------------------- */

/* Blocks of rows x cols pairs. */
Walk plan_walk(const Product &product, int rows, int cols);

/* Whether a product of tensor cores tells what the run's sink wants of a pair, cheaply or exactly; and whether some
 * product tells exact coefficients. Otherwise all values of the tile are computed first (exact.cu). */
bool fused(const gcor_state *state, gcor_kind kind, int64_t n_obs);
bool fused_exactly(const gcor_state *state, gcor_kind kind, int64_t n_obs);
/* A tile of operands as a product, cheap where there is a cheap one; and as an exact one. */
Product product_of(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
Product exact_product_of(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
Product half_product(const Operand &rows, const Operand &cols, const gcor_tile &tile);                    /* half.cu */
Product sign_product(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile); /* sign.cu */

/* No value that is compared or counted first is further from the exact coefficient. */
double half_error(int64_t n_obs);
inline double product_error(const Product &product) {
    return product.mode == HALF ? half_error(product.n_obs) : 1e-6; /* signs: a few roundings to single precision */
}

/* ---- exact.cu ----------------------------------------------------------------------------------- */

/* The tile's exact values, on state->compute. REAL: floats or doubles, the others doubles; numerators of SIGN where
 * fused_exactly(). */
void multiply_exact(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
/* The same into memory of the state's own, as doubles. */
Packed multiply_in_place(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
/* Of REAL columns the coefficients that edges are decided on, as doubles; dots.cu. */
void multiply_dots(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
/* For kinds: double.cu, slices.cu and pairwise.cu; level_tables.cuh. */
void multiply_doubles(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
void multiply_slices(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
void multiply_pairwise(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);

/* ---- what a session keeps ---------------------------------------------------------------------- */

/* Bits opened for a tile (sign.cu, slices.cu). */
struct OpenedPlanes {
    struct Contents {
        int64_t operand, var, n_var;
        int mode;
        bool operator==(const Contents &other) const {
            return operand == other.operand && var == other.var && n_var == other.n_var && mode == other.mode;
        }
    };
    DeviceArray<unsigned char> bits;
    DeviceArray<int> ones; /* as in Operand */
    Contents contents{};   /* of all bits; operand 0: of a part */
};

/* A side as sets of bits (level_tables.cu). */
struct SetBuffers {
    DeviceArray<int> code, first;
    DeviceArray<unsigned char> bits;
    DeviceArray<unsigned long long> ones; /* bits of each set, of all slices */
    void trim();
};

struct ProductBuffers {
    DeviceArray<double> tile;            /* exact coefficients that stay on the device */
    OpenedPlanes row_planes, col_planes; /* where bits are not kept */
    DeviceArray<long long> counts;       /* slices.cu: over slices */
    SetBuffers row_sets, col_sets;
    DeviceArray<unsigned long long> set_counts; /* level_tables.cu: bits in common, over slices */
    DeviceArray<int> level_counts;
    KnightBuffers knight;
    DeviceArray<unsigned> scratch; /* pairwise.cu: ranks of very long columns */
    void forget();                 /* what a run's operands have left */
    void trim();
};

/* ---- pieces ------------------------------------------------------------------------------------- */

/* Bytes of columns in pieces, what may be read beyond the last one included. */
inline int64_t piece_bytes(int64_t n_var, int64_t pieces) {
    return (n_var * pieces + SLACK_COLUMNS) * PIECE_BYTES;
}

/* Where 16 bytes, number `chunk` of column `var`, lie. */
static __host__ __device__ inline int64_t chunk_position(int64_t stride, int64_t var, int64_t chunk) {
    return chunk / 8 * stride + var * PIECE_BYTES + ((chunk % 8) ^ (var & 7)) * 16;
}

#endif
