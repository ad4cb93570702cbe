/* Operands and the functions that prepare them. Does not depend on products or sinks.
 *
 * For tensor cores, columns of half-precision values or of sign bits are cut into pieces of PIECE_BYTES; a piece of
 * one column is followed by the same piece of the next column. Within a piece, 16-byte chunk c of column v is stored
 * at position c ^ (v & 7), so that the same chunk of 8 columns is read from shared memory without bank conflicts.
 * Hopper's instructions read this pattern, too. */
#pragma once

#include "../backend/state.cuh"
#include "../../measure/pearson.h"
#include "../../measure/measure.h"
#include "../../measure/mutual.h"

/* Words of a set of observations. */
enum { MASK_BITS = 64 };
GCOR_INLINE int64_t mask_words(int64_t n_obs) {
    return (n_obs + MASK_BITS - 1) / MASK_BITS;
}

/* REAL_COMMON columns, from a variable on: values, NaN: missing; sums of each; mask_words() words of each, with a bit
 * for each missing value. */
struct CommonSide {
    const double *values;
    const gcor_common_sums *all;
    const uint64_t *missing;
};

/* True for columns of values and their order, of which each pair makes its own. */
inline bool is_ordered(gcor_kind kind) {
    return kind == GCOR_PAIR_COMMON || kind == GCOR_DISTANCE_COMMON;
}

/* An operand in device memory, head.n_obs values per variable. The kind determines which members are used. */
struct Operand {
    gcor_operand head{}; /* must be the first member: the engine sees only this */
    int64_t serial = 0;  /* unique in the session */
    bool centred = true; /* REAL_COMMON: false for the cosine */
    double length = 1;   /* REAL: a power of two that no column, divided by the root of its norm, is longer than */
    std::unique_ptr<double[]> host_norm;
    std::unique_ptr<unsigned char[]> host_flags;
    DeviceArray<double> norm;
    DeviceArray<int> present;          /* number of values that are not missing */
    DeviceArray<float> columns;        /* REAL: scaled values or scores; SIGN, SIGN_COMMON: scores (NaN: missing) */
    DeviceArray<unsigned char> halves; /* REAL, for approximate products: unit columns in half precision, in pieces */
    DeviceArray<unsigned char> bits;   /* SIGN: sign bits in pieces, for short columns */
    DeviceArray<int> ones;             /* number of bits set: in `greater`, then in both planes */
    DeviceArray<float> inverse;        /* SIGN: 1 / sqrt(norm), NaN without coefficients */
    std::unique_ptr<int64_t[]> tied_before; /* SIGN: number of preceding variables with ties */
    std::unique_ptr<int[]> level_count;     /* SIGN, long columns: number of levels; 0: more than FEW_LEVELS */
    DeviceArray<float> levels;              /* the levels, FEW_LEVELS each */
    DeviceArray<double> values;             /* DOUBLE: scaled values or scores; REAL_COMMON, PAIR_COMMON,
                                             * DISTANCE_COMMON: values, NaN: missing */
    DeviceArray<gcor_common_sums> common;   /* REAL_COMMON, as `missing`: see CommonSide */
    DeviceArray<uint64_t> missing;
    DeviceArray<int> order, begin, end; /* RANK_COMMON, PAIR_COMMON, DISTANCE_COMMON: as made by gcor_rank() */
    DeviceArray<unsigned char> codes;   /* BINNED: the bin of each observation */
    DeviceArray<uint4> bins;            /* BINNED: level bitsets (tensor.cu) */
    DeviceArray<int64_t> terms, margin; /* BINNED: terms of information of 0 .. n_obs; sum of those of each column */
    gcor_mutual_scale information{};    /* BINNED */
    struct {
        double max_outliers;
        int fallback, min_obs;
    } biweight{}; /* PAIR_COMMON: bicor's options */

    /* Address of variable `var`, numbered as in x. */
    const float *columns_of(int64_t var) const { return columns.data + (var - head.first) * head.n_obs; }
    const double *values_of(int64_t var) const { return values.data + (var - head.first) * head.n_obs; }
    CommonSide common_of(int64_t var) const {
        return {values_of(var), common.data + (var - head.first),
                missing.data + (var - head.first) * mask_words(head.n_obs)};
    }
    const double *norm_of(int64_t var) const { return norm.data + (var - head.first); }

    /* Frees arrays that are too large to keep for the next operand. */
    void trim() {
        trim_all(norm, present, columns, halves, bits, ones, inverse, levels, values, common, missing, order, begin,
                 end, codes, bins, terms, margin);
    }
};

/* ---- prepare.cu ---------------------------------------------------------------------------- */

std::unique_ptr<Operand> cuda_prepare(gcor_state *state, const gcor_columns *columns, const gcor_measure *measure,
                                      gcor_kind kind, int64_t first, int64_t n_var);
