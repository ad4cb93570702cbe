// clang-format off
/* How a tile of two operands is multiplied. The files of this folder:
 *
 * file                          what it does
 * ----------------------------  -----------------------------------------------------------------------
 * product.cu                    builds the product of a tile, plans the walk over its blocks
 * launch.cuh                    launch_sink(): chooses the kernel for a product and a sink; kernel: exact
 *                               products of REAL columns, on the ordinary cores
 * kernel_sink.cuh               what the sinks have in common that the kernels are compiled with
 * mma.cuh                       kernel: half precision or sign bits, on any GPU
 * wgmma.cuh, hopper.cuh         kernel: the same with Hopper's instructions
 * pair.cuh                      what a sum means, and which pair it belongs to
 * exact.cu                      all exact coefficients of a tile, by the product for its kind:
 *   the kernels above
 *   double.cu                   columns of doubles, and REAL columns with the CPU's bits
 *   (there, too)                long columns of signs: by signs, by levels or by Knight's algorithm
 *     kendall_sets.cu           products of bitsets of signs or of levels
 *     kendall_set_bits.cu       lists of sets and their bits
 *     kendall_knight.cu         by sorting
 *   mutual.cu                   binned columns, by level bitsets
 *   pairwise_kendall.cu         pairwise-complete signs, one slice of bits at a time
 *   pairwise_pearson_spearman.cu  pairwise-complete Pearson, cosine and Spearman, pair by pair
 *   pairwise_bicor.cu           pairwise-complete biweight midcorrelation
 *   pairwise_distance.cu        pairwise-complete distance correlation, a thread for each pair
 *
 * A product is a sum over the bytes of columns in pieces (prepare/operand.cuh): of half-precision
 * values, or of common sign bits. */
// clang-format on
#pragma once

#include "../prepare/operand.cuh"
#include "../../base/triangle.h"

/* Kinds of product. With bit planes a, b of a column (greater, less), p (present), v = a | b (untied)
 * and |a| the number of bits set:
 *   HALF    half precision: the approximate coefficient
 *   UNTIED  aa'                         sum of signs = 4 aa' - 2 |a| - 2 |a'| + bits
 *   TIED    aa' + ~b a' + bb' + ~a b'   sum of signs = this sum - |a'| - |b'|
 *   COMMON  aa' + bb', vv', vp', pv'    sum of signs = 2 (aa' + bb') - vv'; untied pairs of each side
 *   FLOAT   REAL columns as they are: the exact coefficient */
enum ProductMode { HALF, UNTIED, TIED, COMMON, FLOAT };

/* True where mma.cuh multiplies signs as bytes 1, 0 and -1, into which it spreads their bits, so that TIED sums signs:
 * GPUs after Hopper emulate products of bits, at a fortieth of the pace. A build with -DGPUCOR_SIGN_BYTES does so on
 * every GPU, and without wgmma.cuh. */
#if defined(GPUCOR_SIGN_BYTES) || (defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000)
static const bool SIGN_BYTES = true;
#else
static const bool SIGN_BYTES = false;
#endif

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
    gcor_shape shape;    /* GCOR_FULL also if all pairs of the tile have the sink's shape */
    int64_t n_obs, bits; /* bits: number of signs in the planes */
    float unit;          /* HALF: the coefficient of a sum of 1, a power of two */
    int pieces;
    int parts;   /* number of parts of `pieces` each, computed by separate blocks; 0 means 1 */
    Walk walk;   /* set by launch_sink() */
    int cluster; /* blocks of a cluster; set by launch_sink() */

    /* Where rows and columns are sets of variables (kendall_sets.cu): SET_CODES times the variable's index in
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

/* A tile in device memory, as exact_value() takes it (pair.cuh). */
struct TileValues {
    Packed values;                    /* what gcor_coefficient() takes, as counts or doubles; or coefficients */
    const double *row_norm = nullptr; /* the tile's norms; NULL for coefficients */
    const double *col_norm = nullptr;
    bool rounded = false; /* true: coefficients are rounded to single precision, as in a dense result */
};

/* ---- product.cu -------------------------------------------------------------------------------- */

