/* Columns as bitsets: lists sets, and packs their bits into pieces. */
#include "kendall.cuh"
#include "../prepare/packing.cuh"

#include <algorithm>

/* ---- lists of sets -------------------------------------------------------------------------------- */

SetList list_sets(const Operand &o, int64_t var, int64_t n_var, Bits bits, Which which) {
    SetList list;
    list.first.assign((size_t)n_var, -1);
    for (int64_t k = 0; k < n_var; k++) {
        int64_t v = var - o.head.first + k;
        int levels = o.level_count[v], sets = bits == LEVELS ? levels - 1 : 1 + has_ties(o, v);
        bool is_few = levels > 0;
        if (!(o.head.norm[v] > 0) || (which == FEW && !is_few) || (which == MANY && is_few)) continue;
        list.first[(size_t)k] = (int)list.code.size();
        for (int s = 0; s < sets; s++) list.code.push_back((int)k * SET_CODES + s);
    }
    return list;
}

void upload_sets(gcor_state *state, const SetList &list, SetBuffers &buffers) {
    int64_t n_sets = (int64_t)list.code.size(), n_var = (int64_t)list.first.size();
    buffers.code.reserve(n_sets, "sets of columns");
    buffers.first.reserve(n_var, "sets of columns");
    buffers.ones.reserve(n_sets, "sets of columns");
    copy_to_device(buffers.code.data, list.code.data(), n_sets, state->compute, "copying a list of sets");
    copy_to_device(buffers.first.data, list.first.data(), n_var, state->compute, "copying a list of sets");
    clear(buffers.ones.data, n_sets, state->compute, "clearing counts");
}

/* ---- bits ----------------------------------------------------------------------------------------- */

/* The bits to pack: pieces first .. first+n-1 of the side's variables; bits after the last observation are 0. */
struct Packing {
    const float *scores, *levels; /* from the side's first variable on */
    int64_t n_obs, first, n;
    const int *code;
    unsigned char *plane;
    int64_t stride;
    unsigned long long *ones;
};

/* Address of the lane's word of a set's first piece; the next piece is o.stride bytes further on. */
static __device__ inline unsigned char *first_word(const Packing &o, int set) {
    int lane = threadIdx.x % 32;
    return o.plane + chunk_position(o.stride, set, lane / 4) + lane % 4 * 4;
}

static __device__ inline void add_ones(const Packing &o, int set, unsigned ones) {
    ones = __reduce_add_sync(ALL_LANES, ones);
    if (threadIdx.x % 32 == 0 && ones > 0) atomicAdd(&o.ones[set], (unsigned long long)ones);
}

enum { LEVEL_PIECES = 16 }; /* level pieces per warp */

/* First piece of a warp in a slice; grid rows are sets. */
static __device__ inline int64_t first_piece(int warp_pieces) {
    return (blockIdx.x * (int64_t)PACK_WARPS + threadIdx.x / 32) * warp_pieces;
}

static __global__ void pack_signs(const __grid_constant__ Packing o) {
    __shared__ SortedBlock sorted[PACK_WARPS];
    int set = blockIdx.y, code = o.code[set];
    SignedColumn x{o.scores + code / SET_CODES * o.n_obs, code % SET_CODES == 1 ? -1.0f : 1.0f, o.n_obs};
    int64_t piece = first_piece(WARP_PIECES), n = min((int64_t)WARP_PIECES, o.n - piece);
    unsigned char *out = first_word(o, set) + piece * o.stride;
    unsigned ones = 0;
    pack_groups(x, o.first + piece, o.first + piece + n, sorted[threadIdx.x / 32], [&](unsigned word) {
        *(unsigned *)out = word;
        out += o.stride;
        ones += __popc(word);
    });
    add_ones(o, set, ones);
}

/* A piece covers 32 words of 32 observations. */
static __global__ void pack_levels(const __grid_constant__ Packing o) {
    int lane = threadIdx.x % 32, set = blockIdx.y, code = o.code[set];
    const float *score = o.scores + code / SET_CODES * o.n_obs;
    float level = o.levels[code / SET_CODES * FEW_LEVELS + code % SET_CODES + 1];
    int64_t piece = first_piece(LEVEL_PIECES);
    unsigned char *out = first_word(o, set) + piece * o.stride;
    unsigned ones = 0;
    for (int64_t end = min(piece + LEVEL_PIECES, o.n); piece < end; piece++, out += o.stride) {
        unsigned own = 0;
        for (int w = 0; w < PIECE_WORDS; w++) {
            int64_t k = ((o.first + piece) * PIECE_WORDS + w) * 32 + lane;
            unsigned word = __ballot_sync(ALL_LANES, k < o.n_obs && score[k] >= level);
            if (lane == w) own = word;
        }
        *(unsigned *)out = own;
        ones += __popc(own);
    }
    add_ones(o, set, ones);
}

void pack_sets(gcor_state *state, Bits kind, const Operand &operand, int64_t var, const SetList &list,
               const SetBuffers &buffers, int64_t first, int64_t n) {
    const int64_t max = 32768; /* a grid has at most 65,535 rows; a multiple of 8 keeps the swizzle pattern */
    for (int64_t s = 0; s < (int64_t)list.code.size(); s += max) {
        int64_t sets = std::min<int64_t>(max, (int64_t)list.code.size() - s);
        Packing packing{operand.columns_of(var),
                        operand.levels.data + (var - operand.head.first) * FEW_LEVELS,
                        operand.head.n_obs,
                        first,
                        n,
                        buffers.code.data + s,
                        buffers.bits.data + s * PIECE_BYTES,
                        (int64_t)list.code.size() * PIECE_BYTES,
                        buffers.ones.data + s};
        int64_t warp_pieces = kind == LEVELS ? (int64_t)LEVEL_PIECES : (int64_t)WARP_PIECES;
        dim3 grid(blocks_for(n, PACK_WARPS * warp_pieces), (unsigned)sets);
        auto kernel = kind == LEVELS ? pack_levels : pack_signs;
        kernel<<<grid, PACK_WARPS * 32, 0, state->compute.handle>>>(packing);
        check_launch("opening sets");
    }
}
