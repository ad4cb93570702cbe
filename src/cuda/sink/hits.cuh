/* Edges are rare: each lane compares its sums where they are (collect_hits), and what passes is kept in shared
 * memory until it is worth handing on (hand_on). */
#ifndef GPUCOR_CUDA_HITS_CUH
#define GPUCOR_CUDA_HITS_CUH

#include "edges.cuh"
#include "../product/values.cuh"

/* A hit: the pair's place, and its sum. */
typedef unsigned long long Hit;

/* What a warp has of shared memory. */
struct WarpOutput {
    Hit *hits;      /* WARP_HITS of them, or 16 x 32 sums */
    unsigned *bins; /* HISTOGRAM, CELLS: of all warps */
    int n = 0;      /* hits, the same number in every lane */
};
static_assert(WARP_HITS * sizeof(Hit) >= 16 * 32 * sizeof(int), "a warp's sums, 32 columns at a time");

/* What becomes of a hit; r: its exact coefficient, but for HALF. */
template <ProductMode Mode>
static __device__ inline Verdict judge_hit(const Product &p, Hit hit, double &r) {
    int64_t i = place_row((unsigned)(hit >> 32)), j = place_col((unsigned)(hit >> 32));
    if (!is_pair(p, i, j)) return NOTHING;
    if (Mode == HALF) return judge_cheap(p.edges, i, j, cheap_value((int)(unsigned)hit));
    r = exact_value(p, sign_sum(p, Mode, (int)(unsigned)hit, i, j), i, j);
    return judge(p.edges, i, j, r);
}

template <ProductMode Mode>
static __device__ inline void put_hit(const EdgeOutput &out, unsigned long long at, unsigned place, double r) {
    if (at >= out.room) return;
    if (Mode == HALF) {
        out.candidates[at] = place;
    } else {
        out.places[at] = place;
        out.r[at] = r;
    }
}

/* Hits to where edges or candidates go. All are judged before places are claimed, once: what is loaded for
 * one does not wait for another. */
template <ProductMode Mode>
static __device__ __noinline__ void hand_on(const Product &p, const Hit *hits, int n) {
    const int turns = WARP_HITS / 32;
    int lane = threadIdx.x % 32, kept = 0, above = 0, place[turns];
    double r[turns];
    __syncwarp();
#pragma unroll
    for (int k = 0; k < turns; k++) {
        bool inside = k * 32 + lane < n;
        Verdict verdict = inside ? judge_hit<Mode>(p, hits[k * 32 + lane], r[k]) : NOTHING;
        unsigned lanes = __ballot_sync(ALL_LANES, verdict == KEPT);
        place[k] = verdict == KEPT ? kept + __popc(lanes & ((1u << lane) - 1)) : -1;
        kept += __popc(lanes);
        above += __popc(__ballot_sync(ALL_LANES, verdict == ABOVE));
    }
    if (above > 0) (void)claim_places(&p.edges.counts[N_ABOVE], above);
    unsigned long long first = claim_places(&p.edges.counts[Mode == HALF ? N_CANDIDATES : N_EDGES], kept);
#pragma unroll
    for (int k = 0; k < turns; k++)
        if (place[k] >= 0) put_hit<Mode>(p.edges, first + place[k], (unsigned)(hits[k * 32 + lane] >> 32), r[k]);
    __syncwarp();
}

/* The hits among a lane's four sums, of rows i and i + 8, columns j and j + 1. */
template <ProductMode Mode>
static __device__ inline void keep_hits(const Product &p, WarpOutput &out, const bool (&hit)[4], const int (&sums)[4],
                                        int64_t i, int64_t j) {
    int at[4], n = 0;
#pragma unroll
    for (int e = 0; e < 4; e++) {
        unsigned lanes = __ballot_sync(ALL_LANES, hit[e]);
        at[e] = n + __popc(lanes & ((1u << threadIdx.x % 32) - 1));
        n += __popc(lanes);
    }
    if (out.n + n > WARP_HITS) {
        hand_on<Mode>(p, out.hits, out.n);
        out.n = 0;
    }
#pragma unroll
    for (int e = 0; e < 4; e++)
        if (hit[e]) out.hits[out.n + at[e]] = (Hit)place_of(i + e / 2 * 8, j + e % 2) << 32 | (unsigned)sums[e];
    out.n += n;
}
static_assert(WARP_HITS >= 128, "those of four sums a lane");

