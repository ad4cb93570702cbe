/* SIGN operands: a slice of sign bits is opened for a tile's variables, and products of bits are
 * popcounts. Slices keep the memory bounded for any n_obs; all sums are exact integers. */
#include "cuda.cuh"

enum SignMode { UNTIED, TIED, COMMON };

/* A slice for some variables: `words` words of each, variable by variable. */
struct Planes {
    int64_t words;
    unsigned *greater, *less, *present; /* present: COMMON only */
    unsigned *ones;                     /* bits set in `greater`, per variable */
};

/* Sums over slices, n_row x n_col: signs; COMMON: common pairs untied in the row's and in the
 * column's variable. */
struct Sums {
    long long *sign, *row_untied, *col_untied;
};

/* One warp makes 32 words of one variable, a lane for each bit of a word; bits from `first`. */
template <SignMode Mode>
static __global__ void open_planes(const float *columns, int64_t n_obs, int64_t first, int64_t bits, Planes planes) {
    int lane = threadIdx.x % 32;
    int64_t warp = blockIdx.x * (int64_t)(blockDim.x / 32) + threadIdx.x / 32, word = warp * 32;
    if (word >= planes.words) return;
    const float *score = columns + blockIdx.y * n_obs;
    int64_t bit = word * 32 + lane;
    int64_t k = (first + bit) % n_obs, lag = (first + bit) / n_obs + 1;
    unsigned greater = 0, less = 0, present = 0;
    for (int w = 0; w < 32; w++, bit += 32, k += 32) {
        while (k >= n_obs) k -= n_obs, lag++;
        float x = NAN, y = NAN;
        if (bit < bits) {
            x = score[k];
            y = score[k + lag < n_obs ? k + lag : k + lag - n_obs];
        }
        unsigned g = __ballot_sync(~0u, x > y), l = __ballot_sync(~0u, x < y), p = 0;
        if (Mode == COMMON) p = __ballot_sync(~0u, x == x && y == y);
        if (lane == w) greater = g, less = l, present = p;
    }
    if (word + lane < planes.words) {
        int64_t at = blockIdx.y * planes.words + word + lane;
        planes.greater[at] = greater;
        if (Mode != UNTIED) planes.less[at] = less;
        if (Mode == COMMON) planes.present[at] = present;
    }
    if (Mode == UNTIED) {
        unsigned ones = __reduce_add_sync(~0u, (unsigned)__popc(greater));
        if (lane == 0) atomicAdd(&planes.ones[blockIdx.y], ones);
    }
}

/* SIGN_WORDS words of SIGN_TILE variables from each plane, zero beyond the planes' ends. */
template <SignMode Mode>
struct SharedPlanes {
    unsigned greater[SIGN_TILE][SIGN_WORDS + 1];
    unsigned less[Mode == UNTIED ? 1 : SIGN_TILE][SIGN_WORDS + 1];
    unsigned present[Mode == COMMON ? SIGN_TILE : 1][SIGN_WORDS + 1];

    __device__ void load(const Planes &planes, int64_t var, int64_t n_var, int64_t word) {
        for (int e = threadIdx.x; e < SIGN_TILE * SIGN_WORDS; e += 256) {
            int v = e / SIGN_WORDS, w = e % SIGN_WORDS;
            bool inside = var + v < n_var && word + w < planes.words;
            int64_t at = (var + v) * planes.words + word + w;
            greater[v][w] = inside ? planes.greater[at] : 0;
            if (Mode != UNTIED) less[v][w] = inside ? planes.less[at] : 0;
            if (Mode == COMMON) present[v][w] = inside ? planes.present[at] : 0;
        }
    }
};

struct PairCounts {
    int sign = 0, row_untied = 0, col_untied = 0;
};

