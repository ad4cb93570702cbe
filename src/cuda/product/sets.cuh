/* Columns as sets of bits (sets.cu). */
#ifndef GPUCOR_CUDA_SETS_CUH
#define GPUCOR_CUDA_SETS_CUH

#include "product.cuh"

/* Find which of an operand's columns of signs have few levels. */
void count_levels(gcor_state *state, Operand &operand);

/* The coefficients of a tile of signs; the operands' levels have been counted. */
void multiply_sets(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);

#endif
