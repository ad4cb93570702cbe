/* Finds a tile's edges: in the product's kernel, if it has the sink, and otherwise in stored values of the whole tile.
 * A half-precision product leaves candidates, whose exact coefficients decide; a product of signs is exact. */
#include "../product/launch.cuh"
#include "device_edges.cuh"
#include "edge_sink.cuh"

#include <algorithm>

/* ---- candidates: their exact coefficients decide ---------------------------------------------- */

/* Eight lanes compute the product of two columns, so a warp has four candidates at a time. Each lane has four of the 32
 * running sums of gcor_dot(), and they are added in the same order. */
enum { DOT_LANES = 8, DOT_OWN = GCOR_LANES / DOT_LANES };

/* Returns x[k] .. x[k + 3], with 0 beyond n_obs. If n_obs is a multiple of four, columns are aligned to 16 bytes. */
static __device__ float4 load_four(const float *x, int64_t k, int64_t n_obs) {
    if (n_obs % 4 == 0) return *(const float4 *)(x + k);
    return {x[k], k + 1 < n_obs ? x[k + 1] : 0, k + 2 < n_obs ? x[k + 2] : 0, k + 3 < n_obs ? x[k + 3] : 0};
}

static __device__ double lanes_dot(const float *x, const float *y, int64_t n_obs) {
    double sum[DOT_OWN] = {};
#pragma unroll 4
    for (int64_t k = threadIdx.x % DOT_LANES * DOT_OWN; k < n_obs; k += GCOR_LANES) {
        float4 a = load_four(x, k, n_obs), b = load_four(y, k, n_obs);
        sum[0] += (double)a.x * b.x;
        sum[1] += (double)a.y * b.y;
        sum[2] += (double)a.z * b.z;
        sum[3] += (double)a.w * b.w;
    }
    for (int step = DOT_LANES / 2; step > 0; step /= 2)
        for (int l = 0; l < DOT_OWN; l++) sum[l] += __shfl_xor_sync(ALL_LANES, sum[l], step);
    for (int step = DOT_OWN / 2; step > 0; step /= 2)
        for (int l = 0; l < step; l++) sum[l] += sum[l + step];
    return sum[0];
}

/* A warp takes 32 candidates. It computes four at a time, then each lane decides on one. */
static __global__ void compute_candidates(ProductSide rows, ProductSide cols, int64_t n_obs, EdgeOutput out) {
    int64_t count = (int64_t)out.counts[N_CANDIDATES];
    if (count > (int64_t)out.capacity) return; /* some were lost: the tile is computed again */
    int64_t warp = blockIdx.x * (int64_t)(blockDim.x / 32) + threadIdx.x / 32,
            warps = gridDim.x * (int64_t)(blockDim.x / 32);
    int lane = threadIdx.x % 32;
    for (int64_t begin = warp * 32; begin < count; begin += warps * 32) {
        unsigned own = out.candidates[begin + lane < count ? begin + lane : begin];
        double r = 0;
        for (int round = 0; round < DOT_LANES; round++) {
            unsigned position = __shfl_sync(ALL_LANES, own, round * (32 / DOT_LANES) + lane / DOT_LANES);
            int64_t i = position_row(position), j = position_col(position);
            double dot = lanes_dot(rows.columns + i * n_obs, cols.columns + j * n_obs, n_obs);
            double product = __shfl_sync(ALL_LANES, dot, lane % (32 / DOT_LANES) * DOT_LANES);
            if (lane / (32 / DOT_LANES) == round)
                r = gcor_coefficient(product, rows.norm[position_row(own)], cols.norm[position_col(own)]);
        }
        int64_t i = position_row(own), j = position_col(own);
        put_edge(out, begin + lane < count ? gcor_judge(&out.rule, i, j, r) : GCOR_NOTHING, i, j, r);
    }
}

/* Makes candidates edges, on state->compute. */
static void decide_candidates(gcor_state *state, const Product &p, const EdgeOutput &out) {
    compute_candidates<<<CANDIDATE_BLOCKS * state->processors, 256, 0, state->compute.handle>>>(p.rows, p.cols, p.n_obs,
                                                                                                out);
    check_launch("computing candidates");
}

/* ---- a tile ------------------------------------------------------------------------------------------- */

/* Sets the bounds of what kernels compare. UNTIED: all norms are the same, the number of bits, so r >= t is a
 * comparison of integers: 4 sum - 2 row - 2 col + bits >= t bits, or 2 sum - col >= row + (t bits - bits) / 2. */
static void set_min(const Product &p, EdgeOutput &edges) {
    edges.error = product_error(p);
    double min = edges.rule.min - edges.error, bits = (double)p.bits, sum = floor(min * bits) - 1;
    edges.min = nextafterf((float)min, -INFINITY);
    edges.low = edges.weigh.below() ? (int)ceil((-sum - bits) / 2) : -(1 << 30);
    edges.high = edges.weigh.above() ? (int)floor((sum - bits) / 2) : 1 << 30;
}

