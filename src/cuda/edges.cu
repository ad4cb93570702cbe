/* The edges of a tile: compacted on the device, so that only they cross to the host. How many there
 * will be is a guess; where it was too small the tile is done again with room for all.
 *
 * Cheap values leave candidates, whose exact coefficients decide; exact ones decide at once. */
#include "cuda.cuh"

#include <algorithm>

enum { EDGES, ABOVE, CANDIDATES, N_COUNTS };

/* Where a tile's edges go. Counting goes on beyond `room`. */
struct EdgeOutput {
    gcor_tile tile;
    gcor_edge_rule rule; /* on the device; its own least weights are numbered from the tile's first variable */
    gcor_edge *edges;
    unsigned long long room, *counts;
    unsigned *candidates;

    __device__ double least(int64_t i, int64_t j) const { return gcor_least(&rule, i, j); }
};

/* A place for every thread of the warp that wants one, from a common counter; all lanes must ask. */
static __device__ unsigned long long claim(unsigned long long *counter, bool wanted) {
    unsigned lanes = __ballot_sync(ALL_LANES, wanted);
    int lane = threadIdx.x % 32, leader = __ffs(lanes) - 1;
    unsigned long long first = 0;
    if (lane == leader) first = atomicAdd(counter, (unsigned long long)__popc(lanes));
    if (lanes) first = __shfl_sync(ALL_LANES, first, leader);
    return first + __popc(lanes & ((1u << lane) - 1));
}

/* Pair (i, j) of the tile with its exact coefficient; all lanes must come. */
static __device__ void decide(const EdgeOutput &out, bool inside, int64_t i, int64_t j, double r) {
    double weight = inside ? gcor_weight(out.rule.side, r) : -2;
    bool above = weight >= out.rule.ceiling, kept = inside && !above && weight >= out.least(i, j);
    if (__any_sync(ALL_LANES, above)) claim(&out.counts[ABOVE], above);
    if (!__any_sync(ALL_LANES, kept)) return;
    unsigned long long at = claim(&out.counts[EDGES], kept);
    if (kept && at < out.room) out.edges[at] = {(int32_t)(out.tile.row + i), (int32_t)(out.tile.col + j), r};
}

/* Grid rows are the tile's; a thread looks at every blockDim.x-th pair of its block's share. */
static __global__ void collect_candidates(Cheap cheap, gcor_shape shape, EdgeOutput out) {
    int64_t i = blockIdx.y, col, n;
    gcor_tile_segment(&out.tile, shape, out.tile.row + i, &col, &n);
    int64_t first = col - out.tile.col, begin = blockIdx.x * (int64_t)EDGE_SPAN, end = begin + EDGE_SPAN;
    for (int64_t k = begin + threadIdx.x; k < end; k += blockDim.x) {
        int64_t j = first + k;
        double weight = k < n ? gcor_raw_weight(out.rule.side, cheap.values[i * cheap.ld + j]) : NAN;
        bool above = weight >= out.rule.ceiling + cheap.error;
        bool candidate = !above && k < n && weight >= out.least(i, j) - cheap.error;
        if (__any_sync(ALL_LANES, above)) claim(&out.counts[ABOVE], above);
        if (!__any_sync(ALL_LANES, candidate)) continue;
        unsigned long long at = claim(&out.counts[CANDIDATES], candidate);
        if (candidate) out.candidates[at] = (unsigned)(i * out.tile.n_col + j);
    }
}

/* A tile's side, from its first variable on. */
struct Side {
    const float *columns;
    const double *norm;
};

/* A warp takes some candidates, one after the other, then each of its lanes decides on one: few enough
 * that all warps have work, up to 32, so that they claim places together. */
static __global__ void decide_candidates(Side rows, Side cols, int64_t n_obs, EdgeOutput out) {
    int64_t count = (int64_t)out.counts[CANDIDATES], lane = threadIdx.x % 32;
    int64_t warp = blockIdx.x * (int64_t)(blockDim.x / 32) + threadIdx.x / 32;
    int64_t warps = gridDim.x * (int64_t)(blockDim.x / 32), some = gcor_clamp(count / warps, 1, 32);
    for (int64_t begin = warp * some; begin < count; begin += warps * some) {
        double own = 0;
        int64_t own_i = 0, own_j = 0, end = begin + some < count ? begin + some : count;
        for (int64_t c = begin; c < end; c++) {
            int64_t i = out.candidates[c] / out.tile.n_col, j = out.candidates[c] % out.tile.n_col;
            double r = gcor_coefficient(warp_dot(rows.columns + i * n_obs, cols.columns + j * n_obs, n_obs),
                                        rows.norm[i], cols.norm[j]);
            if (c - begin == lane) own = r, own_i = i, own_j = j;
        }
        decide(out, begin + lane < end, own_i, own_j, own);
    }
}

