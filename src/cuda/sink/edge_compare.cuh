/* Finds which of a warp's sums may be edges, in registers, many at once and without branches. The sums that pass are
 * judged again by the rules of weight.h (edge_sink.cuh). */
#pragma once

#include "../product/pair.cuh"
#include "edge_output.cuh"

#include <climits>

/* ---- bounds of rows and columns --------------------------------------------- */

/* A row's bounds: values that are not between them are hits. NaN and values of pairs without a coefficient may be hits;
 * the exact coefficient decides. */
template <class Value>
struct Bounds {
    Value low, high;
    __device__ bool hit(Value value) const { return (value <= low) | (value >= high); }
};

/* -min and min, or infinite where a sign has no weight. */
static __device__ inline Bounds<float> float_bounds(const FloatWeighing &weigh, float min) {
    return {weigh.below() ? -min : -INFINITY, weigh.above() ? min : INFINITY};
}

/* A number for each of a warp's 8 N columns from j on; each lane holds N / 4 of them. get(n, odd) returns the number of
 * column 8 n + 2 (lane % 4) + odd. */
template <class Number, int N>
struct ColumnNumbers {
    Number own[N / 4];
    __device__ void load(const Number *numbers, int64_t j) {
        fill(j, [&](int64_t col) { return numbers[col]; });
    }
    template <class NumberOf>
    __device__ void fill(int64_t j, NumberOf number_of) {
#pragma unroll
        for (int k = 0; k < N / 4; k++) own[k] = number_of(j + 32 * k + threadIdx.x % 32);
    }
    __device__ Number get(int n, int odd) const {
        return __shfl_sync(ALL_LANES, pick<0, N / 4>(n / 4), n % 4 * 8 + threadIdx.x % 4 * 2 + odd);
    }
    /* own[k] for a k that is unknown at compile time: by bisection, so that `own` stays in registers. */
    template <int First, int Count>
    __device__ Number pick(int k) const {
        if constexpr (Count == 1)
            return own[First];
        else
            return k < First + Count / 2 ? pick<First, Count / 2>(k) : pick<First + Count / 2, Count - Count / 2>(k);
    }
};

/* How a warp's sums are compared. load() is called before the product, so that the columns' numbers have arrived when
 * they are used; bounds() returns a row's bounds; columns(n) makes values of the sums of group n. */
template <ProductMode Mode, int N>
struct Compare;

template <int N>
struct Compare<HALF, N> {
    typedef Bounds<float> RowBounds;
    struct Columns {
        __device__ float value(int sum, int) const { return __int_as_float(sum); }
    };
    __device__ void load(const Product &, const EdgeOutput &, int64_t) {}
    __device__ Columns columns(int) const { return {}; }
    static __device__ RowBounds bounds(const Product &p, const EdgeOutput &edges, int64_t) {
        return float_bounds(edges.weigh, edges.min / p.unit);
    }
    static __device__ RowBounds no_hits() { return {-INFINITY, INFINITY}; }
};

/* All norms are equal, so integers are compared (set_min() in edges.cu). A column without coefficients may have hits.
 */
template <int N>
struct Compare<UNTIED, N> {
    typedef Bounds<int> RowBounds;
    struct Columns {
        int ones[2];
        __device__ int value(int sum, int odd) const { return 2 * sum - ones[odd]; }
    };
    ColumnNumbers<int, N> ones;
    __device__ void load(const Product &p, const EdgeOutput &, int64_t j) { ones.load(p.cols.ones_greater, j); }
    __device__ Columns columns(int n) const { return {{ones.get(n, 0), ones.get(n, 1)}}; }
    static __device__ RowBounds bounds(const Product &p, const EdgeOutput &edges, int64_t i) {
        int row = p.rows.ones_greater[i];
        return {row + edges.low, row + edges.high};
    }
    static __device__ RowBounds no_hits() { return {INT_MIN, INT_MAX}; }
};

