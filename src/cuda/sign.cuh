/* SIGN operands: what the files about sign bits share. Bit (k, q) of a plane is set where
 * observation k is greater than q, or less, or where both are present (coefficient.h has the order). */
#ifndef GPUCOR_CUDA_SIGN_CUH
#define GPUCOR_CUDA_SIGN_CUH

#include "cuda.cuh"

/* Planes that a product needs: greater; greater and less; greater, less and present. */
enum SignMode { UNTIED, TIED, COMMON };

/* Bits of some variables: `words` words of each in every plane; a multiple of SIGN_WORDS, beyond the
 * last bit zero. SIGN_WORDS words of one variable are followed by those of the next variable, and the
 * next words of all come `stride` words later: what a block of a product loads at a time is one
 * piece. What lies beyond the last variable may be read, not used (SIGN_BLOCK variables at most). */
struct Planes {
    int64_t words, stride;
    unsigned *greater, *less, *present;
    unsigned *ones; /* bits set in `greater`, per variable */
};

/* Sums over slices, n_row x n_col: signs; COMMON: common pairs untied in the row's and in the
 * column's variable. */
struct Sums {
    long long *sign, *row_untied, *col_untied;
};

/* A tile's side, from its first variable on. */
struct SignSide {
    Planes planes;
    const float *scores;
    const double *norm;
};

/* Where a slice's counts go: to the sums (added, but for the first slice), or, where a slice is all
 * there is and `sums.sign` is null, on to coefficients. */
struct SignOutput {
    Packed out;
    Sums sums;
    bool first;
    int64_t n_obs, bits; /* bits: of the slice */
};

int64_t sign_words(int64_t n_obs); /* of all pairs of observations */

/* Words of one plane of n_var variables, what may be read beyond them included. */
inline int64_t plane_words(int64_t n_var, int64_t words) {
    return n_var * words + SIGN_BLOCK * SIGN_WORDS;
}

/* sign_planes.cu: bits first .. first+bits-1 of n_var variables whose scores are given. mode: which
 * planes to make. */
void open_planes(gcor_state *state, SignMode mode, const float *scores, int64_t n_obs, int64_t n_var, int64_t first,
                 int64_t bits, const Planes &planes);

/* sign_product.cu */
void multiply_planes(gcor_state *state, SignMode mode, const SignSide &rows, const SignSide &cols,
                     const SignOutput &output);

/* The coefficient of two columns from their counts; COMMON: untied pairs are theirs, otherwise the
 * norms are. No untied pair: all values are the same, or there is no pair at all. */
static __device__ inline double sign_coefficient(SignMode mode, long long sign, long long row_untied,
                                                 long long col_untied, const SignSide &rows, int64_t i,
                                                 const SignSide &cols, int64_t j, int64_t n_obs) {
    if (mode != COMMON) return gcor_coefficient((double)sign, rows.norm[i], cols.norm[j]);
    if ((row_untied == 0 || col_untied == 0) &&
        !gcor_has_common_pair(rows.scores + i * n_obs, cols.scores + j * n_obs, n_obs))
        return GCOR_NO_VALUE;
    return gcor_coefficient((double)sign, (double)row_untied, (double)col_untied);
}

#endif
