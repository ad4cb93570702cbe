/* A tile's edges. By a product, if it is one whose kernels have the sink: cheap values leave candidates, whose exact
 * coefficients decide; signs decide at once. Otherwise in all values of the tile. */
#include "../product/launch.cuh"
#include "device_edges.cuh"
#include "edge_sink.cuh"

#include <algorithm>

/* The least weight that is looked at. UNTIED: all norms are the same, the number of bits, so r >= t is a comparison
 * of integers: 4 sum - 2 row - 2 col + bits >= t bits, or 2 sum - col >= row + (t bits - bits) / 2. */
static void set_least(const Product &p, EdgeOutput &edges) {
    edges.error = product_error(p);
    double least = edges.rule.least - edges.error, bits = (double)p.bits, sum = floor(least * bits) - 1;
    edges.least = nextafterf((float)least, -INFINITY);
    edges.low = edges.weigh.below() ? (int)ceil((-sum - bits) / 2) : -(1 << 30);
    edges.high = edges.weigh.above() ? (int)floor((sum - bits) / 2) : 1 << 30;
}

void DeviceEdges::find_by_product(const EdgeSlot &slot, EdgeOutput out) {
    Product product = product_of(state, *slot.rows, *slot.cols, slot.tile);
    if (product.mode == HALF) {
        candidates.reserve((int64_t)out.room, "candidates for edges");
        out.candidates = candidates.data;
    }
    set_least(product, out);
    raise_by_product(slot, product, out);
    if (out.rule.row_least)
        launch_sink(state, product, OwnEdges{out});
    else
        launch_sink(state, product, Edges{out});
    if (product.mode == HALF) decide_candidates(state, product, out);
}

/* Grid rows are the tile's; a thread looks at every blockDim.x-th pair of its block's share. */
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
    Packed values = multiply_in_place(state, *slot.rows, *slot.cols, tile);
    raise_by_values(slot, values, out);
    dim3 grid(blocks_for(tile.n_col, EDGE_SPAN), (unsigned)tile.n_row);
    decide_values<<<grid, 256, 0, state->compute.handle>>>(values, out);
    check_launch("collecting edges");
}

void DeviceEdges::compute(EdgeSlot &slot) {
    cudaStream_t stream = state->compute.handle;
    size_t bytes = N_COUNTS * sizeof(unsigned long long);
    slot.sent = false;
    slot.counts.reserve(N_COUNTS, "counts of edges");
    slot.host_counts.reserve(N_COUNTS, "counts of edges");
    check(cudaMemsetAsync(slot.counts.data, 0, bytes, stream), "clearing counts");
    EdgeOutput out{};
    out.rule = rule();
    out.weigh = float_weighing(out.rule.side);
    out.room = (unsigned long long)slot.places.capacity;
    out.counts = slot.counts.data;
    out.places = slot.places.data;
    out.r = slot.r.data;
    copy_least(slot, out.rule);
    if (fused(state, slot.rows->head.kind, slot.rows->head.n_obs))
        find_by_product(slot, out);
    else
        find_in_values(slot, out);
    check(cudaMemcpyAsync(slot.host_counts.data, slot.counts.data, bytes, cudaMemcpyDeviceToHost, stream),
          "copying counts");
    slot.counted.record(state->compute);
}
