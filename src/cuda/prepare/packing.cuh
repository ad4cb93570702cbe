/* Packs the signs of long columns into bits: groups of 32 observations k against blocks of 256 observations q. In a
 * sorted block, the q's less than a value are one of 257 sets, so one binary search yields 256 bits instead of 256
 * comparisons.
 *
 * A piece is a group of k, one per lane, against a group of q. Block by block, the pieces are: each group before the
 * block with the block's groups; the block's groups with one another; and, two groups to a piece, groups with
 * themselves (pairs k < q of the first group, pairs k > q of the second). Every pair of observations occurs once, at
 * the same bit in all columns. */
#pragma once

#include "operand.cuh"
#include "../backend/lanes.cuh"

#include <climits>

enum { PACK_WARPS = 4 };    /* warps of a thread block */
enum { WARP_PIECES = 512 }; /* pieces of a warp, for which a block is sorted once */
enum { BLOCK_GROUPS = 8, BLOCK_OBS = 32 * BLOCK_GROUPS };

/* A warp's block after sorting; for each of its groups, the bits of the first 0, 1, ... 256 observations in sorted
 * order. */
struct SortedBlock {
    int key[BLOCK_OBS];
    uint4 first[2][BLOCK_OBS + 1]; /* four groups each */

    __device__ unsigned word(int n, int group) const { return ((const unsigned *)&first[group / 4][n])[group % 4]; }
};

/* A column's scores times `sign` (1 or -1). */
struct SignedColumn {
    const float *score;
    float sign;
    int64_t n_obs;

    /* Returns 256 times the score of the lane's observation of a group, or `beyond` after the last observation. */
    __device__ int at(int64_t group, int beyond) const {
        int64_t k = 32 * group + threadIdx.x % 32;
        return k < n_obs ? (int)(sign * score[k]) * BLOCK_OBS : beyond;
    }
};

/* Sorts 32 keys in each of BLOCK_GROUPS rows, one per lane, in ascending order of row and lane. */
static __device__ inline void sort_keys(int (&key)[BLOCK_GROUPS]) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int size = 2; size <= BLOCK_OBS; size *= 2)
#pragma unroll
        for (int step = size / 2; step > 0; step /= 2)
#pragma unroll
            for (int r = 0; r < BLOCK_GROUPS; r++) {
                bool ascending = ((32 * r + lane) & size) == 0;
                if (step < 32) {
                    int other = __shfl_xor_sync(ALL_LANES, key[r], step);
                    key[r] = ascending == ((lane & step) == 0) ? min(key[r], other) : max(key[r], other);
                } else if ((r & step / 32) == 0) {
                    int &other = key[r | step / 32], low = min(key[r], other), high = max(key[r], other);
                    key[r] = ascending ? low : high;
                    other = ascending ? high : low;
                }
            }
}

static __device__ inline unsigned or_of_lanes_before(unsigned bits) {
    for (int step = 1; step < 32; step *= 2) {
        unsigned before = __shfl_up_sync(ALL_LANES, bits, step);
        if (threadIdx.x % 32 >= step) bits |= before;
    }
    return bits;
}

/* Positions after the last observation get the largest key. */
static __device__ inline void sort_block(const SignedColumn &x, int64_t block, SortedBlock &sorted) {
    int lane = threadIdx.x % 32, key[BLOCK_GROUPS];
    unsigned first[BLOCK_GROUPS] = {0};
#pragma unroll
    for (int r = 0; r < BLOCK_GROUPS; r++) {
        key[r] = x.at(BLOCK_GROUPS * block + r, INT_MAX);
        if (key[r] != INT_MAX) key[r] += 32 * r + lane;
    }
    sort_keys(key);
    __syncwarp(); /* the previous block has been read */
    if (lane < 2) sorted.first[lane][0] = make_uint4(0, 0, 0, 0);
#pragma unroll
    for (int r = 0; r < BLOCK_GROUPS; r++) {
        sorted.key[32 * r + lane] = key[r];
#pragma unroll
        for (int w = 0; w < BLOCK_GROUPS; w++) {
            unsigned bit = (key[r] & (BLOCK_OBS - 1)) / 32 == w ? 1u << (key[r] & 31) : 0;
            first[w] = or_of_lanes_before(bit) | __shfl_sync(ALL_LANES, first[w], 31);
        }
        sorted.first[0][32 * r + lane + 1] = make_uint4(first[0], first[1], first[2], first[3]);
        sorted.first[1][32 * r + lane + 1] = make_uint4(first[4], first[5], first[6], first[7]);
    }
    __syncwarp();
}