/* The same two variables of the pair, the same word of each plane. */
template <SignMode Mode>
static __device__ void count_word(const SharedPlanes<Mode> &rows, int r, const SharedPlanes<Mode> &cols, int c, int w,
                                  PairCounts &counts) {
    unsigned a = rows.greater[r][w], a2 = cols.greater[c][w];
    if (Mode == UNTIED) {
        counts.sign += __popc(a & a2);
        return;
    }
    unsigned b = rows.less[r][w], b2 = cols.less[c][w];
    counts.sign += __popc((a & a2) | (b & b2)) - __popc((a & b2) | (b & a2));
    if (Mode == COMMON) {
        counts.row_untied += __popc((a | b) & cols.present[c][w]);
        counts.col_untied += __popc((a2 | b2) & rows.present[r][w]);
    }
}

/* 256 threads count 64 x 64 pairs, each thread 4 x 4 of them, 16 apart. */
template <SignMode Mode>
static __global__ void count_pairs(Planes rows, int64_t n_row, Planes cols, int64_t n_col, int64_t bits, Sums sums) {
    __shared__ SharedPlanes<Mode> a, b;
    int64_t row = blockIdx.y * (int64_t)SIGN_TILE, col = blockIdx.x * (int64_t)SIGN_TILE;
    int r0 = threadIdx.x / 16, c0 = threadIdx.x % 16;
    PairCounts counts[4][4];
    for (int64_t word = 0; word < rows.words; word += SIGN_WORDS) {
        __syncthreads();
        a.load(rows, row, n_row, word);
        b.load(cols, col, n_col, word);
        __syncthreads();
        for (int w = 0; w < SIGN_WORDS; w++)
#pragma unroll
            for (int r = 0; r < 4; r++)
#pragma unroll
                for (int c = 0; c < 4; c++) count_word<Mode>(a, r0 + 16 * r, b, c0 + 16 * c, w, counts[r][c]);
    }
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 4; c++) {
            int64_t i = row + r0 + 16 * r, j = col + c0 + 16 * c, at = i * n_col + j;
            if (i >= n_row || j >= n_col) continue;
            long long sign = counts[r][c].sign;
            if (Mode == UNTIED) sign = 4 * sign - 2 * ((long long)rows.ones[i] + cols.ones[j]) + bits;
            sums.sign[at] += sign;
            if (Mode != COMMON) continue;
            sums.row_untied[at] += counts[r][c].row_untied;
            sums.col_untied[at] += counts[r][c].col_untied;
        }
}

/* A tile's side, from its first variable on. */
struct Side {
    const float *columns;
    const double *norm;
};

/* No untied pair: all values are the same, or there is no pair at all. */
static __device__ double common_coefficient(Sums sums, int64_t at, const float *x, const float *y, int64_t n_obs) {
    long long row_untied = sums.row_untied[at], col_untied = sums.col_untied[at];
    if ((row_untied == 0 || col_untied == 0) && !gcor_has_common_pair(x, y, n_obs)) return GCOR_NO_VALUE;
    return gcor_coefficient((double)sums.sign[at], (double)row_untied, (double)col_untied);
}

/* One thread for each pair of the tile: grid rows are the tile's. */
static __global__ void coefficients(Sums sums, gcor_tile tile, gcor_shape shape, Side rows, Side cols, int64_t n_obs,
                                    double *out) {
    int64_t r = blockIdx.y, col, n;
    gcor_tile_segment(&tile, shape, tile.row + r, &col, &n);
    int64_t k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (k >= n) return;
    int64_t c = col + k - tile.col, at = r * tile.n_col + c;
    out[gcor_tile_offset(&tile, shape, tile.row + r) + k] =
        sums.row_untied ? common_coefficient(sums, at, rows.columns + r * n_obs, cols.columns + c * n_obs, n_obs)
                        : gcor_coefficient((double)sums.sign[at], rows.norm[r], cols.norm[c]);
}

/* Without a tie the pairs not concordant are discordant, and one product tells. A variable without
 * coefficients (norm below 0) may count as it likes. */
static bool untied(const Operand &o, int64_t var, int64_t n_var) {
    double all = (double)gcor_obs_pairs(o.head.n_obs);
    for (int64_t v = var - o.head.first; v < var - o.head.first + n_var; v++)
        if (o.head.norm[v] >= 0 && o.head.norm[v] < all) return false;
    return true;
}

