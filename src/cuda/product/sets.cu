/* Kendall of long columns: a product of sets. A column is some sets of bits, and what two columns' sets have in common
 * makes the numerator:
 *
 *   signs    bits are pairs of observations (k, q): where x[k] > x[q], and with ties also where x[k] < x[q]. A column
 *            without ties is one set, so that one with ties makes no other one dearer.
 *   levels   bits are observations: where x is at level 1 or above, 2 or above, ... Columns of up to FEW_LEVELS values,
 *            for which n_obs bits do in the place of n_obs^2 / 2.
 *
 * The bits are opened and multiplied slice by slice, and a slice in parts, so that a few columns keep all processors
 * busy. Which way a pair took cannot be seen: the numerator is the same integer. */
#include "../backend/lanes.cuh"
#include "../sink/set_counts.cuh"
#include "launch.cuh"
#include "sets.cuh"

#include <algorithm>
#include <cub/block/block_reduce.cuh>
#include <vector>

/* ---- levels of columns ------------------------------------------------------------------------- */

struct Smaller {
    __device__ float operator()(float a, float b) const { return a < b ? a : b; }
};

/* One block for each column: its distinct scores, ascending, and how many; 0: more than FEW_LEVELS, or none. */
static __global__ void find_levels(const float *scores, int64_t n_obs, float *levels, int *count) {
    using Reduce = cub::BlockReduce<float, COLUMN_THREADS>;
    __shared__ typename Reduce::TempStorage storage;
    __shared__ float above;
    const float *score = scores + blockIdx.x * n_obs;
    float last = -INFINITY;
    int found = 0;
    for (; found <= FEW_LEVELS; found++) {
        float next = INFINITY;
        for (int64_t k = threadIdx.x; k < n_obs; k += COLUMN_THREADS)
            if (score[k] > last && score[k] < next) next = score[k];
        next = Reduce(storage).Reduce(next, Smaller());
        if (threadIdx.x == 0) above = next;
        __syncthreads();
        last = above;
        __syncthreads();
        if (last == INFINITY) break;
        if (threadIdx.x == 0 && found < FEW_LEVELS) levels[blockIdx.x * FEW_LEVELS + found] = last;
    }
    if (threadIdx.x == 0) count[blockIdx.x] = found > FEW_LEVELS ? 0 : found;
}

void count_levels(gcor_state *state, Operand &o) {
    int64_t n_var = o.head.n_var;
    o.levels.reserve(n_var * FEW_LEVELS, "levels of columns");
    DeviceArray<int> &count = state->products.level_counts;
    count.reserve(n_var, "levels of columns");
    o.level_count.reset(new int[n_var]);
    cudaStream_t stream = state->compute.handle;
    find_levels<<<(unsigned)n_var, COLUMN_THREADS, 0, stream>>>(o.columns.data, o.head.n_obs, o.levels.data,
                                                                count.data);
    check_launch("finding levels");
    check(cudaMemcpyAsync(o.level_count.get(), count.data, (size_t)n_var * sizeof(int), cudaMemcpyDeviceToHost, stream),
          "copying levels");
    wait_for_compute(state);
}

/* ---- lists of sets -------------------------------------------------------------------------------- */

enum Bits { SIGNS, LEVELS };
enum Which { ALL, FEW, MANY }; /* levels */

/* Some variables of a side: on the host, set by set, 32 times the variable's number in the side, and which of its sets
 * that is; and where a variable's first set is, -1 without any. */
struct SetList {
    std::vector<int> code, first;
};

static bool has_ties(const Operand &o, int64_t v) {
    return o.head.norm[v] < (double)gcor_obs_pairs(o.head.n_obs);
}