/* What a row's values are compared with: a hit is not between the two. NaN, and values without a
 * coefficient, may be hits: the exact coefficient tells. */
template <class Value>
struct Bounds {
    Value low, high;
    __device__ bool hit(Value value) const { return (value <= low) | (value >= high); }
};

/* -least and least, for the sides of zero that the rule wants. */
static __device__ inline Bounds<float> float_bounds(gcor_side side, float least) {
    return {side == GCOR_POSITIVE ? -INFINITY : -least, side == GCOR_NEGATIVE ? INFINITY : least};
}

/* A number for each of a warp's 8 N columns from j on, N / 4 in each lane, and those of the lane's columns
 * of group n: 8 n + 2 t + odd. */
template <class Number, int N>
struct ColumnNumbers {
    Number own[N / 4];
    __device__ void load(const Number *numbers, int64_t j) {
#pragma unroll
        for (int k = 0; k < N / 4; k++) own[k] = numbers[j + 32 * k + threadIdx.x % 32];
    }
    __device__ Number get(int n, int odd) const {
        return __shfl_sync(ALL_LANES, pick<0, N / 4>(n / 4), n % 4 * 8 + threadIdx.x % 4 * 2 + odd);
    }
    /* own[k], also for a k that the compiler does not know: by halving, so that they stay in registers. */
    template <int First, int Count>
    __device__ Number pick(int k) const {
        if constexpr (Count == 1)
            return own[First];
        else
            return k < First + Count / 2 ? pick<First, Count / 2>(k) : pick<First + Count / 2, Count - Count / 2>(k);
    }
};

/* The largest weight of two values, as their side counts; NaN is not larger than anything. */
static __device__ inline float larger_weight(gcor_side side, float a, float b) {
    return side == GCOR_ABSOLUTE ? fmaxf(fabsf(a), fabsf(b)) : side == GCOR_POSITIVE ? fmaxf(a, b) : -fminf(a, b);
}

/* How a warp's sums are compared: load() before they are there, so that the numbers of its columns are
 * when they are wanted; the bounds of a row; and group n's columns, which give a sum's value. */
template <ProductMode Mode, int N>
struct Compare;

template <int N>
struct Compare<HALF, N> {
    typedef Bounds<float> RowBounds;
    struct Columns {
        __device__ float value(int sum, int) const { return __int_as_float(sum); }
    };
    __device__ void load(const Product &, int64_t) {}
    __device__ Columns columns(int) const { return {}; }
    static __device__ RowBounds bounds(const Product &p, int64_t) {
        return float_bounds(p.edges.rule.side, p.edges.least * (HALF_SCALE * HALF_SCALE));
    }
};

/* All norms are the same: a comparison of integers (set_least() in product.cu). A column without a
 * coefficient counts as it likes. */
template <int N>
struct Compare<UNTIED, N> {
    typedef Bounds<int> RowBounds;
    struct Columns {
        int greater[2];
        __device__ int value(int sum, int odd) const { return 2 * sum - greater[odd]; }
    };
    ColumnNumbers<int, N> greater;
    __device__ void load(const Product &p, int64_t j) { greater.load(p.cols.greater, j); }
    __device__ Columns columns(int n) const { return {{greater.get(n, 0), greater.get(n, 1)}}; }
    static __device__ RowBounds bounds(const Product &p, int64_t i) {
        int row = p.rows.greater[i];
        return {row + p.edges.low, row + p.edges.high};
    }
};

/* sum >= t sqrt(row norm) sqrt(column norm), to within a few roundings, that `error` allows for. */
template <int N>
struct Compare<TIED, N> {
    typedef Bounds<float> RowBounds;
    struct Columns {
        int untied[2];
        float inverse[2];
        __device__ float value(int sum, int odd) const { return (float)(sum - untied[odd]) * inverse[odd]; }
    };
    ColumnNumbers<int, N> untied;
    ColumnNumbers<float, N> inverse;
    __device__ void load(const Product &p, int64_t j) {
        untied.load(p.cols.untied, j);
        inverse.load(p.cols.inverse, j);
    }
    __device__ Columns columns(int n) const {
        return {{untied.get(n, 0), untied.get(n, 1)}, {inverse.get(n, 0), inverse.get(n, 1)}};
    }
    static __device__ RowBounds bounds(const Product &p, int64_t i) {
        return float_bounds(p.edges.rule.side, p.edges.least / p.rows.inverse[i]);
    }
};

