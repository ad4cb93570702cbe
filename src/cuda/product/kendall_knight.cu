/* Kendall's tau of very long columns by sorting, in n log n steps per pair (Knight 1966).
 *
 * Sort the observations by a column x. D is the number of pairs of observations that are out of order in a column y,
 * that is, whose first one has the larger value. Observations tied in x keep their original order; D' is the same count
 * with ties in reverse order. Then the sum of signs is norm(y) - D - D': norm(y) counts the pairs not tied in y. Such a
 * pair is out of order in exactly one of the two sorts if it is tied in x, and otherwise in neither or in both. If x
 * has no ties, D' equals D.
 *
 * Blocks of observations are sorted in shared memory and then merged, two runs at a time, by all multiprocessors.
 * Pairs that are out of order are counted as elements pass one another. */
#include "kendall.cuh"
#include "../backend/lanes.cuh"

#include <algorithm>
#include <vector>

enum { SORT_THREADS = 256, SORT_EACH = 16, SORT_BLOCK = SORT_THREADS * SORT_EACH };

/* ---- in shared memory ------------------------------------------------------------------------------- */

/* Position of element `at` in shared memory. The padding puts the 16 elements of each thread of a warp in different
 * banks. */
static __device__ inline int position(int at) {
    return at + at / 32;
}

struct SortMemory {
    float keys[SORT_BLOCK + SORT_BLOCK / 32];
    int64_t split[2];
    unsigned long long count;
};

/* Sorts by odd-even transposition and returns the number of exchanges, which equals the number of pairs out of
 * order. */
static __device__ inline unsigned sort_own(float (&keys)[SORT_EACH]) {
    unsigned count = 0;
#pragma unroll
    for (int round = 0; round < SORT_EACH; round++)
#pragma unroll
        for (int e = round % 2; e + 1 < SORT_EACH; e += 2) {
            float low = fminf(keys[e], keys[e + 1]), high = fmaxf(keys[e], keys[e + 1]);
            count += keys[e] > keys[e + 1];
            keys[e] = low;
            keys[e + 1] = high;
        }
    return count;
}

/* Two sorted runs in shared memory; rest_a: elements of the first run from its first element here to its end,
 * including those not in shared memory. */
struct Runs {
    int a, n_a, b, n_b;
    int64_t rest_a;
};

/* Merges elements from .. from+15 of both runs; of equal elements those of the first run come first. Returns the
 * number of pairs (element of the first run, merged element of the second run) that are out of order. */
static __device__ inline unsigned long long merge_some(const float *keys, const Runs &r, int from,
                                                       float (&merged)[SORT_EACH]) {
    int a = max(0, from - r.n_b);
    GCOR_SEARCH(a, min(from, r.n_a), k, keys[position(r.b + from - 1 - k)] < keys[position(r.a + k)]);
    int b = from - a;
    unsigned long long count = 0;
    float next_a = a < r.n_a ? keys[position(r.a + a)] : INFINITY,
          next_b = b < r.n_b ? keys[position(r.b + b)] : INFINITY;
#pragma unroll
    for (int e = 0; e < SORT_EACH; e++) {
        bool from_b = b < r.n_b && (a >= r.n_a || next_b < next_a);
        merged[e] = from_b ? next_b : next_a;
        if (from_b) {
            count += (unsigned long long)(r.rest_a - a);
            b++;
            if (b < r.n_b) next_b = keys[position(r.b + b)];
        } else {
            a++;
            if (a < r.n_a) next_a = keys[position(r.a + a)];
        }
    }
    return count;
}

static __device__ inline void store_own(SortMemory &shared, const float (&keys)[SORT_EACH]) {
    __syncthreads(); /* all threads have read */
#pragma unroll
    for (int e = 0; e < SORT_EACH; e++) shared.keys[position(threadIdx.x * SORT_EACH + e)] = keys[e];
    __syncthreads();
}

/* Adds the counts of all threads to the pair's total. */
static __device__ inline void add_count(SortMemory &shared, unsigned long long count, unsigned long long *total) {
    for (int step = 16; step > 0; step /= 2) count += __shfl_xor_sync(ALL_LANES, count, step);
    if (threadIdx.x % 32 == 0 && count > 0) atomicAdd(&shared.count, count);
    __syncthreads();
    if (threadIdx.x == 0 && shared.count > 0) atomicAdd(total, shared.count);
}

