/* Pairwise-complete distance correlation (measure/distance_pair.h), with the CPU's bits. Its sums are in sequence, so a
 * thread computes a pair. */
#include "pairwise.cuh"
#include "../../measure/distance_pair.h"

/* The values of a quadrant are halved until one is left, if need be: 1,536, 768, 384 and so on. */
enum { MAX_SPLITS = 11 };
static_assert((GCOR_MAX_DISTANCES + 1) / 2 <= 1 << MAX_SPLITS, "more splits");

/* ---- products of minima ---------------------------------------------------------------------------- */

static __device__ inline double smaller(double a, double b) {
    return a < b ? a : b;
}

/* minima() of cpu/kernels_of_isa.h: a sum for each of LANES observations, of which half are in registers at a time; of
 * minima with those behind them, PHASES apart. */
static __device__ double sum_few(const gcor_quadrant &q) {
    enum { LANES = 8, PHASES = 4, OWN = 4 };
    double lane[LANES] = {0};
    for (int64_t at = 0; at < q.n; at += OWN) {
        const int first = (int)(at % LANES);
        int64_t k = at + 1, end = gcor_min(at - first + LANES, q.n);
        double own[OWN], sum[OWN][PHASES] = {{0}};
        for (int l = 0; l < OWN; l++) own[l] = at + l < q.n ? q.of[(at + l) * GCOR_APART][0] : 0;
        for (; k < end; k++) {
            const double other = q.of[k * GCOR_APART][0];
            for (int l = 0; l < OWN; l++) sum[l][0] += at + l < k ? smaller(own[l], other) : 0;
        }
        for (; k + PHASES <= q.n; k += PHASES)
            for (int p = 0; p < PHASES; p++) {
                const double other = q.of[(k + p) * GCOR_APART][0];
                for (int l = 0; l < OWN; l++) sum[l][p] += smaller(own[l], other);
            }
        for (; k < q.n; k++)
            for (int l = 0; l < OWN; l++) sum[l][0] += smaller(own[l], q.of[k * GCOR_APART][0]);
        for (int l = 0; l < OWN && at + l < q.n; l++)
            lane[first + l] += q.of[(at + l) * GCOR_APART][1] * ((sum[l][0] + sum[l][1]) + (sum[l][2] + sum[l][3]));
    }
    return ((lane[0] + lane[4]) + (lane[2] + lane[6])) + ((lane[1] + lane[5]) + (lane[3] + lane[7]));
}

/* split() of cpu/distance.c, with branches. */
static __device__ int64_t split(const gcor_quadrant &q, double pivot, gcor_point *to, double *product) {
    double before = 0, sum = 0;
    int64_t rest = 0, n = 0;
    for (int64_t k = 0; k < q.n; k++) rest += q.of[k * GCOR_APART][0] < pivot;
    for (int64_t from = 0, k = 0; from < q.n; from = k) {
        double run = 0, passed = 0;
        for (const int64_t end = gcor_end_of_run(from, q.n); k < end; k++) {
            const gcor_point own = q.of[k * GCOR_APART];
            if (own[0] < pivot) {
                run += own[0] * ((before + passed) + own[1] * (double)(q.n - rest - n));
                to[(k - n) * GCOR_APART] = own;
            } else {
                passed += own[1];
                to[(rest + n++) * GCOR_APART] = own;
            }
        }
        before += passed;
        sum += run;
    }
    *product = sum;
    return n;
}

/* A quadrant of which the large a's are being summed, or the small ones after these. sum: of what comes before. */
struct OpenQuadrant {
    gcor_quadrant small;
    gcor_point *spare;
    double sum;
    bool is_small;
};

/* sum_quadrant() of cpu/distance.c, without recursion: a device's stack has to have a known size. */
static __device__ __noinline__ double sum_quadrant(const void *, const gcor_quadrant *all, gcor_point *spare) {
    OpenQuadrant open[MAX_SPLITS];
    gcor_quadrant q = *all;
    for (int depth = 0;;) {
        if (q.n > GCOR_FEW_MINIMA && gcor_quadrant_value(&q, 0) != gcor_quadrant_value(&q, q.n_values - 1)) {
            OpenQuadrant &own = open[depth++];
            const int64_t half = q.n_values / 2, n = split(q, gcor_quadrant_value(&q, half), spare, &own.sum);
            const int64_t rest = q.n - n;
            own.small = {spare, rest, q.values, half, q.step};
            own.spare = q.of;
            own.is_small = false;
            q = {spare + rest * GCOR_APART, n, q.values + half * q.step, q.n_values - half, q.step};
            spare = own.spare + rest * GCOR_APART;
            continue;
        }
        double sum = q.n <= GCOR_FEW_MINIMA ? sum_few(q) : gcor_sum_equal(&q);
        while (depth > 0 && open[depth - 1].is_small) sum = open[--depth].sum + sum;
        if (depth == 0) return sum;
        OpenQuadrant &own = open[depth - 1];
        own.sum += sum;
        own.is_small = true;
        q = own.small;
        spare = own.spare;
    }
}

/* ---- a tile ------------------------------------------------------------------------------------------ */

/* Computes rows first .. first+n_row-1 of a tile. scratch: gcor_distance_bytes() for each thread. */
static __global__ void __launch_bounds__(PAIR_THREADS, PAIR_BLOCKS)
    distance_pairs(OrderedSide rows, OrderedSide cols, int64_t n_obs, gcor_tile tile, gcor_shape shape, int64_t first,
                   int64_t n_row, double *scratch, double *out) {
    const int64_t threads = gridDim.x * (int64_t)blockDim.x, own = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    char *work = (char *)scratch + own / 32 * 32 * gcor_distance_bytes(n_obs);
    for (int64_t pair = own; pair < n_row * tile.n_col; pair += threads) {
        const int64_t i = first + pair / tile.n_col, j = pair % tile.n_col, at = place_of(tile, shape, i, j);
        if (at < 0) continue;
        const gcor_ordered x = rows.column(i, n_obs), y = cols.column(j, n_obs);
        out[at] = gcor_distance_pair(sum_quadrant, nullptr, &x, &y, n_obs, work, threadIdx.x % 32);
    }
}

void exact_pairwise_distance(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out) {
    const int64_t n = rows.head.n_obs, each = gcor_distance_bytes(n) * PAIR_THREADS;
    if (n > GCOR_MAX_DISTANCES) fail_impossible("distances of columns that long");
    const int64_t n_row = rows_of_part(out.tile, 16 * (n + 1));
    const unsigned fitting = (unsigned)std::max<int64_t>(1, state->free_memory / PAIR_DIVISOR / each);
    const unsigned blocks = std::min(
        {blocks_for(n_row * out.tile.n_col, PAIR_THREADS), fitting, (unsigned)state->processors * PAIR_BLOCKS});
    DeviceArray<double> &scratch = state->products->scratch;
    scratch.reserve(blocks * each / (int64_t)sizeof(double), "columns of common observations");
    in_parts(state, out.tile, n_row, [&](int64_t first, int64_t count) {
        distance_pairs<<<blocks, PAIR_THREADS, 0, state->compute.handle>>>({rows, out.tile.row}, {cols, out.tile.col},
                                                                           n, out.tile, out.shape, first, count,
                                                                           scratch.data, out.doubles);
    });
}
