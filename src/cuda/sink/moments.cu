/* Moments over many runs on the device. A tile's values are computed first; then each thread adds one of them to its
 * pair's moments, in the order of the runs and with the arithmetic of sink/moments.c. The moments stay on the device
 * until the run of the last row copies them to the host. */
#include "sinks.cuh"
#include "../product/pair.cuh"
#include "../../base/threads.h"
#include "../../sink/moments.h"

#include <cstring>

/* ---- the kernel ---------------------------------------------------------------------------------- */

enum { ADD_THREADS = 256, MOMENTS = 6, SPREADS = 4, MAX_GRID_ROWS = 65535, REDUCE_BLOCKS = 16 };

struct DeviceMoments {
    double *count, *first, *sum, *squares, *min, *max; /* zeros before the first value; min and max NULL: not wanted */

    /* Loads all moments before it stores any, so that the loads are in flight together. */
    __device__ void add(int64_t k, double value) const {
        double n = count[k], start = first[k], total = sum[k], total_squares = squares[k];
        double low = min ? min[k] : 0, high = max ? max[k] : 0;
        bool is_first = n == 0;
        double away = is_first ? 0 : value - start;
        if (is_first) first[k] = value;
        count[k] = n + 1;
        sum[k] = total + away;
        squares[k] = total_squares + away * away;
        if (min && (is_first || value < low)) min[k] = value;
        if (max && (is_first || value > high)) max[k] = value;
    }
};

/* A tile, and what its pairs are added to. */
struct AddedTile : TileValues {
    gcor_tile all; /* all pairs of the sink with its shape, in the order of the moments */
    gcor_shape shape;
    DeviceMoments moments;
    int *has_zero_sd;

    __device__ double coefficient(int64_t at, int64_t i, int64_t j) const {
        return exact_value(*this, values.counts ? values.counts[at] : values.doubles[at], i, j);
    }
};

/* Adds a tile: a row of blocks for each row of pairs. */
static __global__ void add_moments(const __grid_constant__ AddedTile added) {
    const gcor_tile &tile = added.values.tile;
    const gcor_shape shape = added.values.shape;
    int64_t j = blockIdx.x * (int64_t)ADD_THREADS + threadIdx.x, first, n;
    for (int64_t i = blockIdx.y; i < tile.n_row; i += gridDim.y) {
        int64_t row = tile.row + i, col = tile.col + j;
        gcor_tile_segment(&tile, shape, row, &first, &n);
        if (col < first || col >= first + n) continue;
        double value = added.coefficient(gcor_tile_offset(&tile, shape, row) + col - first, i, j);
        if (value <= 1)
            added.moments.add(gcor_tile_offset(&added.all, added.shape, row) + col, value);
        else if (value == GCOR_ZERO_SD)
            *added.has_zero_sd = 1; /* all threads write the same */
    }
}

/* Replaces the count of each of n numbers by the standard deviation. */
static __global__ void reduce_to_deviations(DeviceMoments moments, int64_t n) {
    for (int64_t k = blockIdx.x * (int64_t)ADD_THREADS + threadIdx.x; k < n; k += gridDim.x * (int64_t)ADD_THREADS)
        moments.count[k] = gcor_deviation_of(moments.count[k], moments.sum[k], moments.squares[k]);
}

/* ---- the sink ------------------------------------------------------------------------------------ */

enum { COPIED_VALUES = 1 << 17 }; /* values that a host thread copies at a time */

struct HostCopy {
    double *to;
    const double *from;
    int64_t n;
};

static void copy_part(void *argument, int, int64_t part) {
    const HostCopy &copy = *(const HostCopy *)argument;
    int64_t at = part * COPIED_VALUES;
    memcpy(copy.to + at, copy.from + at, (size_t)gcor_min(COPIED_VALUES, copy.n - at) * sizeof(double));
}

class DeviceWindowMoments : public DeviceSink {
  public:
    using DeviceSink::DeviceSink;
    SinkNeeds begin() override;
    void multiply(const Operand &rows, const Operand &cols, const gcor_tile &tile) override {
        add(values_in_place(state, rows, cols, tile));
    }
    void take(const Packed &values) override { add({values}); }
    void finish() override;
    void trim() override;

  private:
    Totals<double> totals;   /* MOMENTS arrays of all pairs; the first SPREADS if only deviations are wanted */
    Totals<int> has_zero_sd; /* of the run: one number */

    gcor_moments_sink *of_run() const { return (gcor_moments_sink *)sink; }
    DeviceMoments on_device();
    void add(const TileValues &values);
    void deliver(int moment, double *to);
    void deliver_deviations(gcor_moments *m);
};

SinkNeeds DeviceWindowMoments::begin() {
    if (of_run()->is_first) totals.used = false;
    has_zero_sd.used = false;
    return {false, false};
}

DeviceMoments DeviceWindowMoments::on_device() {
    int64_t n = of_run()->moments->n;
    bool all = !of_run()->moments->deviation;
    double *at = totals.on_device(state, (all ? MOMENTS : SPREADS) * n, "moments");
    return {at, at + n, at + 2 * n, at + 3 * n, all ? at + 4 * n : nullptr, all ? at + 5 * n : nullptr};
}

void DeviceWindowMoments::add(const TileValues &values) {
    const gcor_tile &tile = values.values.tile;
    const AddedTile added{
        values, {0, sink->n_row, 0, sink->n_col}, sink->shape, on_device(), has_zero_sd.on_device(state, 1, "a flag")};
    const dim3 grid((unsigned)((tile.n_col + ADD_THREADS - 1) / ADD_THREADS),
                    (unsigned)gcor_min(tile.n_row, MAX_GRID_ROWS));
    add_moments<<<grid, ADD_THREADS, 0, state->compute.handle>>>(added);
    check_launch("adding to moments");
}

void DeviceWindowMoments::deliver(int moment, double *to) {
    int64_t pairs = of_run()->moments->n;
    fetch(state, totals.data() + moment * pairs, pairs, "moments", [&](const double *found, int64_t first, int64_t n) {
        HostCopy copy{to + first, found, n};
        gcor_for_each(state->context->threads, (n + COPIED_VALUES - 1) / COPIED_VALUES, copy_part, &copy);
    });
}

void DeviceWindowMoments::finish() {
    if (has_zero_sd.used)
        fetch(state, has_zero_sd.data(), 1, "a flag",
              [&](const int *found, int64_t, int64_t) { of_run()->has_zero_sd |= *found; });
    if (!of_run()->is_last || !totals.used) return;
    gcor_moments *m = of_run()->moments;
    if (m->deviation) return deliver_deviations(m);
    double *to[MOMENTS] = {m->count, m->first, m->sum, m->squares, m->min, m->max};
    for (int moment = 0; moment < MOMENTS; moment++) deliver(moment, to[moment]);
}

void DeviceWindowMoments::deliver_deviations(gcor_moments *m) {
    reduce_to_deviations<<<REDUCE_BLOCKS * state->processors, ADD_THREADS, 0, state->compute.handle>>>(on_device(),
                                                                                                       m->n);
    check_launch("computing standard deviations");
    deliver(0, m->deviation);
    m->is_reduced = 1;
}

/* Keeps the moments for the next row. */
void DeviceWindowMoments::trim() {
    if (of_run()->is_last) totals.trim();
}

std::unique_ptr<DeviceSink> make_moments(gcor_state *state) {
    return std::unique_ptr<DeviceSink>(new DeviceWindowMoments(state));
}
