/* Columns as sets of bits (level_tables.cu). */
#ifndef GPUCOR_CUDA_SETS_CUH
#define GPUCOR_CUDA_SETS_CUH

#include "product.cuh"
#include "../../measure/coefficient.h"

#include <vector>

/* Find which of an operand's columns of signs have few levels. */
void count_levels(gcor_state *state, Operand &operand);

/* The coefficients of a tile of signs; the operands' levels have been counted. */
void multiply_sets(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);

/* knight.cu: the same by sorting; but_few: without the pairs of which both columns have few levels. */
void multiply_by_sorting(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out, bool but_few);

/* Of the operand's column number v. */
inline bool has_ties(const Operand &o, int64_t v) {
    return o.head.norm[v] < (double)gcor_obs_pairs(o.head.n_obs);
}

/* ---- what its files share ------------------------------------------------------------------------ */

enum Bits { SIGNS, LEVELS };
enum Which { ALL, FEW, MANY }; /* levels */

/* Some variables of a side: on the host, set by set, 32 times the variable's number in the side, and which of its sets
 * that is; and where a variable's first set is, -1 without any. */
struct SetList {
    std::vector<int> code, first;
};

/* ---- level_bits.cu: sets of a side, to its buffers, and opened there ------------------------------------ */

/* Those without coefficients have no sets. */
SetList list_sets(const Operand &operand, int64_t var, int64_t n_var, Bits bits, Which which);
/* The list is the caller's, who waits for state->compute before it ends. */
void upload_sets(gcor_state *state, const SetList &list, SetBuffers &buffers);
/* Pieces first .. first+n-1. */
void open_sets(gcor_state *state, Bits kind, const Operand &operand, int64_t var, const SetList &list,
               const SetBuffers &buffers, int64_t first, int64_t n);

/* ---- level_values.cu ---------------------------------------------------------------------------------- */

/* What sets of a tile have in common; its coefficients go to `out`. */
struct Counted {
    const unsigned long long *counts, *row_ones, *col_ones;
    const int *row_first, *col_first, *row_code, *col_code;
    int64_t n_rows, n_cols; /* sets */
    gcor_tile tile;         /* variables */
    gcor_shape shape;
    int64_t n_obs;
    const double *row_norm, *col_norm;
    double *out;
};

/* The coefficients of pairs that are in both lists; and of those that have none. */
void finish_counts(gcor_state *state, Bits kind, const Counted &counted);
void finish_without(gcor_state *state, const Counted &counted);

#endif
