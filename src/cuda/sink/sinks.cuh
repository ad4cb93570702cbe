/* Sinks on the device. A kind of sink with a device half is a class in a file of its own and a row of the table in
 * sinks.cu. The values of all other sinks are copied to the host and go to their take() (bands.cu). */
#ifndef GPUCOR_CUDA_SINKS_CUH
#define GPUCOR_CUDA_SINKS_CUH

#include "../product/product.cuh"

/* Created for the first run with such a sink, then kept by the session with its buffers. */
class DeviceSink {
  public:
    explicit DeviceSink(gcor_state *owner) : state(owner) {}
    virtual ~DeviceSink() = default;

    /* Begins a run into state->sink and discards what the last run left. */
    virtual SinkNeeds begin() = 0;
    virtual void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) = 0;
    /* Instead of multiply() for operands of kind GCOR_ADJACENCY; only in a run of such operands. */
    virtual void overlap(const gcor_adjacency *, const gcor_adjacency *, const gcor_tile &) {
        fail_impossible("overlaps where there are coefficients");
    }
    /* Delivers everything to state->sink; more tiles may follow. */
    virtual void finish() = 0;
    /* Called after a run, when nothing is in flight: frees what is too large to keep. */
    virtual void trim() {}

  protected:
    gcor_state *state;
};

std::unique_ptr<DeviceSink> make_edges(gcor_state *state);
std::unique_ptr<DeviceSink> make_histogram(gcor_state *state);
std::unique_ptr<DeviceSink> make_connectivity(gcor_state *state);
std::unique_ptr<DeviceSink> make_maximum(gcor_state *state);
std::unique_ptr<DeviceSink> make_combine(gcor_state *state);
std::unique_ptr<DeviceSink> make_moments(gcor_state *state);
std::unique_ptr<DeviceSink> make_adjacency(gcor_state *state);
std::unique_ptr<DeviceSink> make_overlaps(gcor_state *state);    /* overlap.cu */
std::unique_ptr<DeviceSink> make_host_values(gcor_state *state); /* also of sinks that the table does not have */

/* Returns the device sink for state->sink and operands of that kind. */
DeviceSink *device_sink_of(gcor_state *state, gcor_kind kind);

/* overlap.cu: gcor_backend's functions of these names. */
int64_t cuda_overlap_side(int64_t n_var);
void cuda_plan_overlap(gcor_state *state, const gcor_context *context, int64_t n_var, gcor_overlap_plan *plan);

#endif
