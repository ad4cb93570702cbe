/* The sinks of a product's kernel that find edges. Edges are rare: each lane compares its sums in registers
 * (edge_compare.cuh), and collects those that pass, the hits, in shared memory until many can be judged at once. */
#pragma once

#include "edge_compare.cuh"
#include "../product/kernel_sink.cuh"

/* ---- hits to edges or candidates ------------------------------------------------------------------- */

/* Judges a hit. r: its exact coefficient; not written for HALF. */
template <ProductMode Mode>
static __device__ inline gcor_verdict judge_hit(const Product &p, const EdgeOutput &edges, Hit hit, double &r) {
    int64_t i = position_row((unsigned)(hit >> 32)), j = position_col((unsigned)(hit >> 32));
    if (!is_pair(p, i, j)) return GCOR_NOTHING;
    if (Mode == HALF) return gcor_judge_approx(&edges.rule, i, j, approx_value(p, (int)(unsigned)hit), edges.error);
    r = exact_value(p, sign_sum(p, Mode, (int)(unsigned)hit, i, j), i, j);
    return gcor_judge(&edges.rule, i, j, r);
}

template <ProductMode Mode>
static __device__ inline void put_hit(const EdgeOutput &out, unsigned long long at, unsigned position, double r) {
    if (at >= out.capacity) return;
    if (Mode == HALF) {
        out.candidates[at] = position;
    } else {
        out.positions[at] = position;
        out.r[at] = r;
    }
}

/* Writes hits for another kernel to judge: tensor cores are idle while a warp judges. */
template <ProductMode Mode>
static __device__ inline void hand_on_raw(const EdgeOutput &out, const Hit *hits, int n) {
    __syncwarp();
    unsigned long long first = claim_positions(&out.counts[N_CANDIDATES], n);
#pragma unroll
    for (int k = threadIdx.x % 32; k < WARP_HITS; k += 32) {
        if (k >= n || first + k >= out.capacity) continue;
        if (Mode == HALF)
            out.candidates[first + k] = (unsigned)(hits[k] >> 32);
        else
            out.hits[first + k] = hits[k];
    }
    __syncwarp();
}

/* Writes those hits that are edges or candidates. All are judged before output is claimed, once: their loads do not
 * wait for each other. */
template <ProductMode Mode>
static __device__ __noinline__ void hand_on_judged(const Product &p, const EdgeOutput &edges, const Hit *hits, int n) {
    const int rounds = WARP_HITS / 32;
    int lane = threadIdx.x % 32, kept = 0, above = 0, position[rounds];
    double r[rounds];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < rounds; k++) {
        bool inside = k * 32 + lane < n;
        gcor_verdict verdict = inside ? judge_hit<Mode>(p, edges, hits[k * 32 + lane], r[k]) : GCOR_NOTHING;
        unsigned lanes = __ballot_sync(ALL_LANES, verdict == GCOR_KEPT);
        position[k] = verdict == GCOR_KEPT ? kept + __popc(lanes & ((1u << lane) - 1)) : -1;
        kept += __popc(lanes);
        above += __popc(__ballot_sync(ALL_LANES, verdict == GCOR_ABOVE));
    }
    if (above > 0) (void)claim_positions(&edges.counts[N_ABOVE], above);
    unsigned long long first = claim_positions(&edges.counts[Mode == HALF ? N_CANDIDATES : N_EDGES], kept);
#pragma unroll
    for (int k = 0; k < rounds; k++)
        if (position[k] >= 0) put_hit<Mode>(edges, first + position[k], (unsigned)(hits[k * 32 + lane] >> 32), r[k]);
    __syncwarp();
}

template <ProductMode Mode>
static __device__ inline void hand_on(const Product &p, const EdgeOutput &edges, const Hit *hits, int n) {
    if (edges.raw)
        hand_on_raw<Mode>(edges, hits, n);
    else
        hand_on_judged<Mode>(p, edges, hits, n);
}

/* Collects the hits among a lane's four sums, of rows i and i + 8, columns j and j + 1. Calls hand_on() first if they
 * exceed the capacity. */