/* True if pairs of this measure, whose columns are prepared again for each of them, are computed on the device. */
bool has_device_pairs(const gcor_measure *measure, const gcor_design *design);
/* Keeps the operand's memory for the next one, or frees it. */
void cuda_release_operand(gcor_state *state, std::unique_ptr<Operand> operand);

/* fused(): true if a tensor-core kernel can hand the run's sink its values directly, approximate or exact.
 * fused_exactly(): true if a kernel can hand over exact values. Otherwise all values of the tile are computed first
 * (product/exact.cu), and operands need other things (levels, no halves). */
bool fused(const gcor_state *state, gcor_kind kind, int64_t n_obs);
bool fused_exactly(const gcor_state *state, gcor_kind kind, int64_t n_obs);

/* ---- shuffle.cu ---------------------------------------------------------------------------- */

/* Permutes an operand's columns. */
void shuffle_columns(gcor_state *state, const gcor_shuffle *shuffle, Operand &operand);
/* Keeps columns, norms and flags as they are before a permutation, if the operand has all variables and is not too
 * large. */
void keep_unshuffled(gcor_state *state, const gcor_columns *columns, const Operand &operand);
/* Copies those that an earlier run of the same series has kept; returns false if there are none. */
bool restore_unshuffled(gcor_state *state, const gcor_shuffle *shuffle, Operand &operand);

struct UnshuffledColumns {
    struct Contents {
        uint64_t series; /* 0: nothing */
        int64_t first, n_var, n_obs;
        bool operator==(const Contents &other) const {
            return series == other.series && first == other.first && n_var == other.n_var && n_obs == other.n_obs;
        }
    };
    Contents contents{};
    bool is_used = false; /* in the current run */
    DeviceArray<float> columns;
    DeviceArray<double> norm;
    DeviceArray<int> variable; /* gcor_shuffle's */
    std::vector<double> host_norm;
    std::vector<unsigned char> flags;

    /* After a run that did not use them, columns are kept no longer. */
    void trim() {
        variable.trim();
        if (!is_used) {
            contents = {};
            trim_all(columns, norm);
        }
        is_used = false;
    }
};

/* ---- map.cu -------------------------------------------------------------------------------- */

/* True if map_columns() maps the columns' design. */
bool has_device_map(const gcor_measure *measure, const gcor_columns *columns);
/* Maps `count` columns of unit length as variables at .. of the operand. Also writes their norms; a column of zeros
 * gets the norm 1, which the caller replaces. */
void map_columns(gcor_state *state, const gcor_design *design, const double *units, int64_t count, Operand &operand,
                 int64_t at);

/* ---- rank.cu ------------------------------------------------------------------------------- */

struct RankBuffers {
    DeviceArray<double> keys, tied;   /* tied: number of tied pairs of each column */
    DeviceArray<int> obs, sorted_obs; /* obs: indices of observations */
    SortBuffers sort;
    void trim() { trim_all(keys, tied, obs, sorted_obs, sort); }
};

/* Ranks n_var columns of doubles (missing: NaN) into variables at .. at+n_var-1 of the operand, in the form that its
 * kind needs. Also writes norm and present. */
void rank_columns(gcor_state *state, const double *values, int64_t n_var, Operand &operand, int64_t at);

/* ---- tensor.cu: forms for the tensor cores ----------------------------------------------------- */

/* Length of a column in half precision whose length is the operand's: its values are small, and half precision loses
 * bits below 2^-14. A power of two, so scaling is exact. */
static const float HALF_LENGTH = 256;

/* Number of pieces of a column in half precision. */
int64_t half_pieces(int64_t n_obs);
/* Makes the columns in half precision from their final norms. */
void make_halves(gcor_state *state, Operand &operand);

/* Observations of a step of the products of bitsets. */
static const int64_t BIN_STEP = 256;
static __host__ __device__ inline int64_t bin_steps(int64_t n_obs) {
    return (n_obs + BIN_STEP - 1) / BIN_STEP;
}
/* Makes level bitsets, terms and margins from the operand's codes. */
void make_bins(gcor_state *state, Operand &operand);

/* ---- centre.cu ----------------------------------------------------------------------------- */

/* True if centre_columns() prepares columns without a design for this measure. */
bool has_device_centring(const gcor_measure *measure, const gcor_columns *columns, int64_t n_var);
/* Prepares `count` columns of n values as variables at .. of the operand. Also writes norm and present. */
void centre_columns(gcor_state *state, const double *values, int64_t n, int64_t count, Operand &operand, int64_t at);

/* True if distance_columns() prepares columns without a design for this measure. */
bool has_device_distances(const gcor_measure *measure, const gcor_columns *columns);
/* Prepares `count` columns of n values as variables at .. of the operand. Also writes norm and present. */
void distance_columns(gcor_state *state, const double *values, int64_t n, int64_t min_obs, int64_t count,
                      Operand &operand, int64_t at);

