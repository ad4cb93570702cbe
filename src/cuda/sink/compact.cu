/* All coefficients on their way to the host as they are to be kept there, floats or numerators. Bands of rows, whose
 * values follow one another in the result: computed on one stream, while the band before is copied on another, a few of
 * its rows at a time, into pinned memory, and from there by all threads of the processor. */
#include "../backend/state.cuh"
#include "../../sink/compact.h"

#include <algorithm>

namespace {

struct Band {
    DeviceArray<char> values;
    Event computed, sent;
    Packed packed;
    bool full = false; /* computed, and not sent */
};

/* Rows of a band on their way. */
struct Landing {
    PinnedArray<char> values;
    Event copied;
    gcor_tile rows;
    bool in_doubles, full = false;
};

class Compact : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;
    SinkNeeds begin() override;
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override;
    void finish() override;
    void trim() override;

  private:
    Band bands[2];
    Landing landings[LANDINGS];
    int next_band = 0, next_landing = 0;

    void reserve(Band &band, const gcor_tile &tile, gcor_form form);
    void send(Band &band);
    void send_rows(const Packed &packed, const gcor_tile &rows);
    void deliver(Landing &landing);
};

/* What the product has for the sink's form. */
gcor_form form_of(const gcor_state *state, const Operand &rows) {
    if (rows.head.kind == GCOR_REAL) return GCOR_AS_FLOATS;
    bool counts = state->sink->form == GCOR_AS_COUNTS && rows.head.kind == GCOR_SIGN &&
                  fused_exactly(state, rows.head.kind, rows.head.n_obs);
    return counts ? GCOR_AS_COUNTS : GCOR_AS_DOUBLES;
}

int64_t value_bytes(const Packed &packed) {
    return (int64_t)(packed.doubles ? sizeof(double) : sizeof(float));
}

SinkNeeds Compact::begin() {
    for (Band &band : bands) band.full = false;
    for (Landing &landing : landings) landing.full = false;
    return {false, false, true};
}

void Compact::reserve(Band &band, const gcor_tile &tile, gcor_form form) {
    band.packed = Packed{};
    band.packed.tile = tile;
    band.packed.shape = state->sink->shape;
    int64_t pairs = gcor_tile_pairs(&tile, band.packed.shape);
    band.values.reserve(pairs * (int64_t)(form == GCOR_AS_DOUBLES ? sizeof(double) : sizeof(float)),
                        "a band of coefficients");
    if (form == GCOR_AS_DOUBLES) band.packed.doubles = (double *)band.values.data;
    if (form == GCOR_AS_FLOATS) band.packed.floats = (float *)band.values.data;
    if (form == GCOR_AS_COUNTS) band.packed.counts = (int *)band.values.data;
}

/* One band is computed while the one before is sent. */
void Compact::multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    Band &band = bands[next_band], &before = bands[1 - next_band];
    next_band = 1 - next_band;
    check(cudaStreamWaitEvent(state->compute.handle, band.sent.handle, 0), "ordering streams");
    reserve(band, tile, form_of(state, rows));
    multiply_exact(state, rows, cols, band.packed);
    band.computed.record(state->compute);
    band.full = true;
    send(before);
}

/* As soon as it is computed, some rows after the others. */
void Compact::send(Band &band) {
    if (!band.full) return;
    band.full = false;
    check(cudaStreamWaitEvent(state->copy.handle, band.computed.handle, 0), "ordering streams");
    const gcor_tile &tile = band.packed.tile;
    int64_t turns = 1 + tile.n_row * tile.n_col * value_bytes(band.packed) / LANDING_BYTES;
    int64_t some = 1 + tile.n_row / turns;
    for (int64_t row = 0; row < tile.n_row; row += some)
        send_rows(band.packed, {tile.row + row, std::min(some, tile.n_row - row), tile.col, tile.n_col});
    band.sent.record(state->copy);
}

/* The landing's turn: what was in it is delivered. */
void Compact::send_rows(const Packed &packed, const gcor_tile &rows) {
    Landing &landing = landings[next_landing];
    next_landing = (next_landing + 1) % LANDINGS;
    deliver(landing);
    int64_t first = gcor_tile_offset(&packed.tile, packed.shape, rows.row) * value_bytes(packed);
    int64_t bytes = gcor_tile_pairs(&rows, packed.shape) * value_bytes(packed);
    const char *from = packed.doubles  ? (const char *)packed.doubles
                       : packed.floats ? (const char *)packed.floats
                                       : (const char *)packed.counts;
    landing.values.reserve(bytes, "a band of coefficients");
    landing.rows = rows;
    landing.in_doubles = packed.doubles;
    check(cudaMemcpyAsync(landing.values.data, from + first, (size_t)bytes, cudaMemcpyDeviceToHost, state->copy.handle),
          "copying coefficients");
    landing.copied.record(state->copy);
    landing.full = true;
}

void Compact::deliver(Landing &landing) {
    if (!landing.full) return;
    landing.full = false;
    wait_for(state, landing.copied);
    const char *values = landing.values.data;
    if (!landing.in_doubles) return gcor_compact_take_tile(state->sink, state->context, &landing.rows, values);
    gcor_status status = gcor_take_tile(state->sink, state->context, &landing.rows, (const double *)values, nullptr);
    if (status) throw Stopped{status};
}

void Compact::finish() {
    for (Band &band : bands) send(band);
    for (int k = 0; k < LANDINGS; k++) deliver(landings[(next_landing + k) % LANDINGS]);
}

void Compact::trim() {
    for (Band &band : bands) band.values.trim();
    for (Landing &landing : landings) landing.values.trim();
}

} // namespace

std::unique_ptr<DeviceSink> make_compact(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new Compact(state));
}