static __global__ void decide_exact(Packed values, EdgeOutput out) {
    int64_t i = blockIdx.y, col, n;
    gcor_tile_segment(&values.tile, values.shape, values.tile.row + i, &col, &n);
    const double *r = values.doubles + gcor_tile_offset(&values.tile, values.shape, values.tile.row + i);
    int64_t begin = blockIdx.x * (int64_t)EDGE_SPAN, end = begin + EDGE_SPAN;
    for (int64_t k = begin + threadIdx.x; k < end; k += blockDim.x)
        decide(out, k < n, i, col + k - values.tile.col, k < n ? r[k] : 0);
}

/* ---- least weights of the variables' own ------------------------------------------------ */

/* A block for each variable of one side of a tile whose own least weight is still 0: the k-th largest
 * weight in the tile, to within a bin, is one, too. Without it all of a variable's first pairs would
 * be edges. */
static __global__ void raise_least(Cheap cheap, Packed exact, bool by_row, EdgeOutput out, double *least) {
    __shared__ int bins[LEAST_BINS];
    const gcor_tile &tile = out.tile;
    int64_t own = blockIdx.x, others = by_row ? tile.n_col : tile.n_row;
    if (least[own] > 0) return;
    for (int b = threadIdx.x; b < LEAST_BINS; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (int64_t other = threadIdx.x; other < others; other += blockDim.x) {
        int64_t i = by_row ? own : other, j = by_row ? other : own, col, n;
        gcor_tile_segment(&tile, exact.shape, tile.row + i, &col, &n);
        int64_t k = tile.col + j - col;
        if (k < 0 || k >= n) continue;
        double weight = exact.doubles ? gcor_weight(out.rule.side, exact.doubles[gcor_tile_offset(&tile, exact.shape, tile.row + i) + k])
                                      : gcor_raw_weight(out.rule.side, cheap.values[i * cheap.ld + j]);
        int bin = (int)((weight - cheap.error) * LEAST_BINS);
        if (weight > cheap.error) atomicAdd(&bins[bin < LEAST_BINS ? bin : LEAST_BINS - 1], 1);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    int64_t found = 0;
    for (int b = LEAST_BINS - 1; b > 0 && found < out.rule.k; b--) {
        found += bins[b];
        if (found >= out.rule.k) least[own] = b / (double)LEAST_BINS;
    }
}

static void raise_both(gcor_state *state, const EdgeSlot &slot, const Cheap &cheap, const Packed &exact,
                       const EdgeOutput &out) {
    if (!out.rule.row_least) return;
    const gcor_tile &tile = slot.tile;
    double *rows = slot.least.data, *cols = rows + tile.n_row;
    cudaStream_t stream = state->compute.handle;
    raise_least<<<(unsigned)tile.n_row, 256, 0, stream>>>(cheap, exact, true, out, rows);
    raise_least<<<(unsigned)tile.n_col, 256, 0, stream>>>(cheap, exact, false, out, cols);
    check_launch("finding least weights");
}

/* The variables' own least weights to the device, as they are now. */
static void copy_least(gcor_state *state, EdgeSlot &slot, gcor_edge_rule &rule) {
    if (!rule.row_least) return;
    const gcor_tile &tile = slot.tile;
    slot.least.reserve(tile.n_row + tile.n_col, "least weights");
    double *rows = slot.least.data, *cols = rows + tile.n_row;
    cudaStream_t stream = state->compute.handle;
    check(cudaMemcpyAsync(rows, rule.row_least + tile.row, tile.n_row * sizeof(double), cudaMemcpyHostToDevice, stream),
          "copying least weights");
    check(cudaMemcpyAsync(cols, rule.col_least + tile.col, tile.n_col * sizeof(double), cudaMemcpyHostToDevice, stream),
          "copying least weights");
    rule.row_least = rows;
    rule.col_least = cols;
}

static Side side_of(const Operand &o, int64_t var) {
    return {o.columns_of(var), o.norm_of(var)};
}

static void decide_cheap(gcor_state *state, const EdgeSlot &slot, EdgeOutput out, dim3 grid) {
    const gcor_tile &tile = slot.tile;
    Cheap cheap = multiply_cheap(state, *slot.rows, *slot.cols, tile);
    state->edges.candidates.reserve(tile.n_row * tile.n_col, "candidates for edges");
    out.candidates = state->edges.candidates.data;
    raise_both(state, slot, cheap, Packed{tile, state->sink->shape, nullptr, nullptr}, out);
    collect_candidates<<<grid, 256, 0, state->compute.handle>>>(cheap, state->sink->shape, out);
    check_launch("collecting candidates");
    decide_candidates<<<EDGE_BLOCKS, 256, 0, state->compute.handle>>>(
        side_of(*slot.rows, tile.row), side_of(*slot.cols, tile.col), slot.rows->head.n_obs, out);
    check_launch("computing candidates");
}

/* The slot's tile, from its operands to edges and their number on the way to the host. */
static void compute(gcor_state *state, EdgeSlot &slot) {
    const gcor_tile &tile = slot.tile;
    cudaStream_t stream = state->compute.handle;
    size_t bytes = N_COUNTS * sizeof(unsigned long long);
    slot.counts.reserve(N_COUNTS, "counts of edges");
    slot.host_counts.reserve(N_COUNTS, "counts of edges");
    check(cudaMemsetAsync(slot.counts.data, 0, bytes, stream), "clearing counts");
    EdgeOutput out{tile, ((const gcor_edges *)state->sink)->rule, slot.device.data,
                   (unsigned long long)slot.device.capacity, slot.counts.data, nullptr};
    copy_least(state, slot, out.rule);
    dim3 grid(blocks_for(tile.n_col, EDGE_SPAN), (unsigned)tile.n_row);
    if (slot.rows->head.kind == GCOR_REAL) {
        decide_cheap(state, slot, out, grid);
    } else {
        Packed values = multiply_in_place(state, *slot.rows, *slot.cols, tile);
        raise_both(state, slot, Cheap{nullptr, 0, 0}, values, out);
        decide_exact<<<grid, 256, 0, stream>>>(values, out);
        check_launch("collecting edges");
    }
    check(cudaMemcpyAsync(slot.host_counts.data, slot.counts.data, bytes, cudaMemcpyDeviceToHost, stream),
          "copying counts");
    slot.counted.record(state->compute);
}

static void deliver(gcor_state *state, EdgeSlot &slot) {
    if (!slot.rows) return;
    gcor_edges *edges = (gcor_edges *)state->sink;
    wait_for(state, slot.counted);
    int64_t n = (int64_t)slot.host_counts.data[EDGES];
    if (n > slot.device.capacity) {
        slot.device.reserve(n + n / 4, "edges of a tile");
        compute(state, slot);
        wait_for(state, slot.counted);
        n = (int64_t)slot.host_counts.data[EDGES];
    }
    slot.rows = slot.cols = nullptr;
    slot.host.reserve(n, "edges of a tile");
    if (n > 0) {
        check(cudaMemcpyAsync(slot.host.data, slot.device.data, (size_t)n * sizeof(gcor_edge), cudaMemcpyDeviceToHost,
                              state->copy.handle),
              "copying edges");
        slot.copied.record(state->copy);
        wait_for(state, slot.copied);
    }
    edges->above += (int64_t)slot.host_counts.data[ABOVE];
    std::sort(slot.host.data, slot.host.data + n, [](const gcor_edge &a, const gcor_edge &b) {
        return a.row < b.row || (a.row == b.row && a.col < b.col);
    });
    gcor_status status = edges->keep_tile(edges, state->context, &slot.tile, slot.host.data, n);
    if (status) throw Stopped{status};
}

void edges_multiply(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    EdgeSlot &slot = state->edges.slots[state->edges.next];
    state->edges.next = (state->edges.next + 1) % RING_SLOTS;
    deliver(state, slot);
    slot.device.reserve(std::min<int64_t>(EDGES_GUESS, tile.n_row * tile.n_col), "edges of a tile");
    slot.tile = tile;
    slot.rows = &rows;
    slot.cols = &cols;
    compute(state, slot);
}

void edges_drain(gcor_state *state) {
    for (int k = 0; k < RING_SLOTS; k++) {
        deliver(state, state->edges.slots[state->edges.next]);
        state->edges.next = (state->edges.next + 1) % RING_SLOTS;
    }
}
