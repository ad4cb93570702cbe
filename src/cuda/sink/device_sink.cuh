/* Sinks on the device. A kind of sink that has a half here is a class, in a file of its own, and a row of the table in
 * sinks.cu; the values of every other sink go to the host, to its take() (backend/ring.cu). */
#ifndef GPUCOR_CUDA_DEVICE_SINK_CUH
#define GPUCOR_CUDA_DEVICE_SINK_CUH

#include "../prepare/prepare.cuh"

#include <utility>
#include <vector>

struct SinkNeeds {
    bool approx;        /* values with a known error will do first, as products of halves give them */
    bool large_tiles;   /* tiles may be large: nothing of a pair is stored, and nothing depends on the tile */
    bool bands = false; /* values of a few rows with all columns are best, as they follow one another in the result */
};

/* Made at the first run with such a sink, and kept by the session with its buffers. */
class DeviceSink {
  public:
    explicit DeviceSink(gcor_state *owner) : state(owner) {}
    virtual ~DeviceSink() = default;

    /* A run into state->sink begins: forget whatever the last one has left. */
    virtual SinkNeeds begin() = 0;
    virtual void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) = 0;
    /* Of a sink of_overlaps only, in the place of multiply(): a tile that plan_overlap() asks for. */
    virtual void overlap(const gcor_adjacency *, const gcor_adjacency *, const gcor_tile &) {
        fail_impossible("overlaps where there are coefficients");
    }
    /* Everything to state->sink; more tiles may follow. */
    virtual void finish() = 0;
    /* After a run, nothing being in flight: give back what is too large to be kept. */
    virtual void trim() = 0;

  protected:
    gcor_state *state;
};

typedef std::unique_ptr<DeviceSink> (*SinkMaker)(gcor_state *state);
std::unique_ptr<DeviceSink> make_edges(gcor_state *state);
std::unique_ptr<DeviceSink> make_histogram(gcor_state *state);
std::unique_ptr<DeviceSink> make_connectivity(gcor_state *state);
std::unique_ptr<DeviceSink> make_maximum(gcor_state *state);
std::unique_ptr<DeviceSink> make_combine(gcor_state *state);
std::unique_ptr<DeviceSink> make_compact(gcor_state *state);
std::unique_ptr<DeviceSink> make_adjacency(gcor_state *state);
std::unique_ptr<DeviceSink> make_overlaps(gcor_state *state); /* product/overlap.cu */
std::unique_ptr<DeviceSink> make_ring(gcor_state *state);     /* backend/ring.cu */

/* Those of a session, each with who made it. */
typedef std::vector<std::pair<SinkMaker, std::unique_ptr<DeviceSink>>> DeviceSinks;

/* The one for state->sink. */
DeviceSink *device_sink_of(gcor_state *state);

#endif
