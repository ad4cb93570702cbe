/* Where edges go on the device, and places for them, claimed by warps: those functions need all lanes. */
#ifndef GPUCOR_CUDA_EDGE_OUTPUT_CUH
#define GPUCOR_CUDA_EDGE_OUTPUT_CUH

#include "../backend/lanes.cuh"
#include "../product/product.cuh"
#include "../../sink/weight.h"

/* gcor_weigh() in single precision, which holds both numbers and makes the same weight of a float. */
struct FloatWeighing {
    float size, sign;
    __device__ float weight(float value) const { return size * fabsf(value) + sign * value; }
    /* Whether values above 0, or below it, have weight. */
    __host__ __device__ bool above() const { return size + sign > 0; }
    __host__ __device__ bool below() const { return size - sign > 0; }
};

static inline FloatWeighing float_weighing(gcor_side side) {
    gcor_weighing w = gcor_weigh(side);
    return {(float)w.size, (float)w.sign};
}

/* Counting goes on beyond `room`. */
enum { N_EDGES, N_ABOVE, N_CANDIDATES, N_COUNTS };
struct EdgeOutput {
    gcor_edge_rule rule; /* on the device; its own least weights are numbered from the tile's first variable */
    FloatWeighing weigh; /* by the rule's side */
    double error;        /* of what is compared first */
    float min;           /* the least weight that is looked at; no larger than rule.least - error ... */
    int low, high;       /* ... UNTIED: and sums that far from a row's count of bits (edge_compare.cuh) */
    unsigned long long capacity, *counts;
    bool raw; /* hits are not judged where they are found, but all together, in order of their places here: */
    unsigned long long *hits; /* of signs, a place << 32 | sum each; of HALF their places are the candidates */
    unsigned *candidates, *positions;
    double *r;
};

/* ---- places ------------------------------------------------------------------------------------- */

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

/* The first of n numbers from a common counter, for the whole warp. */
static __device__ inline unsigned long long claim_positions(unsigned long long *counter, int n) {
    unsigned long long first = 0;
    if (n > 0 && threadIdx.x % 32 == 0) first = atomicAdd(counter, (unsigned long long)n);
    return __shfl_sync(ALL_LANES, first, 0);
}

/* A lane's pair to where edges go. */
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

#endif
