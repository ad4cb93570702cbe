/* What the files that prepare columns share, and what they make: operands. Below products and sinks. */
#ifndef GPUCOR_CUDA_PREPARE_CUH
#define GPUCOR_CUDA_PREPARE_CUH

#include "../backend/try.cuh"
#include "../../measure/measure.h"

#include <memory>

/* On the device, n_obs values per variable, by kind; the rest has no meaning. */
struct Operand {
    gcor_operand head{}; /* first: the engine knows no more */
    int64_t serial = 0;  /* no other operand of the session has it */
    std::unique_ptr<double[]> host_norm;
    std::unique_ptr<unsigned char[]> host_flags;
    DeviceArray<double> norm;
    DeviceArray<int> present;          /* how many values are not missing */
    DeviceArray<float> columns;        /* REAL: scaled values or scores; SIGN, SIGN_COMMON: scores (NaN: missing) */
    DeviceArray<unsigned char> halves; /* REAL, for cheap products: unit columns in half precision, in pieces */
    DeviceArray<unsigned char> bits;   /* SIGN: sign bits in pieces, where they are kept (sign.cu) ... */
    DeviceArray<int> ones;             /* ... and how many are set: in `greater`, then in both planes */
    DeviceArray<float> inverse;        /* SIGN: 1 / sqrt(norm), NaN without coefficients */
    std::unique_ptr<int64_t[]> tied_before; /* SIGN: how many of the variables before have ties */
    std::unique_ptr<int[]> level_count;     /* SIGN, long ones: how many levels, 0: more than FEW_LEVELS ... */
    DeviceArray<float> levels;              /* ... and which, FEW_LEVELS each (product/level_tables.cu) */
    DeviceArray<double> values;             /* DOUBLE: scaled values or scores; REAL_COMMON: values, NaN: missing */
    DeviceArray<int> order, begin, end;     /* RANK_COMMON, as gcor_rank() has them */

    /* Where variable `var`, numbered as in x, begins. */
    const float *columns_of(int64_t var) const { return columns.data + (var - head.first) * head.n_obs; }
    const double *values_of(int64_t var) const { return values.data + (var - head.first) * head.n_obs; }
    const double *norm_of(int64_t var) const { return norm.data + (var - head.first); }

    /* Give back what is too large to be kept for the next operand. */
    void trim();
};

/* ---- prepare.cu ---------------------------------------------------------------------------- */

std::unique_ptr<Operand> cuda_prepare(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure,
                                      gcor_kind kind, int64_t first, int64_t n_var);
/* Keep it for the next one to be prepared, or free it. */
void cuda_release_operand(gcor_state *state, std::unique_ptr<Operand> operand);

/* ---- rank.cu ------------------------------------------------------------------------------- */

/* Room for sort_columns() (cub.cuh). */
struct SortBuffers {
    DeviceArray<int> starts;
    DeviceArray<char> scratch;
    void trim() {
        starts.trim();
        scratch.trim();
    }
};

struct RankBuffers {
    DeviceArray<double> keys, tied;   /* tied: pairs of each column */
    DeviceArray<int> obs, sorted_obs; /* obs: the numbers of observations */
    SortBuffers sort;
    void trim();
};

/* Rank n_var columns of doubles (missing: NaN), variables at.. of the operand, into what its kind needs; norm and
 * present are written, too. */
void rank_columns(gcor_state *state, const double *values, int64_t n_var, Operand &operand, int64_t at);

/* ---- half.cu, sign.cu ------------------------------------------------------------------------ */

/* Bytes of a column in half precision, and the columns themselves, from their final norms. */
int64_t half_bytes(int64_t n_obs);
void make_halves(gcor_state *state, Operand &operand);

/* Words of a plane of sign bits; bytes per variable of bits that are kept; make them and what else the products
 * want to know of the operand, from its scores and its final norms. */
int64_t sign_words(int64_t n_obs);
int64_t sign_bytes(gcor_kind kind, int64_t n_obs);
void make_bits(gcor_state *state, Operand &operand);

/* ---- what a session keeps ---------------------------------------------------------------------- */

/* Columns on their way: two batches in pinned memory and one on the device; and operands that were released. */
struct ColumnBuffers {
    PinnedArray<char> staged[2];
    Event copied[2];
    DeviceArray<double> values;
    RankBuffers rank;
    std::unique_ptr<Operand> spare[2]; /* one for each side of a tile */
    void trim();
};

#endif
