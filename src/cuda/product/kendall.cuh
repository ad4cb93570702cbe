/* Kendall of long columns by products of sets. A column becomes some bitsets, and the numerator follows from the bits
 * that the sets of two columns have in common:
 *
 *   signs     bits are pairs of observations (k, q): where x[k] > x[q], and with ties also where x[k] < x[q]. A column
 *             without ties is one set, so that a tied column does not make untied ones more expensive.
 *   levels    bits are observations: where x is at level 1 or above, 2 or above, ... For columns of up to FEW_LEVELS
 *             values, n_obs bits replace n_obs^2 / 2.
 *
 * The bits are packed (kendall_set_bits.cu) and multiplied (kendall_sets.cu). Sorting (kendall_knight.cu) is used where
 * it is cheaper (exact.cu). Results do not depend on the method: the numerator is the same integer. */
#pragma once

#include "product.cuh"

#include <vector>

/* A tile of variables, or some of its rows; `out` holds the whole tile. */
struct SetTile {
    gcor_state *state;
    const Operand &rows, &cols;
    gcor_tile tile;
    const Packed &out;
};

enum Bits { SIGNS, LEVELS };
enum Which { ALL, FEW, MANY }; /* number of levels of the columns to list */

/* Sets of a side's variables, on the host. code: SET_CODES times the variable's index in the side, plus the number
 * of the set; first: index of each variable's first set, -1 without sets. */
struct SetList {
    std::vector<int> code, first;
};

/* ---- kendall_knight.cu ------------------------------------------------------------------------- */

/* Computes the coefficients by sorting. but_few: skips pairs whose columns both have few levels. */
void exact_by_knight(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out, bool but_few);

/* ---- kendall_set_bits.cu: lists of sets and their bits ----------------------------------------- */

/* Lists the sets of variables var .. var+n_var-1. Variables without coefficients have no sets. */
SetList list_sets(const Operand &operand, int64_t var, int64_t n_var, Bits bits, Which which);
/* Copies a list to the buffers. The caller owns the list and waits for state->compute before freeing it. */
void upload_sets(gcor_state *state, const SetList &list, SetBuffers &buffers);
/* Packs the bits of pieces first .. first+n-1. */
void pack_sets(gcor_state *state, Bits kind, const Operand &operand, int64_t var, const SetList &list,
               const SetBuffers &buffers, int64_t first, int64_t n);

/* ---- kendall_sets.cu ---------------------------------------------------------------------------- */

/* Computes the coefficients of pairs whose columns are in the lists, which were made for the tile. */
void count_lists(const SetTile &t, Bits kind, const SetList &rows, const SetList &cols);
/* Writes the codes of pairs without coefficient. */
void finish_without(const SetTile &t);
/* Cost of count_lists() for signs, in nanoseconds of one multiprocessor. */
double sign_cost(const SetTile &t, const SetList &rows, const SetList &cols);