/* ---- kernels ------------------------------------------------------------------------------------------ */

/* Sorts each block of a job's observations; grid rows are jobs. runs: `padded` elements per job, the last ones
 * INFINITY. */
static __global__ void __launch_bounds__(SORT_THREADS)
    sort_blocks(const SortJob *jobs, int64_t n_obs, int64_t padded, float *runs, unsigned long long *counts) {
    __shared__ SortMemory shared;
    SortJob job = jobs[blockIdx.y];
    int64_t first = blockIdx.x * (int64_t)SORT_BLOCK;
    float own[SORT_EACH];
    if (threadIdx.x == 0) shared.count = 0;
    for (int at = threadIdx.x; at < SORT_BLOCK; at += SORT_THREADS)
        shared.keys[position(at)] = first + at < n_obs ? job.score[job.order[first + at]] : INFINITY;
    __syncthreads();
#pragma unroll
    for (int e = 0; e < SORT_EACH; e++) own[e] = shared.keys[position(threadIdx.x * SORT_EACH + e)];
    unsigned long long count = sort_own(own);
    for (int width = SORT_EACH; width < SORT_BLOCK; width *= 2) {
        store_own(shared, own);
        int at = threadIdx.x * SORT_EACH, a = at / (2 * width) * (2 * width);
        count += merge_some(shared.keys, {a, width, a + width, width, width}, at - a, own);
    }
    store_own(shared, own);
    float *out = runs + blockIdx.y * padded + first;
    for (int at = threadIdx.x; at < SORT_BLOCK; at += SORT_THREADS) out[at] = shared.keys[position(at)];
    add_count(shared, count, &counts[job.pair]);
}

/* Returns how many of the first `from` elements of two merged runs come from the first run. Called by a whole warp. */
static __device__ inline int64_t split_runs(const float *a, int64_t n_a, const float *b, int64_t n_b, int64_t from) {
    int64_t low = max((int64_t)0, from - n_b), high = min(from, n_a);
    while (low < high) {
        int64_t step = (high - low + 31) / 32, at = low + threadIdx.x % 32 * step;
        bool is_among = at < high && !(b[from - 1 - at] < a[at]);
        int among = __popc(__ballot_sync(ALL_LANES, is_among));
        high = min(high, low + among * step);
        if (among > 0) low += (among - 1) * step + 1;
    }
    return low;
}

/* Merges runs of `width` pairwise; each thread block merges one part. to: NULL if only the counts are needed. */
static __global__ void __launch_bounds__(SORT_THREADS)
    merge_runs(const SortJob *jobs, int64_t padded, int64_t width, const float *runs, float *to,
               unsigned long long *counts) {
    __shared__ SortMemory shared;
    int64_t first = blockIdx.x * (int64_t)SORT_BLOCK, begin = first / (2 * width) * (2 * width), from = first - begin;
    int64_t n_a = min(width, padded - begin), n_b = min(width, padded - begin - n_a);
    const float *a = runs + blockIdx.y * padded + begin, *b = a + n_a;
    if (threadIdx.x == 0) shared.count = 0;
    if (threadIdx.x < 64) {
        int which = threadIdx.x / 32;
        int64_t split = split_runs(a, n_a, b, n_b, from + which * SORT_BLOCK);
        if (threadIdx.x % 32 == 0) shared.split[which] = split;
    }
    __syncthreads();
    int64_t first_a = shared.split[0], first_b = from - first_a;
    int own_a = (int)(shared.split[1] - first_a);
    for (int at = threadIdx.x; at < SORT_BLOCK; at += SORT_THREADS)
        shared.keys[position(at)] = at < own_a ? a[first_a + at] : b[first_b + at - own_a];
    __syncthreads();
    float merged[SORT_EACH];
    Runs parts{0, own_a, own_a, SORT_BLOCK - own_a, n_a - first_a};
    unsigned long long count = merge_some(shared.keys, parts, threadIdx.x * SORT_EACH, merged);
    if (to) {
        store_own(shared, merged);
        float *out = to + blockIdx.y * padded + first;
        for (int at = threadIdx.x; at < SORT_BLOCK; at += SORT_THREADS) out[at] = shared.keys[position(at)];
    }
    add_count(shared, count, &counts[jobs[blockIdx.y].pair]);
}

