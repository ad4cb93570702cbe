/* Edges on the device: declarations of the files that find and deliver them.
 *
 *   edge_delivery.cu        a ring of tiles: memory, order, and the copy to the host's sink
 *   edges.cu                finds a tile's edges, in a product's kernel or in stored values, and decides which
 *                           candidates of an approximate product are edges
 *   edge_sink.cuh           the sinks of a product's kernel: from sums to edges or candidates, with
 *                           edge_compare.cuh (comparisons in registers) and edge_output.cuh (writing edges; degrees)
 *   edge_buffer.cu          edges that stay on the device; edge_buffer_rows.cu delivers them as compressed rows
 *   neighbours.cu           the strongest neighbours of each variable; own_min.cu finds the first min weights */
#pragma once

#include "edge_output.cuh"
#include "sinks.cuh"
#include "../../sink/edges/store.h"
#include "../../sink/neighbours.h"

#include <climits>
#include <memory>
#include <vector>

/* ---- neighbours --------------------------------------------------------------------------------- */

/* The strongest neighbours of every variable on the device, and the variables' min weights, for edge_delivery.cu.
 * The first min weights come from a sample of coefficients. Of the records of edges each variable keeps the k
 * strongest; the weakest of them raises its min weight.
 *
 * A min weight is at most the k-th largest weight of the variable in all of the problem's pairs, whichever tiles or
 * shards have them. So the pairs that it excludes are in no result. */

/* owner: variable << 32 | neighbour. strength: 2 gcor_short_of_one(weight), plus 1 if the coefficient is negative. In
 * ascending order of both the stronger neighbour is first. */
struct NeighbourRecords {
    DeviceArray<unsigned long long> owner, strength;

    void reserve(int64_t n);
    void trim() { trim_all(owner, strength); }
};

/* Everything runs on state->compute. */
class DeviceNeighbours {
  public:
    explicit DeviceNeighbours(gcor_state *owner) : state(owner) {}

    /* Begins a run into `to`. max: max bytes of device memory for records. */
    void begin(gcor_neighbours *to, int64_t max);
    /* False if the records do not fit: the host's sink gets the edges then. */
    bool has_records() const { return capacity > 0; }

    /* The sink's rule with the current min weights, in device memory, with indices within the tile. */
    gcor_edge_rule rule_of(const gcor_tile &tile) const;
    /* Find min weights of the tile's variables that have had none: by products with a sample of the other side's
     * variables, or by the tile's exact values. */
    void sample(const Operand &rows, const Operand &cols, const gcor_tile &tile);
    void raise_by_values(const Packed &values);
    /* Without records: raises the min weights of the tile's variables to those of the host's sink. */
    void raise_by_host(const gcor_tile &tile);

    /* Records a tile's n edges, in any order. */
    void add(const unsigned *positions, const double *r, int64_t n, const gcor_tile &tile);
    /* Moves all records to the sink. */
    void deliver();
    void trim();

  private:
    gcor_state *state;
    gcor_neighbours *sink = nullptr;
    int64_t n_var = 0, first_row = 0; /* number of variables of both sides; number of the first row's variable */
    DeviceArray<double> min;          /* min weight of each variable; 0: none is known */
    std::vector<bool> is_sampled;     /* sample() has looked at the variable */
    DeviceArray<float> approx;        /* sampled coefficients */
    DeviceArray<double> host_min;
    NeighbourRecords records, sorted; /* sorted: scratch */
    DeviceArray<gcor_edge> list;
    DeviceArray<char> scratch;
    DeviceArray<unsigned long long> count; /* of records */
    PinnedArray<unsigned long long> host_count;
    int64_t capacity = 0, used = 0; /* of records; used: at least their number */

    void sample_side(const Operand &own, const Operand &others, int64_t var, int64_t n, int64_t first);
    void fetch_count();
    void sort();
    void prune();
};

/* ---- edges that stay on the device -------------------------------------------------------------- */

/* Device edge buffers hold edges on the GPU until it is known which of them are needed (sink/edges/store.h). The edges
 * of a tile are a run; runs follow one another in chunks of device memory. */

/* A tile's edges, by position_of() in ascending order. The memory is a chunk's. */
struct EdgeRun {
    gcor_tile tile;
    int64_t n;
    unsigned *positions;
    double *r;
};

/* Runs fill the first `used` elements of both arrays. */
struct EdgeChunk {
    DeviceArray<unsigned> positions;
    DeviceArray<double> r;
    int64_t used = 0;
};

/* Waits for the stream at the end of a scope, also after an exception. Declared behind the arrays that the stream uses,
 * it waits before they are freed. */
struct SyncOnExit {
    cudaStream_t stream;
    ~SyncOnExit() { (void)cudaStreamSynchronize(stream); }
};

/* The buffer owns its stream and its memory, and outlives the session that made it. Its functions throw. At most one
 * host thread may use a buffer at a time. */
class EdgeBuffer {
  public:
    gcor_edge_buffer head; /* first */

    /* number: of the GPU, which must be the calling thread's current one. max: max bytes of device memory. */
    EdgeBuffer(int number, gcor_side side, int64_t max);

    /* Returns a run for the n edges of a tile, or NULL if the buffer has too little memory. The caller writes the edges
     * on `stream` before it calls anything else. The pointer holds until the next call. */
    EdgeRun *add_run(const gcor_tile &tile, int64_t n);

