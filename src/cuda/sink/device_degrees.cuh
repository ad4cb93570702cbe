/* Sums degrees and strengths of variables on the device, for edge_delivery.cu and edge_buffer.cu. Strengths are
 * fixed-point numbers (weight.h), so they do not depend on the order of the edges. */
#ifndef GPUCOR_CUDA_DEVICE_DEGREES_CUH
#define GPUCOR_CUDA_DEVICE_DEGREES_CUH

#include "../backend/state.cuh"
#include "../../sink/weight.h"

class DeviceDegrees {
  public:
    /* Sets the sums of n_var variables to 0. */
    void clear(int64_t n_var, const Stream &stream);
    /* Adds those of a tile's n edges, in any order, that have a weight of at least `min`. Row i of the sink is
     * variable first_row + i. */
    void add(const unsigned *positions, const double *r, int64_t n, const gcor_tile &tile, int64_t first_row,
             gcor_side side, double min, const Stream &stream);
    /* Copies the sums to the caller's arrays of n_var elements. The streams of add() must have finished. */
    void fetch(int64_t n_var, int64_t *to_degree, gcor_int128 *to_strength) const;
    void trim();

  private:
    DeviceArray<unsigned long long> degree;
    DeviceArray<gcor_int128> strength;
};

#endif
