/* All coefficients on their way to the host as they are to be kept there, floats or numerators. Bands of rows, whose
 * values follow one another in the result: computed on one stream, copied on another into pinned memory, and from there
 * by all threads of the processor, three bands at once. */
#include "../backend/state.cuh"
#include "../../sink/compact.h"

namespace {

struct Band {
    DeviceArray<char> device;
    PinnedArray<char> host;
    Event computed, copied;
    Packed values;
    bool full = false;
};

class Compact : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;
    SinkNeeds begin() override;
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override;
    void finish() override;
    void trim() override;

  private:
    Band bands[RING_SLOTS];
    int next = 0;

    Band &take_turn();
    void reserve(Band &band, const gcor_tile &tile, gcor_form form);
    void send(Band &band);
    void deliver(Band &band);
};

/* What the product has for the sink's form. */
gcor_form form_of(const gcor_state *state, const Operand &rows) {
    if (rows.head.kind == GCOR_REAL) return GCOR_AS_FLOATS;
    bool counts = state->sink->form == GCOR_AS_COUNTS && rows.head.kind == GCOR_SIGN &&
                  fused_exactly(state, rows.head.kind, rows.head.n_obs);
    return counts ? GCOR_AS_COUNTS : GCOR_AS_DOUBLES;
}

int64_t bytes_of(const Packed &values) {
    return gcor_tile_pairs(&values.tile, values.shape) * (int64_t)(values.doubles ? sizeof(double) : sizeof(float));
}

SinkNeeds Compact::begin() {
    for (Band &band : bands) band.full = false;
    return {false, false, true};
}

/* The next band's memory, empty: what was in it is delivered. */
Band &Compact::take_turn() {
    Band &band = bands[next];
    next = (next + 1) % RING_SLOTS;
    deliver(band);
    return band;
}

void Compact::reserve(Band &band, const gcor_tile &tile, gcor_form form) {
    int64_t bytes = gcor_tile_pairs(&tile, state->sink->shape) *
                    (int64_t)(form == GCOR_AS_DOUBLES ? sizeof(double) : sizeof(float));
    band.device.reserve(bytes, "a band of coefficients");
    band.host.reserve(bytes, "a band of coefficients");
    band.values = Packed{};
    band.values.tile = tile;
    band.values.shape = state->sink->shape;
    if (form == GCOR_AS_DOUBLES) band.values.doubles = (double *)band.device.data;
    if (form == GCOR_AS_FLOATS) band.values.floats = (float *)band.device.data;
    if (form == GCOR_AS_COUNTS) band.values.counts = (int *)band.device.data;
}

/* The band's values are being computed on state->compute: copy them when they are done. */
void Compact::send(Band &band) {
    band.computed.record(state->compute);
    check(cudaStreamWaitEvent(state->copy.handle, band.computed.handle, 0), "ordering streams");
    check(cudaMemcpyAsync(band.host.data, band.device.data, (size_t)bytes_of(band.values), cudaMemcpyDeviceToHost,
                          state->copy.handle),
          "copying coefficients");
    band.copied.record(state->copy);
    band.full = true;
}

void Compact::deliver(Band &band) {
    if (!band.full) return;
    band.full = false;
    wait_for(state, band.copied);
    const Packed &values = band.values;
    if (!values.doubles) return gcor_compact_take_tile(state->sink, state->context, &values.tile, band.host.data);
    gcor_status status = gcor_take_tile(state->sink, state->context, &values.tile, (const double *)band.host.data,
                                        nullptr);
    if (status) throw Stopped{status};
}

void Compact::multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    Band &band = take_turn();
    reserve(band, tile, form_of(state, rows));
    multiply_exact(state, rows, cols, band.values);
    send(band);
}

void Compact::finish() {
    for (int k = 0; k < RING_SLOTS; k++) (void)take_turn();
}

void Compact::trim() {
    for (Band &band : bands) {
        band.device.trim();
        band.host.trim();
    }
}

} // namespace

std::unique_ptr<DeviceSink> make_compact(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new Compact(state));
}
