/* The largest weight of a run's pairs, which stays on the device until the run finishes (maximum.cu). */
#ifndef GPUCOR_CUDA_MAXIMUM_CUH
#define GPUCOR_CUDA_MAXIMUM_CUH

#include "totals.cuh"
#include "../../sink/maximum.h"

/* What the run's tiles have found so far, as integers of the same order. Initialized with NOTHING in every byte, which
 * means two numbers far below -1. */
struct Largest {
    long long weight; /* largest exact weight so far */
    int floor;        /* a float that the maximum reaches */
};

class DeviceLargest {
  public:
    void begin() { largest.used = false; }
    Largest *on_device(gcor_state *state);
    /* Searches the coefficients of a tile, in doubles. */
    void search(gcor_state *state, const Packed &values, gcor_side side);
    /* Updates the host's maximum. The number stays on the device: later tiles can only increase it. */
    void deliver(gcor_state *state, gcor_maximum *to);

  private:
    Totals<Largest> largest;
};

#endif
