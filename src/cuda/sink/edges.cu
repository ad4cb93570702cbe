/* Finds a tile's edges: in the product's kernel, if it has the sink, and otherwise in stored values of the whole tile.
 * A half-precision product leaves candidates, whose exact coefficients decide; a product of signs is exact. */
#include "../product/launch.cuh"
#include "device_edges.cuh"
#include "edge_sink.cuh"

#include <algorithm>

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

void DeviceEdges::find_in_values(const EdgeSlot &slot, const EdgeOutput &out) {
    const gcor_tile &tile = slot.tile;
    Packed values = exact_in_place(state, *slot.rows, *slot.cols, tile);
    if (ranking) neighbours.raise_by_values(values);
    dim3 grid(blocks_for(tile.n_col, EDGE_SPAN), (unsigned)tile.n_row);
    decide_values<<<grid, 256, 0, state->compute.handle>>>(values, out);
    check_launch("collecting edges");
}

void DeviceEdges::compute(EdgeSlot &slot) {
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
    bool is_fused = fused(state, slot.rows->head.kind, slot.rows->head.n_obs);
    if (ranking) {
        neighbours.raise_by_host(slot.tile);
        if (is_fused) neighbours.sample(*slot.rows, *slot.cols, slot.tile);
        out.rule = neighbours.rule_of(slot.tile);
    }
    if (is_fused)
        find_by_product(slot, out);
    else
        find_in_values(slot, out);
    copy_to_host(slot.host_counts.data, slot.counts.data, N_COUNTS, state->compute, "copying counts");
    slot.counted.record(state->compute);
}
