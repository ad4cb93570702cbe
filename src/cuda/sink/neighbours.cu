/* Records of edges on the device. When they fill their memory, they are sorted by variable and strength, and only the k
 * strongest of each variable are left. */
#include "device_edges.cuh"
#include "edge_output.cuh"
#include "sinks.cuh"
#include "../../sink/connectivity.h"

#include <algorithm>

static const char *const WHAT = "the neighbours of each variable";

/* Bytes of a record in memory: the record, its sorted copy, and scratch of the sort. */
enum { RECORD_BYTES = 48, RECORD_THREADS = 256 };

void NeighbourRecords::reserve(int64_t n) {
    owner.reserve(n, WHAT);
    strength.reserve(n, WHAT);
}

/* Memory for twice the final records is the min: after pruning at least half of it is free. */
void DeviceNeighbours::begin(gcor_neighbours *to, int64_t max) {
    const gcor_sink *s = &to->edges.sink;
    int64_t others = std::max(s->n_row, s->n_col), k = std::min(to->k, others);
    sink = to;
    first_row = gcor_first_row(s);
    n_var = first_row + s->n_row;
    min.reserve(n_var + SLACK_COLUMNS, WHAT);
    clear(min.data, n_var + SLACK_COLUMNS, state->compute, "clearing min weights");
    is_sampled.assign((size_t)n_var, false);
    count.reserve(1, WHAT);
    clear(count.data, 1, state->compute, "clearing counts");
    used = 0;
    capacity = 2 * n_var * k + std::min<int64_t>(RECORDS_BEYOND, s->n_row * s->n_col / 16);
    capacity = std::min(capacity, max / RECORD_BYTES);
    if (capacity < 2 * n_var * k) capacity = 0;
}

gcor_edge_rule DeviceNeighbours::rule_of(const gcor_tile &tile) const {
    gcor_edge_rule rule = sink->edges.rule;
    rule.row_min = min.data + first_row + tile.row;
    rule.col_min = min.data + tile.col;
    return rule;
}

/* ---- records ------------------------------------------------------------------------------------- */

static __device__ inline unsigned long long owner_of(int64_t var, int64_t other) {
    return (unsigned long long)var << 32 | (unsigned long long)other;
}

/* Records each edge for its row's and its column's variable, if it reaches that variable's min weight. */
static __global__ void record_edges(const unsigned *positions, const double *r, int64_t n, gcor_tile tile,
                                    int64_t first_row, gcor_edge_rule rule, unsigned long long *owner,
                                    unsigned long long *strength, unsigned long long *count) {
    int64_t e = blockIdx.x * (int64_t)RECORD_THREADS + threadIdx.x;
    int64_t i = e < n ? position_row(positions[e]) : 0, j = e < n ? position_col(positions[e]) : 0;
    double value = e < n ? r[e] : 0, weight = gcor_raw_weight(rule.side, value);
    bool of_row = e < n && weight >= rule.row_min[i], of_col = e < n && weight >= rule.col_min[j];
    unsigned rows = __ballot_sync(ALL_LANES, of_row), cols = __ballot_sync(ALL_LANES, of_col),
             before = (1u << threadIdx.x % 32) - 1;
    unsigned long long first = claim_positions(count, __popc(rows) + __popc(cols));
    unsigned long long own = 2 * gcor_short_of_one(weight) + (signbit(value) != 0);
    if (of_row) {
        unsigned long long at = first + __popc(rows & before);
        owner[at] = owner_of(first_row + tile.row + i, tile.col + j);
        strength[at] = own;
    }
    if (of_col) {
        unsigned long long at = first + __popc(rows) + __popc(cols & before);
        owner[at] = owner_of(tile.col + j, tile.row + i);
        strength[at] = own;
    }
}

/* `used` counts two records an edge, but most edges have one. */
void DeviceNeighbours::add(const unsigned *positions, const double *r, int64_t n, const gcor_tile &tile) {
    records.reserve(capacity);
    for (int64_t at = 0, some; at < n; at += some) {
        if (2 * (n - at) > capacity - used) fetch_count();
        if (2 * (n - at) > capacity - used && used > capacity / 2) prune();
        some = std::min(n - at, (capacity - used) / 2);
        record_edges<<<blocks_for(some, RECORD_THREADS), RECORD_THREADS, 0, state->compute.handle>>>(
            positions + at, r + at, some, tile, first_row, rule_of(tile), records.owner.data, records.strength.data,
            count.data);
        check_launch("recording edges");
        used += 2 * some;
    }
}

