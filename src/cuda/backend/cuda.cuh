/* The CUDA back end: what its files share. All functions throw (try.cuh). */
#ifndef GPUCOR_CUDA_CUDA_CUH
#define GPUCOR_CUDA_CUDA_CUH

#include "../../sink/sinks.h"
#include "try.cuh"
#include "tune.h"

#include <cuda_fp16.h>

#include <climits>
#include <memory>

/* A tile's coefficients on the device: those that count, row by row (triangle.h), in one of the
 * two types. */
struct Packed {
    gcor_tile tile{};
    gcor_shape shape{};
    double *doubles = nullptr;
    float *floats = nullptr;
};

/* ---- ring.cu: tiles on their way to the host -------------------------------------- */

struct Slot {
    DeviceArray<char> device;
    PinnedArray<char> host;
    Event computed, copied;
    Packed values;
    bool full = false;
};

struct Ring {
    Slot slots[RING_SLOTS];
    int next = 0;
};

/* An empty slot with room for the tile; delivers the tile that was in it. */
Slot &ring_acquire(gcor_state *state, const gcor_tile &tile, bool doubles);
/* The slot's values are being computed on state->compute: copy them when they are done. */
void ring_submit(gcor_state *state, Slot &slot);
/* Deliver all. */
void ring_drain(gcor_state *state);

/* ---- edges.cu: edges on their way to the host --------------------------------------- */

struct Operand;

/* One tile's edges. */
struct EdgeSlot {
    DeviceArray<unsigned> places; /* which pair of the tile, see EdgeOutput */
    DeviceArray<double> r;
    DeviceArray<gcor_edge> device; /* both, in order */
    PinnedArray<gcor_edge> host;
    DeviceArray<unsigned long long> counts;
    PinnedArray<unsigned long long> host_counts;
    DeviceArray<double> least; /* the rows' and the columns' own, where the rule has them */
    Event counted, copied;
    gcor_tile tile{};
    const Operand *rows = nullptr, *cols = nullptr; /* null: the slot is empty */
    bool sent = false; /* the edges are on their way to `host` */
};

struct EdgeRing {
    EdgeSlot slots[EDGE_SLOTS];
    int next = 0;
    int64_t rows_at_once = INT64_MAX;  /* of a tile: fewer where it has too many edges */
    DeviceArray<unsigned> candidates; /* of the tile being computed */
    DeviceArray<unsigned> places;     /* of the tile being sent, in order */
    DeviceArray<double> r;
    DeviceArray<char> sort;
};

