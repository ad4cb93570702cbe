/* Places for edges, claimed by warps; all functions need all lanes. */
#ifndef GPUCOR_CUDA_EDGES_CUH
#define GPUCOR_CUDA_EDGES_CUH

#include "product.cuh"

static __device__ inline unsigned place_of(int64_t i, int64_t j) {
    return (unsigned)(i << PLACE_COL_BITS | j);
}
static __device__ inline int64_t place_row(unsigned place) {
    return place >> PLACE_COL_BITS;
}
static __device__ inline int64_t place_col(unsigned place) {
    return place & ((1u << PLACE_COL_BITS) - 1);
}

/* A number for every thread of the warp that wants one, from a common counter. */
static __device__ inline unsigned long long claim(unsigned long long *counter, bool wanted) {
    unsigned lanes = __ballot_sync(ALL_LANES, wanted);
    int lane = threadIdx.x % 32, leader = __ffs(lanes) - 1;
    unsigned long long first = 0;
    if (lane == leader) first = atomicAdd(counter, (unsigned long long)__popc(lanes));
    if (lanes) first = __shfl_sync(ALL_LANES, first, leader);
    return first + __popc(lanes & ((1u << lane) - 1));
}

/* Pair (i, j) of the tile with its exact coefficient. */
static __device__ inline void decide(const EdgeOutput &out, bool inside, int64_t i, int64_t j, double r) {
    double weight = inside ? gcor_weight(out.rule.side, r) : -2;
    bool above = weight >= out.rule.ceiling, kept = inside && !above && weight >= gcor_least(&out.rule, i, j);
    if (__any_sync(ALL_LANES, above)) claim(&out.counts[N_ABOVE], above);
    if (!__any_sync(ALL_LANES, kept)) return;
    unsigned long long at = claim(&out.counts[N_EDGES], kept);
    if (!kept || at >= out.room) return;
    out.places[at] = place_of(i, j);
    out.r[at] = r;
}

/* The same with a cheap one, within out.error of the exact one, which will decide. */
static __device__ inline void propose(const EdgeOutput &out, bool inside, int64_t i, int64_t j, double value) {
    double weight = inside ? gcor_raw_weight(out.rule.side, value) : NAN;
    bool above = weight >= out.rule.ceiling + out.error;
    bool candidate = inside && !above && weight >= gcor_least(&out.rule, i, j) - out.error;
    if (__any_sync(ALL_LANES, above)) claim(&out.counts[N_ABOVE], above);
    if (!__any_sync(ALL_LANES, candidate)) return;
    unsigned long long at = claim(&out.counts[N_CANDIDATES], candidate);
    if (candidate && at < out.room) out.candidates[at] = place_of(i, j);
}

#endif