/* Number of the block's observations less than the lane's observation of a group; 0 after the last observation. */
static __device__ inline int count_lesser(const SortedBlock &sorted, const SignedColumn &x, int64_t group) {
    int own = x.at(group, INT_MIN), n = 0;
#pragma unroll
    for (int step = BLOCK_OBS / 2; step > 0; step /= 2)
        if (sorted.key[n + step - 1] < own) n += step;
    return n + (sorted.key[n] < own);
}

/* Positions of a block's pieces. Blocks before it have all of their groups. */
struct BlockPieces {
    int groups; /* groups of the block, 0 to 8 */
    int64_t block, begin, inner, own, end, next;

    __device__ BlockPieces(int64_t piece, int64_t all_groups) {
        block = (int64_t)sqrt((double)(piece / (4 * BLOCK_GROUPS)));
        while (block * block * 4 * BLOCK_GROUPS > piece) block--;
        while ((block + 1) * (block + 1) * 4 * BLOCK_GROUPS <= piece) block++;
        groups = (int)max((int64_t)0, min((int64_t)BLOCK_GROUPS, all_groups - BLOCK_GROUPS * block));
        begin = block * block * 4 * BLOCK_GROUPS;
        inner = begin + BLOCK_GROUPS * block * groups;
        own = inner + groups * (groups - 1) / 2;
        end = own + (groups + 1) / 2;
        next = (block + 1) * (block + 1) * 4 * BLOCK_GROUPS;
    }
};
static_assert(BLOCK_GROUPS == 8, "two vectors of four words; 8 b groups before block b make 32 b^2 pieces");

/* Emits pieces from `piece` to `end`: groups before the block. */
template <class Put>
static __device__ inline void pack_outer(const SignedColumn &x, const BlockPieces &b, const SortedBlock &sorted,
                                         int64_t &piece, int64_t end, Put put) {
    int64_t group = (piece - b.begin) / max(1, b.groups);
    int from = (int)(piece - b.begin - group * b.groups);
    for (end = min(end, b.inner); piece < end; group++, from = 0) {
        int n = count_lesser(sorted, x, group);
        uint4 low = sorted.first[0][n], high = sorted.first[1][n];
        unsigned words[BLOCK_GROUPS] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
        for (int w = 0; w < BLOCK_GROUPS; w++)
            if (w >= from && w < b.groups && piece < end) put(words[w]), piece++;
    }
}

/* Emits pieces of the block's groups with one another and with themselves. */
template <class Put>
static __device__ inline void pack_inner(const SignedColumn &x, const BlockPieces &b, const SortedBlock &sorted,
                                         int64_t &piece, int64_t end, Put put) {
    int64_t at = b.inner, first = BLOCK_GROUPS * b.block;
    unsigned after = ~0u << (threadIdx.x % 32) << 1; /* q > k */
    for (int group = 0; group < b.groups && piece < end && piece < b.own; group++) {
        int n = count_lesser(sorted, x, first + group);
        for (int w = group + 1; w < b.groups; w++, at++)
            if (at == piece && piece < end) put(sorted.word(n, w)), piece++;
    }
    for (; piece < end && piece < b.end; piece++) {
        int group = 2 * (int)(piece - b.own);
        unsigned word = sorted.word(count_lesser(sorted, x, first + group), group) & after;
        if (group + 1 < b.groups) word |= sorted.word(count_lesser(sorted, x, first + group + 1), group + 1) & ~after;
        put(word);
    }
}

/* Calls put(word) for each piece first .. end-1; pieces after the last one are 0. */
template <class Put>
static __device__ inline void pack_groups(const SignedColumn &x, int64_t first, int64_t end, SortedBlock &sorted,
                                          Put put) {
    for (int64_t piece = first; piece < end;) {
        BlockPieces b(piece, group_count(x.n_obs));
        if (b.groups > 0) {
            sort_block(x, b.block, sorted);
            pack_outer(x, b, sorted, piece, end, put);
            pack_inner(x, b, sorted, piece, end, put);
        }
        for (; piece < end && piece < b.next; piece++) put(0u);
    }
}
