/* What sign columns need beside their scores: bits, which are packed here for all variables or for a tile, the number
 * of ties, and of long columns their levels. */
#include "packing.cuh"
#include "operand.cuh"
#include "../backend/lanes.cuh"

#include <algorithm>

int64_t sign_words(int64_t n_obs) {
    int64_t words = (gcor_obs_pairs(n_obs) + 31) / 32;
    return std::max<int64_t>(1, (words + PIECE_WORDS - 1) / PIECE_WORDS) * PIECE_WORDS;
}

int64_t sign_pieces(int64_t n_obs) {
    return sign_words(n_obs) / PIECE_WORDS;
}

/* ---- packing ------------------------------------------------------------------------------- */

/* One warp makes a piece of one variable, one lane per bit of a word; bits start at `first`. */
template <int N_PLANES>
static __global__ void pack_slice(const float *scores, int64_t n_obs, int64_t first, int64_t bits, Planes planes) {
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
        if (N_PLANES == 3) p = __ballot_sync(ALL_LANES, x == x && y == y);
        if (lane == w) greater = g, less = l, present = p;
    }
    int64_t at = chunk_position(planes.stride, var, piece * 8 + lane / 4) / 4 + lane % 4;
    ((unsigned *)planes.plane[0])[at] = greater;
    ((unsigned *)planes.plane[1])[at] = less;
    if (N_PLANES == 3) ((unsigned *)planes.plane[2])[at] = present;
    int ones = __reduce_add_sync(ALL_LANES, __popc(greater)), others = __reduce_add_sync(ALL_LANES, __popc(less));
    if (lane == 0) atomicAdd(&planes.ones_greater[var], ones);
    if (lane == 0) atomicAdd(&planes.ones_untied[var], ones + others);
}
static_assert(PIECE_WORDS == 32, "a word for each lane of a warp");

