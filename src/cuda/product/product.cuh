// clang-format off
/* How a tile of two operands is multiplied. The files of this folder:
 *
 * file                         what it does
 * ---------------------------  --------------------------------------------------------------------------
 * product.cu                   builds the product of a tile, plans the walk over its blocks
 * half.cu, sign.cu             the sides of a product, by kind of operand
 * launch.cuh                   launch_sink(): chooses the kernel
 * mma.cuh                      kernel: blocks of columns on any GPU
 * wgmma.cuh, hopper.cuh        kernel: the same with Hopper's instructions
 * float.cuh                    kernel: exact products of REAL columns, on the ordinary cores
 * double.cu                    kernel: products of columns of doubles, in double
 * dots.cu                      kernel: exact coefficients of REAL columns, equal to the CPU's bits
 * pair.cuh                     what a sum means, and which pair it belongs to
 * exact.cu                     all exact coefficients of a tile, by the product for its kind:
 *   the kernels above
 *   level_tables.cu                    long columns of signs: bitsets of signs or of levels
 *     packing.cuh              packs signs into bits
 *     level_bits.cu              lists of sets and their bits
 *     level_values.cu            from counts of common bits to coefficients
 *   knight.cu                  long columns of signs by sorting
 *   slices.cu                  pairwise-complete signs, one slice of bits at a time
 *   pairwise.cu                pairwise-complete Pearson and Spearman, pair by pair
 * overlap.cu, blas.cu          topological overlap: products of adjacency rows by cuBLAS
 *
 * The sinks are in ../sink: each is a struct that the kernels are compiled with (sink/warp.cuh).
 *
 * A product is a sum over the bytes of columns: of half-precision values, or of common sign bits.
 * Columns are cut into pieces of PIECE_BYTES; a piece of one column is followed by the same piece of
 * the next column. Within a piece, 16-byte chunk c of column v is stored at position c ^ (v & 7), so
 * that the same chunk of 8 columns is read from shared memory without bank conflicts. Hopper's
 * instructions read this pattern, too. */
// clang-format on
#ifndef GPUCOR_CUDA_PRODUCT_CUH
#define GPUCOR_CUDA_PRODUCT_CUH

#include "../prepare/prepare.cuh"
#include "knight.cuh"
#include "../../base/triangle.h"

/* Kinds of product. With bit planes a, b of a column (greater, less), p (present), v = a | b (untied)
 * and |a| the number of bits set:
 *   HALF    half precision: the approximate coefficient
 *   UNTIED  aa'                         sum of signs = 4 aa' - 2 |a| - 2 |a'| + bits
 *   TIED    aa' + ~b a' + bb' + ~a b'   sum of signs = this sum - |a'| - |b'|
 *   COMMON  aa' + bb', vv', vp', pv'    sum of signs = 2 (aa' + bb') - vv'; untied pairs of each side
 *   FLOAT   REAL columns as they are: the exact coefficient */
enum ProductMode { HALF, UNTIED, TIED, COMMON, FLOAT };

/* One side of a tile, from the tile's first variable on. */
struct ProductSide {
    const unsigned char *planes[3];        /* HALF: only the first */
    int64_t stride;                        /* bytes from one piece of a column to its next piece */
    const int *ones_greater, *ones_untied; /* signs: number of bits set in `greater`, and in both planes */
    const float *inverse;                  /* signs: 1 / sqrt(norm); NaN without coefficients */
    const double *norm;
    const float *columns; /* values or scores, n_obs each */
};

/* The order in which blocks are computed; blocks without a pair of the shape are skipped where that is easy. A group
 * is some rows of blocks, computed one column of blocks after the other. */
struct Walk {
    int groups, block_rows; /* block_rows: rows of blocks in a group */
    int first[WALK_GROUPS + 1], col[WALK_GROUPS];
};

struct Product {
    ProductMode mode;
    ProductSide rows, cols;
    gcor_tile tile;
    gcor_shape shape;
    int64_t n_obs, bits; /* bits: number of signs in the planes */
    int pieces;
    int parts;   /* number of parts of `pieces` each, computed by separate blocks; 0 means 1 */
    Walk walk;   /* set by launch_sink() */
    int cluster; /* blocks of a cluster; set by launch_sink() */