void DeviceNeighbours::fetch_count() {
    host_count.reserve(1, WHAT);
    copy_to_host(host_count.data, count.data, 1, state->compute, "copying counts");
    wait_for_compute(state);
    used = (int64_t)host_count.data[0];
}

/* ---- the k strongest ----------------------------------------------------------------------------- */

static int bits_of(int64_t n) {
    int bits = 1;
    while (bits < 32 && n >> bits) bits++;
    return bits;
}

/* Copies the records to `sorted`, by variable, then strength, then neighbour; the sign of a coefficient does not count.
 * Each sort is stable, so the last key is sorted first. Both arrays are overwritten. */
void DeviceNeighbours::sort() {
    sorted.reserve(capacity);
    auto by_owner = [&](int begin, int end) {
        sort_by_key(state->compute, scratch, records.owner.data, sorted.owner.data, records.strength.data,
                    sorted.strength.data, used, begin, end);
    };
    by_owner(0, bits_of(std::max(sink->edges.sink.n_row, sink->edges.sink.n_col)));
    sort_by_key(state->compute, scratch, sorted.strength.data, records.strength.data, sorted.owner.data,
                records.owner.data, used, 1, 63);
    by_owner(32, 32 + bits_of(n_var));
}

/* Copies the k first of each variable's sorted records, in any order, and raises its min weight to the k-th one's. */
static __global__ void keep_strongest(const unsigned long long *owner, const unsigned long long *strength, int64_t n,
                                      int64_t k, unsigned long long *kept_owner, unsigned long long *kept_strength,
                                      unsigned long long *count, double *min) {
    int64_t e = blockIdx.x * (int64_t)RECORD_THREADS + threadIdx.x;
    unsigned long long var = e < n ? owner[e] >> 32 : 0;
    bool kept = e < n && (e < k || owner[e - k] >> 32 != var);
    unsigned lanes = __ballot_sync(ALL_LANES, kept);
    unsigned long long at = claim_positions(count, __popc(lanes)) + __popc(lanes & ((1u << threadIdx.x % 32) - 1));
    if (!kept) return;
    kept_owner[at] = owner[e];
    kept_strength[at] = strength[e];
    if (e + 1 >= k && owner[e + 1 - k] >> 32 == var)
        min[var] = fmax(min[var], gcor_weight_short_of_one(strength[e] / 2));
}

void DeviceNeighbours::prune() {
    sort();
    clear(count.data, 1, state->compute, "clearing counts");
    keep_strongest<<<blocks_for(used, RECORD_THREADS), RECORD_THREADS, 0, state->compute.handle>>>(
        sorted.owner.data, sorted.strength.data, used, sink->k, records.owner.data, records.strength.data, count.data,
        min.data);
    check_launch("ranking edges");
    fetch_count();
}

/* ---- to the host ------------------------------------------------------------------------------------ */

static __global__ void unpack_records(const unsigned long long *owner, const unsigned long long *strength, int64_t n,
                                      gcor_edge *list) {
    int64_t e = blockIdx.x * (int64_t)RECORD_THREADS + threadIdx.x;
    if (e >= n) return;
    double weight = gcor_weight_short_of_one(strength[e] / 2);
    list[e] = {(int32_t)(owner[e] >> 32), (int32_t)(unsigned)owner[e], strength[e] % 2 ? -weight : weight};
}

/* The sink gets the records of a variable together, so that its threads can divide them. It ignores the weaker ones, of
 * which there are few if pruning would take longer. */
void DeviceNeighbours::deliver() {
    if (used > 0) fetch_count();
    if (used == 0) return;
    if (used / 2 > n_var * sink->k) prune();
    sort();
    list.reserve(used, WHAT);
    unpack_records<<<blocks_for(used, RECORD_THREADS), RECORD_THREADS, 0, state->compute.handle>>>(
        sorted.owner.data, sorted.strength.data, used, list.data);
    check_launch("copying neighbours");
    fetch(state, list.data, used, WHAT,
          [&](const gcor_edge *some, int64_t, int64_t n) { gcor_neighbours_add(sink, state->context, some, n); });
    clear(count.data, 1, state->compute, "clearing counts");
    used = 0;
}

void DeviceNeighbours::trim() {
    trim_all(min, approx, host_min, records, sorted, list, scratch);
}
