/* Values on their way to the host in bands of rows: computed on one stream, while the band before is copied on another,
 * a few of its rows at a time, into pinned memory, and from there by all threads of the processor. */
#ifndef GPUCOR_CUDA_BANDS_CUH
#define GPUCOR_CUDA_BANDS_CUH

#include "../product/product.cuh"

/* To state->sink. */
class Bands {
  public:
    explicit Bands(gcor_state *owner) : state(owner) {}

    /* A run begins: what the last one has left is forgotten. */
    void begin();
    /* Room for the next band's values in that form, to be written on state->compute. */
    const Packed &next(const gcor_tile &tile, gcor_form form);
    /* They are being computed; the band before is sent meanwhile. */
    void computed();
    /* All are delivered. */
    void finish();
    void trim();

  private:
    struct Band {
        DeviceArray<char> values;
        Event computed, sent;
        Packed packed;
        bool full = false; /* computed, and not sent */
    };
    /* Rows of a band. */
    struct Landing {
        PinnedArray<char> values;
        Event copied;
        gcor_tile rows;
        bool in_doubles, full = false;
    };

    gcor_state *state;
    Band bands[2];
    Landing landings[LANDINGS];
    int at = 0, next_landing = 0; /* at: the band at hand */

    void send(Band &band);
    void send_rows(const Packed &packed, const gcor_tile &rows);
    void deliver(Landing &landing);
};

#endif