/* ---- signs.cu (more of it below) ------------------------------------------------------ */

/* sign_words(): words of a plane of sign bits. sign_bytes(): bytes per variable of bits that are kept. make_bits():
 * makes the kept bits and everything else that products need, from the operand's scores and final norms. */
int64_t sign_words(int64_t n_obs);
int64_t sign_bytes(gcor_kind kind, int64_t n_obs);
void make_bits(gcor_state *state, Operand &operand);
/* True if column v of the operand, counted from its first variable, has ties. */
inline bool has_ties(const Operand &o, int64_t v) {
    return o.head.norm[v] < (double)gcor_obs_pairs(o.head.n_obs);
}

/* ---- packing.cuh: groups of observations ------------------------------------------------------ */

/* Number of groups of 32 observations, and number of pieces of all their pairs (at least 1). */
static __host__ __device__ inline int64_t group_count(int64_t n_obs) {
    return (n_obs + 31) / 32;
}
static __host__ __device__ inline int64_t group_pieces(int64_t n_obs) {
    int64_t groups = group_count(n_obs), pieces = gcor_obs_pairs(groups) + (groups + 1) / 2;
    return pieces > 0 ? pieces : 1;
}

/* Max n_obs of columns that can be packed: a sort key (packing.cuh) holds a score and a number below 256 in one int. */
static const int64_t MAX_PACKED_OBS = (int64_t)1 << 23;

/* ---- pieces -------------------------------------------------------------------------------- */

/* Bytes of columns in pieces, including slack that kernels may read beyond the last column. */
inline int64_t piece_bytes(int64_t n_var, int64_t pieces) {
    return (n_var * pieces + SLACK_COLUMNS) * PIECE_BYTES;
}

/* Byte offset of 16-byte chunk `chunk` of column `var`. */
static __host__ __device__ inline int64_t chunk_position(int64_t stride, int64_t var, int64_t chunk) {
    return chunk / 8 * stride + var * PIECE_BYTES + ((chunk % 8) ^ (var & 7)) * 16;
}

/* ---- buffers kept by a session ----------------------------------------------------------------- */

/* Transfer buffers for columns: two batches in pinned memory and one on the device. Also released operands. */
struct ColumnBuffers {
    PinnedArray<char> staged[2];
    Event copied[2];
    DeviceArray<double> values;
    DeviceArray<double> map;
    RankBuffers rank;
    UnshuffledColumns unshuffled;
    DeviceArray<int> level_counts;
    std::unique_ptr<Operand> spare[2]; /* one for each side of a tile */
    void trim() { trim_all(staged[0], staged[1], values, map, rank, unshuffled, level_counts); }
};

/* ---- sign bits, for those who pack them for a tile ---------------------------------------------- */

/* Bit (k, q) of a plane is set where observation k is greater than q, or less, or where both are present.
 * coefficient.h defines the order of the bits; packing.cuh defines it where all bits are packed for a tile. */

/* Bit planes of some variables in pieces: greater, less, present; those that are not needed are NULL.
 * Bits after the last one are zero. */
struct Planes {
    int64_t pieces, stride;
    unsigned char *plane[3];
    int *ones_greater, *ones_untied; /* number of bits set per variable: in the first plane, and in the first two */
};

/* Sign bits packed for a tile. */
struct PackedPlanes {
    struct Contents {
        int64_t operand, var, n_var;
        int planes;
        bool operator==(const Contents &other) const {
            return operand == other.operand && var == other.var && n_var == other.n_var && planes == other.planes;
        }
    };
    DeviceArray<unsigned char> bits;
    DeviceArray<int> ones; /* as in Operand */
    Contents contents{};   /* what the bits hold; operand 0: a part of the bits */
    void trim() { trim_all(bits, ones); }
};

/* Number of pieces of a plane with all bits. */
int64_t sign_pieces(int64_t n_obs);
/* True if the bits of all variables are kept, which kept_planes() describes: greater and less. */
bool keeps_bits(gcor_kind kind, int64_t n_obs);
Planes kept_planes(const Operand &operand);

/* Allocates `planes` planes (1 to 3) of `pieces` pieces of n_var variables. */
Planes reserve_planes(PackedPlanes &packed, int planes, int64_t n_var, int64_t pieces);
/* Packs bits first .. first+bits-1 of n_var variables with the given scores into 2 or 3 planes. */
void pack_bits(gcor_state *state, int planes, const float *scores, int64_t n_obs, int64_t n_var, int64_t first,
               int64_t bits, const Planes &to);
/* Packs all bits into group_pieces() pieces (packing.cuh) of 1 or 2 planes. */
void pack_all_bits(gcor_state *state, int planes, const float *scores, int64_t n_obs, int64_t n_var, const Planes &to);
