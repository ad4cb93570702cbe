/* The largest weight of a run's pairs, which stays on the device until the run finishes (maximum.cu). */
#pragma once

#include "sinks.cuh"
#include "edge_output.cuh"
#include "../backend/lanes.cuh"
#include "../product/pair.cuh"
#include "../../sink/maximum.h"

#include <climits>

/* ---- the maximum so far ---------------------------------------------------------------------- */

/* Maps a number's bits to an integer of the same order, for atomicMax(), and back. */
static __host__ __device__ inline int in_order(int bits) {
    return bits < 0 ? bits ^ INT_MAX : bits;
}
static __host__ __device__ inline long long in_order(long long bits) {
    return bits < 0 ? bits ^ LLONG_MAX : bits;
}

/* What the run's tiles have found so far, as integers of the same order. Initialized with NOTHING in every byte, which
 * means two numbers far below -1. The functions are called by all lanes of a warp. */
struct Largest {
    long long weight; /* largest exact weight so far */
    int floor;        /* a float that the maximum reaches, on the scale of the kernel's approximate values */

    /* Updates both with the lanes' largest numbers; a weight below -1 is none. */
    __device__ void add(double own_weight, float own_floor) {
        own_weight = largest_of_lanes(own_weight);
        own_floor = largest_float(own_floor);
        if (threadIdx.x % 32 != 0 || own_weight < -1) return;
        atomicMax(&weight, in_order(__double_as_longlong(own_weight)));
        raise(own_floor);
    }
    __device__ float current_floor() const {
        int found = 0;
        if (threadIdx.x % 32 == 0) found = *(const volatile int *)&floor;
        return __int_as_float(in_order(__shfl_sync(ALL_LANES, found, 0)));
    }
    /* Called by one lane. */
    __device__ void raise(float reached) { atomicMax(&floor, in_order(__float_as_int(reached))); }
    static __device__ float largest_float(float value) {
        return __int_as_float(in_order(__reduce_max_sync(ALL_LANES, in_order(__float_as_int(value)))));
    }
};

/* The columns that form pairs of the shape with a lane's rows i and i + 8, relative to the lane's first column. */
struct LanePairs {
    int first[2], n[2];
    __device__ LanePairs(const Product &p, int64_t i, int64_t j) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            int64_t col = 0, count = 0, row = i + 8 * h;
            if (row < p.tile.n_row) gcor_tile_segment(&p.tile, p.shape, p.tile.row + row, &col, &count);
            first[h] = (int)(col - p.tile.col - j);
            n[h] = (int)count;
        }
    }
    __device__ bool has(int h, int col) const {
        return (unsigned)(col - first[h]) < (unsigned)n[h];
    }
};

/* True if 16 rows and `cols` columns contain only pairs of the shape. */
static __device__ inline bool all_count(const Product &p, int64_t i, int64_t j, int cols) {
    return i + 16 <= p.tile.n_row && j + cols <= p.tile.n_col && is_pair(p, i, j + cols - 1) && is_pair(p, i + 15, j);
}

/* ---- on the device ------------------------------------------------------------------------------ */

class DeviceMaximum : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;

    SinkNeeds begin() override;
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override;
    void take(const Packed &values) override;
    /* Updates the host's maximum. The number stays on the device: later tiles can only increase it. */
    void finish() override;
    gcor_maximum *maximum() const { return (gcor_maximum *)sink; }
    Largest *largest();

  private:
    Totals<Largest> found;
};
