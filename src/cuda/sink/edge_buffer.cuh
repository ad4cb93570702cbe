/* Device edge buffers hold edges on the GPU until it is known which of them are needed (sink/edges/store.h). The edges
 * of a tile are a run; runs follow one another in chunks of device memory.
 *
 *   edge_buffer.cu       adds, counts, ranks, sums and prunes edges, and copies them to the host
 *   edge_buffer_rows.cu  makes compressed rows in host memory
 */
#ifndef GPUCOR_CUDA_EDGE_BUFFER_CUH
#define GPUCOR_CUDA_EDGE_BUFFER_CUH

#include "../backend/state.cuh"
#include "../../sink/edges/store.h"

#include <memory>
#include <vector>

/* A tile's edges, by position_of() in ascending order. The memory is a chunk's. */
struct EdgeRun {
    gcor_tile tile;
    int64_t n;
    unsigned *positions;
    double *r;
};

/* Runs fill the first `used` elements of both arrays. */
struct EdgeChunk {
    DeviceArray<unsigned> positions;
    DeviceArray<double> r;
    int64_t used = 0;
};

/* Waits for the stream at the end of a scope, also after an exception. Declared behind the arrays that the stream uses,
 * it waits before they are freed. */
struct SyncOnExit {
    cudaStream_t stream;
    ~SyncOnExit() { (void)cudaStreamSynchronize(stream); }
};

/* The buffer owns its stream and its memory, and outlives the session that made it. Its functions throw. At most one
 * host thread may use a buffer at a time. */
class EdgeBuffer {
  public:
    gcor_edge_buffer head; /* first */

    /* number: of the GPU, which must be the calling thread's current one. max: max bytes of device memory. */
    EdgeBuffer(int number, gcor_side side, int64_t max);

    /* Returns a run for the n edges of a tile, or NULL if the buffer has too little memory. The caller writes the edges
     * on `stream` before it calls anything else. The pointer holds until the next call. */
    EdgeRun *add_run(const gcor_tile &tile, int64_t n);

    /* The functions of gcor_edge_buffer_type. */
    void count(double min, int64_t *count);
    void rank(double min, int64_t k, double *weight);
    void prune(double min, int64_t *left);
    void absorb(gcor_edge_buffer *other, int64_t *left);
    void to_host(gcor_edges *edges);
    void lengths(double min, int64_t n_row, int32_t *length);
    void rows(double min, int64_t n_row, const int32_t *start, int32_t *col, double *r);
    void degrees(double min, int64_t n_var, int64_t *degree, gcor_int128 *strength);

    gcor_context *context = nullptr; /* of the current call */
    const int device, owner;         /* owner: the process id, as forked processes cannot use the GPU's memory */
    Stream stream{true};

  private:
    std::vector<std::unique_ptr<EdgeChunk>> chunks;
    std::vector<EdgeRun> runs;
    size_t filling = 0;    /* index of the chunk that receives the next run */
    int64_t max, held = 0; /* bytes of device memory: limit and current use */
    DeviceArray<unsigned long long> counts;
    PinnedArray<unsigned long long> host_counts;
    Event step;

    bool find_capacity(int64_t n);
    EdgeRun next_run(const gcor_tile &tile, int64_t n);
    const unsigned long long *fetch_counts(int n);
    void wait();
    std::vector<const EdgeRun *> by_column() const;
};

/* Returns an empty buffer; the caller owns it and ends it with head.type->free(). Throws. */
EdgeBuffer *make_edge_buffer(int device, gcor_side side, int64_t max);

/* edge_delivery.cu: writes a tile's edges as the host's records, in the same order. */
void unpack_edges(const unsigned *positions, const double *r, int64_t n, const gcor_tile &tile, gcor_edge *edges,
                  const Stream &stream);

#endif
