/* Ranks on the device, decided on the doubles: for sign columns, rank columns and pairwise-complete columns
 * (prepare.cu). Ranking a value means counting the values of its column that are below it and those equal to it;
 * everything else follows. Short columns are counted in shared memory, long ones are sorted by CUB and searched. */
#include "operand.cuh"
#include "../backend/lanes.cuh"

/* Destination of a column's ranks: scores, or order, begin and end for RANK_COMMON, PAIR_COMMON and
 * DISTANCE_COMMON. The others are NULL. */
struct RankOutput {
    float *scores;
    int *order, *begin, *end;
    double *norm;
    int *present;
    bool untied_pairs; /* norm: the number of untied pairs if true, otherwise the sum of the squared scores */
};

/* Sums over a column, for its norm. */
struct ColumnSums {
    double squares = 0, tied = 0;
};

/* Writes one value's ranks. `below` values are smaller, `equal` are equal (including itself), and `before` of the
 * equal ones come earlier in a fixed order. */
static __device__ void put(const RankOutput &out, int64_t at, int k, int below, int equal, int before, int present,
                           ColumnSums &sums) {
    int score = below - (present - below - equal); /* twice the centred rank */
    if (out.scores) out.scores[at + k] = (float)score;
    if (out.order) {
        out.order[at + below + before] = k;
        out.begin[at + k] = below;
        out.end[at + k] = below + equal;
    }
    sums.squares += (double)score * score;
    sums.tied += 0.5 * (equal - 1);
}

static __device__ void put_missing(const RankOutput &out, int64_t at, int k) {
    if (out.scores) out.scores[at + k] = NAN;
    if (out.order) out.begin[at + k] = out.end[at + k] = -1;
}

static __device__ void put_norm(const RankOutput &out, int present, const ColumnSums &sums) {
    double squares = reduce_block<COLUMN_THREADS>(sums.squares, Plus());
    double tied = reduce_block<COLUMN_THREADS>(sums.tied, Plus());
    if (threadIdx.x != 0) return;
    out.norm[blockIdx.x] = out.untied_pairs ? (double)gcor_obs_pairs(present) - tied : squares;
    out.present[blockIdx.x] = present;
}

static __device__ int count_present(const double *x, int n) {
    int present = 0;
    for (int k = 0; k < n; k += COLUMN_THREADS) {
        int mine = k + threadIdx.x;
        present += __syncthreads_count(mine < n && !isnan(x[mine]));
    }
    return present;
}

/* One block per column, held in shared memory; every value is compared with every other. */
static __global__ void rank_by_counting(const double *values, int n, RankOutput out) {
    extern __shared__ double x[];
    int64_t at = blockIdx.x * (int64_t)n;
    for (int k = threadIdx.x; k < n; k += COLUMN_THREADS) x[k] = values[at + k];
    __syncthreads();
    int present = count_present(x, n);
    ColumnSums sums;
    for (int k = threadIdx.x; k < n; k += COLUMN_THREADS) {
        double own = x[k];
        int below = 0, equal = 0, before = 0;
        for (int q = 0; q < n; q++) {
            below += x[q] < own;
            equal += x[q] == own;
            before += x[q] == own && q < k;
        }
        if (isnan(own))
            put_missing(out, at, k);
        else
            put(out, at, k, below, equal, before, present, sums);
    }
    put_norm(out, present, sums);
}

/* Number of sorted keys that are smaller than `own` (or, with `or_equal`, not larger). NaN sorts last and counts as
 * larger than everything. */
static __device__ int count_below(const double *keys, int n, double own, bool or_equal) {
    int below = 0;
    GCOR_SEARCH(below, n, k, !(or_equal ? keys[k] <= own : keys[k] < own));
    return below;
}

/* Ranks a part of a column; grid rows are columns. Adds to `tied` multiples of 1/2, so the order does not matter. */
static __global__ void rank_sorted(const double *keys, const int *obs, int n, RankOutput out, double *tied) {
    int64_t at = blockIdx.y * (int64_t)n;
    const double *x = keys + at;
    int present = count_below(x, n, INFINITY, true), first = blockIdx.x * (int)RANKED_PART;
    ColumnSums sums;
    for (int p = first + threadIdx.x; p < min(n, first + (int)RANKED_PART); p += COLUMN_THREADS) {
        int k = obs[at + p];
        if (p >= present) {
            put_missing(out, at, k);
            continue;
        }
        int below = p > 0 && x[p - 1] == x[p] ? count_below(x, n, x[p], false) : p;
        int end = p + 1 < n && x[p + 1] == x[p] ? count_below(x, n, x[p], true) : p + 1;
        put(out, at, k, below, end - below, p - below, present, sums);
    }
    double all = reduce_block<COLUMN_THREADS>(sums.tied, Plus());
    if (threadIdx.x == 0 && all > 0) atomicAdd(&tied[blockIdx.y], all);
}