/* Makes edges of hits from products of signs; a warp takes 32. */
static __global__ void judge_hits(const __grid_constant__ Product p, EdgeOutput out) {
    int64_t count = (int64_t)out.counts[N_CANDIDATES];
    if (count > (int64_t)out.capacity) return; /* some hits were lost: the tile is computed again */
    int64_t warps = gridDim.x * (int64_t)(blockDim.x / 32);
    for (int64_t at = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; at - threadIdx.x % 32 < count; at += warps * 32) {
        Hit hit = out.hits[at < count ? at : 0];
        int64_t i = position_row((unsigned)(hit >> 32)), j = position_col((unsigned)(hit >> 32));
        double r = exact_value(p, sign_sum(p, p.mode, (int)(unsigned)hit, i, j), i, j);
        put_edge(out, at < count ? gcor_judge(&out.rule, i, j, r) : GCOR_NOTHING, i, j, r);
    }
}

/* Not with a ceiling, as there may be too many pairs above it, which are only counted, to store them as hits. */
void DeviceEdges::choose_raw(const Product &product, EdgeOutput &out) {
    out.raw = out.rule.ceiling > 1;
    if (!out.raw || product.mode == HALF) return;
    hits.reserve((int64_t)out.capacity, "candidates for edges");
    out.hits = hits.data;
}

void DeviceEdges::judge(const Product &product, const EdgeOutput &out) {
    if (product.mode == HALF) return decide_candidates(state, product, out);
    if (!out.raw) return;
    judge_hits<<<CANDIDATE_BLOCKS * state->processors, 256, 0, state->compute.handle>>>(product, out);
    check_launch("judging edges");
}

void DeviceEdges::find_by_product(const EdgeSlot &slot, EdgeOutput out) {
    Product product = product_of(state, *slot.rows, *slot.cols, slot.tile);
    if (product.mode == HALF) {
        candidates.reserve((int64_t)out.capacity, "candidates for edges");
        out.candidates = candidates.data;
    }
    choose_raw(product, out);
    set_min(product, out);
    if (ranking)
        launch_sink(state, product, OwnEdges{out});
    else
        launch_sink(state, product, Edges{out});
    judge(product, out);
}

/* Each block has EDGE_SPAN pairs of a row of the tile; its threads are interleaved. */
static __global__ void decide_values(Packed values, EdgeOutput out) {
    int64_t i = blockIdx.y, col, n;
    gcor_tile_segment(&values.tile, values.shape, values.tile.row + i, &col, &n);
    const double *r = values.doubles + gcor_tile_offset(&values.tile, values.shape, values.tile.row + i);
    int64_t begin = blockIdx.x * (int64_t)EDGE_SPAN, end = begin + EDGE_SPAN;
    for (int64_t k = begin + threadIdx.x; k < end; k += blockDim.x) {
        int64_t j = col + k - values.tile.col;
        put_edge(out, k < n ? gcor_judge(&out.rule, i, j, r[k]) : GCOR_NOTHING, i, j, k < n ? r[k] : 0);
    }
}

void DeviceEdges::find_in_values(const Packed &values, const EdgeOutput &out) {
    const gcor_tile &tile = values.tile;
    if (ranking) neighbours.raise_by_values(values);
    dim3 grid(blocks_for(tile.n_col, EDGE_SPAN), (unsigned)tile.n_row);
    decide_values<<<grid, 256, 0, state->compute.handle>>>(values, out);
    check_launch("collecting edges");
}

void DeviceEdges::compute(EdgeSlot &slot, const Packed *values) {
    slot.sent = false;
    slot.counts.reserve(N_COUNTS, "counts of edges");
    slot.host_counts.reserve(N_COUNTS, "counts of edges");
    clear(slot.counts.data, N_COUNTS, state->compute, "clearing counts");
    EdgeOutput out{};
    out.rule = rule();
    out.weigh = float_weighing(out.rule.side);
    out.capacity = (unsigned long long)slot.positions.capacity;
    out.counts = slot.counts.data;
    out.positions = slot.positions.data;
    out.r = slot.r.data;
    bool is_fused = !values && fused(state, slot.rows->head.kind, slot.rows->head.n_obs);
    if (ranking) {
        neighbours.raise_by_host(slot.tile);
        if (is_fused) neighbours.sample(*slot.rows, *slot.cols, slot.tile);
        out.rule = neighbours.rule_of(slot.tile);
    }
    if (is_fused)
        find_by_product(slot, out);
    else
        find_in_values(values ? *values : exact_in_place(state, *slot.rows, *slot.cols, slot.tile), out);
    copy_to_host(slot.host_counts.data, slot.counts.data, N_COUNTS, state->compute, "copying counts");
    slot.counted.record(state->compute);
}
