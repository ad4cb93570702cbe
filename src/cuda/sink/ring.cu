/* The path of all values of a tile to a sink without a device half. Values are computed on one stream, copied on
 * another into pinned memory, and taken by all host threads; three tiles are in flight. */
#include "sinks.cuh"

struct Slot {
    DeviceArray<char> device;
    PinnedArray<char> host;
    Event computed, copied;
    Packed values;
    bool full = false;
};

class Ring : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;
    SinkNeeds begin() override;
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override;
    void finish() override;
    void trim() override;

  private:
    Slot slots[RING_SLOTS];
    int next = 0;

    Slot &take_turn();
    void reserve(Slot &slot, const gcor_tile &tile, bool doubles);
    void send(Slot &slot);
    void deliver(Slot &slot);
};

static int64_t bytes_of(const Packed &values, bool doubles) {
    return gcor_tile_pairs(&values.tile, values.shape) * (int64_t)(doubles ? sizeof(double) : sizeof(float));
}

SinkNeeds Ring::begin() {
    for (Slot &slot : slots) slot.full = false;
    return {false, false};
}

/* Returns the next slot after delivering the tile that it held. */
Slot &Ring::take_turn() {
    Slot &slot = slots[next];
    next = (next + 1) % RING_SLOTS;
    deliver(slot);
    return slot;
}

void Ring::reserve(Slot &slot, const gcor_tile &tile, bool doubles) {
    slot.values = {tile, state->sink->shape, nullptr, nullptr};
    int64_t bytes = bytes_of(slot.values, doubles);
    slot.device.reserve(bytes, "a tile's coefficients");
    slot.host.reserve(bytes, "a tile's coefficients");
    if (doubles)
        slot.values.doubles = (double *)slot.device.data;
    else
        slot.values.floats = (float *)slot.device.data;
}

/* Copies the slot's values to the host as soon as state->compute has computed them. */
void Ring::send(Slot &slot) {
    int64_t bytes = bytes_of(slot.values, slot.values.doubles != nullptr);
    slot.computed.record(state->compute);
    check(cudaStreamWaitEvent(state->copy.handle, slot.computed.handle, 0), "ordering streams");
    check(cudaMemcpyAsync(slot.host.data, slot.device.data, (size_t)bytes, cudaMemcpyDeviceToHost, state->copy.handle),
          "copying coefficients");
    slot.copied.record(state->copy);
    slot.full = true;
}

void Ring::deliver(Slot &slot) {
    if (!slot.full) return;
    slot.full = false;
    wait_for(state, slot.copied);
    const double *doubles = slot.values.doubles ? (const double *)slot.host.data : nullptr;
    const float *floats = slot.values.floats ? (const float *)slot.host.data : nullptr;
    gcor_status status = gcor_take_tile(state->sink, state->context, &slot.values.tile, doubles, floats);
    if (status) throw Stopped{status};
}

/* Sinks that keep or sum all values accept whichever format is fastest; other sinks make decisions on them and get
 * the same values as on every back end. */
void Ring::multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    const gcor_sink *sink = state->sink;
    bool are_real = rows.head.kind == GCOR_REAL, as_floats = sink->type->keeps_all || sink->form == GCOR_AS_FLOATS;
    Slot &slot = take_turn();
    reserve(slot, tile, !are_real || !as_floats);
    if (are_real && !as_floats)
        multiply_dots(state, rows, cols, slot.values);
    else
        multiply_exact(state, rows, cols, slot.values);
    send(slot);
}

void Ring::finish() {
    for (int k = 0; k < RING_SLOTS; k++) (void)take_turn();
}

void Ring::trim() {
    for (Slot &slot : slots) {
        slot.device.trim();
        slot.host.trim();
    }
}

std::unique_ptr<DeviceSink> make_ring(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new Ring(state));
}
