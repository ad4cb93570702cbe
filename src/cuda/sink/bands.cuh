/* Transfers values to the host in bands of rows, or tile by tile. While one band is computed, the previous one is
 * copied on another stream into pinned memory, some rows at a time or as a whole; all host threads take the values from
 * there. */
#ifndef GPUCOR_CUDA_BANDS_CUH
#define GPUCOR_CUDA_BANDS_CUH

#include "sinks.cuh"

/* Delivers bands to state->sink. */
class Bands {
  public:
    explicit Bands(gcor_state *owner) : state(owner) {}

    /* Begins a run and discards what the last one left. whole: the sink takes each band as one tile. */
    void begin(bool whole = false);
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

#endif
