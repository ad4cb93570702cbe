/* A ring of slots, one tile each. A tile's edges are sorted on the device by position, and then copied to the host or
 * to a device edge buffer; or they are summed or recorded there. The number of edges is not known in advance: a tile
 * with more edges than its slot has capacity for is computed again. While one tile is computed, the edges of the tile
 * before it are sorted and copied, and those before them are taken by the host. */
#include "device_edges.cuh"
#include "../../sink/connectivity.h"
#include "../backend/state.cuh"

#include <algorithm>
#include <cstdlib>
#include <vector>

/* ---- memory and modes --------------------------------------------------------------------------- */

void EdgeSlot::reserve(int64_t edges) {
    positions.reserve(edges, "edges of a tile");
    r.reserve(positions.capacity, "edges of a tile");
}

/* `device` is the largest array, and the others have its capacity: they are freed if it is too large to keep. */
void EdgeSlot::trim() {
    if (positions.capacity * sizeof(gcor_edge) > KEPT_BYTES) {
        positions.free();
        r.free();
    }
    device.trim();
    host.trim();
}

/* A device edge buffer pays for itself from some number of pairs on. Tests set a smaller number. */
static bool may_buffer(const gcor_sink *sink) {
    const char *given = getenv("GPUCOR_KEEP_FROM");
    double from = given ? atof(given) : (double)EDGE_BUFFER_PAIRS;
    return sink->type->role == GCOR_STORE && ((const gcor_store *)sink)->location != GCOR_ON_HOST &&
           (double)sink->n_row * (double)sink->n_col >= from;
}

/* Sums for several thresholds are made on the host. */
static bool may_sum(const gcor_sink *sink) {
    return sink->type->role == GCOR_DEGREES && ((const gcor_connectivity *)sink)->rule.n_level < 2;
}

/* Max bytes of edges that stay on the device: that many eighths of the free memory, which operands do not use
 * (cuda_memory()). */
static int64_t max_bytes(const gcor_state *state, int eighths) {
    int64_t given = state->context->memory, free = state->free_memory / 8 * eighths;
    return given > 0 ? std::min(given / 4, free) : free;
}

SinkNeeds DeviceEdges::begin() {
    buffering = may_buffer(sink);
    summing = may_sum(sink);
    summed = false;
    for (EdgeSlot &slot : slots) {
        slot.full = slot.sent = slot.on_device = false;
    }
    rows_at_once = INT64_MAX;
    ranking = sink->type->role == GCOR_NEIGHBOURS;
    if (ranking) neighbours.begin((gcor_neighbours *)sink, max_bytes(state, NEIGHBOUR_EIGHTHS));
    SinkNeeds needs = {sink->approximate != 0, sink->approximate != 0};
    needs.edges = buffering;
    return needs;
}

void DeviceEdges::trim() {
    for (EdgeSlot &slot : slots) slot.trim();
    degrees.trim();
    neighbours.trim();
    candidates.trim();
    hits.trim();
    positions.trim();
    r.trim();
    sort.trim();
}

/* ---- to the host ------------------------------------------------------------------------------ */

/* Waits for the slot's counts. Returns the number of edges, or of candidates if there are more. */
int64_t DeviceEdges::wait_for_count(EdgeSlot &slot) {
    wait_for(state, slot.counted);
    return (int64_t)std::max(slot.host_counts.data[N_EDGES], slot.host_counts.data[N_CANDIDATES]);
}

static __global__ void unpack(const unsigned *positions, const double *r, int64_t n, gcor_tile tile, gcor_edge *edges) {
    int64_t e = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
    if (e >= n) return;
    edges[e] = {(int32_t)(tile.row + position_row(positions[e])), (int32_t)(tile.col + position_col(positions[e])),
                r[e]};
}

void unpack_edges(const unsigned *positions, const double *r, int64_t n, const gcor_tile &tile, gcor_edge *edges,
                  const Stream &stream) {
    unpack<<<blocks_for(n, 256), 256, 0, stream.handle>>>(positions, r, n, tile, edges);
    check_launch("sorting edges");
}

void DeviceEdges::sort_edges(EdgeSlot &slot, int64_t n, const Stream &stream, unsigned *to_positions, double *to_r) {
    int bits = POSITION_COL_BITS;
    while (bits < 32 && (slot.tile.n_row - 1) >> (bits - POSITION_COL_BITS)) bits++;
    sort_by_position(stream, sort, slot.positions.data, to_positions, slot.r.data, to_r, n, bits);
}

