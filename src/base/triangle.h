/* Indices in a triangle of pairs, in 64 bits and without rounding. All counting starts at 0. */
#pragma once

#include "../gpucor.h"

#include <math.h>

#ifdef __CUDACC__
#define GCOR_INLINE static __host__ __device__ __forceinline__
#else
#define GCOR_INLINE static inline
#endif

#ifdef __SIZEOF_INT128__
__extension__ typedef __int128 gcor_int128;
#endif

/* t(t+1)/2, without overflow for t < 2^32: the even factor is halved first. */
GCOR_INLINE int64_t gcor_triangular(int64_t t) {
    return t % 2 ? (t + 1) / 2 * t : t / 2 * (t + 1);
}

GCOR_INLINE int64_t gcor_min(int64_t a, int64_t b) {
    return a < b ? a : b;
}

GCOR_INLINE int64_t gcor_max(int64_t a, int64_t b) {
    return a > b ? a : b;
}

GCOR_INLINE int64_t gcor_clamp(int64_t x, int64_t low, int64_t high) {
    return x < low ? low : x > high ? high : x;
}

/* Binary search: sets `from` to the first k from `from` on for which the condition holds, given that it also holds for
 * all later ones; to `end` if it holds for none. k: the name that the condition has for it; of the type of `from`. */
#define GCOR_SEARCH(from, end, k, condition) \
    for (__typeof__(from) gcor_end = (end); from < gcor_end;) { \
        const __typeof__(from) k = from + (gcor_end - from) / 2; \
        if (condition) \
            gcor_end = k; \
        else \
            from = k + 1; \
    }

/* Index of the first of the ascending numbers x[from .. end-1] that is not below `min`; `end` if all are. */
GCOR_INLINE int64_t gcor_first_from(const int32_t *x, int64_t from, int64_t end, int64_t min) {
    GCOR_SEARCH(from, end, k, x[k] >= min);
    return from;
}

/* Counting sort: replaces the number of elements in each bucket of each part, counts[part * buckets + bucket], by the
 * position of the first of them, bucket by bucket and in each part by part. begin: the position of each bucket, and of
 * the end, buckets + 1; NULL: not needed. */
GCOR_INLINE void gcor_begin_buckets(int64_t *counts, int64_t parts, int64_t buckets, int64_t *begin) {
    int64_t at = 0;
    for (int64_t b = 0; b < buckets; b++) {
        if (begin) begin[b] = at;
        for (int64_t part = 0; part < parts; part++) {
            const int64_t own = counts[part * buckets + b];
            counts[part * buckets + b] = at;
            at += own;
        }
    }
    if (begin) begin[buckets] = at;
}

/* Index of pair (i, j), i < j < n, row by row: the order of `dist`. */
GCOR_INLINE int64_t gcor_row_position(int64_t i, int64_t j, int64_t n) {
    return i * (n - 1) - gcor_triangular(i) + j - 1;
}

/* Index of pair (i, j), i < j, column by column; independent of n. */
GCOR_INLINE int64_t gcor_column_position(int64_t i, int64_t j) {
    return gcor_triangular(j - 1) + i;
}

/* The largest t with t(t+1)/2 <= k. The square root is a guess, within a few units even if k has more than 53 bits;
 * the integers decide. */
GCOR_INLINE int64_t gcor_triangular_root(int64_t k) {
    int64_t t = (int64_t)sqrt(2.0 * (double)k);
    while (gcor_triangular(t) > k) t--;
    while (gcor_triangular(t + 1) <= k) t++;
    return t;
}

/* Set i and j to the pair, i < j, at a position below n(n-1)/2; n up to 2^31. */
GCOR_INLINE void gcor_column_pair(int64_t position, int64_t *i, int64_t *j) {
    int64_t t = gcor_triangular_root(position);
    *j = t + 1;
    *i = position - gcor_triangular(t);
}

/* The row order of n variables, read backwards, is the column order of their mirror image. */
GCOR_INLINE void gcor_row_pair(int64_t position, int64_t n, int64_t *i, int64_t *j) {
    int64_t back_i, back_j;
    gcor_column_pair(gcor_triangular(n - 1) - 1 - position, &back_i, &back_j);
    *i = n - 1 - back_j;
    *j = n - 1 - back_i;
}

/* The columns of `row` that form pairs of the shape in a tile: *n columns from *col on. */
GCOR_INLINE void gcor_tile_segment(const gcor_tile *tile, gcor_shape shape, int64_t row, int64_t *col, int64_t *n) {
    int64_t begin = tile->col, end = tile->col + tile->n_col;
    if (shape == GCOR_UPPER) begin = gcor_clamp(row + 1, begin, end);
    if (shape == GCOR_LOWER) end = gcor_clamp(row, begin, end);
    *col = begin;
    *n = end - begin;
}

/* Number of pairs of the shape in a tile's rows before `row`, which is where the row's values begin if the tile is
 * stored without gaps. With row = tile->row + tile->n_row: all pairs of the tile. */
GCOR_INLINE int64_t gcor_tile_offset(const gcor_tile *tile, gcor_shape shape, int64_t row) {
    int64_t rows = row - tile->row;
    if (shape == GCOR_FULL) return rows * tile->n_col;
    /* Row tile->row + q has n(q) = clamp(a -+ q, 0, n_col) pairs; sum it over q < rows. */
    if (shape == GCOR_LOWER) {
        int64_t a = tile->row - tile->col; /* n(q) = clamp(a + q) */
        int64_t ramp = gcor_clamp(-a, 0, rows), full = gcor_clamp(tile->n_col - a, ramp, rows);
        return gcor_triangular(a + full - 1) - gcor_triangular(a + ramp - 1) + (rows - full) * tile->n_col;
    }
    int64_t a = tile->col + tile->n_col - tile->row - 1; /* n(q) = clamp(a - q) */
    int64_t full = gcor_clamp(a - tile->n_col, 0, rows), ramp = gcor_clamp(a, full, rows);
    return full * tile->n_col + gcor_triangular(a - full) - gcor_triangular(a - ramp);
}

/* Number of a tile's pairs of the shape. */
GCOR_INLINE int64_t gcor_tile_pairs(const gcor_tile *tile, gcor_shape shape) {
    return gcor_tile_offset(tile, shape, tile->row + tile->n_row);
}
