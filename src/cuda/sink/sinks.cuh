/* Sinks on the device. A kind of sink with a device half is a class in a file of its own and a row of the table in
 * backend.cu. The values of all other sinks are copied to the host and go to their take() (bands.cu). Sinks that pass
 * coefficients on have such halves, too (combine.cu). */
#pragma once

#include "../product/product.cuh"
#include "../../sink/histogram.h"

#include <algorithm>

/* Created for the first run with such a sink, then kept by the session with its buffers. */
class DeviceSink {
  public:
    explicit DeviceSink(gcor_state *owner) : state(owner) {}
    virtual ~DeviceSink() = default;

    /* Begins a run into `to`, of which this is the device half, and discards what the last run left. */
    SinkNeeds begin_run(gcor_sink *to) {
        sink = to;
        return begin();
    }
    virtual void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) = 0;
    /* Instead of multiply() where a sink before this one changes coefficients: takes those of a tile, doubles in device
     * memory, which later work on state->compute may overwrite. */
    virtual void take(const Packed &values) = 0;
    /* Instead of multiply() for operands of kind GCOR_ADJACENCY; only in a run of such operands. */
    virtual void overlap(const gcor_adjacency *, const gcor_adjacency *, const gcor_tile &) {
        fail_impossible("overlaps where there are coefficients");
    }
    /* Delivers everything to the sink; more tiles may follow. */
    virtual void finish() = 0;
    /* Called after a run, when nothing is in flight: frees what is too large to keep. */
    virtual void trim() {}

  protected:
    gcor_state *state;
    gcor_sink *sink = nullptr;

    virtual SinkNeeds begin() = 0;
};

/* backend.cu: returns the device half for a sink that gets coefficients, one of `made`, which keeps it. */
DeviceSink *device_sink_for(gcor_state *state, const gcor_sink *sink, DeviceSinks &made);

std::unique_ptr<DeviceSink> make_edges(gcor_state *state);
std::unique_ptr<DeviceSink> make_histogram(gcor_state *state);
std::unique_ptr<DeviceSink> make_connectivity(gcor_state *state);
std::unique_ptr<DeviceSink> make_maximum(gcor_state *state);
std::unique_ptr<DeviceSink> make_combine(gcor_state *state);
std::unique_ptr<DeviceSink> make_agreement(gcor_state *state); /* combine.cu */
std::unique_ptr<DeviceSink> make_moments(gcor_state *state);
std::unique_ptr<DeviceSink> make_adjacency(gcor_state *state);
std::unique_ptr<DeviceSink> make_overlaps(gcor_state *state);    /* overlap.cu */
std::unique_ptr<DeviceSink> make_host_values(gcor_state *state); /* also of sinks that the table does not have */

/* overlap.cu: gcor_backend's functions of these names. */
int64_t cuda_overlap_side(int64_t n_var);
void cuda_plan_overlap(gcor_state *state, const gcor_context *context, int64_t n_var, gcor_overlap_plan *plan);

/* ---- bands (bands.cu) --------------------------------------------------------------------------- */

/* Transfers values to the host in bands of rows, or tile by tile. While one band is computed, the previous one is
 * copied on another stream into pinned memory, some rows at a time or as a whole; all host threads take the values from
 * there. */

/* Delivers bands to a sink. */
class Bands {
  public:
    explicit Bands(gcor_state *owner) : state(owner) {}

    /* Begins a run into `to` and discards what the last one left. whole: the sink takes each band as one tile. */
    void begin(gcor_sink *to, bool whole = false);
    /* Allocates the next band's values, in that form, to be written on state->compute. */
    const Packed &next(const gcor_tile &tile, gcor_form form);
    /* Marks the band as computed on state->compute, and sends the previous band meanwhile. */
    void computed();
    /* Sends and delivers everything. */
    void finish();
    void trim();

  private:
    struct Band {
        DeviceArray<char> values;
        Event computed, sent;
        Packed packed;
        bool full = false; /* computed but not sent */
    };
    /* A pinned buffer with some rows of a band. */
    struct HostRows {
        PinnedArray<char> values;
        Event copied;
        gcor_tile rows;
        bool in_doubles, full = false;
    };

    gcor_state *state;
    gcor_sink *sink = nullptr;
    Band bands[2];
    HostRows buffers[HOST_BUFFERS];
    bool whole = false;
    int at = 0, oldest = 0; /* indices of the current band, and of the buffer to use next */

    void send(Band &band);
    void send_rows(const Packed &packed, const gcor_tile &rows);
    const char *what() const { return whole ? "a tile's coefficients" : "a band of coefficients"; }
    int n_buffers() const { return whole ? RING_SLOTS : HOST_BUFFERS; }
    void deliver(HostRows &buffer);
};

/* ---- totals ------------------------------------------------------------------------------------- */

/* Numbers that the tiles of a run add to on the device and that stay there until they are finished. */

/* Copies n numbers to the host, some at a time: take(numbers, first, count). */
template <class Number, class Take>
void fetch(gcor_state *state, const Number *from, int64_t n, const char *what, Take take) {
    const int64_t max = STAGED_VALUES * (int64_t)sizeof(double) / (int64_t)sizeof(Number);
    PinnedArray<char> &staged = state->columns->staged[0];
    staged.reserve(std::min(n, max) * (int64_t)sizeof(Number), what);
    for (int64_t at = 0, count; at < n; at += count) {
        count = std::min(max, n - at);
        copy_to_host((Number *)staged.data, from + at, count, state->compute, "copying sums");
        wait_for_compute(state);
        take((const Number *)staged.data, at, count);
    }
}

template <class Number>
class Totals {
  public:
    bool used = false; /* false: on_device() clears them */

    /* Returns n numbers, cleared on first use: every byte is `byte`. */
    Number *on_device(gcor_state *state, int64_t n, const char *what, int byte = 0) {
        numbers.reserve(n, what);
        if (!used) clear(numbers.data, n, state->compute, "clearing sums", byte);
        used = true;
        return numbers.data;
    }
    const Number *data() const { return numbers.data; }
    void trim() { numbers.trim(); }

  private:
    DeviceArray<Number> numbers;
};

/* Counts of GCOR_BINS bins. */
typedef Totals<unsigned long long> DeviceBins;

inline unsigned long long *bins_on_device(gcor_state *state, DeviceBins &bins) {
    return bins.on_device(state, GCOR_BINS, "a histogram");
}

/* Adds the counts to the host's bins and resets them. */
inline void take_bins(gcor_state *state, DeviceBins &bins, gcor_bins *to) {
    if (!bins.used) return;
    fetch(state, (const int64_t *)bins.data(), GCOR_BINS, "a histogram",
          [&](const int64_t *counts, int64_t, int64_t) { gcor_bins_add(to, counts); });
    bins.used = false;
}
static_assert(GCOR_BINS <= STAGED_VALUES, "all bins at once");
