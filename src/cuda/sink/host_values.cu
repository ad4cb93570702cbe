/* The sink of every run whose values all go to the host: a result that keeps them (sink/dense.h), or a sink without a
 * device half, which takes whole tiles there. */
#include "bands.cuh"
#include "../../sink/dense.h"

namespace {

class HostValues : public DeviceSink {
  public:
    explicit HostValues(gcor_state *owner) : DeviceSink(owner), bands(owner) {}
    SinkNeeds begin() override;
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override;
    void finish() override { bands.finish(); }
    void trim() override { bands.trim(); }

  private:
    Bands bands;
};

SinkNeeds HostValues::begin() {
    bool compact = state->sink->type == &gcor_compact_type;
    bands.begin(!compact);
    return {false, false, compact};
}

/* Sinks that keep or sum all values accept whichever form is fastest; other sinks make decisions on them and get the
 * same values as on every back end. Only a compact sink asks for counts. */
gcor_form form_of(const gcor_state *state, gcor_kind kind, int64_t n_obs) {
    const gcor_sink *sink = state->sink;
    if (kind == GCOR_REAL)
        return sink->type->keeps_all || sink->form == GCOR_AS_FLOATS ? GCOR_AS_FLOATS : GCOR_AS_DOUBLES;
    bool counts = sink->form == GCOR_AS_COUNTS && kind == GCOR_SIGN && fused_exactly(state, kind, n_obs);
    return counts ? GCOR_AS_COUNTS : GCOR_AS_DOUBLES;
}

void HostValues::multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    gcor_form form = form_of(state, rows.head.kind, rows.head.n_obs);
    const Packed &out = bands.next(tile, form);
    if (rows.head.kind == GCOR_REAL && form == GCOR_AS_DOUBLES)
        exact_dots(state, rows, cols, out);
    else
        exact_tile(state, rows, cols, out);
    bands.computed();
}

} // namespace

std::unique_ptr<DeviceSink> make_host_values(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new HostValues(state));
}