template <class HandOn>
static __device__ inline void keep_hits(WarpOutput &out, const bool (&hit)[4], const int (&sums)[4], int64_t i,
                                        int64_t j, HandOn hand_on) {
    int at[4], n = 0;
#pragma unroll
    for (int e = 0; e < 4; e++) {
        unsigned lanes = __ballot_sync(ALL_LANES, hit[e]);
        at[e] = n + __popc(lanes & ((1u << threadIdx.x % 32) - 1));
        n += __popc(lanes);
    }
    if (out.n + n > WARP_HITS) {
        hand_on();
        out.n = 0;
    }
#pragma unroll
    for (int e = 0; e < 4; e++)
        if (hit[e]) out.hits[out.n + at[e]] = (Hit)position_of(i + e / 2 * 8, j + e % 2) << 32 | (unsigned)sums[e];
    out.n += n;
}
static_assert(WARP_HITS >= 128, "hits of four sums per lane");

/* Collects the hits among all sums of a warp: the tile's pairs with is_hit(sum, row, col). */
template <int N, class IsHit, class HandOn>
static __device__ inline void keep_all_hits(const Product &p, WarpOutput &out, const int (&sums)[N][4], int64_t i,
                                            int64_t j, IsHit is_hit, HandOn hand_on) {
    i += threadIdx.x % 32 / 4;
    j += threadIdx.x % 4 * 2;
#pragma unroll 1
    for (int n = 0; n < N; n++) {
        int four[4];
        bool hit[4];
        pick_sums<0, N>(sums, n, four);
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int64_t row = i + e / 2 * 8, col = j + 8 * n + e % 2;
            hit[e] = is_pair(p, row, col) && is_hit(four[e], row, col);
        }
        keep_hits(out, hit, four, i, j + 8 * n, hand_on);
    }
}

/* ---- groups of columns with hits --------------------------------------------------------------- */

/* The few groups of 8 columns in which any lane of the warp has a hit are copied to local memory, which can be indexed
 * at run time. AT_ONCE groups are compared together to overlap their latencies. */
enum { ASIDE = 8, AT_ONCE = 4 };

/* Copies the lane's sums of the groups, in ascending order. */
template <int N>
static __device__ inline void set_aside(const int (&sums)[N][4], unsigned groups, int4 (&aside)[ASIDE]) {
    int at = 0;
#pragma unroll
    for (int n = 0; n < N; n++)
        if (groups >> n & 1) aside[at++] = {sums[n][0], sums[n][1], sums[n][2], sums[n][3]};
}

/* Returns the groups without the first ASIDE. */
static __device__ inline unsigned beyond_aside(unsigned groups) {
#pragma unroll
    for (int k = 0; k < ASIDE; k++) groups &= groups - 1;
    return groups;
}

/* Returns the lane's hits in the first AT_ONCE of the groups, whose sums are at aside[first] and on. Bit 4 k + e is
 * value e of group n[k]. */
