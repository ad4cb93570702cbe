/* Writing edges to device memory. Warps claim elements of the output, so all lanes must call these functions. */
#pragma once

#include "../backend/lanes.cuh"
#include "../product/product.cuh"
#include "../../sink/weight.h"
#include "../backend/state.cuh"

/* gcor_weigh() in single precision, which holds both numbers and makes the same weight of a float. */
struct FloatWeighing {
    float size, sign;
    __device__ float weight(float value) const { return size * fabsf(value) + sign * value; }
    /* True if positive, or negative, values have weight. */
    __host__ __device__ bool above() const { return size + sign > 0; }
    __host__ __device__ bool below() const { return size - sign > 0; }
};

static inline FloatWeighing float_weighing(gcor_side side) {
    gcor_weighing w = gcor_weigh(side);
    return {(float)w.size, (float)w.sign};
}

/* counts[]. Counts may exceed `capacity`: the edges beyond it are not written. */
enum { N_EDGES, N_ABOVE, N_CANDIDATES, N_COUNTS };
struct EdgeOutput {
    gcor_edge_rule rule; /* own min weights are in device memory, with indices within the tile */
    FloatWeighing weigh; /* of the rule's side */
    double error;        /* max error of the values that are compared first */
    float min;           /* their min weight, at most rule.min - error */
    int low, high;       /* UNTIED: the same for sums, relative to a row's count of bits (edge_compare.cuh) */
    unsigned long long capacity, *counts;
    bool raw;                 /* hits are not judged where they are found, but by a kernel of their own */
    unsigned long long *hits; /* raw hits of signs: position << 32 | sum */
    unsigned *candidates;     /* positions of hits of HALF */
    unsigned *positions;      /* edges' positions, and below their coefficients */
    double *r;
};

/* ---- positions ------------------------------------------------------------------------------------- */

/* Row << POSITION_COL_BITS | column, of the tile. */
static __device__ inline unsigned position_of(int64_t i, int64_t j) {
    return (unsigned)(i << POSITION_COL_BITS | j);
}
static __device__ inline int64_t position_row(unsigned position) {
    return position >> POSITION_COL_BITS;
}
static __device__ inline int64_t position_col(unsigned position) {
    return position & ((1u << POSITION_COL_BITS) - 1);
}

/* Adds a warp's n to a counter and returns, to all lanes, the counter's value before. */
static __device__ inline unsigned long long claim_positions(unsigned long long *counter, int n) {
    unsigned long long first = 0;
    if (n > 0 && threadIdx.x % 32 == 0) first = atomicAdd(counter, (unsigned long long)n);
    return __shfl_sync(ALL_LANES, first, 0);
}

/* Counts a lane's pair, and writes it if it is kept. */
static __device__ inline void put_edge(const EdgeOutput &out, gcor_verdict verdict, int64_t i, int64_t j, double r) {
    unsigned above = __ballot_sync(ALL_LANES, verdict == GCOR_ABOVE),
             kept = __ballot_sync(ALL_LANES, verdict == GCOR_KEPT);
    if (above) (void)claim_positions(&out.counts[N_ABOVE], __popc(above));
    if (!kept) return;
    unsigned long long at = claim_positions(&out.counts[N_EDGES], __popc(kept)) +
                            __popc(kept & ((1u << threadIdx.x % 32) - 1));
    if (verdict != GCOR_KEPT || at >= out.capacity) return;
    out.positions[at] = position_of(i, j);
    out.r[at] = r;
}

/* ---- degrees (degrees.cu) ----------------------------------------------------------------------- */

/* Sums degrees and strengths of variables on the device, for edge_delivery.cu and edge_buffer.cu. Strengths are
 * fixed-point numbers (weight.h), so they do not depend on the order of the edges. */

class DeviceDegrees {
  public:
    /* Sets the sums of n_var variables to 0. */
    void clear(int64_t n_var, const Stream &stream);
    /* Adds those of a tile's n edges, in any order, that have a weight of at least `min`. Row i of the sink is
     * variable first_row + i. */
    void add(const unsigned *positions, const double *r, int64_t n, const gcor_tile &tile, int64_t first_row,
             gcor_side side, double min, const Stream &stream);
    /* Copies the sums to the caller's arrays of n_var elements. The streams of add() must have finished. */
    void fetch(int64_t n_var, int64_t *to_degree, gcor_int128 *to_strength) const;
    void trim();

  private:
    DeviceArray<unsigned long long> degree;
    DeviceArray<gcor_int128> strength;
};
