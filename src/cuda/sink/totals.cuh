/* Numbers that the tiles of a run add to on the device and that stay there until they are finished. */
#ifndef GPUCOR_CUDA_TOTALS_CUH
#define GPUCOR_CUDA_TOTALS_CUH

#include "sinks.cuh"
#include "../../sink/histogram.h"

#include <algorithm>

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

#endif