/* sum >= t sqrt(row norm) sqrt(column norm), up to a few rounding errors, which `error` includes. */
template <int N>
struct Compare<TIED, N> {
    typedef Bounds<float> RowBounds;
    struct Columns {
        int ones[2];
        float inverse[2];
        __device__ float value(int sum, int odd) const { return (float)tied_sum(sum, ones[odd]) * inverse[odd]; }
    };
    ColumnNumbers<int, N> ones;
    ColumnNumbers<float, N> inverse;
    __device__ void load(const Product &p, const EdgeOutput &, int64_t j) {
        ones.load(p.cols.ones_untied, j);
        inverse.load(p.cols.inverse, j);
    }
    __device__ Columns columns(int n) const {
        return {{ones.get(n, 0), ones.get(n, 1)}, {inverse.get(n, 0), inverse.get(n, 1)}};
    }
    static __device__ RowBounds bounds(const Product &p, const EdgeOutput &edges, int64_t i) {
        return float_bounds(edges.weigh, edges.min / p.rows.inverse[i]);
    }
    static __device__ RowBounds no_hits() { return {-INFINITY, INFINITY}; }
};

/* ---- min weights of single variables ------------------------------------------------------------------ */

/* Like Compare, for variables with their own min weights: a pair is a hit if its weight reaches the min weight of its
 * row or of its column. */
template <ProductMode Mode, int N>
struct OwnCompare;

/* The number that stands for a sum in comparisons, and the min weight of its column. */
template <class Number>
struct OwnValue {
    Number value, min;
};

/* A variable's min weight, less the error of what is compared with it. */
static __device__ inline float own_min(const EdgeOutput &edges, double min) {
    return __double2float_rd(min - edges.error);
}

/* HALF and TIED: a value times the row's factor is a coefficient. */
struct OwnBounds {
    FloatWeighing weigh;
    float factor, min;
    __device__ bool hit(OwnValue<float> v) const { return weigh.weight(v.value * factor) >= fminf(min, v.min); }
    static __device__ OwnBounds no_hits() { return {{NAN, NAN}, 0, INFINITY}; }
};

template <int N>
struct OwnCompare<HALF, N> {
    typedef OwnBounds RowBounds;
    struct Columns {
        float min[2];
        __device__ OwnValue<float> value(int sum, int odd) const { return {__int_as_float(sum), min[odd]}; }
    };
    ColumnNumbers<float, N> min;
    __device__ void load(const Product &, const EdgeOutput &edges, int64_t j) {
        min.fill(j, [&](int64_t col) { return own_min(edges, edges.rule.col_min[col]); });
    }
    __device__ Columns columns(int n) const { return {{min.get(n, 0), min.get(n, 1)}}; }
    static __device__ RowBounds bounds(const Product &p, const EdgeOutput &edges, int64_t i) {
        return {edges.weigh, p.unit, own_min(edges, edges.rule.row_min[i])};
    }
    static __device__ RowBounds no_hits() { return OwnBounds::no_hits(); }
};

template <int N>
struct OwnCompare<TIED, N> {
    typedef OwnBounds RowBounds;
    struct Columns {
        typename Compare<TIED, N>::Columns numbers;
        float min[2];
        __device__ OwnValue<float> value(int sum, int odd) const { return {numbers.value(sum, odd), min[odd]}; }
    };
    Compare<TIED, N> numbers;
    ColumnNumbers<float, N> min;
    __device__ void load(const Product &p, const EdgeOutput &edges, int64_t j) {
        numbers.load(p, edges, j);
        min.fill(j, [&](int64_t col) { return own_min(edges, edges.rule.col_min[col]); });
    }
    __device__ Columns columns(int n) const { return {numbers.columns(n), {min.get(n, 0), min.get(n, 1)}}; }
    static __device__ RowBounds bounds(const Product &p, const EdgeOutput &edges, int64_t i) {
        return {edges.weigh, p.rows.inverse[i], own_min(edges, edges.rule.row_min[i])};
    }
    static __device__ RowBounds no_hits() { return OwnBounds::no_hits(); }
};