void edges_multiply(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
void edges_drain(gcor_state *state);

/* ---- histogram.cu, connectivity.cu: sums that stay on the device until finish() -------- */

void histogram_multiply(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
void histogram_finish(gcor_state *state);
unsigned long long *histogram_bins(gcor_state *state); /* cleared the first time */
void connectivity_multiply(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);
void connectivity_finish(gcor_state *state);

struct DeviceSums {
    DeviceArray<double> degree, strength, soft; /* as in gcor_connectivity */
    DeviceArray<double> cells;                  /* of the tile at hand */
    bool cleared = false;
};

/* ---- sign.cu: bits opened for a tile ------------------------------------------------------- */

struct OpenedPlanes {
    struct Contents {
        int64_t operand, var, n_var;
        int mode;
        bool operator==(const Contents &other) const {
            return operand == other.operand && var == other.var && n_var == other.n_var && mode == other.mode;
        }
    };
    DeviceArray<unsigned char> bits;
    DeviceArray<int> ones; /* as in Operand */
    Contents contents{}; /* of all bits; operand 0: of a part */
};

/* ---- the state of a run ------------------------------------------------------------ */

struct gcor_state {
    gcor_context *context;
    gcor_sink *sink;
    Stream compute{false}, copy{true}; /* what a tile still wants before it is copied is short */
    Event step; /* of long work on `compute`, to wait for in steps */
    int processors = 0; /* of the GPU */
    bool wgmma = false; /* product_wgmma.cu is for this GPU */
    int64_t prepared = 0; /* operands so far */
    Ring ring;
    EdgeRing edges;
    DeviceArray<unsigned long long> histogram; /* GCOR_BINS */
    DeviceSums sums;
    DeviceArray<double> tile;      /* exact coefficients that stay on the device */
    DeviceArray<float> cheap;      /* edges.cu: a tile's cheap coefficients */
    OpenedPlanes row_planes, col_planes; /* sign.cu: where bits are not kept */
    DeviceArray<long long> counts; /* sign.cu: counts over slices */
    DeviceArray<unsigned> scratch; /* common.cu: ranks of very long columns */

    gcor_state(gcor_context *run, gcor_sink *end) : context(run), sink(end) {}
};

/* Wait for an event, asking now and then whether to stop. */
void wait_for(gcor_state *state, const Event &event);
/* Wait for all work on state->compute, likewise. */
void wait_for_compute(gcor_state *state);

/* backend.cu: as in the back end's table. */
void cuda_tile_size(const gcor_state *state, gcor_kind kind, int64_t n_obs, int64_t *n_row, int64_t *n_col);

/* ---- operands ------------------------------------------------------------------------ */

/* On the device, n_obs values per variable, by kind; the rest are empty. */
struct Operand {
    gcor_operand head; /* first: the engine knows no more */
    int64_t serial;    /* no other operand of the run has it */
    std::unique_ptr<double[]> host_norm;
    std::unique_ptr<unsigned char[]> host_flags;
    DeviceArray<double> norm;
    DeviceArray<int> present;  /* how many values are not missing */
    DeviceArray<float> columns; /* REAL: scaled values or scores; SIGN: scores (NaN: missing) */
    DeviceArray<unsigned char> halves; /* REAL, for cheap products: unit columns in half precision, in pieces */
    DeviceArray<unsigned char> bits;   /* SIGN: sign bits in pieces, where they are kept (sign.cu) ... */
    DeviceArray<int> ones;             /* ... and how many are set: in `greater`, then in both planes */
    DeviceArray<float> inverse;        /* SIGN: 1 / sqrt(norm), NaN without coefficients */
    std::unique_ptr<int64_t[]> tied_before; /* SIGN: how many of the variables before have ties */
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

/* The tile's exact values, on state->compute. REAL: floats or doubles, the others doubles. */
void multiply_slices(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
void multiply_common(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out);
void multiply_exact(gcor_state *state, const Operand &rows, const Operand &cols, const Packed &out); /* by kind */
/* The same into state->tile, as doubles. */
Packed multiply_in_place(gcor_state *state, const Operand &rows, const Operand &cols, const gcor_tile &tile);

/* ---- for products on tensor cores (product.cuh) ------------------------------------------- */

/* Bytes of a column in half precision, and the columns themselves, from their final norms. */
int64_t half_bytes(int64_t n_obs);
void make_halves(gcor_state *state, Operand &operand);

/* sign.cu: words of a plane of sign bits; bytes per variable of bits that are kept; make them and what
 * else the products want to know of the operand, from its scores and its final norms. */
int64_t sign_words(int64_t n_obs);
int64_t sign_bytes(gcor_kind kind, int64_t n_obs);
void make_bits(gcor_state *state, Operand &operand);

/* ---- for kernels --------------------------------------------------------------------------- */

static const unsigned ALL_LANES = ~0u;

/* A warp's sum, in the order of coefficient.h. */
static __device__ inline double sum_lanes(double value) {
    for (int step = GCOR_LANES / 2; step > 0; step /= 2) value += __shfl_xor_sync(ALL_LANES, value, step);
    return value;
}

/* gcor_dot() by a warp. */
static __device__ inline double warp_dot(const float *x, const float *y, int64_t n_obs) {
    double sum = 0;
    for (int64_t k = threadIdx.x % 32; k < n_obs; k += 32) sum += (double)x[k] * y[k];
    return sum_lanes(sum);
}

inline unsigned blocks_for(int64_t work, int64_t each) {
    return (unsigned)((work + each - 1) / each);
}

#endif
