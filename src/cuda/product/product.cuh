/* Products on the tensor cores, and what becomes of them before they leave a processor.
 *
 *   product.cu        what is to be multiplied, in which order, by which kernel
 *   product_mma.cu    the product of blocks of columns on any GPU
 *   product_wgmma.cu  the same with Hopper's own instructions
 *   product_float.cu  exact products of REAL columns, on the ordinary cores
 *   epilogue.cuh      from sums in registers to the sink: hits.cuh (edges), cells.cuh (sums over pairs), and
 *                     values.cuh (what a sum means)
 *
 * A product is a sum over bytes of columns: of half-precision values, or of sign bits in common.
 * Columns are cut into pieces of PIECE_BYTES; a piece of one column is followed by the same piece of
 * the next column. Within its piece, 16 bytes number c of column v are number c ^ (v & 7): so 8
 * columns' 16 bytes are read from shared memory without bank conflicts, and it is the pattern that
 * Hopper's instructions read. */
#ifndef GPUCOR_CUDA_PRODUCT_CUH
#define GPUCOR_CUDA_PRODUCT_CUH

#include "../backend/cuda.cuh"

/* What is multiplied. With bit planes a, b of a column (greater, less), p (present), v = a | b (untied)
 * and |a| the number of bits set:
 *   HALF    half precision: the cheap coefficient
 *   UNTIED  aa'                       sum of signs = 4 aa' - 2 |a| - 2 |a'| + bits
 *   TIED    aa' + ~b a' + bb' + ~a b'   sum of signs = that - |a'| - |b'|
 *   COMMON  aa' + bb', vv', vp', pv'  sum of signs = 2 (aa' + bb') - vv'; untied pairs of each side
 *   FLOAT   REAL columns as they are: the exact coefficient */
enum ProductMode { HALF, UNTIED, TIED, COMMON, FLOAT };

/* What becomes of a pair.
 *   STORE      its coefficient goes to memory: HALF: cheap ones, the tile with its gaps; signs: exact, packed
 *   SUMS       sums of signs go to memory: those of a slice of bits
 *   EDGES      it may be an edge: HALF leaves candidates, signs decide
 *   OWN_EDGES  the same where variables have least weights of their own
 *   HISTOGRAM  it is counted
 *   CELLS      it is counted, and added to the sums of its row and of its column */
enum ProductSink { STORE, SUMS, EDGES, OWN_EDGES, HISTOGRAM, CELLS };

/* Of a tile, that a warp sums up: CELL_ROWS x CELL_COLS pairs. */
enum { CELL_ROWS = 16, CELL_COLS = 32 };

/* A tile's side, from its first variable on. */
struct ProductSide {
    const unsigned char *planes[3]; /* HALF: one */
    int64_t stride;                 /* bytes from a piece to the next of the same column */
    const int *greater, *untied;    /* signs: how many bits are set, in `greater` and in both planes */
    const float *inverse;           /* signs: 1 / sqrt(norm), NaN without coefficients */
    const double *norm;
    const float *columns;           /* values or scores, n_obs each */
};

/* Sums over slices, n_row x n_col: signs; COMMON: common pairs untied in the row's and in the
 * column's variable. */
struct Sums {
    long long *sign, *row_untied, *col_untied;
    bool first; /* nothing was summed before */
};

/* Where edges go. Counting goes on beyond `room`. A place is row << PLACE_COL_BITS | column. */
enum { N_EDGES, N_ABOVE, N_CANDIDATES, N_COUNTS };
struct EdgeOutput {
    gcor_edge_rule rule; /* on the device; its own least weights are numbered from the tile's first variable */
    double error;        /* of what is compared first */
    float least;         /* the least weight that is looked at; no larger than rule.least - error ... */
    int low, high;       /* ... UNTIED: and sums that far from a row's count of bits (hits.cuh) */
    unsigned long long room, *counts;
    unsigned *candidates, *places;
    double *r;
};

/* Where sums over a variable's pairs go: those of a cell, 2 + n_power numbers (degree, strength, soft) for each
 * of its rows, [cell's column / CELL_COLS][row of the tile], and for each of its columns, [cell's row /
 * CELL_ROWS][column]. */
struct CellOutput {
    gcor_sums_rule rule;
    double *rows, *cols;
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
    Walk walk;
    Packed out; /* STORE */
    float *cheap;
    Sums sums;
    EdgeOutput edges;
    unsigned long long *bins; /* HISTOGRAM, CELLS */
    CellOutput cells;
};

/* The least weight that is looked at, from product.edges' rule and the product's error. */
void set_least(Product &product);

/* Run it on state->compute. The walk is made here. */
void run_product(gcor_state *state, ProductSink sink, Product &product);

/* Each kernel's: block sizes for the walk, launch on so many processors. */
void run_product_mma(gcor_state *state, ProductSink sink, Product &product);
void run_product_wgmma(gcor_state *state, ProductSink sink, Product &product);
void run_product_float(gcor_state *state, ProductSink sink, Product &product);
bool has_wgmma(int device); /* whether the GPU and the build have it */

/* Blocks of rows x cols pairs. */
Walk plan_walk(const Product &product, int rows, int cols);

/* Whether the run's tiles may be large: nothing of a pair is stored, and nothing depends on the tile. */
bool has_network_tiles(const gcor_state *state);
/* Whether edges and counts of a tile come from a product; and whether coefficients and sums over pairs do.
 * Otherwise from all values of the tile. */
bool fused(const gcor_state *state, gcor_kind kind, int64_t n_obs);
bool fused_exactly(const gcor_state *state, gcor_kind kind, int64_t n_obs);
/* A tile of operands as a product, its sink to be filled in. */
Product product_of(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
Product exact_product_of(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
Product float_product(const Operand &rows, const Operand &cols, const gcor_tile &tile); /* product_float.cu */
Product half_product(const Operand &rows, const Operand &cols, const gcor_tile &tile); /* half.cu */
Product sign_product(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile); /* sign.cu */
/* No value that is compared or counted first is further from the exact coefficient. */
double half_error(int64_t n_obs);
inline double product_error(const Product &product) {
    return product.mode == HALF ? half_error(product.n_obs) : 1e-6; /* signs: a few roundings to single precision */
}

/* Bytes of columns in pieces, what may be read beyond the last one included. */
inline int64_t piece_bytes(int64_t n_var, int64_t pieces) {
    return (n_var * pieces + SLACK_COLUMNS) * PIECE_BYTES;
}

/* Where 16 bytes, number `chunk` of column `var`, lie. */
static __host__ __device__ inline int64_t chunk_place(int64_t stride, int64_t var, int64_t chunk) {
    return chunk / 8 * stride + var * PIECE_BYTES + ((chunk % 8) ^ (var & 7)) * 16;
}

#endif
