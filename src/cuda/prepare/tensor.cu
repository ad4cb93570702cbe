/* Forms of columns for the tensor cores: REAL columns in half precision, for approximate products; bins as bitsets. */
#include "operand.cuh"
#include "../backend/lanes.cuh"

#include <cuda_fp16.h>

#include <algorithm>

int64_t half_pieces(int64_t n_obs) {
    return std::max<int64_t>(1, (n_obs * (int64_t)sizeof(__half) + PIECE_BYTES - 1) / PIECE_BYTES);
}

/* One thread per 16 bytes of a column, in all of its pieces. A column without coefficients becomes NaN: every
 * comparison with its products is false. */
static __global__ void halve(const float *columns, const double *norm, double length, int64_t n_var, int64_t n_obs,
                             int64_t chunks, int64_t stride, unsigned char *out) {
    int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x, v = at / chunks, chunk = at % chunks;
    if (v >= n_var) return;
    const float *x = columns + v * n_obs;
    double squares = norm[v], scale = squares > 0 ? HALF_LENGTH / length / sqrt(squares) : NAN;
    union {
        __half h[8];
        uint4 bytes;
    } eight;
    for (int e = 0; e < 8; e++) {
        int64_t k = chunk * 8 + e;
        eight.h[e] = __float2half((float)((k < n_obs ? x[k] : 0) * scale));
    }
    *(uint4 *)(out + chunk_position(stride, v, chunk)) = eight.bytes;
}

void make_halves(gcor_state *state, Operand &o) {
    int64_t n_var = o.head.n_var, pieces = half_pieces(o.head.n_obs), chunks = pieces * (PIECE_BYTES / 16);
    o.halves.reserve(piece_bytes(n_var, pieces), "the columns in half precision");
    if (n_var == 0) return;
    halve<<<blocks_for(n_var * chunks, 256), 256, 0, state->compute.handle>>>(
        o.columns.data, o.norm.data, o.length, n_var, o.head.n_obs, chunks, n_var * PIECE_BYTES, o.halves.data);
    check_launch("rounding columns");
}

/* ---- bins --------------------------------------------------------------------------------------- */

/* Level bitsets of binned columns: bit k of level b is set if observation k is in bin b. Every column has GCOR_MAX_BINS
 * levels, in the order in which the lanes of a warp hold them for mma.m16n8k256: of a step of 256 observations, lane l
 * has words l % 4 and l % 4 + 4 of level l / 4, then the same of level l / 4 + 8, in 16 bytes. */

static_assert(GCOR_MAX_BINS == 16, "two levels for each group of four lanes");

/* Codes of a column, and where its bitsets and its margin go. */
struct BinPacking {
    const unsigned char *codes;
    int64_t n_obs, n_var;
    const int64_t *terms;
    uint4 *bins;
    int64_t *margin;
};

/* Adds a word of 32 observations to the lane's bitsets, and its bits to the counts, which all lanes have. */
static __device__ inline void add_word(unsigned code, int word, unsigned (&own)[4], int (&count)[GCOR_MAX_BINS]) {
    const int lane = threadIdx.x % 32;
#pragma unroll
    for (int level = 0; level < GCOR_MAX_BINS; level++) {
        unsigned bits = __ballot_sync(ALL_LANES, code == level);
        count[level] += __popc(bits);
        if (lane / 4 == level % 8 && lane % 4 == word % 4) own[level / 8 * 2 + word / 4] = bits;
    }
}

/* A warp packs a column. */
static __global__ void pack_bins(const __grid_constant__ BinPacking p) {
    const int64_t var = (blockIdx.x * (int64_t)blockDim.x + threadIdx.x) / 32, steps = bin_steps(p.n_obs);
    const int lane = threadIdx.x % 32;
    int count[GCOR_MAX_BINS] = {};
    if (var >= p.n_var) return;
    const unsigned char *codes = p.codes + var * p.n_obs;
    for (int64_t step = 0; step < steps; step++) {
        unsigned own[4] = {};
#pragma unroll
        for (int word = 0; word < 8; word++) {
            int64_t k = step * BIN_STEP + word * 32 + lane;
            add_word(k < p.n_obs ? codes[k] : (unsigned)GCOR_NO_BIN, word, own, count);
        }
        p.bins[(var * steps + step) * 32 + lane] = make_uint4(own[0], own[1], own[2], own[3]);
    }
    int64_t margin = 0;
#pragma unroll
    for (int level = 0; level < GCOR_MAX_BINS; level++) margin += p.terms[count[level]];
    if (lane == 0) p.margin[var] = margin;
}

void make_bins(gcor_state *state, Operand &o) {
    const char *what = "the columns' bins";
    int64_t n = o.head.n_obs, n_var = o.head.n_var;
    std::unique_ptr<int64_t[]> terms(new int64_t[n + 1]);
    o.information.unit = gcor_mutual_terms(n, terms.get());
    o.information.n_obs = n;
    o.information.all = terms[n];
    o.terms.reserve(n + 1, what);
    o.margin.reserve(n_var, what);
    o.bins.reserve(n_var * bin_steps(n) * 32, what);
    copy_to_device(o.terms.data, terms.get(), n + 1, state->compute, "copying terms of information");
    if (n_var > 0) {
        pack_bins<<<blocks_for(n_var * 32, 256), 256, 0, state->compute.handle>>>(
            {o.codes.data, n, n_var, o.terms.data, o.bins.data, o.margin.data});
        check_launch("packing bins");
    }
    wait_for_compute(state); /* the terms are freed */
}
