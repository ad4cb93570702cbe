/* The state of one GPU in a session: what it keeps between runs, and the current run. One host thread at a time uses
 * a state; several states, of several GPUs or of one, may be used concurrently. All functions throw (try.cuh). */
#pragma once

#include "try.cuh"
#include "../../sink/weight.h"

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

/* ---- products of large matrices (blas.cu) ------------------------------------------------------- */

/* Products of matrices of doubles by cuBLAS. The library is loaded on first use, so that a user who never needs it does
 * not have to install it. */

/* A cuBLAS handle on the calling thread's GPU. The constructor and multiply_rows() throw Failure. */
class Blas {
  public:
    Blas();
    ~Blas();
    Blas(const Blas &) = delete;
    Blas &operator=(const Blas &) = delete;

    /* out[row * out_stride + col] = the dot product of row `row` of a and row `col` of b, on that stream. Each row
     * has `length` elements; rows begin every `stride` elements. All pointers are device memory. */
    void multiply_rows(const Stream &stream, const double *a, int64_t n_row, const double *b, int64_t n_col,
                       int64_t length, int64_t stride, double *out, int64_t out_stride);

  private:
    void *handle = nullptr;
};

struct ColumnBuffers;  /* prepare/operand.cuh */
struct ProductBuffers; /* product/product.cuh */
class DeviceSink;      /* sink/sinks.cuh */

/* What the run's sink asks of products and tiles. */
struct SinkNeeds {
    bool approx;          /* approximate values with a known error suffice at first, as from half-precision products */
    bool large_tiles;     /* tiles may be large: no value per pair is stored, and no result depends on the tile */
    bool bands = false;   /* prefers values of a few rows with all columns, as they are contiguous in the result */
    int rows = TILE_ROWS; /* max rows of a tile of exact products of REAL columns; more rows, fewer launches */
    bool edges = false;   /* keeps its edges on the device (EDGE_BUFFER_EIGHTHS) */
};

/* Device sinks that are kept between runs, each with the function that made it. */
typedef std::unique_ptr<DeviceSink> (*SinkMaker)(gcor_state *state);
typedef std::vector<std::pair<SinkMaker, std::unique_ptr<DeviceSink>>> DeviceSinks;

struct gcor_state {
    /* GPU `number` must be the calling thread's current device. Both are defined in ../backend.cu, which knows what
     * the folders above this one keep. */
    explicit gcor_state(int number);
    ~gcor_state();

    const int device;
    int processors = 0;
    bool has_wgmma = false;                    /* the GPU and the build have Hopper's wgmma instructions */
    int64_t total_memory = 0, free_memory = 0; /* bytes; free_memory as of `asked` */
    double asked = 0;                          /* time of the last ask_memory(), gcor_seconds() */
    Stream compute{false}, copy{true};         /* copy is urgent: kernels that a tile needs before its copy are short */
    Event step;                                /* recorded during long work on `compute`, to wait in steps */
    std::set<const void *> kernels;            /* kernels whose shared memory limit was raised */
    std::map<std::pair<const void *, int>, int> resident_clusters; /* by kernel and cluster size */
    int64_t prepared = 0;                                          /* number of operands so far */
    std::unique_ptr<ColumnBuffers> columns;                        /* never NULL */
    std::unique_ptr<ProductBuffers> products;                      /* never NULL */
    DeviceSinks sinks;
    std::unique_ptr<Blas> blas; /* NULL until first used */

    /* The current run, from begin() to end(); otherwise NULL. */
    gcor_context *context = nullptr;
    gcor_sink *sink = nullptr;
    DeviceSink *device_sink = nullptr;
    SinkNeeds needs{};
    bool wgmma = false; /* use wgmma instructions in this run */
};

/* Makes a GPU the calling thread's current device, if the package can use it. */
void choose_device(int device);
/* Fills in what the GPU is like. */
void ask_gpu(gcor_state *state);
/* Updates free_memory and total_memory. */
void ask_memory(gcor_state *state);

/* Waits for an event, asking periodically whether to stop. */
void wait_for(gcor_context *context, const Event &event);
void wait_for(gcor_state *state, const Event &event);
/* Waits for all work on state->compute, asking periodically whether to stop. */
void wait_for_compute(gcor_state *state);

/* ../hclust.cu: gcor_backend's cluster(). */
void cuda_cluster(gcor_state *state, const struct gcor_hclust &job);

/* Raises a kernel's limit of dynamic shared memory to `bytes`; needed once per kernel above 48 KB. */
void allow_shared(gcor_state *state, const void *kernel, int bytes);

/* ---- sorting and filtering (cub.cu) ------------------------------------------------------------- */

/* Device-wide algorithms from CUB, on a stream. Only this file includes CUB, as its headers compile slowly. The
 * caller owns the scratch and the output. */

/* Scratch for sort_columns(). */
struct SortBuffers {
    DeviceArray<int> starts;
    DeviceArray<char> scratch;
    void trim() { trim_all(starts, scratch); }
};

/* Sorts the n keys (float or double) of each of `columns` columns in ascending order, with a value each; the sort is
 * stable. At most 2^31 - 1 keys in total. Runs on state->compute. */
template <class Key>
void sort_columns(gcor_state *state, SortBuffers &buffers, const Key *keys, Key *sorted_keys, const int *values,
                  int *sorted_values, int n, int columns);

/* Sorts n coefficients by index, which may differ only in the lowest `bits` bits. */
void sort_by_position(const Stream &stream, DeviceArray<char> &scratch, const unsigned *positions,
                      unsigned *sorted_positions, const double *r, double *sorted_r, int64_t n, int bits);

/* Sorts n pairs of a key and a value by the key's bits begin .. end-1; the sort is stable. */
void sort_by_key(const Stream &stream, DeviceArray<char> &scratch, const unsigned long long *keys,
                 unsigned long long *sorted_keys, const unsigned long long *values, unsigned long long *sorted_values,
                 int64_t n, int begin, int end);

/* Copies the edges whose weight is at least `min`, in their order. n is at most 2^31 - 1; the output has capacity
 * n. *n_kept, on the device, receives their number. */
void select_edges(const Stream &stream, DeviceArray<char> &scratch, const unsigned *positions, unsigned *kept_positions,
                  const double *r, double *kept_r, int64_t n, gcor_side side, double min, unsigned long long *n_kept);