/* Host memory for n edges, and for those of a whole tile of the same density: pinning memory repeatedly would take
 * longer than everything else. */
static void reserve_host(EdgeSlot &slot, gcor_shape shape, int64_t n) {
    double whole = (double)(slot.tile.n_row * slot.tile.n_col) / (double)gcor_tile_pairs(&slot.tile, shape);
    int64_t expected = (int64_t)(1.25 * whole * (double)n);
    slot.host.reserve(std::max(n, std::min(expected, slot.positions.capacity)), "edges of a tile");
}

/* Moves the slot's edges to the buffer. A buffer that is full, also without the edges that are not wanted, is copied to
 * the host and not used any more. */
void DeviceEdges::buffer_edges(EdgeSlot &slot, int64_t n) {
    gcor_store *store = (gcor_store *)sink;
    if (!store->buffer)
        store->buffer =
            &make_edge_buffer(state->device, store->edges.rule.side, max_bytes(state, EDGE_BUFFER_EIGHTHS))->head;
    EdgeBuffer *buffer = (EdgeBuffer *)store->buffer;
    EdgeRun *run = buffer->add_run(slot.tile, n);
    gcor_status status = !run && store->wanted > 0 ? gcor_store_prune(store, state->context) : GCOR_OK;
    if (status) throw Stopped{status};
    if (!run) run = buffer->add_run(slot.tile, n);
    buffering = slot.on_device = run != nullptr;
    if (run) {
        sort_edges(slot, n, buffer->stream, run->positions, run->r);
        slot.copied.record(buffer->stream);
        buffer->context = state->context;
        status = gcor_store_buffered(store, state->context, n);
    } else {
        status = gcor_store_to_host(store, state->context);
    }
    if (status) throw Stopped{status};
}

/* ---- degrees and strengths -------------------------------------------------------------------------------------- */

/* Adds the slot's edges to the sums, on state->copy. */
void DeviceEdges::sum(EdgeSlot &slot, int64_t n) {
    const gcor_connectivity *c = (const gcor_connectivity *)sink;
    if (!summed) degrees.clear(c->n_var, state->copy);
    summed = slot.on_device = true;
    degrees.add(slot.positions.data, slot.r.data, n, slot.tile, gcor_first_row(&c->edges.sink), rule().side,
                GCOR_NO_WEIGHT, state->copy);
    slot.copied.record(state->copy);
}

void DeviceEdges::deliver_sums() {
    gcor_connectivity *c = (gcor_connectivity *)sink;
    if (!summed) return;
    std::vector<int64_t> degree((size_t)c->n_var);
    std::vector<gcor_int128> strength((size_t)c->n_var);
    degrees.fetch(c->n_var, degree.data(), strength.data());
    summed = false;
    for (size_t var = 0; var < degree.size(); var++) {
        c->degree[var] += degree[var];
        c->sums[var] += strength[var];
    }
}

/* ---- the strongest neighbours ------------------------------------------------------------------------- */

/* Records the slot's edges, if their memory suffices. */
void DeviceEdges::record(EdgeSlot &slot, int64_t n) {
    if (!neighbours.has_records()) return;
    neighbours.add(slot.positions.data, slot.r.data, n, slot.tile);
    slot.on_device = true;
    slot.copied.record(state->compute);
}

/* ---- a slot's edges --------------------------------------------------------------------- */

/* Starts to sum or to record the slot's edges, or to sort them and copy them to the buffer or to the host. */
void DeviceEdges::send(EdgeSlot &slot) {
    if (!slot.full || slot.sent) return;
    if (wait_for_count(slot) > slot.positions.capacity) return; /* deliver() computes the tile again */
    slot.sent = true;
    int64_t n = (int64_t)slot.host_counts.data[N_EDGES];
    if (n > 0 && summing) sum(slot, n);
    if (n > 0 && ranking) record(slot, n);
    if (n > 0 && buffering) buffer_edges(slot, n);
    if (n == 0 || slot.on_device) return;
    slot.device.reserve(slot.positions.capacity, "edges of a tile");
    reserve_host(slot, sink->shape, n);
    positions.reserve(slot.positions.capacity, "sorting edges");
    r.reserve(positions.capacity, "sorting edges");
    sort_edges(slot, n, state->copy, positions.data, r.data);
    unpack_edges(positions.data, r.data, n, slot.tile, slot.device.data, state->copy);
    copy_to_host(slot.host.data, slot.device.data, n, state->copy, "copying edges");
    slot.copied.record(state->copy);
}