/* Packs pieces by groups (packing.cuh): greater, and less if N_PLANES is 2. */
template <int N_PLANES>
static __global__ void pack_by_groups(const float *scores, int64_t n_obs, Planes planes) {
    __shared__ SortedBlock sorted[PACK_WARPS];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int64_t first = (blockIdx.x * (int64_t)PACK_WARPS + warp) * WARP_PIECES, var = blockIdx.y;
    int64_t end = min(first + WARP_PIECES, planes.pieces);
    unsigned ones[2] = {0, 0};
#pragma unroll
    for (int plane = 0; plane < N_PLANES; plane++) {
        SignedColumn x{scores + var * n_obs, plane ? -1.0f : 1.0f, n_obs};
        unsigned char *out = planes.plane[plane] + chunk_position(planes.stride, var, first * 8 + lane / 4) +
                             lane % 4 * 4;
        pack_groups(x, first, end, sorted[warp], [&](unsigned word) {
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
static void pack_in_parts(gcor_state *state, int64_t n_var, int planes_made, const Planes &planes, Launch launch) {
    const int64_t max = 32768; /* a grid has at most 65,535 rows */
    clear(planes.ones_greater, n_var, state->compute, "clearing counts");
    clear(planes.ones_untied, n_var, state->compute, "clearing counts");
    for (int64_t v = 0; v < n_var; v += max) { /* `max` is a multiple of 8, which keeps the swizzle pattern */
        Planes part = planes;
        for (int plane = 0; plane < planes_made; plane++) part.plane[plane] += v * PIECE_BYTES;
        part.ones_greater += v;
        part.ones_untied += v;
        launch(v, std::min(max, n_var - v), part);
        check_launch("opening sign bits");
    }
}

void pack_bits(gcor_state *state, int n_planes, const float *scores, int64_t n_obs, int64_t n_var, int64_t first,
               int64_t bits, const Planes &planes) {
    auto kernel = n_planes == 3 ? pack_slice<3> : pack_slice<2>;
    pack_in_parts(state, n_var, n_planes, planes, [&](int64_t v, int64_t n, const Planes &part) {
        dim3 grid(blocks_for(planes.pieces, 8), (unsigned)n);
        kernel<<<grid, 256, 0, state->compute.handle>>>(scores + v * n_obs, n_obs, first, bits, part);
    });
}

void pack_all_bits(gcor_state *state, int n_planes, const float *scores, int64_t n_obs, int64_t n_var,
                   const Planes &planes) {
    auto kernel = n_planes == 2 ? pack_by_groups<2> : pack_by_groups<1>;
    pack_in_parts(state, n_var, n_planes, planes, [&](int64_t v, int64_t n, const Planes &part) {
        dim3 grid(blocks_for(planes.pieces, PACK_WARPS * WARP_PIECES), (unsigned)n);
        kernel<<<grid, PACK_WARPS * 32, 0, state->compute.handle>>>(scores + v * n_obs, n_obs, part);
    });
}

/* ---- levels of columns ------------------------------------------------------------------------- */

/* Finds the distinct scores of some observations, ascending. Called by a whole block; returns their number,
 * FEW_LEVELS + 1 if there are more. */
static __device__ int levels_of(const float *score, int64_t n_obs, float *levels) {
    float last = -INFINITY;
    int found = 0;
    for (; found <= FEW_LEVELS; found++) {
        float next = INFINITY;
        for (int64_t k = threadIdx.x; k < n_obs; k += COLUMN_THREADS)
            if (score[k] > last && score[k] < next) next = score[k];
        last = reduce_block<COLUMN_THREADS>(next, Smaller());
        if (last == INFINITY) break;
        if (threadIdx.x == 0 && found < FEW_LEVELS) levels[found] = last;
    }
    return found;
}

/* One block per column: finds its levels and their number. 0 means more than FEW_LEVELS; the first 4,096
 * observations usually show it. */
static __global__ void find_levels(const float *scores, int64_t n_obs, float *levels, int *count) {
    const int64_t few_obs = 4096;
    const float *score = scores + blockIdx.x * n_obs;
    float *own = levels + blockIdx.x * FEW_LEVELS;
    int found = levels_of(score, min(n_obs, few_obs), own);
    if (n_obs > few_obs && found <= FEW_LEVELS) found = levels_of(score, n_obs, own);
    if (threadIdx.x == 0) count[blockIdx.x] = found > FEW_LEVELS ? 0 : found;
}

static void count_levels(gcor_state *state, Operand &o) {
    int64_t n_var = o.head.n_var;
    o.levels.reserve(n_var * FEW_LEVELS, "levels of columns");
    DeviceArray<int> &count = state->columns->level_counts;
    count.reserve(n_var, "levels of columns");
    o.level_count.reset(new int[n_var]);
    find_levels<<<(unsigned)n_var, COLUMN_THREADS, 0, state->compute.handle>>>(o.columns.data, o.head.n_obs,
                                                                               o.levels.data, count.data);
    check_launch("finding levels");
    copy_to_host(o.level_count.get(), count.data, n_var, state->compute, "copying levels");
    wait_for_compute(state);
}

/* ---- bits kept for all variables --------------------------------------------------------- */

bool keeps_bits(gcor_kind kind, int64_t n_obs) {
    return kind == GCOR_SIGN && sign_words(n_obs) <= KEPT_WORDS;
}

int64_t sign_bytes(gcor_kind kind, int64_t n_obs) {
    return keeps_bits(kind, n_obs) ? 2 * sign_pieces(n_obs) * PIECE_BYTES + 2 * (int64_t)sizeof(int) : 0;
}

/* Elements of a per-variable array, including what kernels may read beyond its end; even, as elements are read in
 * pairs. */
static int64_t counts_of(int64_t n_var) {
    return (n_var + 1) / 2 * 2 + SLACK_COLUMNS;
}

Planes kept_planes(const Operand &o) {
    int64_t n_var = o.head.n_var, pieces = sign_pieces(o.head.n_obs);
    return {pieces,
            n_var * PIECE_BYTES,
            {o.bits.data, o.bits.data + piece_bytes(n_var, pieces), nullptr},
            o.ones.data,
            o.ones.data + counts_of(n_var)};
}

Planes reserve_planes(PackedPlanes &packed, int planes, int64_t n_var, int64_t pieces) {
    int64_t bytes = piece_bytes(n_var, pieces);
    packed.bits.reserve(planes * bytes, "sign bits");
    packed.ones.reserve(2 * counts_of(n_var), "sign bits");
    unsigned char *data = packed.bits.data;
    return {pieces,
            n_var * PIECE_BYTES,
            {data, data + bytes, data + 2 * bytes},
            packed.ones.data,
            packed.ones.data + counts_of(n_var)};
}

/* ---- an operand ------------------------------------------------------------------------------ */

static __global__ void invert_norms(const double *norm, int64_t n_var, float *inverse) {
    int64_t v = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (v < n_var) inverse[v] = norm[v] > 0 ? (float)(1 / sqrt(norm[v])) : NAN;
}

/* Counts the variables with ties, cumulatively. For variables without coefficients (norm below 0) the answer does
 * not matter. */
static void count_tied(Operand &o) {
    double untied = (double)gcor_obs_pairs(o.head.n_obs);
    o.tied_before.reset(new int64_t[o.head.n_var + 1]);
    o.tied_before[0] = 0;
    for (int64_t v = 0; v < o.head.n_var; v++)
        o.tied_before[v + 1] = o.tied_before[v] + (o.head.norm[v] >= 0 && o.head.norm[v] < untied);
}

void make_bits(gcor_state *state, Operand &o) {
    int64_t n = o.head.n_obs, n_var = o.head.n_var;
    count_tied(o);
    o.inverse.reserve(counts_of(n_var), "norms");
    if (n_var > 0)
        invert_norms<<<blocks_for(n_var, 256), 256, 0, state->compute.handle>>>(o.norm.data, n_var, o.inverse.data);
    check_launch("preparing norms");
    if (o.head.kind == GCOR_SIGN && n_var > 0 && !fused_exactly(state, o.head.kind, n)) count_levels(state, o);
    if (!keeps_bits(o.head.kind, n)) return;
    o.bits.reserve(2 * piece_bytes(n_var, sign_pieces(n)), "sign bits");
    o.ones.reserve(2 * counts_of(n_var), "sign bits");
    pack_bits(state, 2, o.columns.data, n, n_var, 0, gcor_obs_pairs(n), kept_planes(o));
}
