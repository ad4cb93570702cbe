/* Degrees and strengths of variables on the device, for edge_ring.cu and edge_buffer.cu: strengths are fixed-point
 * numbers (fixed.h), so the order in which edges come does not show. */
#ifndef GPUCOR_CUDA_DEVICE_DEGREES_CUH
#define GPUCOR_CUDA_DEVICE_DEGREES_CUH

#include "../backend/state.cuh"
#include "../../sink/weight.h"

class DeviceDegrees {
  public:
    /* n_var variables, none of which has an edge yet. */
    void clear(int64_t n_var, const Stream &stream);
    /* Of n edges of a tile, in any order and by their places, those of at least a weight. Rows are numbered from
     * first_row on. */
    void add(const unsigned *positions, const double *r, int64_t n, const gcor_tile &tile, int64_t first_row,
             gcor_side side, double min, const Stream &stream);
    /* All that was added, when the stream has done it: n_var of each, the caller's, written. */
    void fetch(int64_t n_var, int64_t *to_degree, gcor_int128 *to_strength) const;
    void trim();

  private:
    DeviceArray<unsigned long long> degree;
    DeviceArray<gcor_int128> strength;
};

#endif
