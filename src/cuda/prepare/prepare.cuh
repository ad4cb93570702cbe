/* Operands and the functions that prepare them. Does not depend on products or sinks. */
#ifndef GPUCOR_CUDA_PREPARE_CUH
#define GPUCOR_CUDA_PREPARE_CUH

#include "../backend/try.cuh"
#include "../../measure/measure.h"

#include <memory>

/* An operand in device memory, n_obs values per variable. The kind determines which members are used. */
struct Operand {
    gcor_operand head{}; /* must be the first member: the engine sees only this */
    int64_t serial = 0;  /* unique in the session */
    std::unique_ptr<double[]> host_norm;
    std::unique_ptr<unsigned char[]> host_flags;
    DeviceArray<double> norm;
    DeviceArray<int> present;          /* number of values that are not missing */
    DeviceArray<float> columns;        /* REAL: scaled values or scores; SIGN, SIGN_COMMON: scores (NaN: missing) */
    DeviceArray<unsigned char> halves; /* REAL, for approximate products: unit columns in half precision, in pieces */
    DeviceArray<unsigned char> bits;   /* SIGN: sign bits in pieces, for short columns (sign.cu) */
    DeviceArray<int> ones;             /* number of bits set: in `greater`, then in both planes */
    DeviceArray<float> inverse;        /* SIGN: 1 / sqrt(norm), NaN without coefficients */
    std::unique_ptr<int64_t[]> tied_before; /* SIGN: number of preceding variables with ties */
    std::unique_ptr<int[]> level_count;     /* SIGN, long columns: number of levels; 0: more than FEW_LEVELS */
    DeviceArray<float> levels;              /* the levels, FEW_LEVELS each (product/level_tables.cu) */
    DeviceArray<double> values;             /* DOUBLE: scaled values or scores; REAL_COMMON: values, NaN: missing */
    DeviceArray<int> order, begin, end;     /* RANK_COMMON, as made by gcor_rank() */

    /* Address of variable `var`, numbered as in x. */
    const float *columns_of(int64_t var) const { return columns.data + (var - head.first) * head.n_obs; }
    const double *values_of(int64_t var) const { return values.data + (var - head.first) * head.n_obs; }
    const double *norm_of(int64_t var) const { return norm.data + (var - head.first); }

    /* Frees arrays that are too large to keep for the next operand. */
    void trim();
};

/* ---- prepare.cu ---------------------------------------------------------------------------- */

std::unique_ptr<Operand> cuda_prepare(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure,
                                      gcor_kind kind, int64_t first, int64_t n_var);
/* Keeps the operand's memory for the next one, or frees it. */
void cuda_release_operand(gcor_state *state, std::unique_ptr<Operand> operand);

/* ---- rank.cu ------------------------------------------------------------------------------- */

/* Scratch for sort_columns() (cub.cuh). */
struct SortBuffers {
    DeviceArray<int> starts;
    DeviceArray<char> scratch;
    void trim() {
        starts.trim();
        scratch.trim();
    }
};

struct RankBuffers {
    DeviceArray<double> keys, tied;   /* tied: number of tied pairs of each column */
    DeviceArray<int> obs, sorted_obs; /* obs: indices of observations */
    SortBuffers sort;
    void trim();
};

/* Ranks n_var columns of doubles (missing: NaN) into variables at .. at+n_var-1 of the operand, in the form that its
 * kind needs. Also writes norm and present. */
void rank_columns(gcor_state *state, const double *values, int64_t n_var, Operand &operand, int64_t at);

/* ---- half.cu, sign.cu ------------------------------------------------------------------------ */

/* half_bytes(): bytes of a column in half precision. make_halves(): makes the columns from their final norms. */
int64_t half_bytes(int64_t n_obs);
void make_halves(gcor_state *state, Operand &operand);

/* sign_words(): words of a plane of sign bits. sign_bytes(): bytes per variable of bits that are kept. make_bits():
 * makes the kept bits and everything else that products need, from the operand's scores and final norms. */
int64_t sign_words(int64_t n_obs);
int64_t sign_bytes(gcor_kind kind, int64_t n_obs);
void make_bits(gcor_state *state, Operand &operand);

/* ---- buffers kept by a session ----------------------------------------------------------------- */

/* Transfer buffers for columns: two batches in pinned memory and one on the device. Also released operands. */
struct ColumnBuffers {
    PinnedArray<char> staged[2];
    Event copied[2];
    DeviceArray<double> values;
    RankBuffers rank;
    std::unique_ptr<Operand> spare[2]; /* one for each side of a tile */
    void trim();
};

#endif
