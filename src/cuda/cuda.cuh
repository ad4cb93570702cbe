/* The CUDA back end: what its files share. All functions throw (try.cuh). */
#ifndef GPUCOR_CUDA_CUDA_CUH
#define GPUCOR_CUDA_CUDA_CUH

#include "../core/coefficient.h"
#include "try.cuh"
#include "tune.h"

#include <memory>

/* ---- ring.cu: tiles on their way to the host -------------------------------------- */

/* One tile's values: packed (triangle.h), floats or doubles. */
struct Slot {
    DeviceArray<char> device;
    PinnedArray<char> host;
    Event computed, copied;
    gcor_tile tile{};
    gcor_sink *sink = nullptr; /* null: the slot is empty */
    bool doubles = false;

    double *device_doubles() { return (double *)device.data; }
    float *device_floats() { return (float *)device.data; }
};

struct Ring {
    Slot slots[RING_SLOTS];
    int next = 0;
};

/* An empty slot with room for the tile; delivers the tile that was in it. */
Slot &ring_acquire(gcor_state *state, const gcor_tile &tile, gcor_sink *sink, bool doubles);
/* The slot's values are being computed on state->compute: copy them when they are done. */
void ring_submit(gcor_state *state, Slot &slot);
/* Deliver all. */
void ring_drain(gcor_state *state);

/* ---- the state of a run ------------------------------------------------------------ */

struct gcor_state {
    gcor_context *context;
    Stream compute, copy;
    Event step; /* of long work on `compute`, to wait for in steps */
    std::unique_ptr<Blas> blas; /* from the first REAL product on */
    Ring ring;
    DeviceArray<float> product;    /* real.cu: a slice's products */
    DeviceArray<double> dots;      /* real.cu: their sums over slices */
    DeviceArray<unsigned> planes;  /* sign.cu: a slice's bits */
    DeviceArray<long long> sums;   /* sign.cu: counts over slices */
    DeviceArray<unsigned> scratch; /* common.cu: ranks of very long columns */

    explicit gcor_state(gcor_context *run) : context(run) {}
};

/* Wait for an event, asking now and then whether to stop. */
void wait_for(gcor_state *state, const Event &event);
/* Wait for all work on state->compute, likewise. */
void wait_for_compute(gcor_state *state);

/* backend.cu: as in the back end's table. */
void cuda_tile_size(gcor_kind kind, int64_t n_obs, int64_t *n_row, int64_t *n_col);

/* ---- operands ------------------------------------------------------------------------ */

/* On the device, n_obs values per variable, by kind; the rest are empty. */
struct Operand {
    gcor_operand head; /* first: the engine knows no more */
    std::unique_ptr<double[]> host_norm;
    std::unique_ptr<unsigned char[]> host_flags;
    DeviceArray<double> norm;
    DeviceArray<int> present;  /* how many values are not missing */
    DeviceArray<float> columns; /* REAL: scaled values or scores; SIGN: scores (NaN: missing) */
    DeviceArray<double> values; /* REAL_COMMON: scaled values, NaN: missing */
    DeviceArray<int> order, begin, end; /* RANK_COMMON, as in cpu.h */

    /* Where variable `var`, numbered as in x, begins. */
    const float *columns_of(int64_t var) const { return columns.data + (var - head.first) * head.n_obs; }
    const double *norm_of(int64_t var) const { return norm.data + (var - head.first); }
};

/* prepare.cu */
std::unique_ptr<Operand> cuda_prepare(gcor_state *state, const gcor_columns *columns, gcor_method method,
                                      gcor_kind kind, int64_t first, int64_t n_var);

/* rank.cu: rank n_var columns of doubles (missing: NaN), variables at.. of the operand, into what
 * its kind needs; norm and present are written, too. */
struct RankScratch {
    DeviceArray<double> keys;
    DeviceArray<int> rows, sorted_rows, starts;
    DeviceArray<char> sort;
};
void rank_columns(gcor_state *state, const double *values, int64_t n_var, gcor_method method, Operand &operand,
                  int64_t at, RankScratch &scratch);

/* One for each kind: the tile's values into the slot, on state->compute. */
void multiply_real(gcor_state *state, const Operand &rows, const Operand &cols, Slot &slot);
void multiply_sign(gcor_state *state, const Operand &rows, const Operand &cols, Slot &slot);
void multiply_common(gcor_state *state, const Operand &rows, const Operand &cols, Slot &slot);

inline unsigned blocks_for(int64_t work, int64_t each) {
    return (unsigned)((work + each - 1) / each);
}

#endif
