/* Packs scores into sign bits, when sign columns are prepared or for a tile (product/sign.cu, product/slices.cu). */
#include "../backend/lanes.cuh"
#include "../backend/state.cuh"
#include "../product/packing.cuh"
#include "../product/sign.cuh"

#include <algorithm>

int64_t sign_words(int64_t n_obs) {
    int64_t words = (gcor_obs_pairs(n_obs) + 31) / 32;
    return std::max<int64_t>(1, (words + PIECE_WORDS - 1) / PIECE_WORDS) * PIECE_WORDS;
}

/* One warp makes a piece of one variable, one lane per bit of a word; bits start at `first`. */
template <ProductMode Mode>
static __global__ void open_bits(const float *scores, int64_t n_obs, int64_t first, int64_t bits, Planes planes) {
    int lane = threadIdx.x % 32;
    int64_t piece = blockIdx.x * (int64_t)(blockDim.x / 32) + threadIdx.x / 32, var = blockIdx.y;
    if (piece >= planes.pieces) return;
    const float *score = scores + var * n_obs;
    int64_t bit = piece * 8 * PIECE_BYTES + lane;
    int64_t k = n_obs > 0 ? (first + bit) % n_obs : 0, lag = n_obs > 0 ? (first + bit) / n_obs + 1 : 0;
    unsigned greater = 0, less = 0, present = 0;
    for (int w = 0; w < PIECE_WORDS; w++, bit += 32, k += 32) {
        float x = NAN, y = NAN;
        if (bit < bits) {
            while (k >= n_obs) k -= n_obs, lag++;
            x = score[k];
            y = score[k + lag < n_obs ? k + lag : k + lag - n_obs];
        }
        unsigned g = __ballot_sync(ALL_LANES, x > y), l = __ballot_sync(ALL_LANES, x < y), p = 0;
        if (Mode == COMMON) p = __ballot_sync(ALL_LANES, x == x && y == y);
        if (lane == w) greater = g, less = l, present = p;
    }
    int64_t at = chunk_position(planes.stride, var, piece * 8 + lane / 4) / 4 + lane % 4;
    ((unsigned *)planes.plane[0])[at] = greater;
    ((unsigned *)planes.plane[1])[at] = less;
    if (Mode == COMMON) ((unsigned *)planes.plane[2])[at] = present;
    int ones = __reduce_add_sync(ALL_LANES, __popc(greater)), others = __reduce_add_sync(ALL_LANES, __popc(less));
    if (lane == 0) atomicAdd(&planes.ones_greater[var], ones);
    if (lane == 0) atomicAdd(&planes.ones_untied[var], ones + others);
}
static_assert(PIECE_WORDS == 32, "a word for each lane of a warp");

/* Packs pieces by groups (product/packing.cuh): greater and, with ties, less. */
template <ProductMode Mode>
static __global__ void open_by_groups(const float *scores, int64_t n_obs, Planes planes) {
    __shared__ SortedBlock sorted[OPEN_WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int64_t first = (blockIdx.x * (int64_t)OPEN_WARPS + warp) * WARP_PIECES, var = blockIdx.y;
    int64_t end = min(first + WARP_PIECES, planes.pieces);
    unsigned ones[2] = {0, 0};
#pragma unroll
    for (int plane = 0; plane <= (Mode == TIED); plane++) {
        SignedColumn x{scores + var * n_obs, plane ? -1.0f : 1.0f, n_obs};
        unsigned char *out = planes.plane[plane] + chunk_position(planes.stride, var, first * 8 + lane / 4) +
                             lane % 4 * 4;
        open_groups(x, first, end, sorted[warp], [&](unsigned word) {
            *(unsigned *)out = word;
            out += planes.stride;
            ones[plane] += __popc(word);
        });
    }
    unsigned greater = __reduce_add_sync(ALL_LANES, ones[0]), untied = __reduce_add_sync(ALL_LANES, ones[0] + ones[1]);
    if (lane == 0) atomicAdd(&planes.ones_greater[var], (int)greater);
    if (lane == 0) atomicAdd(&planes.ones_untied[var], (int)untied);
}

/* Clears the counts, then calls launch(first variable, number of variables, their planes) for parts of the
 * variables. */
template <class Launch>
static void open_in_parts(gcor_state *state, int64_t n_var, int planes_made, const Planes &planes, Launch launch) {
    const int64_t max = 32768; /* a grid has at most 65,535 rows */
    cudaStream_t stream = state->compute.handle;
    check(cudaMemsetAsync(planes.ones_greater, 0, n_var * sizeof(int), stream), "clearing counts");
    check(cudaMemsetAsync(planes.ones_untied, 0, n_var * sizeof(int), stream), "clearing counts");
    for (int64_t v = 0; v < n_var; v += max) { /* `most` is a multiple of 8, which keeps the swizzle pattern */
        Planes part = planes;
        for (int plane = 0; plane < planes_made; plane++) part.plane[plane] += v * PIECE_BYTES;
        part.ones_greater += v;
        part.ones_untied += v;
        launch(v, std::min(max, n_var - v), part);
        check_launch("opening sign bits");
    }
}

void open_planes(gcor_state *state, ProductMode mode, const float *scores, int64_t n_obs, int64_t n_var, int64_t first,
                 int64_t bits, const Planes &planes) {
    auto kernel = mode == COMMON ? open_bits<COMMON> : open_bits<TIED>;
    open_in_parts(state, n_var, planes_of(mode), planes, [&](int64_t v, int64_t n, const Planes &part) {
        dim3 grid(blocks_for(planes.pieces, 8), (unsigned)n);
        kernel<<<grid, 256, 0, state->compute.handle>>>(scores + v * n_obs, n_obs, first, bits, part);
    });
}

void open_all_planes(gcor_state *state, ProductMode mode, const float *scores, int64_t n_obs, int64_t n_var,
                     const Planes &planes) {
    auto kernel = mode == TIED ? open_by_groups<TIED> : open_by_groups<UNTIED>;
    open_in_parts(state, n_var, planes_of(mode), planes, [&](int64_t v, int64_t n, const Planes &part) {
        dim3 grid(blocks_for(planes.pieces, OPEN_WARPS * WARP_PIECES), (unsigned)n);
        kernel<<<grid, OPEN_WARPS * 32, 0, state->compute.handle>>>(scores + v * n_obs, n_obs, part);
    });
}
