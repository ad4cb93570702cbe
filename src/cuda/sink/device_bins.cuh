/* A histogram on the device for histogram.cu and connectivity.cu. It stays there until the run's tiles are finished. */
#ifndef GPUCOR_CUDA_DEVICE_BINS_CUH
#define GPUCOR_CUDA_DEVICE_BINS_CUH

#include "sinks.cuh"
#include "../../sink/histogram.h"

class DeviceBins {
  public:
    void begin() { cleared = false; }
    /* Returns GCOR_BINS counts in device memory, cleared on first use. */
    unsigned long long *counts(gcor_state *state);
    /* Adds the counts to the host's bins and resets them. */
    void add_to(gcor_state *state, gcor_bins *bins);

  private:
    DeviceArray<unsigned long long> device;
    PinnedArray<int64_t> host;
    bool cleared = false;
};

#endif
