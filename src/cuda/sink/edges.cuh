/* What the files about edges share:
 *
 *   edges.cu       a tile's edges, from operands to the host
 *   hits.cuh       in a product: which pairs may be edges
 *   candidates.cu  which of those that a cheap product leaves are
 *   least.cu       least weights of the variables' own
 *
 * and places for edges, claimed by warps: those functions need all lanes. */
#ifndef GPUCOR_CUDA_EDGES_CUH
#define GPUCOR_CUDA_EDGES_CUH

#include "../product/product.cuh"

/* On state->compute: the candidates of product.edges to its edges. */
void decide_candidates(gcor_state *state, const Product &product);

/* A rule's own least weights, as they are now, to the slot's memory; the rule then points there, numbered
 * from the tile's first variables. Nothing to do for other rules. */
void copy_least(gcor_state *state, EdgeSlot &slot, gcor_edge_rule &rule);
/* Raise those that are 0 by the values of the slot's tile: computed for that, if there are any, or given. */
void raise_by_product(gcor_state *state, const EdgeSlot &slot, Product product);
void raise_by_values(gcor_state *state, const EdgeSlot &slot, const Packed &values, const EdgeOutput &out);

static __device__ inline unsigned place_of(int64_t i, int64_t j) {
    return (unsigned)(i << PLACE_COL_BITS | j);
}
static __device__ inline int64_t place_row(unsigned place) {
    return place >> PLACE_COL_BITS;
}
static __device__ inline int64_t place_col(unsigned place) {
    return place & ((1u << PLACE_COL_BITS) - 1);
}

/* The first of n numbers from a common counter, for the whole warp. */
static __device__ inline unsigned long long claim_places(unsigned long long *counter, int n) {
    unsigned long long first = 0;
    if (n > 0 && threadIdx.x % 32 == 0) first = atomicAdd(counter, (unsigned long long)n);
    return __shfl_sync(ALL_LANES, first, 0);
}

/* What becomes of a pair: nothing, it is counted only, or kept. */
enum Verdict { NOTHING, ABOVE, KEPT };

/* Pair (i, j) of the tile, by its exact coefficient. */
static __device__ inline Verdict judge(const EdgeOutput &out, int64_t i, int64_t j, double r) {
    double weight = gcor_weight(out.rule.side, r);
    return weight >= out.rule.ceiling ? ABOVE : weight >= gcor_least(&out.rule, i, j) ? KEPT : NOTHING;
}

/* The same by a cheap one, within out.error of the exact one, which will decide. */
static __device__ inline Verdict judge_cheap(const EdgeOutput &out, int64_t i, int64_t j, double value) {
    double weight = gcor_raw_weight(out.rule.side, value);
    if (weight >= out.rule.ceiling + out.error) return ABOVE;
    return weight >= gcor_least(&out.rule, i, j) - out.error ? KEPT : NOTHING;
}

/* A lane's pair to where edges go. */
static __device__ inline void put_edge(const EdgeOutput &out, Verdict verdict, int64_t i, int64_t j, double r) {
    unsigned above = __ballot_sync(ALL_LANES, verdict == ABOVE), kept = __ballot_sync(ALL_LANES, verdict == KEPT);
    if (above) (void)claim_places(&out.counts[N_ABOVE], __popc(above));
    if (!kept) return;
    unsigned long long at =
        claim_places(&out.counts[N_EDGES], __popc(kept)) + __popc(kept & ((1u << threadIdx.x % 32) - 1));
    if (verdict != KEPT || at >= out.room) return;
    out.places[at] = place_of(i, j);
    out.r[at] = r;
}

#endif