static Planes carve_planes(unsigned *&from, SignMode mode, int64_t n_var, int64_t words) {
    Planes planes{};
    planes.words = words;
    planes.greater = from;
    if (mode != UNTIED) planes.less = planes.greater + n_var * words;
    if (mode == COMMON) planes.present = planes.less + n_var * words;
    planes.ones = from + n_var * words * ((int)mode + 1);
    from = planes.ones + n_var;
    return planes;
}

template <SignMode Mode>
static void open_slice(gcor_state *state, const Operand &o, int64_t var, int64_t n_var, int64_t first, int64_t bits,
                       const Planes &planes) {
    cudaStream_t stream = state->compute.handle;
    check(cudaMemsetAsync(planes.ones, 0, n_var * sizeof(unsigned), stream), "clearing counts");
    dim3 grid(blocks_for(planes.words, 32 * 8), (unsigned)n_var);
    open_planes<Mode><<<grid, 256, 0, stream>>>(o.columns_of(var), o.head.n_obs, first, bits, planes);
    check_launch("opening sign bits");
}

template <SignMode Mode>
static void multiply_slices(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile,
                            const Sums &sums) {
    int64_t all_bits = gcor_obs_pairs(rows.head.n_obs), all_words = (all_bits + 31) / 32;
    int64_t words = all_words < SLICE_WORDS ? all_words : SLICE_WORDS;
    state->planes.reserve((tile.n_row + tile.n_col) * (words * ((int)Mode + 1) + 1), "sign bits");
    unsigned *from = state->planes.data;
    Planes a = carve_planes(from, Mode, tile.n_row, words), b = carve_planes(from, Mode, tile.n_col, words);
    dim3 grid(blocks_for(tile.n_col, SIGN_TILE), blocks_for(tile.n_row, SIGN_TILE));
    for (int64_t first = 0; first < all_bits; first += 32 * words) {
        int64_t bits = all_bits - first < 32 * words ? all_bits - first : 32 * words;
        state->context->monitor.tile_share = (double)first / (double)all_bits;
        if (first > 0) wait_for_compute(state); /* many slices take long: ask whether to stop */
        open_slice<Mode>(state, rows, tile.row, tile.n_row, first, bits, a);
        open_slice<Mode>(state, cols, tile.col, tile.n_col, first, bits, b);
        count_pairs<Mode><<<grid, 256, 0, state->compute.handle>>>(a, tile.n_row, b, tile.n_col, bits, sums);
        check_launch("multiplying signs");
    }
}

static Sums clear_sums(gcor_state *state, bool common, const gcor_tile &tile) {
    int64_t pairs = tile.n_row * tile.n_col, all = pairs * (common ? 3 : 1);
    state->counts.reserve(all, "a tile's counts");
    check(cudaMemsetAsync(state->counts.data, 0, all * sizeof(long long), state->compute.handle), "clearing counts");
    long long *data = state->counts.data;
    return {data, common ? data + pairs : nullptr, common ? data + 2 * pairs : nullptr};
}

static Side side_of(const Operand &o, int64_t var) {
    return {o.columns_of(var), o.norm_of(var)};
}

void multiply_sign(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    const gcor_tile &tile = out.tile;
    bool common = rows.head.kind == GCOR_SIGN_COMMON;
    Sums sums = clear_sums(state, common, tile);
    if (common)
        multiply_slices<COMMON>(state, rows, cols, tile, sums);
    else if (untied(rows, tile.row, tile.n_row) && untied(cols, tile.col, tile.n_col))
        multiply_slices<UNTIED>(state, rows, cols, tile, sums);
    else
        multiply_slices<TIED>(state, rows, cols, tile, sums);
    dim3 grid(blocks_for(tile.n_col, 256), (unsigned)tile.n_row);
    coefficients<<<grid, 256, 0, state->compute.handle>>>(sums, tile, out.shape, side_of(rows, tile.row),
                                                          side_of(cols, tile.col), rows.head.n_obs,
                                                          out.doubles);
    check_launch("finishing a tile");
}