/* Those without coefficients have no sets. */
static SetList list_sets(const Operand &o, int64_t var, int64_t n_var, Bits bits, Which which) {
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

static void upload(gcor_state *state, const SetList &list, SetBuffers &buffers) {
    buffers.code.reserve((int64_t)list.code.size(), "sets of columns");
    buffers.first.reserve((int64_t)list.first.size(), "sets of columns");
    buffers.ones.reserve((int64_t)list.code.size(), "sets of columns");
    cudaStream_t stream = state->compute.handle;
    check(cudaMemcpyAsync(buffers.code.data, list.code.data(), list.code.size() * sizeof(int), cudaMemcpyHostToDevice,
                          stream),
          "copying a list of sets");
    check(cudaMemcpyAsync(buffers.first.data, list.first.data(), list.first.size() * sizeof(int),
                          cudaMemcpyHostToDevice, stream),
          "copying a list of sets");
    check(cudaMemsetAsync(buffers.ones.data, 0, list.code.size() * sizeof(unsigned long long), stream),
          "clearing counts");
}

/* ---- bits ----------------------------------------------------------------------------------------- */

enum { OPEN_WARPS = 8, WARP_PIECES = 32 };

/* What is opened: pieces first .. first+n-1 of `total`, of the side's variables. */
struct Opening {
    const float *scores, *levels; /* of the side's first variable */
    int64_t n_obs, first, n, total;
    const int *code;
    unsigned char *plane;
    int64_t stride;
    unsigned long long *ones;
};

/* Number p of the pairs h <= g, by g and then h. */
static __device__ inline void triangle_pair(int64_t p, int64_t *g, int64_t *h) {
    int64_t at = (int64_t)((sqrt(8 * (double)p + 1) - 1) / 2);
    while (gcor_triangular(at) > p) at--;
    while (gcor_triangular(at + 1) <= p) at++;
    *g = at;
    *h = p - gcor_triangular(at);
}

/* Where the lane's word of a set's first piece goes; that of the next piece is o.stride bytes further on. */
static __device__ inline unsigned char *first_word(const Opening &o, int set) {
    int lane = threadIdx.x % 32;
    return o.plane + chunk_place(o.stride, set, lane / 4) + lane % 4 * 4;
}

static __device__ inline void add_ones(const Opening &o, int set, unsigned ones) {
    ones = __reduce_add_sync(ALL_LANES, ones);
    if (threadIdx.x % 32 == 0 && ones > 0) atomicAdd(&o.ones[set], (unsigned long long)ones);
}

/* The first piece of a warp in a slice; grid rows are sets. */
static __device__ inline int64_t first_piece() {
    return (blockIdx.x * (int64_t)OPEN_WARPS + threadIdx.x / 32) * WARP_PIECES;
}

/* 32 observations q, sorted, and which of them are among the first 0, 1, ... 32: of a warp. */
struct Sorted {
    float score[33];
    unsigned first[33];
};

static __device__ inline void sort_lanes(float &score, unsigned &bit) {
    int lane = threadIdx.x % 32;
#pragma unroll
    for (int size = 2; size <= 32; size *= 2)
#pragma unroll
        for (int step = size / 2; step > 0; step /= 2) {
            float other = __shfl_xor_sync(ALL_LANES, score, step);
            unsigned other_bit = __shfl_xor_sync(ALL_LANES, bit, step);
            bool ascending = (lane & size) == 0, is_lower = (lane & step) == 0;
            bool is_larger = score > other || (score == other && bit > other_bit);
            if (is_larger == (ascending == is_lower)) score = other, bit = other_bit;
        }
}

static __device__ inline void sort_group(float score, Sorted &sorted) {
    int lane = threadIdx.x % 32;
    unsigned bit = 1u << lane;
    sort_lanes(score, bit);
    for (int step = 1; step < 32; step *= 2) {
        unsigned before = __shfl_up_sync(ALL_LANES, bit, step);
        if (lane >= step) bit |= before;
    }
    __syncwarp(); /* the last group's are read */
    sorted.score[lane] = score;
    sorted.first[lane + 1] = bit;
    if (lane == 0) sorted.first[0] = 0;
    __syncwarp();
}

/* Those that are less than x; none if that is not a number. */
static __device__ inline unsigned lesser(const Sorted &sorted, float x) {
    int n = 0;
#pragma unroll
    for (int step = 16; step > 0; step /= 2)
        if (sorted.score[n + step - 1] < x) n += step;
    n += sorted.score[n] < x;
    return sorted.first[n];
}

/* A piece: 32 observations k, one in each lane, against 32 observations q, which are the same for some pieces; with q
 * ascending each k up to q is there once. less: of what is not greater but less. */
static __global__ void open_signs(const __grid_constant__ Opening o) {
    __shared__ Sorted shared[OPEN_WARPS];
    Sorted &sorted = shared[threadIdx.x / 32];
    int lane = threadIdx.x % 32, set = blockIdx.y, code = o.code[set];
    const float *score = o.scores + code / SET_CODES * o.n_obs;
    float sign = code % SET_CODES == 1 ? -1.0f : 1.0f;
    int64_t piece = first_piece(), g, h;
    unsigned char *out = first_word(o, set) + piece * o.stride;
    unsigned ones = 0;
    bool is_new = true;
    triangle_pair(o.first + piece, &g, &h);
    for (int64_t end = min(piece + WARP_PIECES, o.n); piece < end; piece++, out += o.stride) {
        unsigned word = 0;
        if (o.first + piece < o.total) {
            int64_t k = 32 * h + lane, q = 32 * g + lane;
            if (is_new) sort_group(q < o.n_obs ? sign * score[q] : INFINITY, sorted);
            word = lesser(sorted, k < o.n_obs ? sign * score[k] : NAN);
            if (g == h) word &= lane == 31 ? 0 : ~0u << (lane + 1); /* each pair once */
            is_new = ++h > g;
            if (is_new) g++, h = 0;
        }
        *(unsigned *)out = word;
        ones += __popc(word);
    }
    add_ones(o, set, ones);
}

/* A piece: 32 times 32 observations. */
static __global__ void open_levels(const __grid_constant__ Opening o) {
    int lane = threadIdx.x % 32, set = blockIdx.y, code = o.code[set];
    const float *score = o.scores + code / SET_CODES * o.n_obs;
    float level = o.levels[code / SET_CODES * FEW_LEVELS + code % SET_CODES + 1];
    int64_t piece = first_piece();
    unsigned char *out = first_word(o, set) + piece * o.stride;
    unsigned ones = 0;
    for (int64_t end = min(piece + WARP_PIECES, o.n); piece < end; piece++, out += o.stride) {
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

static void open_side(gcor_state *state, Bits kind, const Operand &operand, int64_t var, const SetList &list,
                      const SetBuffers &buffers, int64_t first, int64_t n, int64_t total) {
    const int64_t most =
        32768; /* a grid has no more rows than 65,535; a multiple of 8: the pattern of chunks goes on */
    for (int64_t s = 0; s < (int64_t)list.code.size(); s += most) {
        int64_t sets = std::min<int64_t>(most, (int64_t)list.code.size() - s);
        Opening opening{operand.columns_of(var),
                        operand.levels.data + (var - operand.head.first) * FEW_LEVELS,
                        operand.head.n_obs,
                        first,
                        n,
                        total,
                        buffers.code.data + s,
                        buffers.bits.data + s * PIECE_BYTES,
                        (int64_t)list.code.size() * PIECE_BYTES,
                        buffers.ones.data + s};
        dim3 grid(blocks_for(n, OPEN_WARPS * WARP_PIECES), (unsigned)sets);
        auto kernel = kind == LEVELS ? open_levels : open_signs;
        kernel<<<grid, OPEN_WARPS * 32, 0, state->compute.handle>>>(opening);
        check_launch("opening sets");
    }
}

/* ---- from counts to coefficients -------------------------------------------------------------------- */

struct Counted {
    const unsigned long long *counts, *row_ones, *col_ones;
    const int *row_first, *col_first, *row_code, *col_code;
    int64_t n_rows, n_cols; /* sets */
    gcor_tile tile;         /* variables */
    gcor_shape shape;
    int64_t n_obs;
    const double *row_norm, *col_norm;
    double *out;
};

/* How many sets the variable with its first one at `at` has. */
static __device__ inline int sets_at(const int *code, int64_t at, int64_t n) {
    int sets = 1;
    while (at + sets < n && code[at + sets] % SET_CODES == sets) sets++;
    return sets;
}

static __device__ inline int64_t common(const Counted &c, int64_t i, int64_t j) {
    return (int64_t)c.counts[i * c.n_cols + j];
}

/* a, b: greater and less; of a column without ties less is all that is not greater. */
static __device__ int64_t sign_numerator(const Counted &c, int64_t i, int64_t j, bool tied_row, bool tied_col) {
    int64_t greater = common(c, i, j), row = (int64_t)c.row_ones[i], col = (int64_t)c.col_ones[j];
    if (!tied_row && !tied_col) return 4 * greater - 2 * (row + col) + gcor_obs_pairs(c.n_obs);
    if (!tied_col) return 2 * (greater - common(c, i + 1, j)) - row + (int64_t)c.row_ones[i + 1];
    if (!tied_row) return 2 * (greater - common(c, i, j + 1)) - col + (int64_t)c.col_ones[j + 1];
    return greater + common(c, i + 1, j + 1) - common(c, i, j + 1) - common(c, i + 1, j);
}

/* Observations at level a of x or above and at level b of y or above; level 0 is that of all. */
static __device__ inline int64_t at_least(const Counted &c, int64_t i, int64_t j, int a, int b, int rows, int cols) {
    if (a > rows || b > cols) return 0;
    if (a == 0 && b == 0) return c.n_obs;
    if (a == 0) return (int64_t)c.col_ones[j + b - 1];
    return b == 0 ? (int64_t)c.row_ones[i + a - 1] : common(c, i + a - 1, j + b - 1);
}

static __device__ int64_t level_numerator(const Counted &c, int64_t i, int64_t j, int rows, int cols) {
    int64_t numerator = 0;
    for (int a = 0; a <= rows; a++)
        for (int b = 0; b <= cols; b++) {
            int64_t above = at_least(c, i, j, a + 1, b + 1, rows, cols);
            int64_t right = at_least(c, i, j, a + 1, b, rows, cols), up = at_least(c, i, j, a, b + 1, rows, cols);
            int64_t here = at_least(c, i, j, a, b, rows, cols) - right - up + above;
            int64_t below = at_least(c, i, j, a + 1, 0, rows, cols) - right;
            numerator += here * (above - below);
        }
    return numerator;
}

/* Of pairs that are in both lists, one thread each: grid rows are the tile's. Kind by the lists; `none`: of pairs that
 * have no coefficient. */
template <class Value>
static __device__ inline void for_pair(const Counted &c, Value value) {
    int64_t i = blockIdx.y, col, n, k = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    gcor_tile_segment(&c.tile, c.shape, c.tile.row + i, &col, &n);
    if (k >= n) return;
    value(i, col + k - c.tile.col, &c.out[gcor_tile_offset(&c.tile, c.shape, c.tile.row + i) + k]);
}

template <Bits Kind>
static __global__ void set_coefficients(const __grid_constant__ Counted c) {
    for_pair(c, [&](int64_t i, int64_t j, double *out) {
        int64_t row = c.row_first[i], col = c.col_first[j];
        if (row < 0 || col < 0) return;
        int rows = sets_at(c.row_code, row, c.n_rows), cols = sets_at(c.col_code, col, c.n_cols);
        int64_t numerator = Kind == LEVELS ? level_numerator(c, row, col, rows, cols)
                                           : sign_numerator(c, row, col, rows > 1, cols > 1);
        *out = gcor_coefficient((double)numerator, c.row_norm[i], c.col_norm[j]);
    });
}

static __global__ void fill_without(const __grid_constant__ Counted c) {
    for_pair(c, [&](int64_t i, int64_t j, double *out) {
        if (!(c.row_norm[i] > 0 && c.col_norm[j] > 0)) *out = gcor_coefficient(0, c.row_norm[i], c.col_norm[j]);
    });
}

/* ---- a product ------------------------------------------------------------------------------------------ */

/* A tile of variables, or some of its rows; out: of the whole tile. */
struct SetTile {
    gcor_state *state;
    const Operand &rows, &cols;
    gcor_tile tile;
    const Packed &out;
};

static Counted counted_of(const SetTile &t) {
    Counted c{};
    c.tile = t.tile;
    c.shape = t.out.shape;
    c.n_obs = t.rows.head.n_obs;
    c.row_norm = t.rows.norm_of(t.tile.row);
    c.col_norm = t.cols.norm_of(t.tile.col);
    c.out = t.out.doubles + gcor_tile_offset(&t.out.tile, t.out.shape, t.tile.row);
    return c;
}

static dim3 pair_grid(const gcor_tile &tile) {
    return dim3(blocks_for(tile.n_col, 256), (unsigned)tile.n_row);
}

/* The lists of a product, and where the rows' sets are among the columns', which are then opened for both; -1: they are
 * not. */
struct SetLists {
    const SetList &rows, &cols;
    int64_t start;
    int64_t n_rows() const { return (int64_t)rows.code.size(); }
    int64_t n_cols() const { return (int64_t)cols.code.size(); }
};

static int64_t start_among(const SetTile &t, const SetList &rows, const SetList &cols) {
    int64_t shift = t.tile.row - t.tile.col;
    if (&t.rows != &t.cols || shift < 0 || shift + t.tile.n_row > t.tile.n_col || rows.code.empty()) return -1;
    int64_t start = cols.first[(size_t)(shift + rows.code[0] / SET_CODES)];
    if (start < 0 || start % 8 != 0 || start + rows.code.size() > cols.code.size())
        return -1; /* the pattern of chunks */
    for (size_t k = 0; k < rows.code.size(); k++)
        if (cols.code[(size_t)start + k] != rows.code[k] + (int)shift * SET_CODES) return -1;
    return start;
}

/* Blocks of the kernel that will multiply which have a pair that counts, and how many of them run at a time. */
static void count_blocks(const SetTile &t, const SetLists &lists, int64_t *active, int64_t *at_a_time) {
    bool wgmma = t.state->wgmma;
    int64_t rows = wgmma ? WGMMA_CLUSTER * WGMMA_GROUPS * 64 : MMA_BLOCK_ROWS,
            cols = wgmma ? WGMMA_COLS : MMA_BLOCK_COLS;
    auto row = [&](int64_t k) { return t.tile.row + lists.rows.code[(size_t)k] / SET_CODES; };
    auto col = [&](int64_t k) { return t.tile.col + lists.cols.code[(size_t)k] / SET_CODES; };
    *at_a_time = wgmma ? t.state->processors / WGMMA_CLUSTER : 2 * t.state->processors;
    *active = 0;
    for (int64_t i = 0; i < lists.n_rows(); i += rows)
        for (int64_t j = 0; j < lists.n_cols(); j += cols)
            *active += has_pair(t.out.shape, row(i), row(std::min(i + rows, lists.n_rows()) - 1), col(j),
                                col(std::min(j + cols, lists.n_cols()) - 1));
}

/* Pieces of a slice, and in how many parts it is multiplied: enough of them for all processors. */
static void plan_slices(const SetTile &t, const SetLists &lists, int64_t total, int *parts, int64_t *part_pieces) {
    const int64_t least = 16, rounds = 2;
    int64_t memory = std::min<int64_t>(SLICE_BYTES, t.state->total_memory / 16), active, at_a_time;
    int64_t sets = lists.n_cols() + (lists.start < 0 ? lists.n_rows() : 0);
    int64_t pieces = std::min(total, std::max<int64_t>(least, memory / (sets * PIECE_BYTES)));
    count_blocks(t, lists, &active, &at_a_time);
    *parts = (int)std::max<int64_t>(1, std::min(rounds * at_a_time / std::max<int64_t>(1, active), pieces / least));
    *part_pieces = std::min<int64_t>((pieces + *parts - 1) / *parts, 1 << 20); /* counts of a part are int */
}

static Product set_product(const SetTile &t, const SetLists &lists, int64_t pieces, int parts) {
    const SetBuffers &row = t.state->products.row_sets, &col = t.state->products.col_sets;
    bool shared = lists.start >= 0;
    Product product{};
    product.mode = UNTIED;
    product.shape = GCOR_FULL;
    product.tile = {0, lists.n_rows(), 0, lists.n_cols()};
    product.n_obs = t.rows.head.n_obs;
    product.pieces = (int)pieces;
    product.parts = parts;
    product.rows.planes[0] = shared ? col.bits.data : row.bits.data;
    product.rows.stride = (shared ? lists.n_cols() : lists.n_rows()) * PIECE_BYTES;
    product.row_start = shared ? lists.start : 0;
    product.cols.planes[0] = col.bits.data;
    product.cols.stride = lists.n_cols() * PIECE_BYTES;
    product.row_code = row.code.data;
    product.col_code = col.code.data;
    product.variables = t.tile;
    product.variable_shape = t.out.shape;
    return product;
}

static Counted counted_lists(const SetTile &t, const SetLists &lists) {
    const SetBuffers &row = t.state->products.row_sets, &col = t.state->products.col_sets;
    Counted c = counted_of(t);
    c.counts = t.state->products.set_counts.data;
    c.row_first = row.first.data;
    c.row_code = row.code.data;
    c.row_ones = lists.start >= 0 ? col.ones.data + lists.start : row.ones.data;
    c.col_first = col.first.data;
    c.col_code = col.code.data;
    c.col_ones = col.ones.data;
    c.n_rows = lists.n_rows();
    c.n_cols = lists.n_cols();
    return c;
}

static void reserve_sets(gcor_state *state, const SetLists &lists, int64_t slice) {
    ProductBuffers &buffers = state->products;
    int64_t pairs = lists.n_rows() * lists.n_cols();
    upload(state, lists.rows, buffers.row_sets);
    upload(state, lists.cols, buffers.col_sets);
    if (lists.start < 0) buffers.row_sets.bits.reserve(piece_bytes(lists.n_rows(), slice), "sets of columns");
    buffers.col_sets.bits.reserve(piece_bytes(lists.n_cols(), slice), "sets of columns");
    buffers.set_counts.reserve(pairs, "counts of sets");
    check(
        cudaMemsetAsync(buffers.set_counts.data, 0, (size_t)pairs * sizeof(unsigned long long), state->compute.handle),
        "clearing counts");
}

static void multiply_lists(const SetTile &t, Bits kind, const SetList &rows, const SetList &cols) {
    gcor_state *state = t.state;
    ProductBuffers &buffers = state->products;
    if (rows.code.empty() || cols.code.empty()) return;
    SetLists lists{rows, cols, start_among(t, rows, cols)};
    int64_t groups = (t.rows.head.n_obs + 31) / 32, pieces;
    int64_t total = kind == LEVELS ? (groups + PIECE_WORDS - 1) / PIECE_WORDS : gcor_triangular(groups);
    int parts;
    plan_slices(t, lists, total, &parts, &pieces);
    int64_t slice = parts * pieces;
    reserve_sets(state, lists, slice);
    Product product = set_product(t, lists, pieces, parts);
    SetCounts counts;
    counts.into = buffers.set_counts.data;
    for (int64_t first = 0; first < total; first += slice) {
        state->context->tile_share = (double)first / (double)total;
        if (first > 0) wait_for_compute(state); /* many slices take long: ask whether to stop */
        if (lists.start < 0) open_side(state, kind, t.rows, t.tile.row, rows, buffers.row_sets, first, slice, total);
        open_side(state, kind, t.cols, t.tile.col, cols, buffers.col_sets, first, slice, total);
        launch_sink(state, product, counts);
    }
    auto kernel = kind == LEVELS ? set_coefficients<LEVELS> : set_coefficients<SIGNS>;
    kernel<<<pair_grid(t.tile), 256, 0, state->compute.handle>>>(counted_lists(t, lists));
    check_launch("finishing a tile");
    wait_for_compute(state); /* the lists are the caller's */
}

/* Whether it pays to have pairs of few levels apart: the others' columns have to be opened for signs in any case. */
static bool is_worth(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    auto few = [](const Operand &o, int64_t var, int64_t n) {
        int64_t count = 0;
        for (int64_t v = var - o.head.first; v < var - o.head.first + n; v++) count += o.level_count[v] > 0;
        return (double)count / (double)n;
    };
    return few(rows, tile.row, tile.n_row) * few(cols, tile.col, tile.n_col) > 0.25;
}

/* Some rows at a time, so that counts of all pairs of sets have room, and a walk has so many rows. */
static void multiply_levels(const SetTile &all) {
    SetList cols = list_sets(all.cols, all.tile.col, all.tile.n_col, LEVELS, FEW);
    const int64_t most = FEW_LEVELS - 1, sets = std::max<int64_t>(1, (int64_t)cols.code.size());
    int64_t fitting = COUNT_BYTES / (int64_t)sizeof(unsigned long long) / sets / most;
    int64_t step = std::max<int64_t>(1, std::min<int64_t>(fitting, WALK_GROUPS * WALK_ROWS / most));
    for (int64_t row = 0; row < all.tile.n_row; row += step) {
        SetTile t = all;
        t.tile.row += row;
        t.tile.n_row = std::min(step, all.tile.n_row - row);
        multiply_lists(t, LEVELS, list_sets(t.rows, t.tile.row, t.tile.n_row, LEVELS, FEW), cols);
    }
}

void multiply_sets(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    SetTile t{state, rows, cols, out.tile, out};
    auto row = [&](Which which) { return list_sets(rows, out.tile.row, out.tile.n_row, SIGNS, which); };
    auto col = [&](Which which) { return list_sets(cols, out.tile.col, out.tile.n_col, SIGNS, which); };
    if (is_worth(rows, cols, out.tile)) {
        multiply_levels(t);
        multiply_lists(t, SIGNS, row(MANY), col(ALL));
        multiply_lists(t, SIGNS, row(FEW), col(MANY));
    } else {
        multiply_lists(t, SIGNS, row(ALL), col(ALL));
    }
    fill_without<<<pair_grid(t.tile), 256, 0, state->compute.handle>>>(counted_of(t));
    check_launch("finishing a tile");
}
