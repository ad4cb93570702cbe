/* The edges of a tile: found on the device, sorted there, so that only they cross to the host, in the order
 * in which they are kept. How many there will be is a guess; where it was too small the tile is done
 * again with room for all, or in parts. While a tile is computed, the one before is sorted and sent, and
 * the one before that is taken by the host.
 *
 * REAL: cheap values leave candidates, whose exact coefficients decide; all others decide at once. */
#include "edges.cuh"

#include <cub/device/device_radix_sort.cuh>

#include <algorithm>

/* ---- a tile's edges ------------------------------------------------------------------------ */

static void find_by_product(gcor_state *state, const EdgeSlot &slot, EdgeOutput out) {
    Product product = product_of(state, *slot.rows, *slot.cols, slot.tile);
    if (product.mode == HALF) {
        state->edges.candidates.reserve((int64_t)out.room, "candidates for edges");
        out.candidates = state->edges.candidates.data;
    }
    product.edges = out;
    set_least(product);
    raise_by_product(state, slot, product);
    run_product(state, out.rule.row_least ? OWN_EDGES : EDGES, product);
    if (product.mode == HALF) decide_candidates(state, product);
}

/* Grid rows are the tile's; a thread looks at every blockDim.x-th pair of its block's share. */
static __global__ void decide_values(Packed values, EdgeOutput out) {
    int64_t i = blockIdx.y, col, n;
    gcor_tile_segment(&values.tile, values.shape, values.tile.row + i, &col, &n);
    const double *r = values.doubles + gcor_tile_offset(&values.tile, values.shape, values.tile.row + i);
    int64_t begin = blockIdx.x * (int64_t)EDGE_SPAN, end = begin + EDGE_SPAN;
    for (int64_t k = begin + threadIdx.x; k < end; k += blockDim.x) {
        int64_t j = col + k - values.tile.col;
        put_edge(out, k < n ? judge(out, i, j, r[k]) : NOTHING, i, j, k < n ? r[k] : 0);
    }
}

static void find_in_values(gcor_state *state, const EdgeSlot &slot, const EdgeOutput &out) {
    const gcor_tile &tile = slot.tile;
    Packed values = multiply_in_place(state, *slot.rows, *slot.cols, tile);
    raise_by_values(state, slot, values, out);
    dim3 grid(blocks_for(tile.n_col, EDGE_SPAN), (unsigned)tile.n_row);
    decide_values<<<grid, 256, 0, state->compute.handle>>>(values, out);
    check_launch("collecting edges");
}

/* The slot's tile, from its operands to edges and their number on the way to the host. */
static void compute(gcor_state *state, EdgeSlot &slot) {
    cudaStream_t stream = state->compute.handle;
    size_t bytes = N_COUNTS * sizeof(unsigned long long);
    slot.sent = false;
    slot.counts.reserve(N_COUNTS, "counts of edges");
    slot.host_counts.reserve(N_COUNTS, "counts of edges");
    check(cudaMemsetAsync(slot.counts.data, 0, bytes, stream), "clearing counts");
    EdgeOutput out{};
    out.rule = ((const gcor_edges *)state->sink)->rule;
    out.room = (unsigned long long)slot.places.capacity;
    out.counts = slot.counts.data;
    out.places = slot.places.data;
    out.r = slot.r.data;
    copy_least(state, slot, out.rule);
    if (fused(state, slot.rows->head.kind, slot.rows->head.n_obs))
        find_by_product(state, slot, out);
    else
        find_in_values(state, slot, out);
    check(cudaMemcpyAsync(slot.host_counts.data, slot.counts.data, bytes, cudaMemcpyDeviceToHost, stream),
          "copying counts");
    slot.counted.record(state->compute);
}

static void reserve_edges(EdgeSlot &slot, int64_t n) {
    slot.places.reserve(n, "edges of a tile");
    slot.r.reserve(slot.places.capacity, "edges of a tile");
}

/* How many edges the slot's tile has, or candidates if they are more; when it is known. */
static int64_t wait_for_count(gcor_state *state, EdgeSlot &slot) {
    wait_for(state, slot.counted);
    return (int64_t)std::max(slot.host_counts.data[N_EDGES], slot.host_counts.data[N_CANDIDATES]);
}

/* ---- to the host ------------------------------------------------------------------------------ */

static __global__ void unpack(const unsigned *places, const double *r, int64_t n, gcor_tile tile, gcor_edge *edges) {
    int64_t e = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (e >= n) return;
    edges[e] = {(int32_t)(tile.row + place_row(places[e])), (int32_t)(tile.col + place_col(places[e])), r[e]};
}

static void sort_edges(gcor_state *state, EdgeSlot &slot, int64_t n) {
    const char *what = "sorting edges";
    EdgeRing &ring = state->edges;
    int last_bit = PLACE_COL_BITS;
    while (last_bit < 32 && (slot.tile.n_row - 1) >> (last_bit - PLACE_COL_BITS)) last_bit++;
    ring.places.reserve(slot.places.capacity, what);
    ring.r.reserve(slot.places.capacity, what);
    auto sort = [&](void *scratch, size_t &bytes) {
        return cub::DeviceRadixSort::SortPairs(scratch, bytes, slot.places.data, ring.places.data, slot.r.data,
                                               ring.r.data, n, 0, last_bit, state->copy.handle);
    };
    size_t bytes = 0;
    check(sort(nullptr, bytes), what);
    ring.sort.reserve((int64_t)bytes, what);
    check(sort(ring.sort.data, bytes), what);
}

