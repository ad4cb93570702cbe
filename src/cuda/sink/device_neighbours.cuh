/* The strongest neighbours of every variable on the device, and the variables' min weights, for edge_delivery.cu.
 *
 *   own_min.cu     the first min weights, from a sample of coefficients
 *   neighbours.cu  records of edges, of which each variable keeps the k strongest; the weakest of them raises its min
 *                  weight
 *
 * A min weight is at most the k-th largest weight of the variable in all of the problem's pairs, whichever tiles or
 * shards have them. So the pairs that it excludes are in no result. */
#ifndef GPUCOR_CUDA_DEVICE_NEIGHBOURS_CUH
#define GPUCOR_CUDA_DEVICE_NEIGHBOURS_CUH

#include "../product/product.cuh"
#include "../../sink/neighbours.h"

#include <vector>

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

    /* Begins a run into state->sink, a gcor_neighbours. max: max bytes of device memory for records. */
    void begin(int64_t max);
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

    const gcor_neighbours *sink() const { return (const gcor_neighbours *)state->sink; }
    void sample_side(const Operand &own, const Operand &others, int64_t var, int64_t n, int64_t first);
    void fetch_count();
    void sort();
    void prune();
};

#endif