    /* The functions of gcor_edge_buffer_type. */
    void count(double min, int64_t *count);
    void rank(double min, int64_t k, double *weight);
    void prune(double min, int64_t *left);
    void absorb(gcor_edge_buffer *other, int64_t *left);
    void to_host(gcor_edges *edges);
    void lengths(double min, int64_t n_row, int32_t *length);
    void rows(double min, int64_t n_row, const int32_t *start, int32_t *col, double *r);
    void degrees(double min, int64_t n_var, int64_t *degree, gcor_int128 *strength);

    gcor_context *context = nullptr; /* of the current call */
    const int device, owner;         /* owner: the process id, as forked processes cannot use the GPU's memory */
    Stream stream{true};

  private:
    std::vector<std::unique_ptr<EdgeChunk>> chunks;
    std::vector<EdgeRun> runs;
    size_t filling = 0;    /* index of the chunk that receives the next run */
    int64_t max, held = 0; /* bytes of device memory: limit and current use */
    DeviceArray<unsigned long long> counts;
    PinnedArray<unsigned long long> host_counts;
    Event step;

    bool find_capacity(int64_t n);
    EdgeRun next_run(const gcor_tile &tile, int64_t n);
    const unsigned long long *fetch_counts(int n);
    void wait();
    std::vector<const EdgeRun *> by_column() const;
};

/* Returns an empty buffer; the caller owns it and ends it with head.type->free(). Throws. */
EdgeBuffer *make_edge_buffer(int device, gcor_side side, int64_t max);

/* edge_delivery.cu: writes a tile's edges as the host's records, in the same order. */
void unpack_edges(const unsigned *positions, const double *r, int64_t n, const gcor_tile &tile, gcor_edge *edges,
                  const Stream &stream);

/* ---- a ring of tiles ------------------------------------------------------------------------------- */

/* A tile and its edges. */
struct EdgeSlot {
    DeviceArray<unsigned> positions; /* position_of(), in any order */
    DeviceArray<double> r;
    DeviceArray<gcor_edge> device; /* the edges sorted by position */
    PinnedArray<gcor_edge> host;   /* copy of `device` */
    DeviceArray<unsigned long long> counts;
    PinnedArray<unsigned long long> host_counts;
    Event counted, copied;
    gcor_tile tile{};
    bool full = false;                              /* has a tile */
    const Operand *rows = nullptr, *cols = nullptr; /* of a full slot; nullptr: it has capacity for its edges */
    bool sent = false;                              /* send() has started to copy or to sum the edges */
    bool on_device = false; /* they are in the edge buffer, the sums or the records, not in `host` */

    void reserve(int64_t edges);
    void trim();
};

class DeviceEdges : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;

    /* edge_delivery.cu */
    SinkNeeds begin() override;
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override;
    void take(const Packed &values) override;
    void finish() override;
    void trim() override;

  private:
    EdgeSlot slots[EDGE_SLOTS];
    int next = 0;
    int64_t rows_at_once = INT64_MAX;     /* max rows of a tile; fewer after a tile with too many edges */
    bool buffering = false;               /* the sink is a store whose edges may stay in a device edge buffer */
    bool summing = false;                 /* the sink needs only degrees and strengths */
    DeviceDegrees degrees;                /* sums over the tiles since the last finish() */
    bool summed = false;                  /* `degrees` has edges */
    bool ranking = false;                 /* the sink needs the strongest neighbours */
    DeviceNeighbours neighbours{state};   /* their min weights, and records of edges since the last finish() */
    DeviceArray<unsigned> candidates;     /* of the current tile, mode HALF */
    DeviceArray<unsigned long long> hits; /* of the current tile, other modes */
    DeviceArray<unsigned> positions;      /* sorted edges of the tile that is sent to the host */
    DeviceArray<double> r;
    DeviceArray<char> sort;

    const gcor_edge_rule &rule() const { return ((const gcor_edges *)sink)->rule; }

    /* edges.cu: starts to find the edges of the slot's tile, from its operands or in `values`, if there are any, and to
     * copy their counts to the host. */
    void compute(EdgeSlot &slot, const Packed *values = nullptr);
    void find_by_product(const EdgeSlot &slot, EdgeOutput out);
    void choose_raw(const Product &product, EdgeOutput &out);
    void judge(const Product &product, const EdgeOutput &out);
    void find_in_values(const Packed &values, const EdgeOutput &out);

    /* edge_delivery.cu */
    EdgeSlot &next_slot(const gcor_tile &tile, const Operand *rows, const Operand *cols);
    void compute_part(const Operand &rows, const Operand &cols, const gcor_tile &tile);
    int64_t wait_for_count(EdgeSlot &slot);
    void sort_edges(EdgeSlot &slot, int64_t n, const Stream &stream, unsigned *to_positions, double *to_r);
    void buffer_edges(EdgeSlot &slot, int64_t n);
    void sum(EdgeSlot &slot, int64_t n);
    void deliver_sums();
    void record(EdgeSlot &slot, int64_t n);
    void send(EdgeSlot &slot);
    void take(EdgeSlot &slot);
    void compute_again(EdgeSlot &slot, int64_t n);
    void deliver(EdgeSlot &slot);
};
