/* Columns as bitsets (level_tables.cu). */
#ifndef GPUCOR_CUDA_SETS_CUH
#define GPUCOR_CUDA_SETS_CUH

#include "product.cuh"
#include "../../measure/coefficient.h"

#include <vector>

/* Finds which sign columns of an operand have few levels (operand.levels, level_count). */
void count_levels(gcor_state *state, Operand &operand);

/* Computes the coefficients of a tile of signs. count_levels() must have been called for both operands. */
void multiply_sets(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);

/* knight.cu: computes the same by sorting. but_few: skips pairs whose columns both have few levels. */
void multiply_by_sorting(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out, bool but_few);

/* True if column v of the operand has ties. */
inline bool has_ties(const Operand &o, int64_t v) {
    return o.head.norm[v] < (double)gcor_obs_pairs(o.head.n_obs);
}

/* ---- shared by its files ------------------------------------------------------------------------- */

enum Bits { SIGNS, LEVELS };
enum Which { ALL, FEW, MANY }; /* number of levels of the columns to list */

/* Sets of a side's variables, on the host. code: SET_CODES times the variable's index in the side, plus the number
 * of the set; first: index of each variable's first set, -1 without sets. */
struct SetList {
    std::vector<int> code, first;
};

/* ---- level_bits.cu: lists of sets and their bits -------------------------------------------------------- */

/* Lists the sets of variables var .. var+n_var-1. Variables without coefficients have no sets. */
SetList list_sets(const Operand &operand, int64_t var, int64_t n_var, Bits bits, Which which);
/* Copies a list to the buffers. The caller owns the list and waits for state->compute before freeing it. */
void upload_sets(gcor_state *state, const SetList &list, SetBuffers &buffers);
/* Packs the bits of pieces first .. first+n-1. */
void open_sets(gcor_state *state, Bits kind, const Operand &operand, int64_t var, const SetList &list,
               const SetBuffers &buffers, int64_t first, int64_t n);

/* ---- level_values.cu ---------------------------------------------------------------------------------- */

/* Counts of common bits of a tile's sets; the coefficients go to `out`. All pointers are device memory. */
struct Counted {
    const unsigned long long *counts, *row_ones, *col_ones;
    const int *row_first, *col_first, *row_code, *col_code;
    int64_t n_rows, n_cols; /* number of sets */
    gcor_tile tile;         /* in variables */
    gcor_shape shape;
    int64_t n_obs;
    const double *row_norm, *col_norm;
    double *out;
};

/* finish_counts(): writes the coefficients of pairs whose columns are in both lists. finish_without(): writes the
 * codes of pairs without coefficient. */
void finish_counts(gcor_state *state, Bits kind, const Counted &counted);
void finish_without(gcor_state *state, const Counted &counted);

#endif