    /* Where rows and columns are sets of variables (level_tables.cu): SET_CODES times the variable's index in
     * `variables`, plus the number of the set. NULL: rows and columns are variables. Blocks in which no pair of
     * variables has the shape are skipped. */
    const int *row_code, *col_code;
    int64_t row_start; /* columns by which the rows' planes begin before the first row; a multiple of 8 */
    gcor_tile variables;
    gcor_shape variable_shape;
};

/* Exact coefficients of a tile in device memory, row by row without gaps (triangle.h): one of doubles, floats, or
 * counts (numerators). The others are NULL. */
struct Packed {
    gcor_tile tile{};
    gcor_shape shape{};
    double *doubles = nullptr;
    float *floats = nullptr;
    int *counts = nullptr;
};

/* ---- product.cu -------------------------------------------------------------------------------- */

/* Plans a walk in blocks of rows x cols pairs. */
Walk plan_walk(const Product &product, int rows, int cols);

/* fused(): true if a tensor-core kernel can hand the run's sink its values directly, approximate or exact.
 * fused_exactly(): true if a kernel can hand over exact values. Otherwise all values of the tile are computed first
 * (exact.cu). */
bool fused(const gcor_state *state, gcor_kind kind, int64_t n_obs);
bool fused_exactly(const gcor_state *state, gcor_kind kind, int64_t n_obs);
/* The product of a tile of operands: approximate where there is such a product; and exact. */
Product product_of(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
Product exact_product_of(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
Product half_product(const Operand &rows, const Operand &cols, const gcor_tile &tile);                    /* half.cu */
Product sign_product(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile); /* sign.cu */

/* Max distance of an approximate value from the exact coefficient. */
double half_error(int64_t n_obs);
inline double product_error(const Product &product) {
    return product.mode == HALF ? half_error(product.n_obs) : 1e-6; /* signs: a few roundings to single precision */
}

/* ---- exact.cu ----------------------------------------------------------------------------------- */

/* Computes the tile's exact values on state->compute. Output: floats or doubles for REAL; numerators or doubles for
 * SIGN where fused_exactly(); doubles for all other kinds. */
void multiply_exact(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
/* Computes the tile's exact values as doubles, into memory owned by the state. */
Packed multiply_in_place(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
/* dots.cu: the coefficients of REAL columns that edges are decided on, as doubles. */
void multiply_dots(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
/* By kind of operand: double.cu, slices.cu, pairwise.cu; for signs see level_tables.cuh. */
void multiply_doubles(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
void multiply_slices(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
void multiply_pairwise(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);

/* ---- buffers kept by a session ----------------------------------------------------------------- */

/* Sign bits packed for a tile (sign.cu, slices.cu). */
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
    Contents contents{};   /* what the bits hold; operand 0: a part of the bits */
};

/* The bitsets of a side (level_tables.cu). */
struct SetBuffers {
    DeviceArray<int> code, first;
    DeviceArray<unsigned char> bits;
    DeviceArray<unsigned long long> ones; /* bits set in each set, over all slices */
    void trim();
};

struct ProductBuffers {
    DeviceArray<double> tile;            /* exact coefficients that stay on the device */
    OpenedPlanes row_planes, col_planes; /* bits packed for one tile */
    DeviceArray<long long> counts;       /* slices.cu: sums over slices */
    SetBuffers row_sets, col_sets;
    DeviceArray<unsigned long long> set_counts; /* level_tables.cu: common bits, summed over slices */
    DeviceArray<int> level_counts;
    KnightBuffers knight;
    DeviceArray<unsigned> scratch; /* pairwise.cu: ranks of very long columns */
    void forget();                 /* invalidates what refers to a run's operands */
    void trim();
};

/* ---- pieces ------------------------------------------------------------------------------------- */

/* Bytes of columns in pieces, including slack that kernels may read beyond the last column. */
inline int64_t piece_bytes(int64_t n_var, int64_t pieces) {
    return (n_var * pieces + SLACK_COLUMNS) * PIECE_BYTES;
}

/* Byte offset of 16-byte chunk `chunk` of column `var`. */
static __host__ __device__ inline int64_t chunk_position(int64_t stride, int64_t var, int64_t chunk) {
    return chunk / 8 * stride + var * PIECE_BYTES + ((chunk % 8) ^ (var & 7)) * 16;
}

#endif
