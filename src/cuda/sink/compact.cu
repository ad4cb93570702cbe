/* All coefficients on their way to the host as they are to be kept there, floats or numerators. Bands of rows, whose
 * values follow one another in the result (bands.cuh). */
#include "bands.cuh"

namespace {

class Compact : public DeviceSink {
  public:
    explicit Compact(gcor_state *owner) : DeviceSink(owner), bands(owner) {}
    SinkNeeds begin() override;
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override;
    void finish() override { bands.finish(); }
    void trim() override { bands.trim(); }

  private:
    Bands bands;
};

/* What the product has for the sink's form. */
gcor_form form_of(const gcor_state *state, const Operand &rows) {
    if (rows.head.kind == GCOR_REAL) return GCOR_AS_FLOATS;
    bool counts = state->sink->form == GCOR_AS_COUNTS && rows.head.kind == GCOR_SIGN &&
                  fused_exactly(state, rows.head.kind, rows.head.n_obs);
    return counts ? GCOR_AS_COUNTS : GCOR_AS_DOUBLES;
}

SinkNeeds Compact::begin() {
    bands.begin();
    return {false, false, true};
}

void Compact::multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) {
    multiply_exact(state, rows, cols, bands.next(tile, form_of(state, rows)));
    bands.computed();
}

} // namespace

std::unique_ptr<DeviceSink> make_compact(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new Compact(state));
}