/* Plans a walk in blocks of rows x cols pairs. */
Walk plan_walk(const Product &product, int rows, int cols);

/* The product of a tile of operands: approximate where there is such a product; and exact. */
Product product_of(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
Product exact_product_of(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
/* Returns GCOR_FULL if all pairs of the tile have the sink's shape, which saves the arithmetic of triangles; otherwise
 * the sink's shape. */
gcor_shape shape_of_tile(const gcor_state *state, const gcor_tile &tile);
/* The side from variable `var` on; its planes begin `skipped` variables before. */
ProductSide sign_side(const Operand &operand, int64_t var, const Planes &planes, int64_t skipped);

/* Max distance of an approximate value from the exact coefficient. */
double product_error(const Product &product);

/* ---- exact.cu ----------------------------------------------------------------------------------- */

/* Computes the tile's exact values on state->compute. Output: floats or doubles for REAL; numerators or doubles for
 * SIGN where fused_exactly(); doubles for all other kinds. */
void exact_tile(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
/* Computes the tile's exact values as doubles, into memory owned by the state. */
Packed exact_in_place(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
/* Computes into the same memory values from which a kernel with many warps makes coefficients: a product's kernel has
 * few warps, so that a root and a quotient for each pair take longer there than the product. */
TileValues values_in_place(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
/* double.cu: exact_dots() computes the coefficients of REAL columns that edges are decided on, as doubles. */
void exact_dots(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
void exact_doubles(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
/* Pairwise-complete signs (pairwise_kendall.cu), values and ranks (pairwise_pearson_spearman.cu), the biweight
 * midcorrelation (pairwise_bicor.cu), and distances of up to GCOR_MAX_DISTANCES observations (pairwise_distance.cu). */
void exact_pairwise_signs(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
void exact_pairwise(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
void exact_pairwise_bicor(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
void exact_pairwise_distance(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
/* Binned columns (mutual.cu). */
void exact_mutual(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);

/* ---- buffers kept by a session ----------------------------------------------------------------- */

/* The bitsets of a side (kendall_sets.cu). */
struct SetBuffers {
    DeviceArray<int> code, first;
    DeviceArray<unsigned char> bits;
    DeviceArray<unsigned long long> ones; /* bits set in each set, over all slices */
    void trim() { trim_all(code, first, bits, ones); }
};

/* Knight's algorithm (kendall_knight.cu). One sort: the observations in the order of one column, keyed by the scores
 * of another. */
struct SortJob {
    const int *order;
    const float *score;
    int pair; /* index of the pair that gets the count */
};

/* A pair of the tile: its variables, the index of its coefficient in the output, whether x is the row's column, and
 * whether the count is to be doubled because D' equals D. */
struct SortPair {
    int row, col;
    int64_t out;
    bool x_is_row, counts_twice;
};

struct KnightBuffers {
    DeviceArray<float> keys, sorted_keys, runs[2];
    DeviceArray<int> obs, up, down; /* sort orders of columns; down: ties in reverse order */
    DeviceArray<SortJob> jobs;
    DeviceArray<SortPair> pairs;
    DeviceArray<unsigned long long> counts;
    SortBuffers sort;
    void trim() { trim_all(keys, sorted_keys, runs[0], runs[1], obs, up, down, jobs, pairs, counts, sort); }
};

struct ProductBuffers {
    DeviceArray<double> tile;            /* exact coefficients or numerators that stay on the device */
    PackedPlanes row_planes, col_planes; /* bits packed for one tile */
    DeviceArray<long long> counts;       /* pairwise_kendall.cu: sums over slices */
    SetBuffers row_sets, col_sets;
    DeviceArray<unsigned long long> set_counts; /* kendall_sets.cu: common bits, summed over slices */
    KnightBuffers knight;
    DeviceArray<double> scratch; /* pairwise.cuh: for very long columns; pairwise_distance.cu */

    /* Invalidates what refers to a run's operands. */
    void forget() { row_planes.contents = col_planes.contents = {}; }
    void trim() { trim_all(tile, row_planes, col_planes, counts, row_sets, col_sets, set_counts, knight, scratch); }
};
