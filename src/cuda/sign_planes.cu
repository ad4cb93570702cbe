/* Sign bits from scores. */
#include "sign.cuh"

#include <algorithm>

int64_t sign_words(int64_t n_obs) {
    int64_t words = (gcor_obs_pairs(n_obs) + 31) / 32;
    return std::max<int64_t>(1, (words + SIGN_WORDS - 1) / SIGN_WORDS) * SIGN_WORDS;
}

/* One warp makes 32 words of one variable, a lane for each bit of a word; bits from `first`. */
template <SignMode Mode>
static __global__ void open_bits(const float *scores, int64_t n_obs, int64_t first, int64_t bits, Planes planes) {
    int lane = threadIdx.x % 32;
    int64_t warp = blockIdx.x * (int64_t)(blockDim.x / 32) + threadIdx.x / 32, word = warp * 32;
    if (word >= planes.words) return;
    const float *score = scores + blockIdx.y * n_obs;
    int64_t bit = word * 32 + lane;
    int64_t k = n_obs > 0 ? (first + bit) % n_obs : 0, lag = n_obs > 0 ? (first + bit) / n_obs + 1 : 0;
    unsigned greater = 0, less = 0, present = 0;
    for (int w = 0; w < 32; w++, bit += 32, k += 32) {
        float x = NAN, y = NAN;
        if (bit < bits) {
            while (k >= n_obs) k -= n_obs, lag++;
            x = score[k];
            y = score[k + lag < n_obs ? k + lag : k + lag - n_obs];
        }
        unsigned g = __ballot_sync(~0u, x > y), l = __ballot_sync(~0u, x < y), p = 0;
        if (Mode == COMMON) p = __ballot_sync(~0u, x == x && y == y);
        if (lane == w) greater = g, less = l, present = p;
    }
    if (word + lane < planes.words) {
        int64_t at = (word + lane) / SIGN_WORDS * planes.stride + blockIdx.y * (int64_t)SIGN_WORDS + lane % SIGN_WORDS;
        planes.greater[at] = greater;
        if (Mode != UNTIED) planes.less[at] = less;
        if (Mode == COMMON) planes.present[at] = present;
    }
    unsigned ones = __reduce_add_sync(~0u, (unsigned)__popc(greater));
    if (lane == 0) atomicAdd(&planes.ones[blockIdx.y], ones);
}

void open_planes(gcor_state *state, SignMode mode, const float *scores, int64_t n_obs, int64_t n_var, int64_t first,
                 int64_t bits, const Planes &planes) {
    const int64_t most = 32768; /* a grid has no more rows than 65,535 */
    cudaStream_t stream = state->compute.handle;
    check(cudaMemsetAsync(planes.ones, 0, n_var * sizeof(unsigned), stream), "clearing counts");
    auto kernel = mode == UNTIED ? open_bits<UNTIED> : mode == TIED ? open_bits<TIED> : open_bits<COMMON>;
    for (int64_t v = 0; v < n_var; v += most) {
        int64_t at = v * SIGN_WORDS;
        Planes part{planes.words, planes.stride, planes.greater + at, planes.less + at, planes.present + at, planes.ones + v};
        dim3 grid(blocks_for(planes.words, 32 * 8), (unsigned)std::min(most, n_var - v));
        kernel<<<grid, 256, 0, stream>>>(scores + v * n_obs, n_obs, first, bits, part);
        check_launch("opening sign bits");
    }
}