/* Hands the slot's edges to the host's sink, unless they stay on the device, and empties the slot. */
void DeviceEdges::take(EdgeSlot &slot) {
    gcor_edges *edges = (gcor_edges *)sink;
    int64_t n = (int64_t)slot.host_counts.data[N_EDGES];
    if (n > 0) wait_for(state, slot.copied);
    slot.full = false;
    edges->above += (int64_t)slot.host_counts.data[N_ABOVE];
    if (slot.tile.n_row >= rows_at_once && n < EDGES_MAX / 8) rows_at_once *= 2; /* the min weight may have risen */
    if (slot.on_device) {
        slot.on_device = false;
        return;
    }
    gcor_status status = edges->keep_tile(edges, state->context, &slot.tile, slot.host.data, n);
    if (status) throw Stopped{status};
}

/* Computes a tile again that has more edges than the slot has capacity for: with more capacity, or in parts. */
void DeviceEdges::compute_again(EdgeSlot &slot, int64_t n) {
    gcor_tile tile = slot.tile;
    int64_t part = tile.n_row;
    if (n > EDGES_MAX) {
        part = std::max<int64_t>(MMA_BLOCK_ROWS, part * (EDGES_MAX / 2) / n / 128 * 128);
        rows_at_once = part;
        n = EDGES_MAX;
    }
    slot.reserve(std::max(n + n / 8, part * tile.n_col <= EDGES_MAX ? part * tile.n_col : 0));
    for (int64_t row = 0; row < tile.n_row; row += part) {
        slot.tile = {tile.row + row, std::min(part, tile.n_row - row), tile.col, tile.n_col};
        slot.full = true;
        compute(slot);
        deliver(slot);
    }
}

void DeviceEdges::deliver(EdgeSlot &slot) {
    if (!slot.full) return;
    send(slot);
    if (slot.sent)
        take(slot);
    else
        compute_again(slot, wait_for_count(slot));
}

/* ---- the ring ------------------------------------------------------------------------------------ */

EdgeSlot &DeviceEdges::next_slot(const gcor_tile &tile, const Operand *rows, const Operand *cols) {
    EdgeSlot &slot = slots[next];
    int64_t pairs = tile.n_row * tile.n_col;
    next = (next + 1) % EDGE_SLOTS;
    deliver(slot);
    slot.reserve(std::min<int64_t>(std::max<int64_t>(EDGES_MIN, pairs / EDGES_DIVISOR), pairs));
    slot.tile = tile;
    slot.rows = rows;
    slot.cols = cols;
    slot.full = true;
    return slot;
}

void DeviceEdges::compute_part(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    EdgeSlot &before = slots[(next + EDGE_SLOTS - 1) % EDGE_SLOTS];
    compute(next_slot(tile, &rows, &cols));
    send(before);
}

/* The values do not stay until the slot is delivered. */
void DeviceEdges::take(const Packed &values) {
    EdgeSlot &before = slots[(next + EDGE_SLOTS - 1) % EDGE_SLOTS], &slot = next_slot(values.tile, nullptr, nullptr);
    compute(slot, &values);
    send(before);
    const int64_t n = wait_for_count(slot);
    if (n <= slot.positions.capacity) return;
    slot.reserve(n + n / 8);
    compute(slot, &values);
}

void DeviceEdges::multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    for (int64_t row = 0, n; row < tile.n_row; row += n) {
        n = std::min(rows_at_once, tile.n_row - row);
        compute_part(rows, cols, {tile.row + row, n, tile.col, tile.n_col});
    }
}

void DeviceEdges::finish() {
    for (int k = 0; k < EDGE_SLOTS; k++) {
        deliver(slots[next]);
        next = (next + 1) % EDGE_SLOTS;
    }
    deliver_sums();
    if (ranking) neighbours.deliver();
}

std::unique_ptr<DeviceSink> make_edges(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new DeviceEdges(state));
}
