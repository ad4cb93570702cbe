#include "sinks.cuh"
#include "../../sink/dense.h"

#include <algorithm>

static int64_t value_bytes(const Packed &packed) {
    return (int64_t)(packed.doubles ? sizeof(double) : sizeof(float));
}

void Bands::begin(gcor_sink *to, bool in_one) {
    sink = to;
    whole = in_one;
    oldest = 0;
    for (Band &band : bands) band.full = false;
    for (HostRows &buffer : buffers) buffer.full = false;
}

const Packed &Bands::next(const gcor_tile &tile, gcor_form form) {
    at = 1 - at;
    Band &band = bands[at];
    check(cudaStreamWaitEvent(state->compute.handle, band.sent.handle, 0), "ordering streams");
    band.packed = Packed{};
    band.packed.tile = tile;
    band.packed.shape = sink->shape;
    int64_t pairs = gcor_tile_pairs(&tile, band.packed.shape);
    band.values.reserve(pairs * (int64_t)(form == GCOR_AS_DOUBLES ? sizeof(double) : sizeof(float)), what());
    if (form == GCOR_AS_DOUBLES) band.packed.doubles = (double *)band.values.data;
    if (form == GCOR_AS_FLOATS) band.packed.floats = (float *)band.values.data;
    if (form == GCOR_AS_COUNTS) band.packed.counts = (int *)band.values.data;
    return band.packed;
}

void Bands::computed() {
    bands[at].computed.record(state->compute);
    bands[at].full = true;
    send(bands[1 - at]);
}

/* Copies a band as soon as it is computed. */
void Bands::send(Band &band) {
    if (!band.full) return;
    band.full = false;
    check(cudaStreamWaitEvent(state->copy.handle, band.computed.handle, 0), "ordering streams");
    const gcor_tile &tile = band.packed.tile;
    int64_t parts = 1 + tile.n_row * tile.n_col * value_bytes(band.packed) / HOST_BUFFER_BYTES;
    int64_t height = whole ? tile.n_row : 1 + tile.n_row / parts;
    for (int64_t row = 0; row < tile.n_row; row += height)
        send_rows(band.packed, {tile.row + row, std::min(height, tile.n_row - row), tile.col, tile.n_col});
    band.sent.record(state->copy);
}

/* Reuses the oldest pinned buffer, after delivering what it holds. */
void Bands::send_rows(const Packed &packed, const gcor_tile &rows) {
    HostRows &buffer = buffers[oldest];
    oldest = (oldest + 1) % n_buffers();
    deliver(buffer);
    int64_t first = gcor_tile_offset(&packed.tile, packed.shape, rows.row) * value_bytes(packed);
    int64_t bytes = gcor_tile_pairs(&rows, packed.shape) * value_bytes(packed);
    const char *from = packed.doubles  ? (const char *)packed.doubles
                       : packed.floats ? (const char *)packed.floats
                                       : (const char *)packed.counts;
    buffer.values.reserve(bytes, what());
    buffer.rows = rows;
    buffer.in_doubles = packed.doubles;
    copy_to_host(buffer.values.data, from + first, bytes, state->copy, "copying coefficients");
    buffer.copied.record(state->copy);
    buffer.full = true;
}

void Bands::deliver(HostRows &buffer) {
    if (!buffer.full) return;
    buffer.full = false;
    wait_for(state, buffer.copied);
    const char *values = buffer.values.data;
    if (sink->type->role == GCOR_COMPACT && !buffer.in_doubles)
        return gcor_compact_take_tile(sink, state->context, &buffer.rows, values);
    const double *doubles = buffer.in_doubles ? (const double *)values : nullptr;
    const float *floats = buffer.in_doubles ? nullptr : (const float *)values;
    gcor_status status = gcor_take_tile(sink, state->context, &buffer.rows, doubles, floats);
    if (status) throw Stopped{status};
}

void Bands::finish() {
    send(bands[at]);
    for (int k = 0; k < n_buffers(); k++) deliver(buffers[(oldest + k) % n_buffers()]);
}

void Bands::trim() {
    for (Band &band : bands) band.values.trim();
    for (HostRows &buffer : buffers) buffer.values.trim();
}

/* ---- host values -------------------------------------------------------------------------------- */

/* The sink of every run whose values all go to the host: a result that keeps them (sink/dense.h), or a sink without a
 * device half, which takes whole tiles there. */

namespace {

class HostValues : public DeviceSink {
  public:
    explicit HostValues(gcor_state *owner) : DeviceSink(owner), bands(owner) {}
    SinkNeeds begin() override;
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override;
    void take(const Packed &values) override;
    void finish() override { bands.finish(); }
    void trim() override { bands.trim(); }

  private:
    Bands bands;
};

SinkNeeds HostValues::begin() {
    bool compact = sink->type->role == GCOR_COMPACT;
    bands.begin(sink, !compact);
    return {false, false, compact};
}

/* Sinks that keep or sum all values accept whichever form is fastest; other sinks make decisions on them and get the
 * same values as on every back end. Only a compact sink asks for counts. */
gcor_form form_of(const gcor_state *state, const gcor_sink *sink, gcor_kind kind, int64_t n_obs) {
    if (kind == GCOR_REAL)
        return sink->type->keeps_all || sink->form == GCOR_AS_FLOATS ? GCOR_AS_FLOATS : GCOR_AS_DOUBLES;
    bool counts = sink->form == GCOR_AS_COUNTS && kind == GCOR_SIGN && fused_exactly(state, kind, n_obs);
    return counts ? GCOR_AS_COUNTS : GCOR_AS_DOUBLES;
}

void HostValues::multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    gcor_form form = form_of(state, sink, rows.head.kind, rows.head.n_obs);
    const Packed &out = bands.next(tile, form);
    if (rows.head.kind == GCOR_REAL && form == GCOR_AS_DOUBLES)
        exact_dots(state, rows, cols, out);
    else
        exact_tile(state, rows, cols, out);
    bands.computed();
}

void HostValues::take(const Packed &values) {
    const Packed &out = bands.next(values.tile, GCOR_AS_DOUBLES);
    const size_t bytes = (size_t)gcor_tile_pairs(&values.tile, sink->shape) * sizeof(double);
    check(cudaMemcpyAsync(out.doubles, values.doubles, bytes, cudaMemcpyDeviceToDevice, state->compute.handle),
          "copying coefficients");
    bands.computed();
}

} // namespace

std::unique_ptr<DeviceSink> make_host_values(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new HostValues(state));
}
