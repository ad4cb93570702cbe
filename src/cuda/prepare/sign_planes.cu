/* Sign bits from scores: when columns of signs are prepared, or for a tile (product/sign.cu, product/slices.cu). */
#include "../backend/lanes.cuh"
#include "../backend/state.cuh"
#include "../product/sign.cuh"

#include <algorithm>

int64_t sign_words(int64_t n_obs) {
    int64_t words = (gcor_obs_pairs(n_obs) + 31) / 32;
    return std::max<int64_t>(1, (words + PIECE_WORDS - 1) / PIECE_WORDS) * PIECE_WORDS;
}

/* One warp makes a piece of one variable, a lane for each bit of a word; bits from `first`. */
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
    int64_t at = chunk_place(planes.stride, var, piece * 8 + lane / 4) / 4 + lane % 4;
    ((unsigned *)planes.plane[0])[at] = greater;
    if (Mode != UNTIED) ((unsigned *)planes.plane[1])[at] = less;
    if (Mode == COMMON) ((unsigned *)planes.plane[2])[at] = present;
    int ones = __reduce_add_sync(ALL_LANES, __popc(greater)), others = __reduce_add_sync(ALL_LANES, __popc(less));
    if (lane == 0) atomicAdd(&planes.ones_greater[var], ones);
    if (lane == 0) atomicAdd(&planes.ones_untied[var], ones + others);
}
static_assert(PIECE_WORDS == 32, "a word for each lane of a warp");

typedef void (*OpenKernel)(const float *, int64_t, int64_t, int64_t, Planes);

static OpenKernel kernel_of(ProductMode mode) {
    switch (mode) {
    case UNTIED: return open_bits<UNTIED>;
    case TIED: return open_bits<TIED>;
    case COMMON: return open_bits<COMMON>;
    case HALF:
    case FLOAT: break;
    }
    fail_impossible("sign bits of columns of that kind");
}

void open_planes(gcor_state *state, ProductMode mode, const float *scores, int64_t n_obs, int64_t n_var, int64_t first,
                 int64_t bits, const Planes &planes) {
    const int64_t most = 32768; /* a grid has no more rows than 65,535 */
    cudaStream_t stream = state->compute.handle;
    check(cudaMemsetAsync(planes.ones_greater, 0, n_var * sizeof(int), stream), "clearing counts");
    check(cudaMemsetAsync(planes.ones_untied, 0, n_var * sizeof(int), stream), "clearing counts");
    OpenKernel kernel = kernel_of(mode);
    for (int64_t v = 0; v < n_var; v += most) { /* a multiple of 8: the pattern of chunks goes on */
        Planes part = planes;
        for (int plane = 0; plane <= (int)mode - UNTIED; plane++) part.plane[plane] += v * PIECE_BYTES;
        part.ones_greater += v;
        part.ones_untied += v;
        dim3 grid(blocks_for(planes.pieces, 8), (unsigned)std::min(most, n_var - v));
        kernel<<<grid, 256, 0, stream>>>(scores + v * n_obs, n_obs, first, bits, part);
        check_launch("opening sign bits");
    }
}
