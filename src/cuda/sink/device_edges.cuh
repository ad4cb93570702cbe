/* Edges on the device: declarations of the files that find and deliver them.
 *
 *   edge_delivery.cu        a ring of tiles: memory, order, and the copy to the host's sink
 *   edges.cu                finds a tile's edges, in a product's kernel or in stored values, and decides which
 *                           candidates of an approximate product are edges
 *   edge_sink.cuh           the sinks of a product's kernel: from sums to edges or candidates, with
 *                           edge_compare.cuh (comparisons in registers) and edge_output.cuh (writing edges; degrees)
 *   edge_buffer.cuh         edges that stay on the device
 *   device_neighbours.cuh   the strongest neighbours of each variable, and min weights of single variables
 */
#ifndef GPUCOR_CUDA_DEVICE_EDGES_CUH
#define GPUCOR_CUDA_DEVICE_EDGES_CUH

#include "../../sink/edges/store.h"
#include "device_neighbours.cuh"
#include "edge_output.cuh"
#include "edge_buffer.cuh"
#include "sinks.cuh"

#include <climits>

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
    const Operand *rows = nullptr, *cols = nullptr; /* nullptr: the slot is empty */
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

    const gcor_edge_rule &rule() const { return ((const gcor_edges *)state->sink)->rule; }

    /* edges.cu: starts to compute the slot's tile, from its operands to edges, and to copy their counts to the host. */
    void compute(EdgeSlot &slot);
    void find_by_product(const EdgeSlot &slot, EdgeOutput out);
    void choose_raw(const Product &product, EdgeOutput &out);
    void judge(const Product &product, const EdgeOutput &out);
    void find_in_values(const EdgeSlot &slot, const EdgeOutput &out);

    /* edge_delivery.cu */
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

#endif
