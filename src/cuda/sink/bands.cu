#include "bands.cuh"
#include "../../sink/compact.h"

#include <algorithm>

static int64_t value_bytes(const Packed &packed) {
    return (int64_t)(packed.doubles ? sizeof(double) : sizeof(float));
}

void Bands::begin() {
    for (Band &band : bands) band.full = false;
    for (Landing &landing : landings) landing.full = false;
}

const Packed &Bands::next(const gcor_tile &tile, gcor_form form) {
    at = 1 - at;
    Band &band = bands[at];
    check(cudaStreamWaitEvent(state->compute.handle, band.sent.handle, 0), "ordering streams");
    band.packed = Packed{};
    band.packed.tile = tile;
    band.packed.shape = state->sink->shape;
    int64_t pairs = gcor_tile_pairs(&tile, band.packed.shape);
    band.values.reserve(pairs * (int64_t)(form == GCOR_AS_DOUBLES ? sizeof(double) : sizeof(float)),
                        "a band of coefficients");
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

/* Copies a band as soon as it is computed, some rows at a time. */
void Bands::send(Band &band) {
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

/* Reuses the oldest pinned buffer, after delivering what it holds. */
void Bands::send_rows(const Packed &packed, const gcor_tile &rows) {
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

void Bands::deliver(Landing &landing) {
    if (!landing.full) return;
    landing.full = false;
    wait_for(state, landing.copied);
    const char *values = landing.values.data;
    if (state->sink->type == &gcor_compact_type && !landing.in_doubles)
        return gcor_compact_take_tile(state->sink, state->context, &landing.rows, values);
    const double *doubles = landing.in_doubles ? (const double *)values : nullptr;
    const float *floats = landing.in_doubles ? nullptr : (const float *)values;
    gcor_status status = gcor_take_tile(state->sink, state->context, &landing.rows, doubles, floats);
    if (status) throw Stopped{status};
}

void Bands::finish() {
    send(bands[at]);
    for (int k = 0; k < LANDINGS; k++) deliver(landings[(next_landing + k) % LANDINGS]);
}

void Bands::trim() {
    for (Band &band : bands) band.values.trim();
    for (Landing &landing : landings) landing.values.trim();
}