/* Completes a column when all its parts are ranked; squares are summed in ascending order of the values. */
static __global__ void finish_sorted(const double *keys, const int *obs, int n, RankOutput out, const double *tied) {
    int64_t at = blockIdx.x * (int64_t)n;
    int present = count_below(keys + at, n, INFINITY, true);
    ColumnSums sums;
    if (threadIdx.x == 0) sums.tied = tied[blockIdx.x];
    if (!out.untied_pairs)
        for (int p = threadIdx.x; p < present; p += COLUMN_THREADS) {
            double score = out.scores[at + obs[at + p]];
            sums.squares += score * score;
        }
    put_norm(out, present, sums);
}

/* Scales scores to unit length. norm: on entry the sum of squared scores; on return that of the rounded values,
 * summed by one warp in the order of every back end. */
static __global__ void scale_scores(float *scores, int n, double *norm) {
    float *score = scores + blockIdx.x * (int64_t)n;
    double squares = norm[blockIdx.x], unit = squares > 0 ? 1 / sqrt(squares) : 0;
    for (int k = threadIdx.x; k < n; k += COLUMN_THREADS) score[k] = (float)(score[k] * unit);
    __syncthreads();
    if (threadIdx.x >= 32) return;
    double rounded = warp_dot(score, score, n);
    if (threadIdx.x == 0) norm[blockIdx.x] = rounded;
}

static __global__ void number_obs(int n, int *obs) {
    int64_t at = blockIdx.x * (int64_t)n;
    for (int k = threadIdx.x; k < n; k += COLUMN_THREADS) obs[at + k] = k;
}

static void rank_by_sorting(gcor_state *state, const double *values, int n, int columns, const RankOutput &out) {
    const char *what = "sorting columns";
    cudaStream_t stream = state->compute.handle;
    RankBuffers &s = state->columns->rank;
    int items = n * columns;
    s.keys.reserve(items, what);
    s.obs.reserve(items, what);
    s.sorted_obs.reserve(items, what);
    number_obs<<<columns, COLUMN_THREADS, 0, stream>>>(n, s.obs.data);
    check_launch(what);
    sort_columns(state, s.sort, values, s.keys.data, s.obs.data, s.sorted_obs.data, n, columns);
    s.tied.reserve(columns, what);
    clear(s.tied.data, columns, state->compute, what);
    dim3 parts(blocks_for(n, RANKED_PART), (unsigned)columns);
    rank_sorted<<<parts, COLUMN_THREADS, 0, stream>>>(s.keys.data, s.sorted_obs.data, n, out, s.tied.data);
    finish_sorted<<<columns, COLUMN_THREADS, 0, stream>>>(s.keys.data, s.sorted_obs.data, n, out, s.tied.data);
}

static RankOutput output_of(const Operand &o, int64_t at) {
    int64_t first = at * o.head.n_obs;
    RankOutput out{};
    if (o.head.kind == GCOR_RANK_COMMON || is_ordered(o.head.kind))
        out.order = o.order.data + first, out.begin = o.begin.data + first, out.end = o.end.data + first;
    else
        out.scores = o.columns.data + first;
    out.norm = o.norm.data + at;
    out.present = o.present.data + at;
    out.untied_pairs = o.head.kind != GCOR_REAL;
    return out;
}

void rank_columns(gcor_state *state, const double *values, int64_t n_var, Operand &o, int64_t at) {
    int n = (int)o.head.n_obs;
    RankOutput out = output_of(o, at);
    cudaStream_t stream = state->compute.handle;
    if (n <= COUNTED_RANKS)
        rank_by_counting<<<(unsigned)n_var, COLUMN_THREADS, (n + 1) / 2 * 2 * sizeof(double), stream>>>(values, n, out);
    else
        rank_by_sorting(state, values, n, (int)n_var, out);
    check_launch("ranking columns");
    if (o.head.kind == GCOR_REAL && !gcor_exact_scores(n)) {
        scale_scores<<<(unsigned)n_var, COLUMN_THREADS, 0, stream>>>(out.scores, n, out.norm);
        check_launch("scaling ranks");
    }
}