static __global__ void sorted_coefficients(const SortPair *pairs, int n, const unsigned long long *counts,
                                           const double *row_norm, const double *col_norm, double *out) {
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n) return;
    SortPair pair = pairs[k];
    double row = row_norm[pair.row], col = col_norm[pair.col];
    double out_of_order = (double)(counts[k] * (pair.counts_twice ? 2 : 1));
    out[pair.out] = gcor_coefficient((pair.x_is_row ? col : row) - out_of_order, row, col);
}

/* Fills keys to be sorted with the index of each observation; down: in reverse order. */
static __global__ void number_keys(const float *scores, int n, bool down, float *keys, int *obs) {
    int64_t at = blockIdx.y * (int64_t)n;
    int k = blockIdx.x * blockDim.x + threadIdx.x, from = down ? n - 1 - k : k;
    if (k >= n) return;
    keys[at + k] = scores[at + from];
    obs[at + k] = from;
}

/* ---- orders of columns ---------------------------------------------------------------------------------- */

/* Sorts the observations of adjacent columns by their scores. */
static void order_columns(gcor_state *state, const float *scores, int64_t n_obs, int64_t columns, bool down,
                          DeviceArray<int> &order) {
    const char *what = "sorting columns";
    KnightBuffers &buffers = state->products->knight;
    int64_t values = n_obs * columns;
    buffers.keys.reserve(values, what);
    buffers.sorted_keys.reserve(values, what);
    buffers.obs.reserve(values, what);
    order.reserve(values, what);
    dim3 grid(blocks_for(n_obs, 256), (unsigned)columns);
    number_keys<<<grid, 256, 0, state->compute.handle>>>(scores, (int)n_obs, down, buffers.keys.data, buffers.obs.data);
    check_launch(what);
    sort_columns(state, buffers.sort, buffers.keys.data, buffers.sorted_keys.data, buffers.obs.data, order.data,
                 (int)n_obs, (int)columns);
}

/* ---- a tile ----------------------------------------------------------------------------------------------- */

/* Computes a tile in batches of as many jobs as the buffers hold. */
class KnightTile {
  public:
    KnightTile(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out, bool but_few)
        : state(state), rows(rows), cols(cols), out(out), but_few(but_few), n_obs(rows.head.n_obs),
          padded((n_obs + SORT_BLOCK - 1) / SORT_BLOCK * SORT_BLOCK), buffers(state->products->knight) {
        int64_t bytes = std::min<int64_t>(SLICE_BYTES, state->total_memory / 16);
        max = (size_t)gcor_clamp(bytes / (2 * padded * (int64_t)sizeof(float)), 2, 65534); /* max rows of a grid */
        group = gcor_clamp(bytes / (5 * n_obs * (int64_t)sizeof(float)), 1, 32768);
    }

    void multiply() {
        by_columns(true);
        by_columns(false);
    }

  private:
    gcor_state *state;
    const Operand &rows, &cols;
    const Packed &out;
    bool but_few; /* pairs whose columns both have few levels are already done */
    int64_t n_obs, padded, group;
    size_t max;
    KnightBuffers &buffers;
    std::vector<SortJob> jobs;
    std::vector<SortPair> pairs;
    int64_t done = 0;

    int64_t row_var(int64_t i) const { return out.tile.row + i - rows.head.first; }
    int64_t col_var(int64_t j) const { return out.tile.col + j - cols.head.first; }

    /* True if the pair is to be computed and x is its row's column (x_is_row) or its column's. If one column has no
     * ties, it serves as x. */
    bool is_wanted(int64_t i, int64_t j, bool x_is_row) const {
        int64_t row = row_var(i), col = col_var(j);
        if (!(rows.head.norm[row] > 0 && cols.head.norm[col] > 0)) return false;
        if (but_few && rows.level_count[row] > 0 && cols.level_count[col] > 0) return false;
        return x_is_row == (!has_ties(rows, row) || has_ties(cols, col));
    }

    /* Calls body(i, j, output index) for the pairs whose x is one of the columns first .. first+n-1 of the side. */
    template <class Body>
    void for_pairs(bool x_is_row, int64_t first, int64_t n, Body body) const {
        const gcor_tile &tile = out.tile;
        for (int64_t i = x_is_row ? first : 0; i < (x_is_row ? first + n : tile.n_row); i++) {
            int64_t col, count;
            gcor_tile_segment(&tile, out.shape, tile.row + i, &col, &count);
            int64_t offset = gcor_tile_offset(&tile, out.shape, tile.row + i) - (col - tile.col);
            int64_t begin = col - tile.col, end = begin + count;
            if (!x_is_row) begin = std::max(begin, first), end = std::min(end, first + n);
            for (int64_t j = begin; j < end; j++)
                if (is_wanted(i, j, x_is_row)) body(i, j, offset + j);
        }
    }