template <class C>
static __device__ inline unsigned find_hits(const C &compare, const typename C::RowBounds (&bounds)[2],
                                            const int4 (&aside)[ASIDE], int first, unsigned groups, int (&n)[AT_ONCE]) {
    unsigned hits = 0;
#pragma unroll
    for (int k = 0; k < AT_ONCE; k++) {
        n[k] = groups ? __ffs(groups) - 1 : 0;
        int4 four = aside[first + k];
        typename C::Columns columns = compare.columns(n[k]);
        const int values[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
        for (int e = 0; e < 4; e++)
            hits |= groups && bounds[e / 2].hit(columns.value(values[e], e % 2)) ? 1u << (4 * k + e) : 0;
        groups &= groups - 1;
    }
    return hits;
}

/* True if all of the warp's 16 x 8 N elements are pairs of the tile. */
template <int N>
static __device__ inline bool all_count(const Product &p, int64_t i, int64_t j) {
    if (i + 16 > p.tile.n_row || j + 8 * N > p.tile.n_col) return false;
    int64_t row = p.tile.row + i, col = p.tile.col + j;
    return p.shape == GCOR_FULL || (p.shape == GCOR_UPPER ? col > row + 15 : col + 8 * N <= row);
}

/* Returns those hits of find_hits() that are pairs of the tile. */
static __device__ inline unsigned only_pairs(const Product &p, unsigned hits, const int (&n)[AT_ONCE], int64_t i,
                                             int64_t j) {
    unsigned pairs = 0;
#pragma unroll
    for (int bit = 0; bit < 4 * AT_ONCE; bit++)
        if (hits >> bit & 1 && is_pair(p, i + bit % 4 / 2 * 8, j + 8 * n[bit / 4] + bit % 2)) pairs |= 1u << bit;
    return pairs;
}

/* ---- the sinks -------------------------------------------------------------------------------------- */

/* Products of signs give edges, HALF gives candidates (edges.cu). */
template <template <ProductMode, int> class CompareBy, bool LongBlocks>
struct EdgesBy : EdgeOutput {
    static constexpr unsigned modes = modes_of(HALF) | modes_of(UNTIED) | modes_of(TIED);
    static constexpr bool hopper = true, long_blocks = LongBlocks, counts = false, register_sums = false;
    static constexpr int blocks = 1;

    template <ProductMode Mode, int N>
    struct Ahead {
        CompareBy<Mode, N> compare;
        __device__ Ahead(const Product &p, const EdgesBy &edges, int64_t j) { compare.load(p, edges, j); }
    };

    /* Finds the groups of columns in which any lane has a hit; then the hits in these few groups. */
    template <ProductMode Mode, int N>
    __device__ void deliver(const Product &p, WarpOutput &out, const Ahead<Mode, N> &ahead, const int (&sums)[N][4],
                            int64_t row, int64_t col) const {
        using C = CompareBy<Mode, N>;
        const C &compare = ahead.compare;
        int64_t i = row + threadIdx.x % 32 / 4, j = col + threadIdx.x % 4 * 2;
        const typename C::RowBounds bounds[2] = {row_bounds<C>(p, i), row_bounds<C>(p, i + 8)};
        unsigned groups = find_groups(compare, bounds, sums);
        for (groups = __reduce_or_sync(ALL_LANES, groups); groups; groups = beyond_aside(groups)) {
            int4 aside[ASIDE];
            unsigned now = groups & ~beyond_aside(groups);
            set_aside(sums, now, aside);
            for (int first = 0; now; first += AT_ONCE) {
                int n[AT_ONCE];
                unsigned hits = find_hits(compare, bounds, aside, first, now, n);
                if (!all_count<N>(p, row, col)) hits = only_pairs(p, hits, n, i, j);
                keep_aside<Mode>(p, out, hits, aside, first, n, i, j);
#pragma unroll
                for (int k = 0; k < AT_ONCE; k++) now &= now - 1;
            }
        }
    }

    /* Sums of a row beyond the tile are undefined, so it has no hits. */
    template <class C>
    __device__ typename C::RowBounds row_bounds(const Product &p, int64_t i) const {
        return i < p.tile.n_row ? C::bounds(p, *this, i) : C::no_hits();
    }

    /* Most lanes have no hit, and almost none has two. */
    template <ProductMode Mode>
    __device__ void keep_aside(const Product &p, WarpOutput &out, unsigned hits, const int4 (&aside)[ASIDE], int first,
                               const int (&n)[AT_ONCE], int64_t i, int64_t j) const {
        for (unsigned lanes; (lanes = __ballot_sync(ALL_LANES, hits != 0)) != 0; hits &= hits - 1) {
            if (out.n + __popc(lanes) > WARP_HITS) {
                hand_on<Mode>(p, *this, out.hits, out.n);
                out.n = 0;
            }
            if (hits != 0) {
                int k = (__ffs(hits) - 1) / 4, e = (__ffs(hits) - 1) % 4;
                int group = k < 2 ? (k == 0 ? n[0] : n[1]) : (k == 2 ? n[2] : n[3]);
                unsigned sum = (unsigned)((const int *)&aside[first + k])[e];
                int at = out.n + __popc(lanes & ((1u << threadIdx.x % 32) - 1));
                out.hits[at] = (Hit)position_of(i + e / 2 * 8, j + 8 * group + e % 2) << 32 | sum;
            }
            out.n += __popc(lanes);
        }
    }

    template <ProductMode Mode>
    __device__ void finish(const Product &p, WarpOutput &out) const {
        hand_on<Mode>(p, *this, out.hits, out.n);
    }
};

using Edges = EdgesBy<Compare, true>;        /* one min weight for all pairs */
using OwnEdges = EdgesBy<OwnCompare, false>; /* min weights of single variables */
