/* A histogram on the device, for histogram.cu and connectivity.cu: it stays there until a run's tiles are finished. */
#ifndef GPUCOR_CUDA_DEVICE_BINS_CUH
#define GPUCOR_CUDA_DEVICE_BINS_CUH

#include "../backend/state.cuh"
#include "../../sink/histogram.h"

class DeviceBins {
  public:
    void begin() { cleared = false; }
    /* GCOR_BINS counts, cleared when they are first asked for. */
    unsigned long long *counts(gcor_state *state);
    /* Add what was counted to the host's bins, and begin anew. */
    void add_to(gcor_state *state, gcor_bins *bins);

  private:
    DeviceArray<unsigned long long> device;
    PinnedArray<int64_t> host;
    bool cleared = false;
};

#endif
