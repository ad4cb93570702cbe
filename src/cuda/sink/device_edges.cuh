/* Edges: what the files about them share.
 *
 *   edge_ring.cu   tiles in, edges out: room, order, and the way to the host's sink
 *   edges.cu       a tile's edges, by a product or from values
 *   edge_sink.cuh  in a product's kernel: from sums to edges, or to candidates; edge_compare.cuh, edge_output.cuh
 *   candidates.cu  which candidates, which a cheap product leaves, are edges
 *   own_min.cu       least weights of the variables' own
 *   edge_buffer.cuh     edges that stay on the device
 *   degrees.cu     how many each variable has, and the sums of their weights
 */
#ifndef GPUCOR_CUDA_DEVICE_EDGES_CUH
#define GPUCOR_CUDA_DEVICE_EDGES_CUH

#include "../../sink/edges/store.h"
#include "device_degrees.cuh"
#include "edge_output.cuh"
#include "edge_buffer.cuh"
#include "sinks.cuh"

#include <climits>

/* One tile's edges. */
struct EdgeSlot {
    DeviceArray<unsigned> positions; /* which pair of the tile, see position_of() */
    DeviceArray<double> r;
    DeviceArray<gcor_edge> device; /* both, in order */
    PinnedArray<gcor_edge> host;
    DeviceArray<unsigned long long> counts;
    PinnedArray<unsigned long long> host_counts;
    DeviceArray<double> min; /* the rows' and the columns' own, where the rule has them */
    Event counted, copied;
    gcor_tile tile{};
    const Operand *rows = nullptr, *cols = nullptr; /* null: the slot is empty */
    bool sent = false;                              /* the edges are on their way to `host` ... */
    bool on_device = false;                         /* ... or stay: with the buffer, or in sums */

    void reserve(int64_t edges);
    void trim();
};

class DeviceEdges : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;

    /* edge_ring.cu */
    SinkNeeds begin() override;
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override;
    void finish() override;
    void trim() override;

  private:
    EdgeSlot slots[EDGE_SLOTS];
    int next = 0;
    int64_t rows_at_once = INT64_MAX;     /* of a tile: fewer where it has too many edges */
    bool buffering = false;               /* edges stay here: the sink is a store that allows it */
    bool summing = false;                 /* they are only summed: the sink wants no more than ... */
    DeviceDegrees degrees;                /* ... this, of all tiles since the last finish() */
    bool summed = false;                  /* there are any in it */
    DeviceArray<unsigned> candidates;     /* of the tile being computed ... */
    DeviceArray<unsigned long long> hits; /* ... or, of signs, its hits */
    DeviceArray<float> approx;            /* its cheap coefficients */
    DeviceArray<unsigned> positions;      /* of the tile being sent, in order */
    DeviceArray<double> r;
    DeviceArray<char> sort;

    const gcor_edge_rule &rule() const { return ((const gcor_edges *)state->sink)->rule; }

    /* edges.cu: the slot's tile, from its operands to edges and their number on the way to the host. */
    void compute(EdgeSlot &slot);
    void find_by_product(const EdgeSlot &slot, EdgeOutput out);
    void choose_raw(const Product &product, EdgeOutput &out);
    void judge(const Product &product, const EdgeOutput &out);
    void find_in_values(const EdgeSlot &slot, const EdgeOutput &out);

    /* own_min.cu: a rule's own least weights, as they are now, to the slot's memory; the rule then points there,
     * numbered from the tile's first variables. Nothing to do for other rules. */
    void copy_min(EdgeSlot &slot, gcor_edge_rule &rule);
    /* Raise those that are 0 by the values of the slot's tile: computed for that, if there are any, or given. */
    void raise_by_product(const EdgeSlot &slot, Product product, const EdgeOutput &out);
    void raise_by_values(const EdgeSlot &slot, const Packed &values, const EdgeOutput &out);
    bool lacks_min(const gcor_tile &tile) const;

    /* edge_ring.cu */
    void multiply_part(const Operand &rows, const Operand &cols, const gcor_tile &tile);
    int64_t wait_for_count(EdgeSlot &slot);
    void sort_edges(EdgeSlot &slot, int64_t n, const Stream &stream, unsigned *to_positions, double *to_r);
    void buffer_edges(EdgeSlot &slot, int64_t n);
    void sum(EdgeSlot &slot, int64_t n);
    void deliver_sums();
    void send(EdgeSlot &slot);
    void take(EdgeSlot &slot);
    void compute_again(EdgeSlot &slot, int64_t wanted);
    void deliver(EdgeSlot &slot);
};

/* candidates.cu, on state->compute: candidates to edges. */
void decide_candidates(gcor_state *state, const Product &product, const EdgeOutput &out);

#endif