/* Integers, as in Compare: weights and min weights times the number of bits. */
template <int N>
struct OwnCompare<UNTIED, N> {
    struct RowBounds {
        int size, sign, rest, min; /* rest: what is added to a value for the sum of signs */
        __device__ bool hit(OwnValue<int> v) const {
            int sum = v.value + rest;
            return size * abs(sum) + sign * sum >= ::min(min, v.min);
        }
    };
    struct Columns {
        int ones[2], min[2];
        __device__ OwnValue<int> value(int sum, int odd) const { return {4 * sum - 2 * ones[odd], min[odd]}; }
    };
    ColumnNumbers<int, N> ones, min;
    static __device__ int scaled_min(const Product &p, const EdgeOutput &edges, double min) {
        return (int)floor((min - edges.error) * (double)p.bits) - 1;
    }
    __device__ void load(const Product &p, const EdgeOutput &edges, int64_t j) {
        ones.load(p.cols.ones_greater, j);
        min.fill(j, [&](int64_t col) { return scaled_min(p, edges, edges.rule.col_min[col]); });
    }
    __device__ Columns columns(int n) const {
        return {{ones.get(n, 0), ones.get(n, 1)}, {min.get(n, 0), min.get(n, 1)}};
    }
    static __device__ RowBounds bounds(const Product &p, const EdgeOutput &edges, int64_t i) {
        return {(int)edges.weigh.size, (int)edges.weigh.sign, (int)p.bits - 2 * p.rows.ones_greater[i],
                scaled_min(p, edges, edges.rule.row_min[i])};
    }
    static __device__ RowBounds no_hits() { return {0, 0, 0, INT_MAX}; }
};

/* ---- groups of columns with a hit ------------------------------------------------------------------ */

/* The larger weight of two values; NaN is ignored. `Side` is a template parameter to avoid branches. */
template <gcor_side Side>
static __device__ inline float larger_weight(float a, float b) {
    const gcor_weighing weigh = gcor_weigh(Side);
    if (weigh.size > 0) return fmaxf(fabsf(a), fabsf(b));
    return weigh.sign > 0 ? fmaxf(a, b) : -fminf(a, b);
}

/* HALF: all rows and columns have the same bounds, so the largest of four weights is enough. */
template <gcor_side Side, int N>
static __device__ inline unsigned find_large_groups(float min, const int (&sums)[N][4]) {
    unsigned groups = 0;
#pragma unroll
    for (int n = 0; n < N; n++) {
        float a = larger_weight<Side>(__int_as_float(sums[n][0]), __int_as_float(sums[n][1]));
        float b = larger_weight<Side>(__int_as_float(sums[n][2]), __int_as_float(sums[n][3]));
        groups |= fmaxf(a, b) >= min ? 1u << n : 0;
    }
    return groups;
}

/* Returns a bit for each of the N groups of columns in which the lane has a hit. */
template <class C, int N>
static __device__ inline unsigned find_groups(const C &compare, const typename C::RowBounds (&bounds)[2],
                                              const int (&sums)[N][4]) {
    unsigned groups = 0;
#pragma unroll
    for (int n = 0; n < N; n++) {
        typename C::Columns columns = compare.columns(n);
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

/* sums[n] for an n that is unknown at compile time: by bisection, so that `sums` stays in registers. */
template <int First, int Count, int N>
static __device__ inline void pick_sums(const int (&sums)[N][4], int n, int (&picked)[4]) {
    if constexpr (Count == 1) {
        for (int e = 0; e < 4; e++) picked[e] = sums[First][e];
    } else if (n < First + Count / 2) {
        pick_sums<First, Count / 2>(sums, n, picked);
    } else {
        pick_sums<First + Count / 2, Count - Count / 2>(sums, n, picked);
    }
}