/* Room on the host for n edges, and for as many as a whole tile of the same density has: pinning again and
 * again would take longer than all else. */
static void reserve_host(EdgeSlot &slot, gcor_shape shape, int64_t n) {
    double whole = (double)(slot.tile.n_row * slot.tile.n_col) / (double)gcor_tile_pairs(&slot.tile, shape);
    int64_t wanted = (int64_t)(1.25 * whole * (double)n);
    slot.host.reserve(std::max(n, std::min(wanted, slot.places.capacity)), "edges of a tile");
}

/* What the slot's tile has, in order, on its way to the host. */
static void send(gcor_state *state, EdgeSlot &slot) {
    if (!slot.rows || slot.sent) return;
    if (wait_for_count(state, slot) > slot.places.capacity) return; /* deliver() sees to it */
    slot.sent = true;
    int64_t n = (int64_t)slot.host_counts.data[N_EDGES];
    if (n == 0) return;
    slot.device.reserve(slot.places.capacity, "edges of a tile");
    reserve_host(slot, state->sink->shape, n);
    sort_edges(state, slot, n);
    cudaStream_t stream = state->copy.handle;
    unpack<<<blocks_for(n, 256), 256, 0, stream>>>(state->edges.places.data, state->edges.r.data, n, slot.tile,
                                                   slot.device.data);
    check_launch("sorting edges");
    check(cudaMemcpyAsync(slot.host.data, slot.device.data, (size_t)n * sizeof(gcor_edge), cudaMemcpyDeviceToHost,
                          stream),
          "copying edges");
    slot.copied.record(state->copy);
}

static void take(gcor_state *state, EdgeSlot &slot) {
    gcor_edges *edges = (gcor_edges *)state->sink;
    int64_t n = (int64_t)slot.host_counts.data[N_EDGES];
    if (n > 0) wait_for(state, slot.copied);
    slot.rows = slot.cols = nullptr;
    edges->above += (int64_t)slot.host_counts.data[N_ABOVE];
    gcor_status status = edges->keep_tile(edges, state->context, &slot.tile, slot.host.data, n);
    if (status) throw Stopped{status};
}

static void deliver(gcor_state *state, EdgeSlot &slot);

/* A tile that turned out to have more than the slot has room for: with more room, or in parts. */
static void compute_again(gcor_state *state, EdgeSlot &slot, int64_t wanted) {
    gcor_tile tile = slot.tile;
    const Operand *rows = slot.rows, *cols = slot.cols;
    int64_t part = tile.n_row;
    if (wanted > EDGES_MOST) {
        part = std::max<int64_t>(SLACK_COLUMNS / 2, part * (EDGES_MOST / 2) / wanted / 128 * 128);
        state->edges.rows_at_once = part;
        wanted = EDGES_MOST;
    }
    reserve_edges(slot, std::max(wanted + wanted / 8, part * tile.n_col <= EDGES_MOST ? part * tile.n_col : 0));
    for (int64_t row = 0; row < tile.n_row; row += part) {
        slot.tile = {tile.row + row, std::min(part, tile.n_row - row), tile.col, tile.n_col};
        slot.rows = rows;
        slot.cols = cols;
        compute(state, slot);
        deliver(state, slot);
    }
}

static void deliver(gcor_state *state, EdgeSlot &slot) {
    if (!slot.rows) return;
    send(state, slot);
    if (slot.sent)
        take(state, slot);
    else
        compute_again(state, slot, wait_for_count(state, slot));
}

/* ---- the ring ------------------------------------------------------------------------------------ */

static void multiply_part(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    EdgeRing &ring = state->edges;
    EdgeSlot &slot = ring.slots[ring.next], &before = ring.slots[(ring.next + EDGE_SLOTS - 1) % EDGE_SLOTS];
    ring.next = (ring.next + 1) % EDGE_SLOTS;
    deliver(state, slot);
    int64_t pairs = tile.n_row * tile.n_col;
    reserve_edges(slot, std::min<int64_t>(std::max<int64_t>(EDGES_LEAST, pairs / EDGES_SHARE), pairs));
    slot.tile = tile;
    slot.rows = &rows;
    slot.cols = &cols;
    compute(state, slot);
    send(state, before);
}

void edges_multiply(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    for (int64_t row = 0, n; row < tile.n_row; row += n) {
        n = std::min(state->edges.rows_at_once, tile.n_row - row);
        multiply_part(state, rows, cols, {tile.row + row, n, tile.col, tile.n_col});
    }
}

void edges_drain(gcor_state *state) {
    for (int k = 0; k < EDGE_SLOTS; k++) {
        deliver(state, state->edges.slots[state->edges.next]);
        state->edges.next = (state->edges.next + 1) % EDGE_SLOTS;
    }
}