/* sums[n], for an n that the compiler does not know: by halving, so that they stay in registers. */
template <int First, int Count, int N>
static __device__ inline void pick_sums(const int (&sums)[N][4], int n, int (&picked)[4]) {
    if constexpr (Count == 1) {
        for (int e = 0; e < 4; e++) picked[e] = sums[First][e];
    } else if (n < First + Count / 2) {
        pick_sums<First, Count / 2>(sums, n, picked);
    } else {
        pick_sums<First + Count / 2, Count / 2>(sums, n, picked);
    }
}

/* HALF, where all rows and columns are compared with the same: the largest of four is enough. */
template <gcor_side Side, int N>
static __device__ inline unsigned find_large_groups(float least, const int (&sums)[N][4]) {
    unsigned groups = 0;
#pragma unroll
    for (int n = 0; n < N; n++) {
        float a = larger_weight(Side, __int_as_float(sums[n][0]), __int_as_float(sums[n][1]));
        float b = larger_weight(Side, __int_as_float(sums[n][2]), __int_as_float(sums[n][3]));
        groups |= fmaxf(a, b) >= least ? 1u << n : 0;
    }
    return groups;
}

/* In which of the N groups of columns a lane has a hit, without a branch. */
template <ProductMode Mode, int N>
static __device__ inline unsigned find_groups(const Compare<Mode, N> &compare,
                                              const typename Compare<Mode, N>::RowBounds (&bounds)[2],
                                              const int (&sums)[N][4]) {
    unsigned groups = 0;
#pragma unroll
    for (int n = 0; n < N; n++) {
        typename Compare<Mode, N>::Columns columns = compare.columns(n);
        bool hit = false;
#pragma unroll
        for (int e = 0; e < 4; e++) hit |= bounds[e / 2].hit(columns.value(sums[n][e], e % 2));
        groups |= hit ? 1u << n : 0;
    }
    return groups;
}

template <int N>
static __device__ inline unsigned find_groups(const Compare<HALF, N> &, const Bounds<float> (&bounds)[2],
                                              const int (&sums)[N][4]) {
    if (bounds[0].low == -INFINITY) return find_large_groups<GCOR_POSITIVE>(bounds[0].high, sums);
    if (bounds[0].high == INFINITY) return find_large_groups<GCOR_NEGATIVE>(-bounds[0].low, sums);
    return find_large_groups<GCOR_ABSOLUTE>(bounds[0].high, sums);
}

/* Lane's rows are i and i + 8, its columns j, j + 1, j + 8, ... First in which groups of columns any lane has
 * a hit; then these few. */
template <ProductMode Mode, int N>
static __device__ inline void collect_hits(const Product &p, WarpOutput &out, const Compare<Mode, N> &compare,
                                           const int (&sums)[N][4], int64_t i, int64_t j) {
    using C = Compare<Mode, N>;
    const typename C::RowBounds bounds[2] = {C::bounds(p, i), C::bounds(p, i + 8)};
    unsigned groups = find_groups(compare, bounds, sums);
    for (groups = __reduce_or_sync(ALL_LANES, groups); groups; groups &= groups - 1) {
        int n = __ffs(groups) - 1, four[4];
        pick_sums<0, N>(sums, n, four);
        typename C::Columns columns = compare.columns(n);
        bool hit[4];
#pragma unroll
        for (int e = 0; e < 4; e++) hit[e] = bounds[e / 2].hit(columns.value(four[e], e % 2));
        keep_hits<Mode>(p, out, hit, four, i, j + 8 * n);
    }
}

/* The same where variables have least weights of their own. */
template <ProductMode Mode, int N>
static __device__ inline void collect_own(const Product &p, WarpOutput &out, const int (&sums)[N][4], int64_t i,
                                          int64_t j) {
#pragma unroll 1
    for (int n = 0; n < N; n++) {
        int four[4];
        bool hit[4];
        pick_sums<0, N>(sums, n, four);
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int64_t row = i + e / 2 * 8, col = j + 8 * n + e % 2;
            hit[e] = is_pair(p, row, col) &&
                     gcor_raw_weight(p.edges.rule.side, rough_value<Mode>(p, four[e], row, col)) >=
                         gcor_least(&p.edges.rule, row, col) - p.edges.error;
        }
        keep_hits<Mode>(p, out, hit, four, i, j + 8 * n);
    }
}

#endif
