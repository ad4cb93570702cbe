/* The sign product of Kendall's tau-b without ties, in steps of increasing speed: every step computes the same
 * integers,
 * and main.cu compares and times them. README.md says how to build and run them.
 *
 *   words   (n_held, n_words)         bit b of a variable is x[k] > x[q], where k < q is pair b of observations
 *   common  (rows.n_var, cols.n_var)  aa', the number of bits that a row's and a column's variable have in common
 *
 * All other bits of words are zero: n_words is rounded up to pieces of 1,024 bits, so that no step has a remainder
 * along
 * them, and n_held to HELD_VARIABLES, so that a block of any step may read beyond the last variable. */
#pragma once

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

enum { HELD_VARIABLES = 256, PIECE_BITS = 1024, WORDS_OF_PIECE = PIECE_BITS / 32 };

struct Side {
    int n_var;
    const unsigned *words;
};

struct Problem {
    Side rows, cols;
    int n_words;
    int *common;
};

/* A bit a in {0, 1} stands for the sign 2 a - 1. The sum over all pairs of observations of (2 a - 1)(2 a' - 1) is
 * the numerator of tau; |a| is the number of bits set in a. Without ties the denominator is `bits`. */
inline long long sum_of_signs(long long common, int ones, int other_ones, int bits) {
    return 4 * common - 2 * (long long)ones - 2 * (long long)other_ones + bits;
}

long long sign_product(const double *x, const double *y, int n_obs); /* 0-definition.cu */
void multiply_popc(const Problem &p);                                /* 1-popc.cu, and so on */
void multiply_popc_tiles(const Problem &p);
void multiply_mma(const Problem &p);
void multiply_mma_stages(const Problem &p);
template <int Groups>
void multiply_wgmma(const Problem &p); /* 1 or 2 groups of warps per block */
bool has_wgmma();                      /* true if the GPU and this build have it */

inline void check(cudaError_t status, const char *what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

inline int rounded_up(int n, int multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

/* Returns a grid of blocks of rows x cols pairs. Concurrent blocks follow one another down the rows, so that they
 * share the columns they read. */
inline dim3 grid_of(const Problem &p, int rows, int cols) {
    return dim3(rounded_up(p.rows.n_var, rows) / rows, rounded_up(p.cols.n_var, cols) / cols);
}

inline __device__ void store(const Problem &p, int i, int j, int common) {
    if (i < p.rows.n_var && j < p.cols.n_var) p.common[(size_t)i * p.cols.n_var + j] = common;
}