    void by_columns(bool x_is_row) {
        int64_t n = x_is_row ? out.tile.n_row : out.tile.n_col;
        for (int64_t first = 0; first < n; first += group) by_group(x_is_row, first, std::min(group, n - first));
    }

    /* Computes the pairs of columns whose sort orders are in memory at the same time. */
    void by_group(bool x_is_row, int64_t first, int64_t n) {
        const Operand &side = x_is_row ? rows : cols, &other = x_is_row ? cols : rows;
        int64_t var = (x_is_row ? out.tile.row : out.tile.col) + first;
        bool any = false, any_tied = false;
        auto is_tied = [&](int64_t i, int64_t j) { return has_ties(side, x_is_row ? row_var(i) : col_var(j)); };
        for_pairs(x_is_row, first, n, [&](int64_t i, int64_t j, int64_t) {
            any = true;
            any_tied = any_tied || is_tied(i, j);
        });
        if (!any) return;
        order_columns(state, side.columns_of(var), n_obs, n, false, buffers.up);
        if (any_tied) order_columns(state, side.columns_of(var), n_obs, n, true, buffers.down);
        for_pairs(x_is_row, first, n, [&](int64_t i, int64_t j, int64_t at) {
            int64_t order = ((x_is_row ? i : j) - first) * n_obs;
            const float *score = other.columns_of(x_is_row ? out.tile.col + j : out.tile.row + i);
            bool tied = is_tied(i, j);
            jobs.push_back({buffers.up.data + order, score, (int)pairs.size()});
            if (tied) jobs.push_back({buffers.down.data + order, score, (int)pairs.size()});
            pairs.push_back({(int)i, (int)j, at, x_is_row, !tied});
            if (jobs.size() + 2 > max) run();
        });
        run();
    }

    template <class T>
    void upload(DeviceArray<T> &array, const std::vector<T> &list) {
        array.reserve((int64_t)list.size(), "a list of pairs");
        copy_to_device(array.data, list.data(), (int64_t)list.size(), state->compute, "copying a list of pairs");
    }

    void run() {
        if (jobs.empty()) return;
        cudaStream_t stream = state->compute.handle;
        upload(buffers.jobs, jobs);
        upload(buffers.pairs, pairs);
        buffers.counts.reserve((int64_t)pairs.size(), "counts of pairs");
        for (auto &runs : buffers.runs) runs.reserve((int64_t)jobs.size() * padded, "observations being sorted");
        clear(buffers.counts.data, (int64_t)pairs.size(), state->compute, "clearing counts");
        count_all();
        int n = (int)pairs.size();
        sorted_coefficients<<<blocks_for(n, 256), 256, 0, stream>>>(buffers.pairs.data, n, buffers.counts.data,
                                                                    rows.norm_of(out.tile.row),
                                                                    cols.norm_of(out.tile.col), out.doubles);
        check_launch("finishing pairs");
        done += n;
        state->context->tile_fraction = (double)done / (double)gcor_tile_pairs(&out.tile, out.shape);
        wait_for_compute(state); /* also asks whether to stop */
        jobs.clear();
        pairs.clear();
    }

    void count_all() {
        dim3 grid((unsigned)(padded / SORT_BLOCK), (unsigned)jobs.size());
        cudaStream_t stream = state->compute.handle;
        float *from = buffers.runs[0].data, *to = buffers.runs[1].data;
        unsigned long long *counts = buffers.counts.data;
        sort_blocks<<<grid, SORT_THREADS, 0, stream>>>(buffers.jobs.data, n_obs, padded, from, counts);
        for (int64_t width = SORT_BLOCK; width < padded; width *= 2, std::swap(from, to))
            merge_runs<<<grid, SORT_THREADS, 0, stream>>>(buffers.jobs.data, padded, width, from,
                                                          2 * width < padded ? to : nullptr, counts);
        check_launch("sorting observations");
    }
};

void exact_by_knight(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out, bool but_few) {
    KnightTile(state, rows, cols, out, but_few).multiply();
}
